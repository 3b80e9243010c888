"""A recorded computation as plain data, with formulas and sentences: the input of all pictures."""
