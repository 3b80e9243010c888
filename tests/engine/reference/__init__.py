"""What real PyTorch answers, stored: the cases, the answers, and the program that asks (`python -m tests.engine.reference.make`)."""
