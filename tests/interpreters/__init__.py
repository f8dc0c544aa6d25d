"""The columns of the grid: a file for each interpreter."""
