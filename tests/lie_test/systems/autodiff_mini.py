"""Our library."""

import numpy as np

import autodiff_mini as ad

from .with_jax_names import functions, transformations

version = f'autodiff_mini {ad.__version__}'
number = 0.0
plain, rules = functions(np, ad)
wrappers, derivatives = transformations(np, ad, ad)
