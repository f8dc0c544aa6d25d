"""The rows of the grid: every primitive in every column."""
