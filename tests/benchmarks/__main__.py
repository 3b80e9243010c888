"""`python -m tests.benchmarks`: see run.py."""
from .run import main

main()
