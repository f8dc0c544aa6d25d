"""Calls that carry functions, beyond those that the core needs."""
