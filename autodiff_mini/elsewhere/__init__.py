"""A wing: arrays of other libraries, which answer what NumPy asks them.

Without this folder, only NumPy's arrays can be traced.  Chapter 30.
"""

import autodiff_mini.elsewhere.libraries  # takes the seam library_of
