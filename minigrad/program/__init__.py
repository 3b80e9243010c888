"""A compiled step: the operations of one call, recorded and run again as one straight program (minigrad/compiler.py)."""
