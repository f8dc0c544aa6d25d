"""The rows of the grid: primitives of the first order, by family."""

import autodiff_mini.primitives.arithmetic  # noqa: F401
import autodiff_mini.primitives.comparisons  # noqa: F401
import autodiff_mini.primitives.elementwise  # noqa: F401
import autodiff_mini.primitives.indexing  # noqa: F401
import autodiff_mini.primitives.joining  # noqa: F401
import autodiff_mini.primitives.linalg  # noqa: F401
import autodiff_mini.primitives.reductions  # noqa: F401
import autodiff_mini.primitives.shapes  # noqa: F401
