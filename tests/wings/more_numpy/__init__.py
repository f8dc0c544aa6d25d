"""NumPy functions that the core does without."""
