"""The parts of `Value` beside the engine in scalar.py: nodes, custom operations, copies, recorded lines. They need no numpy."""
