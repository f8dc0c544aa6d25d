"""A wing: a backend of `jit` that fuses arithmetic, with numba.

It extends the wing `fast`, and imports numba when it first compiles a
program.  Without this folder, the only backend is `numpy`.
"""

from importlib.util import find_spec

from autodiff_mini import seams

NAMES = {   # by name: where to import it from, on demand
    'backend': 'fused.choice.backend',
}

if find_spec('autodiff_mini.fast'):
    seams.backends['fused'] = seams.Seam()
    seams.backends['fused'].take_from('fused.compiler')
    seams.check_backend.take_from('fused.choice')
else:
    NAMES.clear()
