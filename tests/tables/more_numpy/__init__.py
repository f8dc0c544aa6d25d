"""Programs for the rows that the core does without."""
