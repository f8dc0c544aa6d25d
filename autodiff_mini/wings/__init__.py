"""The wings: the rest doesn't need these folders, so each can be deleted."""

from importlib import import_module
from importlib.util import find_spec

from autodiff_mini.core.seams import WINGS

NAMES = {}      # by public name: where to import it from, on demand
for wing in WINGS:
    if find_spec(f'{__name__}.{wing}'):
        NAMES |= getattr(import_module(f'{__name__}.{wing}'), 'NAMES', {})
