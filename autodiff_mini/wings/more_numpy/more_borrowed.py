"""The rarer functions that NumPy itself writes in Python.  Chapter 30."""

import numpy as np

from autodiff_mini.numpy_functions.borrowed import borrow

borrow(np.flip, np.fliplr, np.flipud, np.rot90, np.diff, np.angle)
borrow(np.matrix_transpose, np.tril, np.triu, np.hstack)
borrow(np.split, np.vstack)
borrow(np.append, np.apply_over_axes, np.atleast_3d, np.dsplit, np.dstack,
       np.einsum_path, np.extract, np.hsplit, np.ix_, np.resize, np.rollaxis,
       np.sort_complex, np.unstack, np.vsplit)
borrow(np.diag_indices_from, np.tril_indices_from, np.triu_indices_from)
borrow(np.common_type, np.iscomplex, np.iscomplexobj, np.isneginf,
       np.isposinf, np.isreal, np.isrealobj)
borrow(np.cumulative_prod, np.cumulative_sum, np.histogram2d, np.poly,
       np.polyadd, np.polyder, np.polyint, np.polysub, np.polyval, np.ptp,
       np.trapezoid, np.vander)
borrow(np.linalg.cross, np.linalg.diagonal, np.linalg.matmul,
       np.linalg.matrix_transpose, np.linalg.outer, np.linalg.tensordot,
       np.linalg.tensorinv, np.linalg.trace, np.linalg.vector_norm)

# The results of these depend on whether a value is negative or complex, so
# the values must be known.
borrow(np.real_if_close, np.emath.arccos, np.emath.arcsin, np.emath.arctanh,
       np.emath.log, np.emath.log10, np.emath.log2, np.emath.logn,
       np.emath.power, np.emath.sqrt)
