"""NumPy's functions that are programs over primitives, by family."""

import autodiff_mini.numpy_functions.creation
import autodiff_mini.numpy_functions.elementwise
import autodiff_mini.numpy_functions.linalg
import autodiff_mini.numpy_functions.methods
import autodiff_mini.numpy_functions.ordering
import autodiff_mini.numpy_functions.products
import autodiff_mini.numpy_functions.selection
import autodiff_mini.numpy_functions.shapes
import autodiff_mini.numpy_functions.statistics
import autodiff_mini.numpy_functions.writing
