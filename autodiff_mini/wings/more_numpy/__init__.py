"""A wing: rows and functions of NumPy beyond those that the core needs.

Without this folder, calls of them raise an error.
"""

import autodiff_mini.wings.more_numpy.on_demand
