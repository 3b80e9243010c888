"""How fast minigrad is, against its peers, in one run: `make bench`. No test reads a clock; test_smoke.py runs each workload once."""
