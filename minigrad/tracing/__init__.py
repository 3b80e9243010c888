"""A recorded computation as plain data, and in words and formulas: what the pictures read."""
