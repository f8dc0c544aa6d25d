"""A wing: arrays of other libraries that implement NumPy's protocols.

Without this folder, only NumPy arrays can be traced.  See the page *Arrays
elsewhere*.
"""

import autodiff_mini.wings.array_libraries.libraries  # takes a seam
