"""Mistakes in calls, as programs for JAX and for this library.

Each is a function of `lib`, which is `jax` or `autodiff_mini`, of `np`, and
of `loops`, the module of `scan` and `cond`. The words are in the errors of
both, because people paste them into a search engine.
"""

from numpy import float32


def jvp_of(rule, f=lambda x: x):
    def run(lib, np, _):
        g = lib.custom_jvp(f)
        g.defjvp(rule)
        return lib.jvp(g, (np.ones(3),), (np.ones(3),))
    return run


def vjp_of(fwd, bwd, f=lambda x: x):
    def run(lib, np, _):
        g = lib.custom_vjp(f)
        g.defvjp(fwd, bwd)
        _, pull = lib.vjp(g, np.ones(3))
        return pull(np.ones(3))
    return run


def keep(x):
    return x, x


SAME = lambda x: x
VMAP = ('vmap in_axes must be an int, None, or a tuple of entries '
        'corresponding to the positional arguments passed to the function')
NESTED = 'an int, None, or (nested) container with those types as leaves'
PREFIX = 'specification must be a tree prefix of the corresponding value'
PAIR = 'must produce a pair (list or tuple of length two)'
LIKE = ('an output with the same container (pytree) structure as the args '
        'tuple of the primal function')

MISTAKES = {    # by name: the program, and words of the error
    'in_axes_text': (lambda lib, np, _: lib.vmap(
        SAME, in_axes='a')(np.ones(3)), VMAP),
    'in_axes_dict': (lambda lib, np, _: lib.vmap(
        SAME, in_axes={'a': 0})(np.ones(3)), VMAP),
    'in_axes_bool': (lambda lib, np, _: lib.vmap(
        SAME, in_axes=True)(np.ones((3, 3))), VMAP),
    'in_axes_float': (lambda lib, np, _: lib.vmap(
        SAME, in_axes=(1.0,))(np.ones(3)), 'vmap in_axes must be ' + NESTED),
    'in_axes_object': (lambda lib, np, _: lib.vmap(
        SAME, in_axes=(object(),))(np.ones(3)), NESTED),
    'in_axes_leaf': (lambda lib, np, _: lib.vmap(
        SAME, in_axes=({'a': 'b'},))({'a': np.ones(3)}), NESTED),
    'in_axes_short': (lambda lib, np, _: lib.vmap(
        lambda x, y: x, in_axes=(0,))(np.ones(3), np.ones(3)), VMAP
        + ', but got len(in_axes)=1, len(args)=2'),
    'in_axes_empty': (lambda lib, np, _: lib.vmap(
        SAME, in_axes=())(np.ones(3)), VMAP),
    'in_axes_keys': (lambda lib, np, _: lib.vmap(
        SAME, in_axes=({'b': 0},))({'a': np.ones(3)}), 'in_axes ' + PREFIX),
    'in_axes_none': (lambda lib, np, _: lib.vmap(
        SAME, in_axes=None)(np.ones(3)), 'vmap must have at least one '
        'non-None value in in_axes or axis_size must be specified'),
    'no_arrays': (lambda lib, np, _: lib.vmap(SAME)(()), 'vmap wrapped '
                  'function must be passed at least one argument containing '
                  'an array or axis_size must be specified'),
    'axis': (lambda lib, np, _: lib.vmap(SAME, in_axes=2)(np.ones(3)),
             'vmap was requested to map its argument along axis 2, which '
             'implies that'),
    'sizes': (lambda lib, np, _: lib.vmap(lambda x, y: x)(
        np.ones(3), np.ones(4)),
        'vmap got inconsistent sizes for array axes to be mapped'),
    'out_axes_text': (lambda lib, np, _: lib.vmap(
        SAME, out_axes='a')(np.ones(3)), 'vmap out_axes must be ' + NESTED),
    'out_axes_bool': (lambda lib, np, _: lib.vmap(
        SAME, out_axes=False)(np.ones(3)), NESTED),
    'out_axes_leaf': (lambda lib, np, _: lib.vmap(
        lambda x: (x,), out_axes=(1.0,))(np.ones(3)), NESTED),
    'out_axes_tree': (lambda lib, np, _: lib.vmap(
        lambda x: (x, x), out_axes=(0, 0, 0))(np.ones(3)),
        'out_axes ' + PREFIX),
    'out_axis': (lambda lib, np, _: lib.vmap(SAME, out_axes=2)(np.ones(3)),
                 'axis 2 is out of bounds for array of dimension 1'),
    'carry_dtype': (lambda lib, np, loops: loops.scan(
        lambda c, x: (c > 0, x), np.ones(()), np.ones(3)),
        'body function carry input and carry output must have equal types'),
    'carry_tree': (lambda lib, np, loops: loops.scan(
        lambda c, x: ((c, c), x), np.ones(3), np.ones(3)),
        'body function carry input and carry output must have the same '
        'pytree structure, but they differ:'),
    'scan_pair': (lambda lib, np, loops: loops.scan(
        lambda c, x: c, np.ones(3), np.ones(3)),
        'scan body output must be a pair'),
    'scan_lengths': (lambda lib, np, loops: loops.scan(
        lambda c, x: (c, None), 0.0, (np.ones(3), np.ones(4))),
        'scan got values with different leading axis sizes: '),
    'scan_length': (lambda lib, np, loops: loops.scan(
        lambda c, x: (c, x), 0.0, np.ones(3), length=4),
        'scan got `length` argument of 4 which disagrees with leading axis '
        'sizes [3]'),
    'scan_no_length': (lambda lib, np, loops: loops.scan(
        lambda c, x: (c, x), 0.0), 'scan got no values to scan over and '
        '`length` not provided'),
    'scan_number': (lambda lib, np, loops: loops.scan(
        lambda c, x: (c, x), 0.0, 3.0),
        'scan got value with no leading axis to scan over'),
    'bounds': (lambda lib, np, loops: loops.fori_loop(
        0, 2.5, lambda i, c: c, 1.0),
        'lower and upper arguments to fori_loop must'),
    'pred_array': (lambda lib, np, loops: loops.cond(
        np.ones(3) > 0, SAME, SAME, 1.0), 'Pred must be a scalar'),
    'pred_tuple': (lambda lib, np, loops: loops.cond(
        (True,), SAME, SAME, 1.0), 'Pred must be a scalar'),
    'pred_complex': (lambda lib, np, loops: loops.cond(
        1j, SAME, SAME, 1.0), 'Pred type must be either boolean or number'),
    'pred_none': (lambda lib, np, loops: loops.cond(
        None, SAME, SAME, 1.0), ' is None'),
    'branch_types': (lambda lib, np, loops: loops.cond(
        True, SAME, lambda x: x[0], np.ones(3)),
        'cond branches must have equal output types but they differ'),
    'branch_trees': (lambda lib, np, loops: loops.cond(
        True, SAME, lambda x: (x, x), np.ones(3)), 'cond branch outputs must '
        'have the same pytree structure, but they differ:'),
    'switch_types': (lambda lib, np, loops: loops.switch(
        0, [SAME, lambda x: x[0]], np.ones(3)),
        'switch branches must have equal output types but they differ'),
    'switch_empty': (lambda lib, np, loops: loops.switch(0, [], 1.0),
                     'Empty branch sequence'),
    'while_array': (lambda lib, np, loops: loops.while_loop(
        lambda c: c > 0, SAME, np.ones(3)),
        'cond_fun must return a boolean scalar, but '),
    'while_none': (lambda lib, np, loops: loops.while_loop(
        lambda c: None, SAME, 1.0),
        'cond_fun must return a boolean scalar, but '),
    'jvp_rule_pair': (jvp_of(lambda p, t: p[0]), PAIR),
    'jvp_rule_trees': (jvp_of(lambda p, t: (p[0], t)), 'must produce primal '
                       'and tangent outputs with equal container (pytree) '
                       'structures, but got '),
    'jvp_rule_shape': (jvp_of(lambda p, t: (p[0], t[0][0])), 'must produce '
                       'primal and tangent outputs with corresponding shapes '
                       'and dtypes'),
    'jvp_rule_dtype': (jvp_of(lambda p, t: (p[0], t[0].astype(float32))),
                       'must produce primal and tangent outputs with '
                       'corresponding shapes and dtypes'),
    'jvp_rule_container': (lambda lib, np, _: jvp_of(
        lambda p, t: ((p[0],), (t[0],)))(Jitted(lib), np, _), 'Custom JVP '
        'rule '),
    'fwd_pair': (vjp_of(SAME, lambda r, ct: (ct,)), PAIR
                 + ' where the first element represents the primal output'),
    'bwd_array': (vjp_of(keep, lambda r, ct: ct), LIKE),
    'bwd_none': (vjp_of(keep, lambda r, ct: None), LIKE),
    'bwd_long': (vjp_of(keep, lambda r, ct: (ct, ct)), LIKE),
    'bwd_tree': (vjp_of(keep, lambda r, ct: ((ct, ct),)), LIKE),
    'bwd_shape': (vjp_of(keep, lambda r, ct: (ct[0],)),
                  'Custom VJP bwd rule '),
    'jvp_arrays': (lambda lib, np, _: lib.jvp(SAME, np.ones(3), np.ones(3)),
                   'must be tuples or lists'),
    'jvp_count': (lambda lib, np, _: lib.jvp(np.add, (1.0, 1.0), (1.0,)),
                  'must have the same tree structure'),
    'jvp_shape': (lambda lib, np, _: lib.jvp(
        SAME, (np.ones(3),), (np.ones(4),)),
        'jvp called with different primal and tangent shapes'),
    'jvp_dtype': (lambda lib, np, _: lib.jvp(
        SAME, (np.ones(3),), (np.ones(3, float32),)),
        'do not match; dtypes must be equal'),
    'ct_tree': (lambda lib, np, _: lib.vjp(SAME, 1.0)[1]((1.0,)),
                'unexpected tree structure'),
    'ct_shape': (lambda lib, np, _: lib.vjp(SAME, 1.0)[1](np.ones(3)),
                 ' type (e.g. shape/dtype) '),
    'ct_two': (lambda lib, np, _: lib.vjp(SAME, 1.0)[1](1.0, 1.0),
               'must be called with a single argument'),
    'linearize_shape': (lambda lib, np, _: lib.linearize(
        SAME, np.ones(3))[1](np.ones(4)), 'linearized function called on '
        'tangent values inconsistent with the original primal values'),
    'linearize_dtype': (lambda lib, np, _: lib.linearize(
        SAME, np.ones(3))[1](np.ones(3, float32)), 'linearized function '
        'called on tangent values inconsistent with the original primal'),
    'transpose_tree': (lambda lib, np, _: lib.linear_transpose(
        SAME, 1.0)((1.0,)), 'cotangent'),
    'transpose_shape': (lambda lib, np, _: lib.linear_transpose(
        SAME, 1.0)(np.ones(3)), 'cotangent'),
    'aux': (lambda lib, np, _: lib.grad(SAME, has_aux=True)(1.0),
            'expected function with aux output to return a two-element '
            'tuple'),
    'keys': (lambda lib, np, _: lib.grad(lambda d: 1.0)({1: 1.0, 'a': 2.0}),
             'Comparator raised exception while sorting pytree dictionary '
             'keys'),
}


class Jitted:
    """A library whose custom functions are jitted when they are called."""

    def __init__(self, lib):
        self.lib = lib

    def __getattr__(self, name):
        return getattr(self.lib, name)

    def jvp(self, f, *args):
        return self.lib.jvp(self.lib.jit(f), *args)
