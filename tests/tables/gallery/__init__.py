"""The gallery: programs of the kinds that users write.

Each module is a theme, and each function in it is a program as a NumPy user
would write it: a number computed from arrays or dictionaries. The point at
which it is differentiated is above it. Arrays to be filled with traced values
are created with `like=`, as the chapter *Whose memory is it?* explains.
Otherwise, the programs make no concessions to differentiation.
"""

from importlib import import_module

from tests.tables.gallery.table import GALLERY  # noqa: F401

for theme in (
        'regression', 'gaussian_processes', 'filters', 'hidden_markov',
        'variational', 'optics', 'mechanics', 'finance', 'control', 'imaging',
        'networks', 'transformers', 'decompositions',
        'differential_equations', 'statistics', 'puzzles'):
    import_module(f'tests.tables.gallery.{theme}')
