"""Plausible wrong solutions: what somebody thought, and the text they wrote.

For each exercise, (the thought, what the solution says, what they wrote).
Each of its tests must fail for at least one of them.
"""

WRONG = {
    'e01_1_door': [
        ('every * that one sees is bound',
         "'a': ['mul']", "'a': ['mul', 'mul']"),
        ('numbers are put together first, wherever they stand',
         "'b': ['mul', 'mul']", "'b': ['mul']"),
        ('every call of NumPy is bound',
         "['mul', 'exp', 'add']", "['exp', 'mul', 'exp', 'add']"),
        ('three numbers need two additions',
         "'d': ['add', 'add', 'add']", "'d': ['add', 'add']"),
    ],
    'e01_2_polyval': [
        ('lowest power first', 'asarray(p):', 'asarray(p)[::-1]:'),
        ('coefficients stay weak', 'asarray(p):', 'p:'),
    ],
    'e01_3_intervals': [
        ('low times low, high times high',
         'return min(products), max(products)',
         'return x[0] * y[0], x[1] * y[1]'),
        ('reciprocals swap the ends, so a product does',
         'return min(products), max(products)',
         'return x[0] * y[1], x[1] * y[0]'),
    ],
    'e01_4_lambertw': [
        ('a few steps will do', 'range(20)', 'range(2)'),
        ('start at the same number for all',
         'np.log1p(x)', 'np.float64(1.0)'),
        ('a plain iteration', 'w - (w - x * np.exp(-w)) / (1 + w)',
         'x * np.exp(-w)'),
    ],
    'e02_1_div': [
        ('the first small number one thinks of',
         '1e-200, 1e-200', '1.0, 1e-200'),
        ('any quotient will do', '1e-200, 1e-200', '6.0, 2.0'),
    ],
    'e02_2_lambertw': [
        ('the formula of the textbooks', 'np.exp(-w) / (1 + w) * x_dot',
         'w / (x * (1 + w)) * x_dot'),
        ('a slope in place of a tangent', 'np.exp(-w) / (1 + w) * x_dot',
         'np.exp(-w) / (1 + w)'),
        ('one factor of the product was forgotten',
         'np.exp(-w) / (1 + w) * x_dot', 'np.exp(-w) / w * x_dot'),
    ],
    'e02_3_power': [
        ('choose afterwards', 'np.log(np.where(np.equal(x, 0), 1.0, x))',
         'np.where(np.equal(x, 0), 0.0, np.log(x))'),
        ('a little more than zero',
         'np.log(np.where(np.equal(x, 0), 1.0, x))', 'np.log(x + 1e-6)'),
        ('no slope at all', 'y_dot * z * np.log(np.where(np.equal(x, 0), '
         '1.0, x))', 'y_dot * 0 * x'),
        ('infinite, since the logarithm is',
         'np.log(np.where(np.equal(x, 0), 1.0, x))', 'np.inf'),
    ],
    'e02_4_plain': [
        ('what is zero is plain',
         "{'choice', 'product with zero', 'difference'}", "{'choice'}"),
        ('everything that is computed from x is traced',
         "{'choice', ", "{'comparison', 'integers', 'stopped', 'choice', "),
        ('one branch of the choice stands still', "'choice', ", ''),
    ],
    'e03_1_leaves': [
        ('in the order in which they are written', '[2, 3, 1]', '[1, 2, 3]'),
        ('None is a leaf', '[2, 3, 1]', '[2, None, 3, 1]'),
        ('every dict is put in order', "'b': [1, 2]", "'b': [2, 1]"),
        ('a string is no leaf', "['six', 7, 8]", '[7, 8]'),
        ('a class is taken apart', '[point, 3, 4]', '[7, 8, 3, 4]'),
    ],
    'e03_2_circle': [
        ('all attributes are children',
         'return [circle.radius], circle.colour',
         'return [circle.radius, circle.colour], None'),
        ('the constructor is there to be used',
         'register_pytree_node(Circle, flatten, unflatten)',
         'register_pytree_node(Circle, flatten, lambda colour, children: '
         'Circle(*children, colour))'),
        ('the colour does not matter',
         'return [circle.radius], circle.colour',
         "return [circle.radius], 'red'"),
    ],
    'e03_3_gradient': [
        ('all numbers at once',
         'direction[k][i] = 1.0', 'for d in direction: d[...] = 1.0'),
        ('a whole leaf at once',
         'direction[k][i] = 1.0', 'direction[k][...] = 1.0'),
    ],
    'e03_4_keywords': [
        ('all that was given, in the order of the signature',
         '    bound.apply_defaults()\n    return bound.args',
         '    return tuple(bound.arguments.values())'),
        ('all values, with the defaults',
         'return bound.args', 'return tuple(bound.arguments.values())'),
        ('keywords come last',
         '    bound.apply_defaults()\n    return bound.args',
         '    return args + tuple(kwargs.values())'),
    ],
    'e04_1_shapes': [
        ('the function sees everything',
         "'a': [(5,), (5,), (3, 5)]", "'a': [(3, 5), (3, 5), (3, 5)]"),
        ('the axis returns to where it was', '(5, 3)],   #', '(3, 5)],   #'),
        ('the axis is always in front', '(5, 3)],     #', '(3, 5)],     #'),
        ('the first argument is in front', '(4, 3)]', '(3, 4)]'),
    ],
    'e04_2_running': [
        ('the batch is hidden from a rule', 'axis=axis + 1', 'axis=axis'),
        ('the last axis is never the batch', 'axis=axis + 1', 'axis=-1'),
        ('the first axis that is not the batch', 'axis=axis + 1', 'axis=1'),
        ('step over the batch from behind',
         'axis=axis + 1', 'axis=axis - 1'),
    ],
    'e04_3_lambertw': [
        ('the output is an ordinary array',
         'lambertw_p.bind(*vals), 0', 'lambertw_p.bind(*vals), None'),
        ('one after the other', 'lambertw_p.bind(*vals), 0',
         'np.stack([lambertw_p.bind(x) for x in vals[0]]), 0'),
        ('compute it here', 'lambertw_p.bind(*vals), 0',
         'implementation(*vals)[..., None], 0'),
    ],
    'e04_4_loop': [
        ('a function that branches',
         'lambda x: x + rng.normal()', 'lambda x: x if x > 0 else 0 * x'),
        ('two functions that agree', 'lambda x: x + rng.normal()', 'np.sin'),
        ('dice without a seed', 'default_rng(seed=0)', 'default_rng()'),
    ],
    'e05_1_dye': [
        ('it never works', "'a': 3", "'a': 2"),
        ('any vmap removes the rule', "'b': 3", "'b': 2"),
        ('the rule is safe', "'c': 2", "'c': 3"),
        ('an inner vmap removes the rule', "'d': 3", "'d': 2"),
        ('the outer vmap does not matter, so the rule is safe',
         "'e': 2", "'e': 3"),
    ],
    'e05_2_pair': [
        ('batch what is inside',
         'custom(vmap(f), vmap(rule))(*vals), 0', 'vmap(f)(*vals), 0'),
        ('a rule is about tangents, and they are arrays anyway',
         'custom(vmap(f), vmap(rule))', 'custom(vmap(f), rule)'),
        ('NumPy takes arrays anyway',
         'custom(vmap(f), vmap(rule))', 'primitive.bind'),
    ],
    'e05_3_names': [
        ('a longer name', 'key = primitive', 'key = f.__qualname__'),
        ('its code', 'key = primitive', 'key = f.__code__'),
        ('the function itself', 'key = primitive', 'key = f'),
    ],
    'e06_1_lambertw': [
        ('the formula of the textbooks', 'np.exp(-w) / (1 + w) * x_dot',
         'w / (x * (1 + w)) * x_dot'),
        ('differentiate the iteration, which is right as well',
         'w, np.exp(-w) / (1 + w) * x_dot',
         'ad.jvp(lambertw.fun, primals, tangents)'),
        ('only the tangent', 'return w, np.exp', 'return np.exp'),
    ],
    'e06_2_cosine': [
        ('leave the box shut', "return params['fun'](*args)",
         'return self.parent.process_primitive(\n'
         '            primitive, list(map(self.value_of, args)), params)'),
        ('transform both', "return params['fun'](*args)", '''
        import autodiff_mini as ad

        def under(g):
            def cosine_of_g(*xs):
                with CosineTrace(current_trace(), self.tag) as trace:
                    xs = ad.tree_map(
                        lambda x: x if isinstance(x, ad.Zero)
                        else CosineTracer(trace, x), xs)
                    return ad.tree_map(trace.value_of, g(*xs))
            return cosine_of_g
        values = list(map(self.value_of, args))
        both = {name: under(g) for name, g in params.items()}
        set_current_trace(self.parent)
        outs = primitive.bind(*values, **both)
        set_current_trace(self)
        return [CosineTracer(self, out) for out in outs]'''),
    ],
    'e06_3_order': [
        ('all of them in one tuple',
         'return rule(primals, tangents, *nondiff)',
         'return rule(primals, tangents, tuple(nondiff))'),
        ('the primals come first in any case',
         '*nondiff, primals, tangents = args',
         'primals, tangents, *nondiff = args'),
        ('the rule is what is stored', 'return rule   #',
         'return released   #'),
        ('zeros are arrays', 'released, symbolic_zeros)', 'released)'),
        ('a name does not matter', '@functools.wraps(rule)\n', '\n'),
    ],
    'e06_4_stride': [
        ('x_dot is in the slope already',
         'np.where(slope > 1.0, 1.0, slope) * x_dot',
         'np.where(slope > x_dot, x_dot, slope)'),
        ('along 1, and x is a number', 'np.ones(np.shape(x))', '1.0'),
        ('a step is as good as a direction', '(np.ones(np.shape(x)),)',
         '(x_dot * x_dot,)'),
    ],
}
