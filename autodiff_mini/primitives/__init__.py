"""The rows of the grid: first-order primitives, by family."""

import autodiff_mini.primitives.elementwise
import autodiff_mini.primitives.indexing
import autodiff_mini.primitives.linalg
import autodiff_mini.primitives.parts
import autodiff_mini.primitives.reductions
import autodiff_mini.primitives.shapes
