"""One module for each system, which tells the test what the system has.

Each has `version`, `number`, `plain`, `rules`, `wrappers`, and `derivatives`.
`forks` and `must_have` are optional. The README explains them.
"""
