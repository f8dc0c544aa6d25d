"""A wing: a second compiler, for speed, and nothing but speed.

Without this folder, all programs compute the same, and take their time.
"""

import autodiff_mini.fast.compiler  # the compiler
import autodiff_mini.fast.fission  # of loops
import autodiff_mini.fast.tape  # of gradients
import autodiff_mini.fast.twins  # of programs
