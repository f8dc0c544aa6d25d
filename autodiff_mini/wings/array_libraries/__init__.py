"""A wing: arrays of other libraries that implement NumPy's protocols.

Without this folder, only NumPy arrays can be traced.  Chapter 30.
"""

import autodiff_mini.wings.array_libraries.libraries  # takes a seam
