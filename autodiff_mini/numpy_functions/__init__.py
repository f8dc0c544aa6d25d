"""NumPy's functions that are programs over primitives, by family."""

import autodiff_mini.numpy_functions.creation  # noqa: F401
import autodiff_mini.numpy_functions.elementwise  # noqa: F401
import autodiff_mini.numpy_functions.linalg  # noqa: F401
import autodiff_mini.numpy_functions.methods  # noqa: F401
import autodiff_mini.numpy_functions.ordering  # noqa: F401
import autodiff_mini.numpy_functions.products  # noqa: F401
import autodiff_mini.numpy_functions.selection  # noqa: F401
import autodiff_mini.numpy_functions.shapes  # noqa: F401
import autodiff_mini.numpy_functions.statistics  # noqa: F401
import autodiff_mini.numpy_functions.writing  # noqa: F401
