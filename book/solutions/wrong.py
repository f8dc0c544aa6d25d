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
        ('coefficients stay weak', 'np.asarray(p)', 'p'),
        ('it begins with a number',
         'np.zeros(np.shape(x), typeof(x).dtype)', '0.0'),
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
    'e07_1_letters': [
        ('operators come in the order in which they are written',
         "'c = mul a b', 'd = div c 3', 'e = sub 2 d'",
         "'c = sub 2 a', 'd = mul c b', 'e = div d 3'"),
        ('a branch is a part of the program',
         "['b = mul a a', 'c = add b 1', ",
         "['b = mul a a', 'c = add b 1', 'c = mul c a', "),
        ('what nobody uses is not written down',
         "['b = exp a', 'c = sin a', 'd = mul c 2.0']", "['b = exp a']"),
        ('a square root is an operation like any other',
         "'d = mul c 2.0'", "'d = sqrt 4.0', 'e = mul c d'"),
        ('batching is written down too',
         "['b = reduce_sum a', 'c = mul b 2']", "['b = vmap a']"),
    ],
    'e07_2_flops': [
        ('an equation is an operation', 'return results\n', 'return 1\n'),
        ('the left operand is as large as the result',
         'return results\n', 'return math.prod(operand.shape)\n'),
        ('a reduction is counted by what comes out',
         'return math.prod(operand.shape)', 'return results'),
        ('a multiplication for each term',
         'return 2 * results', 'return results'),
        ('the inner axis is the first of the right operand',
         'operand.shape[-1]', 'eqn.invars[1].aval.shape[0]'),
        ('nothing is free', 'return 0', 'return results'),
    ],
    'e07_3_lambertw': [
        ('what comes out has the type of what goes in',
         'return ShapedArray(x.shape, answer.dtype, answer.weak_type)',
         'return x'),
        ('float64, as always', 'answer.dtype, answer', 'np.dtype(float)'
         ', answer'),
        ('a number of Python stays one',
         'answer.dtype, answer.weak_type', 'answer.dtype, x.weak_type'),
        ('compute it to see',
         'ones(x, ndim=0)', 'np.ones(x.shape, x.dtype)'),
        ('the type of one element', 'ShapedArray(x.shape,',
         'ShapedArray((),'),
    ],
    'e07_4_unused': [
        ('what is an operand somewhere is used',
         '        if not needed.isdisjoint(eqn.outvars):\n',
         '        if not needed.union(*(e.invars for e in jaxpr.eqns)'
         ').isdisjoint(\n                eqn.outvars):\n'),
        ('a result is the first one',
         'needed.isdisjoint(eqn.outvars)',
         'needed.isdisjoint(eqn.outvars[:1])'),
        ('a result is needed if all are',
         'if not needed.isdisjoint(eqn.outvars)',
         'if needed.issuperset(eqn.outvars)'),
        ('from the beginning to the end',
         'needed, eqns = set(jaxpr.outvars), []\n'
         '    for eqn in reversed(jaxpr.eqns):',
         'needed, eqns = set(jaxpr.invars), []\n    for eqn in jaxpr.eqns:'),
        ('constants do no harm', '            if v in needed]',
         '            ]'),
        ('only what is returned', 'needed.update(eqn.invars)', 'pass'),
        ('in the order in which they were found', 'eqns[::-1]', 'eqns'),
        ('the old one is not needed any more', 'return Jaxpr(',
         'jaxpr.eqns[:] = eqns[::-1]\n    return Jaxpr('),
    ],
    'e08_1_inline': [
        ('the names inside are good enough',
         '[Var(v.aval) for v in eqn.outvars]', 'eqn.outvars'),
        ('every operand is a name',
         '[names.get(v, v) for v in eqn.invars]',
         '[names.get(v) or Var(v.aval) for v in eqn.invars]'),
        ('a custom function is no call',
         'if eqn.primitive.is_call:', "if eqn.primitive.name == 'call':"),
        ('what is returned has been renamed already',
         'return [names.get(v, v) for v in jaxpr.outvars]',
         'return jaxpr.outvars'),
        ('an equation may be changed',
         'eqns.append(replace(eqn, invars=operands, outvars=outs))',
         'eqn.invars[:] = operands\n'
         '            eqns.append(replace(eqn, outvars=outs))'),
    ],
    'e08_2_rule': [
        ('right behind the function', '    n = len(consts)\n',
         '    n = len(consts)\n    write_rule(jvp, types)\n'),
        ('the derivative of the function will do',
         'ys, y_dots = jvp(xs, x_dots)',
         'ys, _ = jvp(xs, x_dots)\n        y_dots = x_dots'),
        ('what is closed over is an operand of the rule',
         '*xs[n:], *moves', '*xs, *moves'),
    ],
    'e08_3_cosine': [
        ('a rule has to survive',
         'if primitive.is_call:', "if primitive.name == 'call':"),
        ('what has been opened has been done',
         "eval_cosine(eqn.params['fun'].jaxpr, [], *xs)",
         "eqn.params['fun'](*xs)"),
        ('a primitive has a result',
         'outs = out if primitive.multiple_results else [out]',
         'outs = [out]'),
        ('a program is its equations', 'elif primitive in UNARY',
         'elif False'),
    ],
    'e09_1_golf': [
        ('it is the same without brackets',
         'x_dot * (s * (1 + x * (1 - s)))', 'x_dot * s * (1 + x * (1 - s))'),
        ('a slope is a float', 'slope.astype(np.int8)', 'slope'),
        ('a slope is there or it is not',
         'slope.astype(np.int8)', '(slope != 0)'),
        ('the slope of expit', '(s * (1 + x * (1 - s)))', '(s * (1 - s))'),
        ('only the slope counts', 'return x * s,', 'return s,'),
        ('half a byte', 'slope = np.where(np.abs(x) < 1, -np.sign(x), 0)',
         'slope = -np.sign(x)'),
        ('as few bytes as possible for the value',
         'return x * s, x_dot * (s * (1 + x * (1 - s)))',
         's = ad.stop_gradient(s)\n'
         '        return x * s, x_dot * (s * (1 + x * (1 - s)))'),
    ],
    'e09_2_wait': [
        ('an addition is an addition',
         "'a': (['mul'], 0)", "'a': (['mul', 'add'], 0)"),
        ('the inner exponential is used up',
         "(['mul', 'mul'], 2),                   # the two",
         "(['mul', 'mul'], 1),                   # the two"),
        ('the sine is computed, and thrown away',
         "(['mul', 'mul', 'mul', 'add'], 3)", "(['mul', 'mul', 'add'], 2)"),
        ('the comparison is not a part of the derivative',
         "(['where', 'div'], 1)", "(['where', 'div'], 0)"),
        ('what is known is multiplied first',
         "(['mul', 'mul'], 2),                   # 1",
         "(['mul'], 1),                   # 1"),
        ('two factors, two arrays',
         "(['reduce_sum', 'mul', 'mul', 'add'], 1)",
         "(['reduce_sum', 'mul', 'mul', 'add'], 2)"),
    ],
    'e09_3_weights': [
        ('the four lines',
         '    given = zip(jaxpr.invars, args, strict=True)\n', """
    from autodiff_mini.core import TraceTag, current_trace
    from autodiff_mini.interpreters.jaxpr import eval_jaxpr
    from autodiff_mini.interpreters.partial_eval import PartialEvalTrace
    tag = TraceTag('specialise', specialise)
    with PartialEvalTrace(current_trace(), tag) as trace:
        xs = [trace.input(v.aval) if x is None else x
              for v, x in zip(jaxpr.invars, args)]
        outs = eval_jaxpr(jaxpr, jaxpr.consts, *xs)
        return trace.jaxpr(list(filter(trace.is_unknown, xs)), outs)
"""),
        ('one known operand is enough',
         'if all(type(v)', 'if any(type(v)'),
        ('a literal is no value',
         'if all(type(v) is Literal or v in known', 'if all(v in known'),
        ('keep everything that is known',
         'for v in used if v in known', 'for v in known'),
        ('a constant for each use',
         'return Jaxpr(list(consts), invars, left, jaxpr.outvars,\n'
         '                 list(consts.values()))',
         'names = [v for v in used if v in known]\n'
         '    return Jaxpr(names, invars, left, jaxpr.outvars,\n'
         '                 [known[v] for v in names])'),
        ('only equations have operands', '    used += jaxpr.outvars\n', ''),
        ('a primitive has a result',
         'outs = out if eqn.primitive.multiple_results else [out]',
         'outs = [out]'),
        ('the last ones first', 'invars = [v for v in jaxpr.invars if v not '
         'in known]', 'invars = [v for v in jaxpr.invars[::-1] if v not in '
         'known]'),
        ('do nothing, which is right as well',
         'if all(type(v) is Literal or v in known for v in eqn.invars)',
         'if False'),
    ],
    'e10_1_pair': [
        ('the first one counts',
         'give(jaxpr.outvars, cts)\n    for',
         'gathered.update(zip(jaxpr.outvars[::-1], cts[::-1]))\n    for'),
        ('what is returned twice counts double',
         'give(jaxpr.outvars, cts)\n    for',
         'give(jaxpr.outvars, [2 * ct for ct in cts])\n    for'),
        ('the last one counts', 'give(jaxpr.outvars, cts)\n    for',
         'gathered.update(zip(jaxpr.outvars, cts))\n    for'),
    ],
    'e10_2_difference': [
        ('undo it: the transpose is the inverse',
         '    zero = np.zeros_like(ct[..., :1])\n'
         '    padded = np.concatenate([zero, ct, zero], -1)\n'
         '    return padded[..., :-1] - padded[..., 1:]\n',
         '    zero = np.zeros_like(ct[..., :1])\n'
         '    return np.concatenate([zero, np.cumsum(ct, -1)], -1)\n'),
        ('a difference is a difference',
         'padded[..., :-1] - padded[..., 1:]',
         'padded[..., 1:] - padded[..., :-1]'),
        ('add in place',
         '    zero = np.zeros_like(ct[..., :1])\n'
         '    padded = np.concatenate([zero, ct, zero], -1)\n'
         '    return padded[..., :-1] - padded[..., 1:]\n',
         '    x_bar = np.zeros(x.shape, x.aval.dtype)\n'
         '    x_bar[..., 1:] += ct\n'
         '    x_bar[..., :-1] -= ct\n'
         '    return x_bar\n'),
        ('zeros are zeros', 'np.zeros_like(ct[..., :1])', 'np.zeros(1)'),
        ('a list of numbers', 'ct, zero], -1)', 'ct, zero], 0)'),
    ],
    'e10_3_lambertw': [
        ('backwards is transposed',
         "'a': {'jvp'}", "'a': {'jvp', 'transpose'}"),
        ('jacrev maps, so it needs the rule',
         "'b': {'jvp'}", "'b': {'jvp', 'vmap'}"),
        ('the batching is done when the derivative comes',
         "'c': {'jvp', 'vmap'}", "'c': {'jvp'}"),
        ('linearize writes down, so it needs types',
         "'d': {'jvp', 'abstract'}", "'d': {'jvp'}"),
        ('the second time it is transposed',
         "'e': {'jvp'}", "'e': {'jvp', 'transpose'}"),
    ],
    'e10_4_gauss_newton': [
        ('the curvature of everything',
         '    y, f_jvp = ad.linearize(f, x)\n',
         '    return ad.jvp(ad.grad(lambda x: loss(f(x))), (x,), (v,))[1]\n'
         '    y, f_jvp = ad.linearize(f, x)\n'),
        ('the loss is a square',
         '(out,) = ad.linear_transpose(f_jvp, x)(curved)',
         '(out,) = ad.linear_transpose(f_jvp, x)(f_jvp(v))'),
        ('twice is no harm',
         'ad.linear_transpose(f_jvp, x)(curved)',
         'ad.vjp(f, x)[1](curved)'),
        ('a matrix is clearer',
         '    _, curved = ad.jvp(ad.grad(loss), (y,), (f_jvp(v),))\n',
         '    curved = ad.hessian(loss)(y) @ f_jvp(v)\n'),
        ('a tuple is as good', 'return out', 'return (out,)'),
    ],
    'e11_1_shared': [
        ('the first speaks for all',
         'np.sum(x_bar, 0)', 'x_bar[0]'),
        ('a weight is shared, so is what it gets',
         'np.sum(x_bar, 0)', 'np.mean(x_bar, 0)'),
        ('along any axis', 'np.sum(x_bar, 0)', 'np.sum(x_bar, -1)'),
        ('what is not mapped does not move',
         'np.sum(x_bar, 0)', 'None'),
    ],
    'e11_2_pretend': [
        ('a value is a value', '(pretending(x), None)', '(f(x), None)'),
        ('forwards or backwards, it is the same',
         '    pretending = ad.custom_vjp(f)\n'
         '    pretending.defvjp(\n'
         '        lambda x: (pretending(x), None),    # not f(x), which does '
         'not pretend\n'
         '        lambda residuals, ct: (back(ct),))\n',
         '    pretending = ad.custom_jvp(f)\n'
         '    pretending.defjvp(\n'
         '        lambda xs, x_dots: (pretending(*xs), back(*x_dots)))\n'),
        ('one argument, one cotangent', '(back(ct),)', 'back(ct)'),
        ('round on the way back, and nothing on the way out',
         'ad.custom_vjp(f)', 'ad.custom_vjp(lambda x: x)'),
    ],
    'e11_3_lambertw': [
        ('the formula of the textbooks',
         '        return w, w\n\n    def bwd(w, ct):\n'
         '        return (ct * np.exp(-w) / (1 + w),)\n',
         '        return w, (w, x)\n\n    def bwd(residuals, ct):\n'
         '        w, x = residuals\n'
         '        return (ct * w / (x * (1 + w)),)\n'),
        ('call the function that computes it, which is right as well',
         'w = lambertw(x) ', 'w = newton(x) '),
        ('x is what is given, the rest can be found again',
         '        return w, w\n\n    def bwd(w, ct):\n',
         '        return w, x\n\n    def bwd(x, ct):\n'
         '        w = lambertw(x)\n'),
        ('what is remembered is a number',
         'return w, w', 'return w, ad.stop_gradient(w)'),
        ('remember the way back of the loop',
         '        return w, w\n\n    def bwd(w, ct):\n'
         '        return (ct * np.exp(-w) / (1 + w),)\n',
         '        return w, x\n\n    def bwd(x, ct):\n'
         '        return ad.vjp(newton, x)[1](ct)\n'),
        ('keep both, one never knows',
         '        return w, w\n\n    def bwd(w, ct):\n',
         '        return w, (w, x)\n\n    def bwd(residuals, ct):\n'
         '        w, x = residuals\n'),
        ('a slope in place of a cotangent', 'ct * np.exp(-w)', 'np.exp(-w)'),
    ],
    'e11_4_both_ways': [
        ('a value is a value',
         'return g(*primals), primals', 'return f(*primals), primals'),
        ('the transpose of the derivative',
         'return ad.linear_transpose(linear, *primals)(ct)',
         'return ad.vjp(f, *primals)[1](ct)'),
        ('there is one argument',
         'lambda *tangents: rule(primals, tangents)[1]\n'
         '        return ad.linear_transpose(linear, *primals)(ct)',
         'lambda t: rule(primals, (t,))[1]\n'
         '        return ad.linear_transpose(linear, primals[0])(ct)'),
        ('a rule for the way back is enough', '    g.defjvp(rule)\n', ''),
        ('a rule for the way out is enough',
         'g = ad.custom_vjp(f)', 'g = ad.custom_jvp(f)\n'
         '    g.defvjp = lambda fwd, bwd: None'),
        ('bwd is there when fwd is, and may use what it knows',
         'return g(*primals), primals     # not f, which has no rule\n\n'
         '    def bwd(primals, ct):\n',
         'seen.append(primals)\n'
         '        return g(*primals), None\n\n'
         '    seen = []\n\n'
         '    def bwd(residuals, ct):\n'
         '        primals = seen[-1]\n'),
        ('what moves is a number',
         'return g(*primals), primals ',
         'return g(*primals), ad.stop_gradient(primals) '),
    ],
    'e12_1_last': [
        ('fwd is where a word does harm', "'a': 'nobody'", "'a': 'fwd'"),
        ('a wrong rule is an error', "'b': 6.0", "'b': 'fwd'"),
        ('residuals are missed when they are needed',
         "'c': 'fwd'", "'c': 'bwd'"),
        ('forward mode is refused at once', "'d': 'fwd'", "'d': 'nobody'"),
        ('one was asked for, one is there', "'e': 'bwd'", "'e': 3.0"),
        ('the truth comes out', "'f': 0.0", "'f': 2.0"),
        ('what nobody asks for is not looked at', "'g': 'bwd'", "'g': 3.0"),
        ('the cotangent of a unit is missing', "'h': 'nobody'",
         "'h': 'bwd'"),
    ],
    'e12_2_teacher': [
        ('one step back is enough',
         'ct + slope(u), ct)', 'ct + slope(ct), ct)'),
        ('the cotangent is the beginning',
         'ct + slope(u), ct)', 'slope(u), ct)'),
        ('1 - s has a minus in it',
         'ct + slope(u), ct)', 'ct - slope(u), ct)'),
        ('the first half is for the parameters, the second for nothing',
         'lambda u: pullback(u)[1]', 'lambda u: 0 * u'),
        ('where they began has its weight',
         'params_bar, _ = pullback(u)\n    return params_bar, None',
         'return pullback(u)'),
    ],
    'e12_3_on_the_spot': [
        ('it is all there', '_, rule = fun(*primals)     # its output has no '
         'rule\n        return f(*primals), rule(*tangents)',
         'y, rule = fun(*primals)\n        return y, rule(*tangents)'),
        ('its brother can do it', '    @ad.custom_jvp\n',
         '    return ad.custom_gradient(fun)\n\n    @ad.custom_jvp\n'),
        ('a name does not matter', '    @functools.wraps(fun)\n', ''),
        ('one argument', 'rule(*tangents)', 'rule(tangents)'),
        ('the derivative of the function will do',
         'return f(*primals), rule(*tangents)',
         'return ad.jvp(lambda *xs: fun(*xs)[0], primals, tangents)'),
        ('the slope of a number',
         '_, rule = fun(*primals) ',
         '_, rule = fun(*ad.stop_gradient(primals)) '),
        ('it is written down, to be safe', 'rule(*tangents)',
         'ad.linearize(rule, *tangents)[1](*tangents)'),
    ],
    'e12_4_golf': [
        ('keep what moves',
         'w.value if x.perturbed else None\n'
         '        kept_x = x.value if w.perturbed else None',
         'w.value if w.perturbed else None\n'
         '        kept_x = x.value if x.perturbed else None'),
        ('a number says more than a boolean',
         '(kept_w, kept_x, y > 0)', '(kept_w, kept_x, (y > 0) * 1.0)'),
        ('one never knows, for x', 'x.value if w.perturbed else None',
         'x.value'),
        ('one never knows, for w', 'w.value if x.perturbed else None',
         'w.value'),
        ('a product has two factors, and no gate',
         '        ct = np.where(passes, ct, 0.0)\n', ''),
        ('what is remembered is a number',
         'return y, (kept_w,', 'kept_w, kept_x = ad.stop_gradient((kept_w, '
         'kept_x))\n        return y, (kept_w,'),
        ('without a rule nothing is kept in vain, perhaps',
         'symbolic_zeros=True)\n    return f',
         'symbolic_zeros=True)\n    return layer'),
        ('one bias, one cotangent', 'np.sum(ct, 0)', 'np.sum(ct)'),
    ],
    'e13_1_lambertw': [
        ('the same function', '"newton", newton)', '"newton", implementation)'
         ),
        ('compute it now', '"newton", newton)}({x})',
         '"newton", newton(np.float64(2.0)))}'),
        ('a first guess is good enough',
         '{emitter.constant("newton", newton)}({x})', 'np.log1p({x})'),
        ('of an array, one by one',
         '{emitter.constant("newton", newton)}({x})',
         '{emitter.constant("newton", np.vectorize(newton))}({x})'),
        ('whose operand is always called a', 'newton)}({x})',
         'newton)}(a)'),
        ('twice is more exact', '("newton", newton)}({x})',
         '("newton", lambda x: newton(x) + 0 * newton(x))}({x})'),
        ('and a rest, to be safe', '{emitter.constant("newton", newton)}',
         '{emitter.constant("newton", lambda x: newton(x) + 1e-6)}'),
    ],
    'e14_1_again': [
        ('another value is another program', "'a': 1", "'a': 3"),
        ('a number is a number', "'b': 4", "'b': 1"),
        ('zeros are something else than ones', "'c': 3", "'c': 4"),
        ('a dictionary has an order', "'d': 4", "'d': 5"),
        ('the function is the same', "'e': 3", "'e': 1"),
        ('a batch has another shape', "'g': 1", "'g': 2"),
    ],
    'e15_1_log_diff': [
        ('the formula is the definition',
         '        return x + np.log(-np.expm1(y - x))\n',
         '        return np.log(np.exp(x) - np.exp(y))\n'),
        ('an exponential minus one',
         '        return x + np.log(-np.expm1(y - x))\n',
         '        return x + np.log(1 - np.exp(y - x))\n'),
        ('the type of the first', 'ad.eval_shape(implementation, x, y)',
         'x'),
        ('what moves is an array', 'map(ad.instantiate_zeros, tangents)',
         'tangents'),
        ('a difference moves by a difference',
         'y_dot = np.exp(y - x) * y_dot', 'y_dot = y_dot * 1.0'),
        ('the formula of the textbooks',
         'return p.bind(x, y), (y_dot - x_dot) / minus',
         'return p.bind(x, y), -x_dot / minus - y_dot / np.expm1(x - y)'),
        ('a slope is a number', 'minus = np.expm1(y - x) ',
         'minus = ad.stop_gradient(np.expm1(y - x)) '),
        ('element by element', 'return p.bind(*lengthened), 0',
         'return p.bind(*args), 0'),
        ('both are mapped, or none',
         'if dim == 0 else x for', 'if dims == (0, 0) else x for'),
        ('what is needed is in the implementation',
         "return f'{x} + np.log(-np.expm1({y} - {x}))'",
         "return emitter.constant('impl', implementation) + f'({x}, {y})'"),
        ('the other way round', '({y} - {x}))', '({x} - {y}))'),
        ('the rule of x', '(y_dot - x_dot) / minus', '-x_dot / minus'),
    ],
    'e15_2_gauss': [
        ('the first of the two, then', '    if not isinstance(x_dot, ad.Zero)'
         ':\n        y_dot = y_dot + slope * x_dot\n    if',
         '    if isinstance(width_dot, ad.Zero):\n'
         '        y_dot = y_dot + slope * x_dot\n    if'),
        ('what was there is replaced',
         'y_dot = y_dot - slope * x / width * width_dot',
         'y_dot = -slope * x / width * width_dot'),
        ('a minus is a plus', 'y_dot - slope * x', 'y_dot + slope * x'),
        ('the width stands outside', 'slope * x / width * width_dot',
         'slope * width_dot'),
    ],
    'e15_3_tutorial': [
        ('a keyword is an operand', 'p.bind(x, factor)',
         'p.bind(x, factor=factor)'),
        ('a zero is a number', 'y_dot = 0.0', 'y_dot = factor_dot'),
        ('what was there is replaced', 'y_dot = y_dot + x * factor_dot',
         'y_dot = x * factor_dot'),
        ('the factor has a cotangent for each element',
         'np.sum(y_bar * x)', 'y_bar * x'),
    ],
    'e16_1_accumulate': [
        ('begin with nothing', 'start = ad.tree_map(lambda x: x[first], xs)',
         'start = ad.tree_map(lambda x: 0 * x[first], xs)'),
        ('all of them are in the loop',
         'ad.tree_map(lambda x: x[others], xs)', 'xs'),
        ('backwards is turned round',
         '    _, rest = ad.scan(step, start, ad.tree_map(lambda x: x[others],'
         ' xs),\n                      reverse=reverse)',
         '    _, rest = ad.scan(step, start,\n'
         '                      ad.tree_map(lambda x: x[others], xs))'),
        ('put it in front', '[ys, x] if reverse else [x, ys]', '[x, ys]'),
        ('the new one comes first', 'f(so_far, x)', 'f(x, so_far)'),
        ('a list is a loop',
         '    _, rest = ad.scan(step, start, ad.tree_map(lambda x: x[others],'
         ' xs),\n                      reverse=reverse)',
         '    ys, xs = [], ad.tree_map(lambda x: x[others], xs)\n'
         '    so_far = start\n'
         '    for i in range(len(ad.tree_leaves(xs)[0])):\n'
         '        i = -1 - i if reverse else i\n'
         '        so_far, _ = step(so_far, ad.tree_map(lambda x: x[i], xs))\n'
         '        ys.append(so_far)\n'
         '    rest = ad.tree_map(lambda *ys: np.stack(ys), *ys[::-1 if '
         'reverse else 1])'),
        ('the first element does not move',
         '    start = ad.tree_map(lambda x: x[first], xs)\n',
         '    start = ad.stop_gradient(ad.tree_map(lambda x: x[first], xs))'
         '\n'),
        ('one axis for all', 'np.expand_dims(x, 0)', 'np.reshape(x, (1,))'),
    ],
    'e16_2_shapes': [
        ('what comes in is kept', "'a': []", "'a': [(5, 3)]"),
        ('one cosine', "'b': [(5, 3)]", "'b': [(3,)]"),
        ('a product for each step', "'c': [(3,), (5, 3)]",
         "'c': [(5, 3), (5, 3)]"),
        ('the sine for each step', "'d': [(3,), (3,), (5, 3)]",
         "'d': [(5, 3), (5, 3), (5, 3)]"),
        ('a matrix for each step', "'e': [(3, 3), (5, 3), (5, 3)]",
         "'e': [(5, 3, 3), (5, 3), (5, 3)]"),
        ('the state is found again', "'e': [(3, 3), (5, 3), (5, 3)]",
         "'e': [(3, 3), (5, 3)]"),
    ],
    'e17_1_guard': [
        ('a root of something negative', "'a': 0.0", "'a': -1.0"),
        ('where the branches meet', "'b': 710.0", "'b': 50.0"),
        ('where the other branch is chosen', "'b': 710.0", "'b': 20.0"),
        ('something negative, again', "'c': 0.0", "'c': -1.0"),
    ],
    'e18_1_together': [
        ('what happens to those that are done does not matter',
         'np.where(lengthen(goes_on, np.ndim(x)), y, x)', 'y'),
        ('shapes are aligned by NumPy',
         'lengthen(goes_on, np.ndim(x))', 'goes_on'),
        ('the first that is done ends the loop',
         '1.0, 0.0)) > 0.0', '0.0, -1.0)) > -1.0'),
        ('more than zero, of floats, is more than one',
         '> 0.0', '> 1.0'),
    ],
    'e19_1_pieces': [
        ('ten times ten',
         'return greedy(min(limits, key=lambda n: len(greedy(n)) + n))',
         'return [10] * (len(costs) // 10) + [len(costs) % 10] * bool('
         'len(costs) % 10)'),
        ('as few pieces as possible', 'len(greedy(n)) + n)', 'len(greedy(n)))'
         ),
        ('as small as possible', 'len(greedy(n)) + n)', 'n)'),
        ('the square root of the whole',
         'greedy(min(limits, key=lambda n: len(greedy(n)) + n))',
         'greedy(round(sum(costs) ** 0.5))'),
        ('there is always a layer', 'max(costs, default=0)', 'max(costs)'),
        ('one more is no harm', 'if cost > room:', 'if cost >= room:'),
        ('a piece is a layer', 'pieces[-1] += 1', 'pieces[-1] = 1'),
    ],
    'e19_2_reversible': [
        ('let the library do it', '    @ad.custom_vjp\n    def run(',
         '    def run('),
        ('forgetting is what checkpoint is for',
         '    run.defvjp(fwd, bwd)\n    return run\n',
         '    run.defvjp(fwd, bwd)\n'
         '    return ad.checkpoint(run.fun)\n'),
        ('keep where it began', 'return pair, (ws, pair)',
         'return pair, (ws, pair, a, b)'),
        ('what is added is added back', '(c - y, b)', '(c + y, b)'),
        ('each has its own', 'b_bar + from_f', 'b_bar'),
        ('from the first to the last',
         'back, (pair, cts), ws, reverse=True)', 'back, (pair, cts), ws)'),
        ('a pair is a pair', '((c - y, b), (c_bar, b_bar + from_f))',
         '((c - y, b), (b_bar + from_f, c_bar))'),
        ('there is a step at least',
         'return ad.scan(step, (a, b), ws)[0]',
         'return ad.scan(step, (b, a + 0 * b), ws)[0][::-1]'),
        ('what is remembered is a number', 'return pair, (ws, pair)',
         'return pair, (ws, ad.stop_gradient(pair))'),
    ],
    'e20_1_log1mexp': [
        ('one formula, the one for small numbers',
         'np.where(x < np.log(2), np.log(-np.expm1(-x)),\n'
         '                        np.log1p(-np.exp(-x)))',
         'np.log(-np.expm1(-x))'),
        ('one formula, the one for large numbers',
         'np.where(x < np.log(2), np.log(-np.expm1(-x)),\n'
         '                        np.log1p(-np.exp(-x)))',
         'np.log1p(-np.exp(-x))'),
        ('the value is right, and so will be its derivative',
         'return log1mexp\n', 'return log1mexp.fun\n'),
        ('multiplied by exp(x), it is simpler',
         'x_dot * np.exp(-x) / -np.expm1(-x)', 'x_dot / np.expm1(x)'),
        ('what is subtracted is small', '/ -np.expm1(-x))',
         '/ (1 - np.exp(-x)))'),
        ('the value is known already',
         'x_dot * np.exp(-x) / -np.expm1(-x)', 'x_dot * np.exp(-x - y)'),
    ],
    'e20_2_together': [
        ('each array for itself',
         'ad.tree_map(\n            lambda ct: (ct * factor).astype(ct.dtype),'
         ' cts),)',
         'ad.tree_map(lambda ct: (ct * limit / np.maximum(np.sqrt(np.sum('
         'ct * ct)), limit)).astype(ct.dtype), cts),)'),
        ('each number for itself',
         '(ct * factor).astype(ct.dtype)',
         'np.clip(ct, -limit, limit)'),
        ('to the limit, always', 'np.maximum(np.sqrt(squares), limit)',
         'np.sqrt(squares)'),
        ('dtypes take care of themselves',
         '(ct * factor).astype(ct.dtype)', 'ct * factor'),
        ('the values are clipped, too', 'return at_most_together(tree, limit)'
         ', None', 'return ad.tree_map(lambda x: np.minimum(x, limit), tree),'
         ' None'),
        ('the square is long enough', 'np.sqrt(squares)', 'squares'),
        ('clipped on the way out',
         '        return tree\n',
         '        return ad.tree_map(lambda x: x * (limit / np.maximum(np.sqrt('
         'sum(np.sum(y * y) for y in ad.tree_leaves(tree))), limit)), tree)'
         '\n'),
    ],
    'e20_3_cold_case': [
        ('a choice at the end', 'np.sqrt(np.where(squares > 0, squares, 1.0))',
         'np.sqrt(squares)'),
        ('a choice before the division', 'np.sqrt(np.where(squares > 0, '
         'squares, 1.0))',
         'np.where(squares > 0, np.sqrt(squares), 1.0)'),
        ('a little is no harm', 'np.sqrt(np.where(squares > 0, squares, 1.0))',
         'np.sqrt(squares + 1e-12)'),
        ('lengths do not matter', 'np.sqrt(np.where(squares > 0, squares, '
         '1.0))', 'ad.stop_gradient(np.sqrt(squares + (squares == 0)))'),
        ('one choice is enough', 'np.where(squares > 0, rows / length, 0.0)',
         'rows / length'),
    ],
    'e21_1_lambertw': [
        ('newton is a function, and has a derivative',
         '        return ad.custom_root(lambda w: g(w) - x, guess, newton,\n'
         '                              lambda slope, y: y / slope(1.0))',
         '        return newton(lambda w: g(w) - x, guess)'),
        ('times the slope', 'y / slope(1.0)', 'y * slope(1.0)'),
        ('the slope of g', 'y / slope(1.0)', 'y / ad.grad(g)(guess)'),
        ('a root of g', 'lambda w: g(w) - x', 'lambda w: g(w)'),
        ('the rule that everybody knows',
         '        return ad.custom_root(lambda w: g(w) - x, guess, newton,\n'
         '                              lambda slope, y: y / slope(1.0))',
         '        @ad.custom_jvp\n'
         '        def solve(x):\n'
         '            return newton(lambda w: g(w) - x, guess)\n'
         '        solve.defjvps(lambda t, w, x: t / ad.grad(g)(w))\n'
         '        return solve(x)'),
    ],
    'e21_2_path': [
        ('all at once',
         '    return ad.scan(follow, x_guess, loads)[1]',
         '    return ad.vmap(lambda a: ad.root(f, a, x_guess))(loads)'),
        ('always from the beginning',
         '        x = ad.root(f, a, x)\n        return x, x',
         '        return x, ad.root(f, a, x)'),
        ('one step is enough',
         'ad.root(f, a, x)',
         'ad.tree_map(lambda x, y: x - y, x, ad.tree_map('
         'lambda y: 0.5 * y, f(a, x)))'),
        ('what was carried is put out', '        x = ad.root(f, a, x)\n'
         '        return x, x', '        return ad.root(f, a, x), x'),
        ('the loads do not move', 'x_guess, loads', 'x_guess, '
         'ad.stop_gradient(loads)'),
        ('backwards', 'x_guess, loads)', 'x_guess, loads, reverse=True)'),
    ],
    'e21_3_argmin': [
        ('by the first argument', 'ad.grad(cost, 1)', 'ad.grad(cost)'),
        ('where the cost is zero', 'ad.root(ad.grad(cost, 1), a, x_guess)',
         'ad.root(lambda a, x: ad.tree_map(lambda _: cost(a, x), x), a, '
         'x_guess)'),
        ('downhill, until it is level',
         'return ad.root(ad.grad(cost, 1), a, x_guess)',
         'return ad.fixed_point(lambda a, x: ad.tree_map(\n'
         '        lambda x, g: x - 0.05 * g, x, ad.grad(cost, 1)(a, x)),\n'
         '        a, x_guess, max_steps=99)'),
        ('a hundred times downhill',
         'return ad.root(ad.grad(cost, 1), a, x_guess)',
         'return ad.fori_loop(0, 100, lambda _, x: ad.tree_map(\n'
         '        lambda x, g: x - 0.05 * g, x, ad.grad(cost, 1)(a, x)),\n'
         '        x_guess)'),
        ('a is given, and does not move', 'ad.grad(cost, 1), a, x_guess)',
         'ad.grad(cost, 1), ad.stop_gradient(a), x_guess)'),
    ],
    'e22_1_heun': [
        ('the time stands still', 'y, f), t + h)', 'y, f), t)'),
        ('the state stands still', 'lambda y, f: y + h * f, y, f), t + h',
         'lambda y, f: y, y, f), t + h'),
        ('a step and a mean', 'g: y + h * (f + g) / 2',
         'g: y + h * (f + g)'),
        ('half a step', 'y + h * f, y, f), t + h',
         'y + h / 2 * f, y, f), t + h / 2'),
        ('the step is an array', 'return y1, ad.tree_map(lambda f, g: h * '
         '(g - f) / 2, f, g)', 'return y1, h * (g - f) / 2'),
        ('an error is no length', 'g: h * (g - f) / 2', 'g: (g - f) / 2'),
        ('Euler is good enough', 'g: y + h * (f + g) / 2', 'g: y + h * f'),
        ('no derivatives', '    f = func(y, t)\n',
         '    y = ad.stop_gradient(y)\n    f = func(y, t)\n'),
        ('look three times', '    f = func(y, t)\n',
         '    func(y, t + h / 2)\n    f = func(y, t)\n'),
    ],
    'e22_2_average': [
        ('the total', 'totals[1] / end', 'totals[1]'),
        ('a length has no sign', 'totals[1] / end', 'totals[1] / np.abs(end)'
         ),
        ('as at the beginning', 'func(y, t), value(y)',
         'func(y, t), value(y0)'),
        ('the value of the mean',
         'return func(y, t), value(y)\n\n    _, totals = ad.odeint(slope, '
         '(y0, 0.0), ad.asarray([0.0, end]))\n    return totals[1] / end',
         'return func(y, t), y\n\n    _, totals = ad.odeint(slope, '
         '(y0, 0.0 * y0), ad.asarray([0.0, end]))\n'
         '    return value(totals[1] / end)'),
        ('the mean of the ends',
         '    _, totals = ad.odeint(slope, (y0, 0.0), ad.asarray([0.0, '
         'end]))\n    return totals[1] / end',
         '    ys = ad.odeint(func, y0, ad.asarray([0.0, end]))\n'
         '    first, last = (ad.tree_map(lambda y: y[i], ys) for i in '
         '(0, 1))\n    return (value(first) + value(last)) / 2'),
        ('it begins with the value', '(y0, 0.0)', '(y0, value(y0))'),
        ('the time does not matter', 'func(y, t), value',
         'func(y, 0.0), value'),
        ('the end is no argument', '([0.0, end])',
         '([0.0, ad.stop_gradient(end)])'),
    ],
    'e22_3_lambertw': [
        ('begin at 0', '1.0,\n                     ad.asarray([np.e, x])',
         '0.0,\n                     ad.asarray([1e-9, x])'),
        ('turned round', '[np.e, x]', '[x, np.e]'),
        ('the rule without x', 'w / (x * (1 + w))', 'w / (1 + w)'),
        ('the time is not the argument', 'ad.asarray([np.e, x])',
         'ad.stop_gradient(ad.asarray([np.e, x]))'),
        ('W of e is e', ', 1.0,', ', np.e,'),
        ('only upwards', 'ad.asarray([np.e, x])',
         'ad.asarray([np.e, np.maximum(x, np.e)])'),
    ],
    'e23_1_meter': [
        ('the arguments are arrays or meters', 'function(*opened(args),',
         'function(*[x.value if isinstance(x, Meter) else x for x in args],'),
        ('options are no arrays',
         '{key: opened(x) for key, x in options.items()}', 'options'),
        ('a result is an array', 'return type(x)(map(noted, x))',
         'return x'),
        ('a scalar is a number', '(np.ndarray, np.generic)', 'np.ndarray'),
        ('a call is a call', '+ np.size(x)', '+ 1'),
        ('everything becomes a meter',
         '        if not isinstance(x, (np.ndarray, np.generic)):\n'
         '            return x\n', ''),
        ('count, and return what NumPy returns', '        return Meter(x)\n',
         '        return x\n'),
    ],
    'e23_2_shortened': [
        ('ask Dask',
         'return x / np.sqrt(np.maximum(np.sum(x * x), 1))',
         'length = np.sqrt(np.sum(x * x))\n'
         '    return x / length if length > 1 else x'),
        ('choose at the end',
         'return x / np.sqrt(np.maximum(np.sum(x * x), 1))',
         'length = np.sqrt(np.sum(x * x))\n'
         '    return np.where(length > 1, x / length, x)'),
        ('choose above the root',
         'np.sqrt(np.maximum(np.sum(x * x), 1))',
         'np.maximum(np.sqrt(np.sum(x * x)), 1)'),
        ('the scale is a constant',
         'return x / np.sqrt(np.maximum(np.sum(x * x), 1))',
         'import autodiff_mini as ad\n'
         '    return x / ad.stop_gradient(\n'
         '        np.sqrt(np.maximum(np.sum(x * x), 1)))'),
        ('each number by itself',
         'return x / np.sqrt(np.maximum(np.sum(x * x), 1))',
         'return np.clip(x, -1, 1)'),
        ('always to length 1', 'np.maximum(np.sum(x * x), 1)',
         'np.sum(x * x) + 1e-9'),
        ('the squares of all rows', 'np.sum(x * x)',
         'np.sum(np.square(np.asarray(x)))'),
    ],
    'e24_1_share': [
        ('the results are results', '[read(v) for v in jaxpr.outvars]',
         'jaxpr.outvars'),
        ('what stands there is what is read',
         'operands = [read(v) for v in eqn.invars]',
         'operands = eqn.invars'),
        ('the operation tells', '               *[exact(v.val) if type(v) is '
         'Literal else v for v in operands],\n', ''),
        ('operands may be exchanged', 'else v for v in operands],',
         'else v for v in sorted(operands, key=id)],'),
        ('parameters are details', '               *[(name, exact(x)) for '
         'name, x in eqn.params.items()])', '               )'),
        ('equal is equal', 'key = (eqn.primitive,\n               *[exact('
         'v.val) if', 'key = (eqn.primitive,\n               *[v.val if'),
        ('a literal is a variable', 'exact(v.val) if type(v) is Literal '
         'else v for', 'v for'),
        ('in place', '        operands = [read(v) for v in eqn.invars]\n',
         '        operands = eqn.invars = [read(v) for v in eqn.invars]\n'),
        ('everything has a hash', 'except TypeError:', 'except KeyError:'),
        ('the first result', 'replaced.update(zip(eqn.outvars, first, '
         'strict=True))', 'replaced[eqn.outvars[0]] = first[0]'),
        ('constants are known already',
         'return Jaxpr(jaxpr.constvars, jaxpr.invars,',
         'return Jaxpr([], jaxpr.constvars + jaxpr.invars,'),
    ],
    'e24_2_undone': [
        ('twice is twice', 'before.primitive is not eqn.primitive',
         'before.primitive is eqn.primitive is None'),
        ('transposing is its own inverse',
         '[first[i] for i in second] != [*range(len(first))]', 'False'),
        ('the same axes twice',
         '[first[i] for i in second] != [*range(len(first))]',
         'first != second'),
        ('the inverse only', '[first[i] for i in second]',
         '[first[-1 - i] for i in second]'),
        ('everything undoes itself',
         'elif eqn.primitive not in (neg_p, invert_p):', 'elif False:'),
        ('numbers only', '(neg_p, invert_p)', '(neg_p,)'),
        ('bits only', '(neg_p, invert_p)', '(invert_p,)'),
        ('a row for the difference too', '(neg_p, invert_p)',
         "(neg_p, invert_p, getattr(__import__('autodiff_mini.primitives.elementwise', "
         "fromlist=['']), 'abs_p'))"),
        ('a bool is a number', 'type(x) is Var and x.aval == out.aval',
         'type(x) is Var'),
        ('only next to each other', 'before is None or before.primitive',
         'before is None or [*made.values()][-1] is not before or '
         'before.primitive'),
        ('the one before', 'made.get(eqn.invars[0])',
         '[*made.values(), None][-2 if made else 0]'),
    ],
    'e25_1_compiler': [
        ('what is computed is a line', "['b = np.exp(a)', 'b *= const_1']",
         "['b = np.exp(a)', 'c = np.sin(a)', 'c *= const_1', 'b *= const_2']"),
        ('each line has a letter', "['b = np.exp(a)', 'b *= const_1']",
         "['b = np.exp(a)', 'c = b * const_1']"),
        ('two calls are two sums', "['b = a + a', 'b *= b']",
         "['b = a + a', 'c = a + a', 'b *= c', 'del c']"),
        ('a rule belongs to a function, whoever calls it',
         "['b = a + a', 'b *= b']", "['b = const_1 * a', 'b *= b']"),
        ('nothing of a rule is left', "'d = const_1 * b'", "'d = b + b'"),
        ('the argument is free', "'d = const_1 * b', 'np.cos(c, c)', 'd *= c',",
         "'b *= const_1', 'np.cos(c, c)', 'b *= c',"),
        ('nobody lets go', "'d *= c',\n              'del c'", "'d *= c'"),
        ('a program inside is called', "'b *= const_1', 'b += const_2'",
         "'b += const_1'"),
        ('a number stands where it is', "'b += const_2'", "'b += 1'"),
    ],
    'e25_2_places': [
        ('the caller will not mind',
         'looking = {y for y in operands if owner.get(y) == x}',
         'looking = {y for y in operands if owner.get(y, y) == x}'),
        ('the first use is the last', 'last[owner.get(x)] = i  ',
         'last.setdefault(owner.get(x), i)  '),
        ('what is returned is used once', '= len(program)',
         '= last.get(owner.get(name), 0)'),
        ('the first operand', 'for x in operands:\n            looking',
         'for x in operands[:1]:\n            looking'),
        ('the second operand', 'for x in operands:\n            looking',
         'for x in operands[1:]:\n            looking'),
        ('a view is an array',
         "owner.get(operands[0]) if operation == 'T' else name", 'name'),
        ('a view of a view is one of nobody',
         "owner.get(operands[0]) if operation == 'T' else name",
         "operands[0] if operation == 'T' else name"),
        ('nobody else is looking', 'looking == {x}', 'x in looking'),
        ('one operand is enough', 'looking == {x}',
         'looking == {x} and len({*operands}) == len(operands)'),
        ('everybody can write', 'operation in ELEMENTWISE', "operation != "
         "'T'"),
        ('what was looked at is lost', 'looking == {x}',
         "looking == {x} and all(line[1] != 'T' for line in program)"),
        ('nothing may be written', 'return into', 'return {}'),
    ],
    'e26_1_blocks': [
        ('the whole in one piece', 'max(1, block // max(1, '
         'math.prod(x.shape[1:])))', 'max(1, len(x))'),
        ('whole blocks only', 'range(0, len(x), count)',
         'range(0, len(x) // count * count, count)'),
        ('a row always fits', 'max(1, block // max(1, '
         'math.prod(x.shape[1:])))', 'block // math.prod(x.shape[1:])'),
        ('a row is the last axis', 'math.prod(x.shape[1:])',
         'x.shape[-1]'),
        ('one row at a time', 'max(1, block // max(1, '
         'math.prod(x.shape[1:])))', '1'),
        ('in the place of x', 'out = np.empty_like(x)', 'out = x'),
        ('one number for a block', 'np.max(rows, -1, keepdims=True)',
         'np.max(rows)'),
        ('the numbers are small', 'np.max(rows, -1, keepdims=True)', '0.0'),
        ('the sum of the block', 'np.sum(piece, -1, keepdims=True)',
         'np.sum(piece)'),
        ('float is float', 'np.empty_like(x)', 'np.empty(x.shape)'),
        ('exponentials first', '    for start in',
         '    np.copyto(out, x - 0.0)\n    for start in'),
        ('there is a row', 'out = np.empty_like(x)',
         'out = np.empty_like(x)\n    out[0] = 0.0'),
    ],
    'e27_1_by_hand': [
        ('before the step', 'return h, h\n', 'return h, row\n'),
        ('the first state too', 'return h, ys, np.sum',
         'h = h * 1.0 if len(xs) else ys[0]\n    return h, ys, np.sum'),
        ('the sum is in the loop', 'h @ p[\'w\'] + row)',
         'h @ p[\'w\'] + (row + p[\'b\']))'),
        ('before is before', "xs @ p['u'] + p['b'])\n",
         "xs)\n"),
        ('the output is of the step', '        return h, h\n',
         '        return h, h * (h @ p[\'v\'] == h @ p[\'v\'])[0]\n'),
        ('the cost is carried', 'h, hs = ad.scan(step, h, xs',
         '(h, _), hs = ad.scan(lambda c, x: ((step(c[0], x)[0], c[1] + 1.0), '
         'step(c[0], x)[1]), (h, 0.0), xs'),
        ('half of the squares', 'np.sum(ys * ys)', 'np.sum(ys * ys) / 2'),
        ('an output for each step', "ys = hs @ p['v']",
         "ys = np.stack([h @ p['v'] for h in hs])"),
    ],
}
