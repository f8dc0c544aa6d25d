"""Book One's system, with its own two kinds of rules."""

import numpy as np

from autodiff_mini import __version__, draft

from .with_jax_names import functions, transformations

version = f'draft of autodiff_mini {__version__}'
number = 0.0
plain, rules = functions(np, draft)
wrappers, derivatives = transformations(np, draft, draft)
