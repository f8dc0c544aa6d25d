"""Solvers, special functions, and closures."""
