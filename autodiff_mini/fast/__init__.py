"""A wing: a second compiler, for speed, and nothing but speed.

Without this folder, all programs compute the same, and take their time.
"""

import autodiff_mini.fast.compiler  # noqa: F401  (the compiler)
import autodiff_mini.fast.fission  # noqa: F401  (of loops)
import autodiff_mini.fast.tape  # noqa: F401  (of gradients)
import autodiff_mini.fast.twins  # noqa: F401  (of programs)
