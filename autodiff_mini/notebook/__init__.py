"""Extras for notebooks: pictures, players, and live editing.

Each is imported when a notebook uses it.
"""

from importlib import import_module

from autodiff_mini.jaxprs import Jaxpr

NAMES = {'watch': 'notebook.player.watch'}


def draw(jaxpr):
    """Return a picture of a program; see `notebook.drawing`."""
    return import_module('autodiff_mini.notebook.drawing').draw(jaxpr)


def load_ipython_extension(shell):
    import_module('autodiff_mini.notebook.live').load_ipython_extension(shell)


def unload_ipython_extension(shell):
    live = import_module('autodiff_mini.notebook.live')
    live.unload_ipython_extension(shell)


Jaxpr._repr_html_ = draw
