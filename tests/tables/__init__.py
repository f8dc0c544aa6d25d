"""The cases: programs, points, and mistakes."""
