"""Import the module that defines a NumPy function when a program calls it.

A table that lacks a function asks `bring`, which looks the function up in
HOMES.  Some of these modules are in the wing `writing`.  Chapter 30.
"""

import sys
from importlib import import_module
from importlib.util import find_spec

from autodiff_mini.core import seams
from autodiff_mini.core.errors import full_name
from autodiff_mini.core.trace import function_table, ufunc_table


def is_there(name) -> bool:
    """Return whether a module's wing is there."""
    wing = name.partition('.')[0]
    return find_spec(f'autodiff_mini.wings.{wing}') is not None


def module(name):
    """Return a module of a wing, imported."""
    return import_module(f'autodiff_mini.wings.{name}')


def bring(function):
    """Import the module that defines a function.

    Args:
        function: the key that a table lacks: a NumPy function, or a ufunc
            and the name of a method.
    """
    if isinstance(function, tuple):
        if is_there('writing.filling'):
            module('writing.filling')   # np.add.at
        module('more_numpy.options')
        if function not in function_table and function not in ufunc_table:
            module('more_numpy.ufuncs').define_method(*function)
        return
    home = home_of.get(full_name(function))
    if home:
        module(home)
        return
    if 'scipy.special' in sys.modules:
        module('more_numpy.scipy_special')
    module('more_numpy.arranging').refuse_by_size(function)


def bring_all():
    """Import all modules that a program can bring later."""
    names = [*HOMES, 'more_numpy.options', 'more_calls.custom_vmap',
             'more_calls.optimize_remat']
    if 'scipy.special' in sys.modules:
        names.append('more_numpy.scipy_special')
    for name in filter(is_there, names):
        module(name)


HOMES = {     # the modules, and the NumPy functions that each defines
    'writing.assignment': 'copyto',
    'more_numpy.more_composed': '''
        all clip diagonal divmod dot isinf logical_and logical_not logical_or
        logical_xor square trace''',
    'more_numpy.along_axis': 'cumprod cumsum prod',
    'more_numpy.selection': '''
        array_split atleast_2d broadcast_arrays column_stack diag meshgrid pad
        repeat roll select take take_along_axis tile''',
    'more_numpy.sorting': 'argpartition argsort lexsort partition sort',
    'more_numpy.statistics': 'average count_nonzero std var',
    'more_numpy.more_borrowed': '''
        angle append apply_over_axes atleast_3d common_type cumulative_prod
        cumulative_sum diag_indices_from diff dsplit dstack einsum_path
        extract flip fliplr flipud histogram2d hsplit hstack iscomplex
        iscomplexobj isneginf isposinf isreal isrealobj ix_ lib.scimath.arccos
        lib.scimath.arcsin lib.scimath.arctanh lib.scimath.log
        lib.scimath.log10 lib.scimath.log2 lib.scimath.logn lib.scimath.power
        lib.scimath.sqrt linalg.cross linalg.diagonal linalg.matmul
        linalg.matrix_transpose linalg.outer linalg.tensordot linalg.tensorinv
        linalg.trace linalg.vector_norm matrix_transpose poly polyadd polyder
        polyint polysub polyval ptp real_if_close resize rollaxis rot90
        sort_complex split trapezoid tril tril_indices_from triu
        triu_indices_from unstack vander vsplit vstack''',
    'writing.filling': '''
        fill_diagonal flatiter place put put_along_axis putmask''',
    'more_numpy.more_elementwise': '''
        arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt ceil
        copysign cosh deg2rad degrees exp2 expm1 fmax fmin fmod heaviside
        hypot log10 log2 logaddexp logaddexp2 rad2deg radians reciprocal rint
        signbit sinh tan trunc''',
    'more_numpy.interpolation': 'interp linspace searchsorted',
    'more_numpy.matrices': '''
        linalg.cholesky linalg.det linalg.slogdet linalg.solve''',
    'more_numpy.einsum': 'einsum',
    'more_numpy.products': '''
        convolve correlate cross inner kron matvec outer tensordot vdot vecdot
        vecmat''',
    'more_numpy.elements': '''
        allclose around bitwise_count fabs fix frexp gcd i0 isclose lcm ldexp
        modf nan_to_num nextafter piecewise result_type round sinc spacing''',
    'more_numpy.linear_algebra': '''
        linalg.cond linalg.inv linalg.lstsq linalg.matrix_power
        linalg.matrix_rank linalg.multi_dot linalg.norm linalg.tensorsolve
        linalg.vecdot''',
    'more_numpy.arranging': '''
        apply_along_axis argwhere array_equal array_equiv block choose
        compress delete diagflat digitize ediff1d flatnonzero insert isin
        lib.stride_tricks.sliding_window_view nonzero ravel_multi_index
        unravel_index''',
    'more_numpy.averages': '''
        bincount corrcoef cov histogram histogram_bin_edges histogramdd median
        nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian
        nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar
        percentile quantile''',
    'more_numpy.decompositions': '''
        linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh
        linalg.matrix_norm linalg.pinv linalg.qr linalg.svd linalg.svdvals''',
    'more_numpy.fft': '''
        fft.fft fft.fft2 fft.fftn fft.fftshift fft.hfft fft.ifft fft.ifft2
        fft.ifftn fft.ifftshift fft.ihfft fft.irfft fft.irfft2 fft.irfftn
        fft.rfft fft.rfft2 fft.rfftn''',
    'more_numpy.polynomials': '''
        geomspace gradient logspace polydiv polyfit polymul roots unwrap''',
}
home_of = {f'numpy.{name}': home for home, names in HOMES.items()
           if is_there(home) for name in names.split()}

seams.bring.take(bring)
seams.stage.take_from('more_numpy.error_states')
seams.replace_masks.take_from('more_numpy.options')
