"""NumPy functions that are composed of primitives, by family."""

import autodiff_mini.numpy_functions.borrowed
import autodiff_mini.numpy_functions.composed
import autodiff_mini.numpy_functions.creation
import autodiff_mini.numpy_functions.methods
import autodiff_mini.numpy_functions.reshaping
