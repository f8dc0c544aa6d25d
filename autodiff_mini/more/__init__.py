"""A wing: rows and functions beyond those that the chapters teach.

Without this folder, what it defines is refused.
"""

import autodiff_mini.more.error_states  # np.errstate
import autodiff_mini.more.on_demand
