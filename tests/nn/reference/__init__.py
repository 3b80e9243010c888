"""What real PyTorch answers about modules, losses, optimisers and schedulers; `python -m tests.nn.reference.make` asks it."""
