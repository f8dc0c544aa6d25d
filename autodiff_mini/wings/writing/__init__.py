"""A wing: arrays that change, such as `y[0] = x` for a traced `y`.

Without this folder, traced arrays are read-only.  Its folder `patch` is a
wing of its own.
"""

from importlib.util import find_spec

import autodiff_mini.wings.writing.boxes  # traced arrays that change
from autodiff_mini.core import seams

NAMES = {}
if find_spec('autodiff_mini.wings.writing.patch'):
    from autodiff_mini.wings.writing import patch  # np.array of traced values
    NAMES |= patch.NAMES

seams.set_item.take_from('writing.assignment')
