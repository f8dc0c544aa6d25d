"""A wing: a backend of `jit` that fuses arithmetic, with numba.

It extends the wing `fast`, and imports numba when it first compiles a
program.  Without this folder, the only backend is `numpy`.
"""

from importlib.util import find_spec

from autodiff_mini.core import seams

NAMES = {   # by public name: where to import it from, on demand
    'backend': 'wings.fused.choice.backend',
}

if find_spec('autodiff_mini.wings.fast'):
    seams.backends['fused'] = seams.Seam()
    seams.backends['fused'].take_from('fused.fused_compiler')
    seams.check_backend.take_from('fused.choice')
else:
    NAMES.clear()
