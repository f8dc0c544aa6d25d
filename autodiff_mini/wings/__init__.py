"""The wings: the rest doesn't need these folders, so each can be deleted."""

from importlib import import_module
from importlib.util import find_spec

NAMES = {}      # by public name: where to import it from, on demand
for wing in ('fast', 'fused', 'more_numpy', 'more_calls', 'writing',
             'array_libraries', 'notebook', 'applications', 'messages',
             'debugging'):
    if find_spec(f'{__name__}.{wing}'):
        NAMES |= getattr(import_module(f'{__name__}.{wing}'), 'NAMES', {})
