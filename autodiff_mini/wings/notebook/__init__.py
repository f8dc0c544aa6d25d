"""A wing: pictures, players, and live editing for notebooks.

Each module is imported when a notebook uses it.
"""

from importlib import import_module

from autodiff_mini.core.jaxprs import Jaxpr

NAMES = {'watch': 'wings.notebook.player.watch'}


def draw(jaxpr):
    """Return a picture of a program; see `wings.notebook.drawing`."""
    return import_module('autodiff_mini.wings.notebook.drawing').draw(jaxpr)


def load_ipython_extension(shell):
    live = import_module('autodiff_mini.wings.notebook.live')
    live.load_ipython_extension(shell)


def unload_ipython_extension(shell):
    live = import_module('autodiff_mini.wings.notebook.live')
    live.unload_ipython_extension(shell)


Jaxpr._repr_html_ = draw
