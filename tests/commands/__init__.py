"""Commands for developers: `make check` and `make mutants`."""
