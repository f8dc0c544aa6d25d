"""What a name of PyTorch, JAX, HIPS autograd, or TensorFlow is called here.

`ad.jacobian` says to write `ad.jacrev`.  See the page *Errors explained*.
"""

import sys
from difflib import get_close_matches
from importlib import import_module
from opcode import opmap

import numpy as np

from autodiff_mini.wings.messages.method_advice import by_name

CONSTANT = ('Leave it out, because only the function in ad.grad is '
            'differentiated. Inside it, write ad.stop_gradient(x) for a '
            'value that is held constant')
GRAD = 'Write ad.grad(f)(x), which returns the gradient'
ARRAY = 'Arrays are NumPy arrays: write np.array(x)'
LEAVE_OUT = 'Leave it out: NumPy arrays are in main memory'
DRAW = ('Draw with NumPy, outside of the function, and pass the numbers as '
        'an argument: np.random.default_rng(0).normal(size=3)')
HVP = 'Write ad.jvp(ad.grad(f), (x,), (v,))[1]'
CUSTOM = ('Write f = ad.custom_vjp(f), then f.defvjp(fwd, bwd), or define an '
          'ad.Primitive')
STEP = 'Write the step yourself: w = w - 0.1 * ad.grad(loss)(w)'
MAP = ('Write ad.vmap(f)(xs), or ad.scan if the elements should be computed '
       'one by one')
INSTEAD = by_name({
    'no_grad enable_grad set_grad_enabled inference_mode': CONSTANT,
    'detach stop_gradients': 'Write ad.stop_gradient(x)',
    'backward GradientTape gradients grads': GRAD,
    'gradient differentiate derivative deriv': 'Write ad.grad(f)',
    'grad_and_value value_and_gradient value_and_gradients':
        'Write ad.value_and_grad(f)',
    'elementwise_grad egrad': 'Write ad.grad(lambda x: np.sum(f(x)))',
    'grad_and_aux': 'Write ad.grad(f, has_aux=True)',
    'holomorphic_grad': 'Write ad.grad(f, holomorphic=True)',
    'multigrad multigrad_dict grad_named':
        'Write ad.grad(f, argnums=(0, 1))',
    'jacobian jacobians batch_jacobian':
        'Write ad.jacrev(f), for many inputs and few outputs, or '
        'ad.jacfwd(f), for few inputs and many outputs',
    'hvp vhp make_hvp hessian_vector_product hessian_tensor_product': HVP,
    'make_jvp jvp_fn forward_ad': 'Write ad.jvp(f, (x,), (x_dot,))',
    'make_vjp vector_jacobian_product': 'Write y, pullback = ad.vjp(f, x)',
    'laplacian': 'Write np.trace(ad.hessian(f)(x))',
    'gradcheck gradgradcheck checkgrads test_util':
        'Write ad.check_grads(f, (x,), order=2)',
    'tensor Tensor Variable Parameter constant as_tensor from_numpy '
    'asnumpy DeviceArray Array': ARRAY,
    'numpy np jnp': 'Use NumPy itself: write np',
    'scipy jsp': 'Use SciPy itself: scipy.special has traced functions',
    'device device_put device_get devices default_device local_devices '
    'cuda block_until_ready': LEAVE_OUT,
    'config': 'Leave it out: NumPy computes in float64',
    'lax': 'Leave lax out: write ad.scan, ad.cond, and so on',
    'tree_util tree': 'Write ad.tree_map, ad.tree_leaves, and so on',
    'autograd func functional functorch jax experimental extend custom_'
    'derivatives': 'Leave it out: write ad.grad, ad.jacrev, and so on',
    'nn': 'Write the layers with NumPy: np.maximum(x, 0), ad.expit(x), and '
        'ad.logsumexp(x, axis=-1, keepdims=True)',
    'Module Linear': 'Write a function of a dict of arrays and of the data',
    'relu': 'Write np.maximum(x, 0)', 'sigmoid': 'Write ad.expit(x)',
    'softplus': 'Write ad.log1pexp(x)',
    'softmax': 'Write np.exp(x - ad.logsumexp(x, axis=-1, keepdims=True))',
    'log_softmax': 'Write x - ad.logsumexp(x, axis=-1, keepdims=True)',
    'cat': 'Write np.concatenate(xs)', 'one_hot': 'Write np.eye(n)[labels]',
    'dynamic_slice dynamic_slice_in_dim': 'Write x[i + np.arange(n)]',
    'dynamic_update_slice index_update':
        'Write into a copy: y = np.copy(x), then y[i + np.arange(n)] = value',
    'segment_sum': 'Write into zeros: y = np.zeros(n), then '
                   'np.add.at(y, segments, x)',
    'top_k': 'Write np.sort(x)[-k:]',
    'psum pmean axis_index': 'Write the sum over the batch after ad.vmap',
    'random PRNGKey key manual_seed rand randn': DRAW,
    'optim optimizers optax keras SGD Adam': STEP,
    'pmap xmap shard_map': 'Write ad.vmap(f), which runs on one device',
    'map vectorize vectorized_map': MAP,
    'compile function njit pjit': 'Write ad.jit(f)',
    'disable_jit': 'Leave ad.jit out, or write ad.plain()',
    'for_loop': 'Write ad.fori_loop(lower, upper, body, x)',
    'associative_scan foldl': 'Write ad.scan(f, carry, xs)',
    'Function Operator primitive defvjp defjvp custom_op': CUSTOM,
    'notrace_primitive nograd_functions': CONSTANT,
    'debug': 'Write print(x), or turn on ad.debug_nans()',
    'pure_callback io_callback': CUSTOM,
    'ShapeDtypeStruct': 'Write ad.ShapedArray(shape, np.dtype(float))',
    'make_graph xla_computation': 'Write ad.make_jaxpr(f)(x)',
    'flatten': 'Write ad.tree_flatten(x)',
})


def instead_of_name(general, name):
    """Return what to write instead of a name that the package lacks.

    Raises:
        ImportError: the name is imported.  Python's own error would not say
            what to write.
    """
    if name[0] == '_':
        return general
    near = get_close_matches(
        name, import_module('autodiff_mini').__all__, 1)
    words = INSTEAD.get(name) or (
        f'Use NumPy itself: write np.{name}' if hasattr(np, name) else
        f'Write ad.{near[0]}' if near else '')
    if not words:
        return general
    frame = sys._getframe(1)
    while frame.f_globals.get('__name__', '').startswith('autodiff_mini'):
        frame = frame.f_back
    if frame.f_code.co_code[frame.f_lasti] == opmap['IMPORT_FROM']:
        raise ImportError(f"cannot import name {name!r} from "
                          f"'autodiff_mini'. {words}.")
    return f'. {words}.'
