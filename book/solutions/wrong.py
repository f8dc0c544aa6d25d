"""Plausible wrong solutions: what a reader thought, and wrote.

For each exercise, (the thought, what the solution says, what they wrote).
Each of its tests must fail for at least one of them.
"""

WRONG = {
    'e01_1_door': [
        ('every * in the source is bound',
         "'a': ['multiply']", "'a': ['multiply', 'multiply']"),
        ('numbers are multiplied first, wherever they are',
         "'b': ['multiply', 'multiply']", "'b': ['multiply']"),
        ('every call of NumPy is bound',
         "['multiply', 'exp', 'add']", "['exp', 'multiply', 'exp', 'add']"),
        ('three numbers need two additions',
         "'d': ['add', 'add', 'add']", "'d': ['add', 'add']"),
    ],
    'e01_2_polyval': [
        ('lowest power first', 'asarray(p):', 'asarray(p)[::-1]:'),
        ('coefficients stay Python numbers', 'np.asarray(p)', 'p'),
        ('it starts with a number',
         'np.zeros(np.shape(x), typeof(x).dtype)', '0.0'),
    ],
    'e01_3_depth': [
        ('every operation is counted',
         '1 + max(depths)', '1 + sum(depths)'),
        ('the first operand is the deepest', '1 + max(depths)',
         '1 + depths[0]'),
        ('every tracer is ours', '[x.val if self.owns(x) else x for x in args]'
         '\n        depths = [x.depth if self.owns(x) else 0 for x in args]',
         "[getattr(x, 'val', x) for x in args]"
         "\n        depths = [getattr(x, 'depth', 0) for x in args]"),
        ('the parameters are lost', 'bind(*vals, **params)', 'impl(*vals)'),
        ('the depth is enough', 'self.box(val, 1 + max(depths))',
         'self.box(vals[0], 1 + max(depths))'),
        ('an input is a step', '1 + max(depths)', '2 + max(depths)'),
        ('a constant is an input one step up', 'if self.owns(x) else 0 for',
         'if self.owns(x) else 1 for'),
        ('a result is plain', 'self.box(val, 1 + max(depths))', 'val'),
    ],
    'e01_4_lambertw': [
        ('a few steps will do', 'range(20)', 'range(2)'),
        ('start at the same number for all',
         'np.log1p(x)', 'np.float64(1.0)'),
        ('a plain iteration', 'w - (w - x * np.exp(-w)) / (1 + w)',
         'x * np.exp(-w)'),
        ('every step is a primitive', 'return lambertw_p.bind(x)',
         'return implementation(x)'),
    ],
    'e02_1_div': [
        ('the first small number that comes to mind',
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
    'e02_3_confused': [
        ('one tag that is known by name', 'tag=None', 'tag=__name__'),
        ('one tag for each function', 'tag or object()) as',
         'tag or slope) as'),
    ],
    'e02_4_plain': [
        ('a tangent of zeros is None',
         "{'choice', 'product with zero', 'length', 'difference'}",
         "{'choice'}"),
        ('every value computed from x is a tracer',
         "{'choice', ", "{'comparison', 'mask', 'constant', 'shape', "
         "'choice', "),
        ('one branch of the choice is constant', "'choice', ", ''),
    ],
    'e03_1_shapes': [
        ('the function sees the batch axis',
         "'a': [(5,), (5,), (3, 5)]", "'a': [(3, 5), (3, 5), (3, 5)]"),
        ('all values are mapped',
         "'b': [(5,), (5,), (3, 5)]", "'b': [(5,), (), (3, 5)]"),
        ('the batch comes after the broadcast axes',
         '(3, 2, 5)', '(2, 3, 5)'),
        ('the first argument is in front', '(4, 3)]', '(3, 4)]'),
    ],
    'e03_2_running': [
        ('the batch is hidden from a rule', 'axis=axis + 1', 'axis=axis'),
        ('the last axis is never the batch', 'axis=axis + 1', 'axis=-1'),
        ('the first axis that is not the batch', 'axis=axis + 1', 'axis=1'),
        ('step over the batch from behind',
         'axis=axis + 1', 'axis=axis - 1'),
    ],
    'e03_3_lambertw': [
        ('the batch axis is the last one',
         'lambertw_p.bind(x)\n\n\nvmap',
         'implementation(x)[..., None]\n\n\nvmap'),
        ('one after the other', 'lambertw_p.bind(x)\n\n\nvmap',
         'np.stack([lambertw_p.bind(row) for row in x])\n\n\nvmap'),
        ('compute it here', 'lambertw_p.bind(x)\n\n\nvmap',
         'implementation(x)\n\n\nvmap'),
    ],
    'e03_4_loop': [
        ('a function that branches',
         'lambda x: x + rng.normal()', 'lambda x: x if x > 0 else 0 * x'),
        ('two functions that agree', 'lambda x: x + rng.normal()', 'np.sin'),
        ('dice without a seed', 'default_rng(seed=0)', 'default_rng()'),
    ],
    'e03_5_counter': [
        ('every answer to a question is final', 'return self.box(val)',
         'return val'),
        ('an input is an operation', 'total = 0', 'total = 1'),
        ('only an operation on our own boxes counts', 'self.total += 1',
         'self.total += any(map(self.owns, args))'),
        ('the class keeps the sum', 'self.total += 1',
         'CountTrace.total += 1'),
        ('the parameters are lost', 'bind(*vals, **params)', 'bind(*vals)'),
        ('every box is ours', '[x.val if self.owns(x) else x for x in args]',
         "[getattr(x, 'val', x) for x in args]"),
        ('the trace stays in charge',
         'with self.parent:\n            val = primitive.bind(*vals, '
         '**params)', 'val = primitive.bind(*vals, **params)'),
        ('one count for each operand', 'self.total += 1',
         'self.total += len(args)'),
        ('only the last operation of a function is new', 'self.total += 1',
         'self.total = 1'),
    ],
    'e04_1_dye': [
        ('it never works', "'a': 3", "'a': 2"),
        ('any vmap removes the rule', "'b': 3", "'b': 2"),
        ('the rule is safe', "'c': 2", "'c': 3"),
        ('an inner vmap removes the rule', "'d': 3", "'d': 2"),
        ('the outer vmap does not matter, so the rule is safe',
         "'e': 2", "'e': 3"),
    ],
    'e04_2_pair': [
        ('batch what is inside',
         'custom(vmap(f), vmap(rule))(*vals)', 'vmap(f)(*vals)'),
        ('a rule is about tangents, and they are arrays anyway',
         'custom(vmap(f), vmap(rule))', 'custom(vmap(f), rule)'),
        ('NumPy takes arrays anyway',
         'custom(vmap(f), vmap(rule))', 'primitive.bind'),
    ],
    'e04_3_names': [
        ('a longer name', 'key = primitive', 'key = f.__qualname__'),
        ('its code', 'key = primitive', 'key = f.__code__'),
        ('the function itself', 'key = primitive', 'key = f'),
    ],
    'e05_1_lambertw': [
        ('the formula of the textbooks', 'np.exp(-w) / (1 + w) * x_dot',
         'w / (x * (1 + w)) * x_dot'),
        ('differentiate the iteration, which is right as well',
         'w, np.exp(-w) / (1 + w) * x_dot',
         'ad.jvp(lambertw.fun, primals, tangents)'),
        ('only the tangent', 'return w, np.exp', 'return np.exp'),
    ],
    'e05_2_cosine': [
        ('leave the call shut', "return params['fun'](*args)", '''
        with self.parent:
            return primitive.bind(*map(self.value_of, args), **params)'''),
        ('transform both', "return params['fun'](*args)", '''
        from autodiff_mini.draft.trees import tree_map

        def under(g):
            def cosine_of_g(*xs):
                with CosineTrace(current_trace(), self.tag) as trace:
                    xs = tree_map(
                        lambda x: Tracer(trace, typeof(x), value=x), xs)
                    return tree_map(trace.value_of, g(*xs))
            return cosine_of_g
        values = list(map(self.value_of, args))
        both = {name: under(g) for name, g in params.items()}
        with self.parent:
            y = primitive.bind(*values, **both)
        return Tracer(self, typeof(y), value=y)'''),
    ],
    'e06_1_runs': [
        ('the rule runs the function again', "'a': (1, 0)", "'a': (1, 1)"),
        ('a derivative needs the value as well',
         "'b': (1, 1)", "'b': (2, 1)"),
        ('a rule runs once', "'c': (1, 3)", "'c': (1, 1)"),
        ('once for each element', "'d': (1, 1)", "'d': (5, 5)"),
        ('each call has a rule', "'e': (2, 1)", "'e': (2, 2)"),
    ],
    'e06_2_stride': [
        ('x_dot is in the slope already',
         'np.where(slope > 1.0, 1.0, slope) * x_dot',
         'np.where(slope > x_dot, x_dot, slope)'),
        ('along 1, and x is a number', 'np.ones(np.shape(x))', '1.0'),
        ('a step is as good as a direction', '(np.ones(np.shape(x)),)',
         '(x_dot * x_dot,)'),
    ],
    'e07_1_letters': [
        ('operators are recorded in the order in which they are written',
         "'c = multiply(a, b)', 'd = divide(c, 3)', 'e = subtract(2, d)'",
         "'c = subtract(2, a)', 'd = multiply(c, b)', 'e = divide(d, 3)'"),
        ('a branch is part of the program',
         "['b = multiply(a, a)', 'c = add(b, 1)', ",
         "['b = multiply(a, a)', 'c = add(b, 1)', 'c = multiply(c, a)', "),
        ('unused results are not recorded',
         "['b = exp(a)', 'c = sin(a)', 'd = multiply(c, 2.0)']",
         "['b = exp(a)']"),
        ('a square root is an operation like any other',
         "'d = multiply(c, 2.0)'", "'d = sqrt(4.0)', 'e = multiply(c, d)'"),
        ('the axis is the one in the function',
         "'c = sum(b, axis=(1,))'", "'c = sum(b, axis=(0,))'"),
    ],
    'e07_2_flops': [
        ('an equation is an operation',
         'math.prod(typeof(counted).shape)', '1'),
        ('a sum costs one for each result',
         'eqn.invars if summed else eqn.outvars', 'eqn.outvars'),
        ('the first operand is as large as the result',
         'eqn.invars if summed else eqn.outvars', 'eqn.invars[:1]'),
        ('no operation is free', 'return 0', 'pass'),
        ('a call is an operation',
         "return flops(eqn.params['fun'])", 'pass'),
        ('a call is free', "return flops(eqn.params['fun'])", 'return 0'),
    ],
    'e07_3_lambertw': [
        ('the result has the type of the operand',
         'return ShapedArray(x.shape, np.result_type(answer))', 'return x'),
        ('float64, as always', 'np.result_type(answer)', 'np.dtype(float)'),
        ('compute it to see', 'np.ones((), x.dtype)',
         'np.ones(x.shape, x.dtype)'),
        ('the type of one element', 'ShapedArray(x.shape,',
         'ShapedArray((),'),
        ('half as many bits', 'np.result_type(answer)',
         "np.dtype('float16')"),
    ],
    'e07_4_unused': [
        ('an operand of any equation is used',
         '        if not needed.isdisjoint(tree_leaves(eqn.outvars)):\n',
         '        if not needed.union(v for e in jaxpr.eqns for v in e.invars'
         '\n                            if type(v) is Var).isdisjoint(\n'
         '                                tree_leaves(eqn.outvars)):\n'),
        ('a result is the first one',
         'isdisjoint(tree_leaves(eqn.outvars))',
         'isdisjoint(tree_leaves(eqn.outvars)[:1])'),
        ('an equation is needed if all its results are',
         'if not needed.isdisjoint(tree_leaves(eqn.outvars))',
         'if needed.issuperset(tree_leaves(eqn.outvars))'),
        ('from the first to the last',
         'in reversed(jaxpr.eqns)', 'in jaxpr.eqns'),
        ('each operand can be an element of a set',
         'v for v in eqn.invars if type(v) is Var', 'eqn.invars'),
        ('every output is a variable',
         '{v for v in jaxpr.outvars if type(v) is Var}',
         'set(map(vars, jaxpr.outvars))'),
        ('each argument is used',
         'Jaxpr(jaxpr.invars, ',
         'Jaxpr([v for v in jaxpr.invars if v in needed], '),
    ],
    'e08_1_inline': [
        ('the names inside are good enough',
         'tree_map(lambda v: Var(v.aval), eqn.outvars)', 'eqn.outvars'),
        ('every operand is a variable of the new program',
         '[env.get(v, v) if type(v) is Var else v for v in variables]',
         '[env[v] if type(v) is Var else v for v in variables]'),
        ('a custom function is not a call', 'if eqn.primitive.is_call:',
         "if eqn.primitive.name == 'call':"),
        ('the outputs have been renamed already',
         'return renamed(jaxpr.outvars)', 'return jaxpr.outvars'),
        ('one level is enough',
         'spill(inner, dict(zip(inner.invars, operands)), eqns)',
         'spill(inner, dict(zip(inner.invars, operands)), [])'),
    ],
    'e08_2_rule': [
        ('right after the function', '\n        def recorded_rule(',
         "\n        record_rule(params['rule'], args)\n"
         '\n        def recorded_rule('),
        ('the tangent of the output is the tangent of the input',
         'return halves(rule(*xs, *x_dots))',
         'return halves(rule(*xs, *x_dots))[0], list(x_dots)'),
    ],
    'e08_3_cosine': [
        ('a rule has to survive', 'if eqn.primitive.is_call:',
         "if eqn.primitive.name == 'call':"),
        ('the function in a call is done',
         "eval_cosine(eqn.params['fun'], *xs)", "eqn.params['fun'](*xs)"),
        ('every equation has one result',
         'zip(tree_leaves(eqn.outvars), tree_leaves(out))',
         '[(eqn.outvars, out)] if type(eqn.outvars) is Var else []'),
        ('a program is its equations',
         'elif eqn.primitive in UNARY', 'elif False'),
        ('parameters can be left out', '(*xs, **eqn.params)', '(*xs)'),
    ],
    'e09_1_golf': [
        ('it is the same without parentheses',
         'x_dot * (s * (1 + x * (1 - s)))', 'x_dot * s * (1 + x * (1 - s))'),
        ('a slope is a float', 'side, np.int8(0)', 'side, 0.0'),
        ('a slope is there or it is not', 'x_dot * slope',
         'x_dot * (slope != 0)'),
        ('the slope of expit', '(s * (1 + x * (1 - s)))', '(s * (1 - s))'),
        ('the slope is all that counts', 'return x * s,', 'return s,'),
        ('the roof goes on', '< 1, side, np.int8(0))', '< 9, side, side)'),
        ('a known slope is a number', 'slope = np.where(np.maximum(x, -x) < 1',
         'slope = np.where(float(np.max(x)) < 1'),
    ],
    'e09_2_wait': [
        ('an addition is an addition',
         "'a': (['multiply'], 0)", "'a': (['multiply', 'add'], 0)"),
        ('the inner exponential is used up',
         "(['multiply', 'multiply'], 2),     # the two",
         "(['multiply', 'multiply'], 1),     # the two"),
        ('the sine is not needed again',
         "(['multiply', 'multiply', 'multiply', 'add'], 3)",
         "(['multiply', 'multiply', 'add'], 2)"),
        ('the comparison is not part of the derivative',
         "(['where', 'divide'], 1)", "(['where', 'divide'], 0)"),
        ('known factors are multiplied first',
         "(['multiply', 'multiply'], 2),     # 1",
         "(['multiply'], 1),     # 1"),
        ('two factors, two arrays',
         "(['sum', 'multiply', 'multiply', 'add'], 1)",
         "(['sum', 'multiply', 'multiply', 'add'], 2)"),
    ],
    'e09_3_weights': [
        ('all arguments are unknown',
         'trace.new(v) if x is None else x', 'trace.new(v)'),
        ('an unknown argument is a zero',
         'trace.new(v) if x is None else x',
         '0.0 if x is None else x'),
        ('the program is recorded', 'with PartialEvalTrace(',
         'from autodiff_mini.draft.jaxpr import JaxprTrace\n'
         '    with JaxprTrace('),
        ('calls are opened', 'with PartialEvalTrace(', """class Opening(PartialEvalTrace):
        def process_primitive(self, primitive, args, params):
            if primitive.is_call:
                return params['fun'](*args)
            return super().process_primitive(primitive, args, params)
    with Opening("""),
        ('the last argument comes first', 'list(filter(trace.owns, xs))',
         'list(filter(trace.owns, xs))[::-1]'),
    ],
    'e10_1_pair': [
        ('the first one counts',
         'accumulate(linear.outvars, cts)\n    for',
         'sums.update(zip(linear.outvars[::-1], cts[::-1]))\n    for'),
        ('what is returned twice counts double',
         'accumulate(linear.outvars, cts)\n    for',
         'accumulate(linear.outvars, [2 * ct for ct in cts])\n    for'),
        ('the last one counts', 'accumulate(linear.outvars, cts)\n    for',
         'sums.update(zip(linear.outvars, cts))\n    for'),
    ],
    'e10_2_difference': [
        ('a difference is a difference',
         'at(slice(1, None)) - at(slice(None, -1))',
         'at(slice(None, -1)) - at(slice(1, None))'),
        ('add in place',
         '    def at(index):\n'
         '        return scatter_p.bind(ct, index=(..., index), '
         'shape=x.aval.shape)\n'
         '    return at(slice(1, None)) - at(slice(None, -1))',
         '    x_bar = np.zeros(x.aval.shape)\n'
         '    x_bar[..., 1:] += ct\n'
         '    x_bar[..., :-1] -= ct\n'
         '    return x_bar'),
        ('a list of numbers', 'index=(..., index)', 'index=(index,)'),
    ],
    'e10_3_lambertw': [
        ('backwards is transposed',
         "'a': {'jvp'}", "'a': {'jvp', 'transpose'}"),
        ('a batch of pullbacks needs the rule for a batch',
         "'b': {'jvp'}", "'b': {'jvp', 'vmap'}"),
        ('the batching is done when the derivative comes',
         "'c': {'jvp', 'vmap'}", "'c': {'jvp'}"),
        ('what is recorded is not asked for', "'d': {'jvp'}", "'d': set()"),
        ('the second time it is transposed',
         "'e': {'jvp'}", "'e': {'jvp', 'transpose'}"),
    ],
    'e10_4_gauss_newton': [
        ('the curvature of everything',
         '    y, f_jvp = ad.linearize(f, x)\n',
         '    return ad.jvp(ad.grad(lambda x: loss(f(x))), (x,), (v,))[1]\n'
         '    y, f_jvp = ad.linearize(f, x)\n'),
        ('the loss is a square', 'pullback(curved)', 'pullback(y_dot)'),
        ('twice is no harm', 'pullback(curved)', 'ad.vjp(f, x)[1](curved)'),
        ('a matrix is clearer',
         '    _, curved = ad.jvp(ad.grad(loss), (y,), (y_dot,))\n',
         '    curved = np.sum(ad.vmap(lambda e: ad.jvp(\n'
         '        ad.grad(loss), (y,), (e,))[1])(np.eye(len(y))) * y_dot, 1)'
         '\n'),
        ('a tuple is as good', 'return x_bar', 'return (x_bar,)'),
    ],
    'e11_1_shared': [
        ('the first speaks for all', 'np.sum(w_bars, 0)', 'w_bars[0]'),
        ('a weight is shared, so is what it gets',
         'np.sum(w_bars, 0)', 'np.sum(w_bars, 0) / len(w_bars)'),
        ('along any axis', 'np.sum(w_bars, 0)', 'np.sum(w_bars, -1)'),
        ('a shared weight has no cotangent', 'np.sum(w_bars, 0)', 'None'),
    ],
    'e11_2_pretend': [
        ('a value is a value', '(pretending(x), None)', '(f(x), None)'),
        ('forwards or backwards, it is the same',
         '    pretending = ad.custom_vjp(f)\n'
         '    pretending.defvjp(\n'
         '        lambda x: (pretending(x), None),    # f(x) would not pretend'
         '\n'
         '        lambda residuals, ct: (backward(ct),))\n',
         '    pretending = ad.custom_jvp(f)\n'
         '    pretending.defjvp(lambda xs, x_dots: (\n'
         '        pretending(*xs), backward(*x_dots)))\n'),
        ('one argument, one cotangent', '(backward(ct),)', 'backward(ct)'),
        ('only the backward pass takes signs',
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
        ('the derivative of the loop',
         '        return w, w\n\n    def bwd(w, ct):\n'
         '        return (ct * np.exp(-w) / (1 + w),)\n',
         '        return w, x\n\n    def bwd(x, ct):\n'
         '        return ad.vjp(newton, x)[1](ct)\n'),
        ('keep both, to be safe',
         '        return w, w\n\n    def bwd(w, ct):\n',
         '        return w, (w, x)\n\n    def bwd(residuals, ct):\n'
         '        w, x = residuals\n'),
        ('a slope instead of a cotangent', 'ct * np.exp(-w)', 'np.exp(-w)'),
    ],
    'e13_1_again': [
        ('another value is another program', "'a': 1", "'a': 3"),
        ('a number of Python has a type of its own', "'b': 3", "'b': 4"),
        ('zeros have another type than ones', "'c': 3", "'c': 4"),
        ('a dict has no order', "'d': 5", "'d': 4"),
        ('the function is the same', "'e': 3", "'e': 1"),
        ('a batch has another shape', "'g': 1", "'g': 2"),
    ],
    'e13_2_ones': [
        ('a one is always a one',
         ' and typeof(other) == typeof(eqn.outvars):', ':'),
        ('shapes are all that counts',
         'typeof(other) == typeof(eqn.outvars)',
         'typeof(other).shape == eqn.outvars.aval.shape'),
        ('the cotangent comes first',
         'y if is_one(x) else x if is_one(y) else None',
         'y if is_one(x) else None'),
        ('a number is a number', 'np.all(x == 1)',
         'np.ndim(x) == 0 and x == 1'),
        ('one of them is a one', 'np.all(x == 1)', 'np.any(x == 1)'),
        ('any operation will do', 'if eqn.primitive is mul_p:',
         'if len(eqn.invars) == 2:'),
        ('there is nothing to remove', 'if eqn.primitive is mul_p:',
         'if False:'),
    ],
    'e14_1_zeros': [
        ('every input has a tangent',
         '        def f(*xs):\n'
         '            xs = iter(xs)\n'
         '            return jaxpr(*[next(xs) if moves else x\n'
         '                           for x, moves in zip(primals, moving)])\n'
         '        ys, linear, residuals = linearize_at(\n'
         '            f, [x for x, moves in zip(primals, moving) if moves])',
         '        ys, linear, residuals = linearize_at(jaxpr, primals)'),
        ('the first inputs have tangents',
         'return jaxpr(*[next(xs) if moves else x\n'
         '                           for x, moves in zip(primals, moving)])',
         'return jaxpr(*xs, *primals[sum(moving):])'),
        ('the other inputs are captured by the program',
         'build(trace, primals, residuals + ys)',
         'build(trace, [x for x, moves in zip(primals, moving)\n'
         '                                 if moves], residuals + ys)'),
        ('the outputs come first', 'residuals + ys', 'ys + residuals'),
        ('a zero is a tangent, too',
         '    return known, linear',
         '    import numpy as np\n'
         '    from autodiff_mini.draft.jaxpr import make_jaxpr\n'
         '    from autodiff_mini.draft.programs import linearize_jaxpr\n'
         '    known, whole = linearize_jaxpr(jaxpr)\n'
         '    n = len(known.outvars) - len(jaxpr.outvars)\n'
         '    def padded(*xs):\n'
         '        x_dots = iter(xs[n:])\n'
         '        return whole(*xs[:n], *[\n'
         '            next(x_dots) if moves else np.zeros(v.aval.shape)\n'
         '            for v, moves in zip(jaxpr.invars, moving)])\n'
         '    linear = make_jaxpr(padded)(*known.outvars[:n], *[\n'
         '        v for v, moves in zip(jaxpr.invars, moving) if moves])\n'
         '    return known, linear'),
        ('values need no rules',
         '    return known, linear',
         '    from autodiff_mini.draft.jaxpr import make_jaxpr\n'
         '    from autodiff_mini.draft.jit import compiled\n'
         '    return make_jaxpr(compiled(known))(*jaxpr.invars), linear'),
        ('tangents are computed from the primals again',
         '    return known, linear',
         '    from autodiff_mini.draft.jaxpr import make_jaxpr\n'
         '    from autodiff_mini.draft.jvp import jvp\n'
         '    n = len(jaxpr.invars)\n'
         '    def f_jvp(*args):\n'
         '        xs = args[:n]\n'
         '        def f(*ys):\n'
         '            ys = iter(ys)\n'
         '            return jaxpr(*[next(ys) if moves else x\n'
         '                           for x, moves in zip(xs, moving)])\n'
         '        return jvp(f, [x for x, moves in zip(xs, moving)\n'
         '                       if moves], list(args[n:]))[1]\n'
         '    known = make_jaxpr(lambda *xs: [*xs, *jaxpr(*xs)])(\n'
         '        *jaxpr.invars)\n'
         '    return known, make_jaxpr(f_jvp)(*jaxpr.invars, *[\n'
         '        v for v, moves in zip(jaxpr.invars, moving) if moves])'),
    ],
    'e14_2_residuals': [
        ('a factor is a residual', "'a': 0", "'a': 1"),
        ('the operand is kept', "'b': 1", "'b': 2"),
        ('one product, one residual', "'c': 2", "'c': 1"),
        ('two factors, two residuals', "'d': 1", "'d': 2"),
        ('the slope of the whole', "'e': 2", "'e': 1"),
        ('the four operations of expit', "'f': 1", "'f': 4"),
        ('one factor for each, and the quotient', "'g': 2", "'g': 3"),
        ('the same cosine', "'h': 2", "'h': 1"),
    ],
    'e14_3_curvature': [
        ('the gradient along the direction',
         'return tangent_jaxpr(stage(gradient, jaxpr.invars)[0])',
         'return tangent_jaxpr(jaxpr)'),
        ('the residuals do not depend on x',
         'return tangent_jaxpr(stage(gradient, jaxpr.invars)[0])',
         'return stage(gradient, jaxpr.invars)[0]'),
        ('at ones', 'jaxpr.invars)[0])',
         'jaxpr.invars)[0]) if False else stage(\n'
         '        lambda x, v: [0 * x + y for y in tangent_jaxpr(\n'
         '            stage(gradient, jaxpr.invars)[0])(0 * x + 1, v)],\n'
         '        jaxpr.invars * 2)[0]'),
    ],
    'e15_1_accumulate': [
        ('reverse means the rows alone',
         'return turned(ad.scan(step, init, turned(xs))[1])',
         'return ad.scan(step, init, turned(xs))[1]'),
        ('reverse means the results alone',
         'return turned(ad.scan(step, init, turned(xs))[1])',
         'return turned(ad.scan(step, init, xs)[1])'),
        ('the result before is put out',
         '        so_far = f(so_far, x)\n        return so_far, so_far',
         '        return f(so_far, x), so_far'),
        ('the row comes first', 'so_far = f(so_far, x)',
         'so_far = f(x, so_far)'),
        ('a list is a loop',
         'return turned(ad.scan(step, init, turned(xs))[1])',
         'import numpy as np\n'
         '    from autodiff_mini.draft.trees import tree_leaves\n'
         '    ys, xs = [], turned(xs)\n'
         '    for i in range(len(tree_leaves(xs)[0])):\n'
         '        init, _ = step(init, tree_map(lambda x: x[i], xs))\n'
         '        ys.append(init)\n'
         '    return turned(tree_map(lambda *ys: np.array(ys), *ys))'),
        ('an array has rows, a tree has none',
         'tree_map(lambda x: x[::-1], tree) if reverse else tree',
         'tree[::-1] if reverse else tree'),
    ],
    'e15_2_shapes': [
        ('what comes in is kept', "'a': []", "'a': [(3,)]"),
        ('the operand and the slope', "'b': [(3,)]", "'b': [(3,), (3,)]"),
        ('what never changes is not kept', "'c': [(3,), (3,)]",
         "'c': [(3,)]"),
        ('the sine is computed once', "'d': [(3,), (3,), (3,)]",
         "'d': [(3,)]"),
        ('the matrix is kept elsewhere', "'e': [(3, 3), (3,), (3,)]",
         "'e': [(3,), (3,)]"),
    ],
    'e15_3_reverse': [
        ('rows are counted from the end',
         'rows[i], carry', 'rows[-1 - step], carry'),
        ('the row of the step before',
         'rows[i], carry', 'rows[i - 1], carry'),
    ],
    'e16_1_guard': [
        ('a root of something negative', "'a': 0.0", "'a': -1.0"),
        ('where the branches meet', "'b': 710.0", "'b': 50.0"),
        ('where the first branch is chosen', "'b': 710.0", "'b': 20.0"),
        ('something negative, again', "'c': 0.0", "'c': -1.0"),
    ],
    'e16_2_together': [
        ('the values of a stopped element do not matter',
         'np.where(lengthen(continues, np.ndim(x)), y, x)', 'y'),
        ('NumPy aligns the shapes',
         'lengthen(continues, np.ndim(x))', 'continues'),
        ('the first element that stops ends the loop',
         '1.0, 0.0)) > 0.0', '0.0, -1.0)) > -1.0'),
        ('more than zero is more than one', '> 0.0', '> 1.0'),
    ],
    'e17_1_pieces': [
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
    'e17_2_reversible': [
        ('let the draft do it', 'run = ad.custom_vjp(chain)', 'return chain'),
        ('forgetting is what checkpoint is for',
         '    run.defvjp(fwd, bwd)\n    return run\n',
         '    run.defvjp(fwd, bwd)\n    return ad.checkpoint(chain)\n'),
        ('keep where it began', 'return pair, (ws, pair)\n\n'
         '    def bwd(residuals, cts):\n'
         '        ws, pair = residuals\n',
         'return pair, (ws, pair, a + 1, b + 1)\n\n'
         '    def bwd(residuals, cts):\n'
         '        ws, pair, *_ = residuals\n'),
        ('what is added is added back', '(c - y, b)', '(c + y, b)'),
        ('each has its own', 'b_bar + from_f', 'b_bar'),
        ('from the first to the last',
         'back, (pair, cts), reverse(ws))', 'back, (pair, cts), ws)'),
        ('the outputs are in order',
         'return reverse(ws_bar), a_bar', 'return ws_bar, a_bar'),
        ('a pair is a pair', '((c - y, b), (c_bar, b_bar + from_f))',
         '((c - y, b), (b_bar + from_f, c_bar))'),
        ('the new value comes first', 'return (b, a + f(w, b)), None',
         'return (a + f(w, b), b), None'),
        ('weights are an array',
         'return tree_map(lambda w: w[::-1], ws)', 'return ws[::-1]'),
    ],
    'e18_1_bounds': [
        ('every tracer is ours', 'if self.owns(x) else (x, x)',
         'if isinstance(x, Tracer) else (x, x)'),
        ('a value of another interpreter has no ends',
         'return (x.low, x.high) if self.owns(x) else (x, x)',
         'return x.low, x.high'),
        ('the rules run on top of the stack', 'with self.parent:',
         'with self:'),
        ('the ends are numbers',
         'return reduce(np.minimum, corners), reduce(np.maximum, corners)',
         'return min(corners), max(corners)'),
        ('a product is extreme where both ends are',
         '[corner(a, b) for a in x for b in y]',
         '[corner(x[0], y[0]), corner(x[1], y[1])]'),
        ('NumPy knows what zero times infinity is', 'corner(a, b) for',
         'a * b for'),
        ('a divisor is never zero', 'np.maximum(x[0], -x[1]) > 0', 'True'),
        ('every operation keeps the order', 'neg_p: lambda x: (-x[1], -x[0])',
         'neg_p: lambda x: (-x[0], -x[1])'),
        ('a sine can be anything in its range',
         'return np.maximum(y - radius, -1.0), np.minimum(y + radius, 1.0)',
         'return 0 * y - 1, 0 * y + 1'),
        ('a sine keeps the order', 'y = np.sin(middle)',
         'return np.sin(x[0]), np.sin(x[1])'),
        ('a sine has no range',
         'return np.maximum(y - radius, -1.0), np.minimum(y + radius, 1.0)',
         'return y - radius, y + radius'),
        ('there is one result', 'tree_map(trace.ends, out)',
         'trace.ends(out)'),
        ('only numbers have bounds', ', exp_p, tanh_p,\n'
         '                                *structural]', ', exp_p, tanh_p]'),
        ('a call is an operation', "return params['fun'](*args)", 'pass'),
    ],
    'e18_2_power': [
        ('both ends are raised to the power',
         'return nearest ** n, farthest ** n', 'return x[0] ** n, x[1] ** n'),
        ('a square is at least zero', 'return nearest ** n, farthest ** n',
         'return 0 * farthest, farthest ** n'),
        ('every power is like a square', 'if n % 2:', 'if n == 1:'),
        ('an interval has a sign', 'np.maximum(np.maximum(x[0], -x[1]), 0.0)',
         'np.maximum(x[0], 0.0)'),
    ],
    'e18_3_where': [
        ('what is possible is true',
         'return np.where(certain, x[0], low), np.where(certain, x[1], high)',
         'return np.where(possible, x[0], y[0]), np.where(possible, x[1], '
         'y[1])'),
        ('either operand, always',
         'return np.where(certain, x[0], low), np.where(certain, x[1], high)',
         'return np.minimum(x[0], y[0]), np.maximum(x[1], y[1])'),
        ('True is 1 and False is 0',
         'np.where(possible, np.minimum(x[0], y[0]), y[0])',
         'possible * np.minimum(x[0], y[0]) + (1 - possible) * y[0]'),
        ('an answer is decided for all elements or for none',
         'low = np.where(possible, np.minimum(x[0], y[0]), y[0])',
         'low = np.minimum(x[0], y[0]) if np.all(possible) else y[0]'),
    ],
    'e18_4_cond': [
        ('take the true branch where it is possible',
         'where(which, x, y)', 'where((which[1], which[1]), x, y)'),
        ('either branch, always',
         'where(which, x, y)', 'where((False, True), x, y)'),
        ('the comparison is no operand of a branch',
         '(which, *intervals)', '(*intervals, which)'),
        ('there is one output', 'in zip(*branches)]',
         'in [*zip(*branches)][:1]]'),
        ('a branch is bounded', 'corner(a, b) for', 'a * b for'),
    ],
    'e20_1_leaves': [
        ('in the order in which they are written', '[2, 3, 1]', '[1, 2, 3]'),
        ('None is a leaf', '[2, 3, 1]', '[2, None, 3, 1]'),
        ('every dict is put in order', "'b': [1, 2]", "'b': [2, 1]"),
        ('a string is no leaf', "['six', 7, 8]", '[7, 8]'),
        ('a class is taken apart', '[point, 3, 4]', '[7, 8, 3, 4]'),
    ],
    'e20_2_circle': [
        ('all attributes are children',
         'return [circle.radius], circle.color',
         'return [circle.radius, circle.color], None'),
        ('the constructor is there to be used',
         'register_pytree_node(Circle, flatten, unflatten)',
         'register_pytree_node(Circle, flatten, lambda color, children: '
         'Circle(*children, color))'),
        ('the color does not matter',
         'return [circle.radius], circle.color',
         "return [circle.radius], 'red'"),
    ],
    'e20_3_gradient': [
        ('all numbers at once',
         'direction[k][i] = 1.0', 'for d in direction: d[...] = 1.0'),
        ('a whole leaf at once',
         'direction[k][i] = 1.0', 'direction[k][...] = 1.0'),
    ],
    'e20_4_keywords': [
        ('all that was given, in the order of the signature',
         '    bound.apply_defaults()\n    return bound.args',
         '    return tuple(bound.arguments.values())'),
        ('all values, with the defaults',
         'return bound.args', 'return tuple(bound.arguments.values())'),
        ('keywords come last',
         '    bound.apply_defaults()\n    return bound.args',
         '    return args + tuple(kwargs.values())'),
    ],
    'e21_1_promotes': [
        ('pi is to blame', 'math.cos(np.pi', 'np.cos(math.pi'),
        ('a float32 step can be computed in float64',
         '''rate = 0.05 * (1 + math.cos(np.pi * step / STEPS))
    slopes = ad.grad(loss)(weights)
    velocities = ad.tree_map(lambda v, slope: 0.9 * v - rate * slope,
                             velocities, slopes)''',
         '''rate = 0.05 * (1 + np.cos(np.pi * step / STEPS))
    slopes = ad.grad(loss)(weights)
    velocities = ad.tree_map(
        lambda v, slope: (0.9 * v - rate * slope).astype(np.float32),
        velocities, slopes)'''),
        ('a constant rate will do',
         '0.05 * (1 + math.cos(np.pi * step / STEPS))', '0.1'),
    ],
    'e22_1_last': [
        ('fwd is where a word does harm', "'a': 'neither'", "'a': 'fwd'"),
        ('a wrong rule is an error', "'b': 6.0", "'b': 'fwd'"),
        ('residuals are missed when they are needed',
         "'c': 'fwd'", "'c': 'bwd'"),
        ('forward mode is refused at once', "'d': 'fwd'", "'d': 'neither'"),
        ('one was asked for, one is there', "'e': 'bwd'", "'e': 3.0"),
        ('the truth comes out', "'f': 0.0", "'f': 2.0"),
        ('an output without a cotangent is not checked', "'g': 'bwd'", "'g': 3.0"),
        ('the cotangent of a unit is missing', "'h': 'neither'",
         "'h': 'bwd'"),
    ],
    'e22_2_teacher': [
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
    'e22_3_on_the_spot': [
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
    'e22_4_golf': [
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
    'e22_5_order': [
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
    'e22_6_both_ways': [
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
        ('a reverse rule is enough', '    g.defjvp(rule)\n', ''),
        ('a forward rule is enough',
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
    'e23_1_one_by_one': [
        ('every argument has the batch axis', 'x[i] if batched else x',
         'x[i]'),
        ('an array as long as the batch is the batch',
         'x[i] if batched else x',
         'x[i] if np.shape(x)[:1] == (axis_size,) else x'),
        ('a batch of numbers', 'np.stack(ys), *outs', 'ys[0], *outs'),
        ('an output is an array',
         'ad.tree_map(lambda *ys: np.stack(ys), *outs)', 'np.stack(outs)'),
        ('vmap can do it', '        outs = [f(*element(i)) for i in '
         'range(axis_size)]\n', '        return ad.vmap(fun, tuple(0 if x '
         'else None for x in in_batched))(*args), True\n'),
        ('the elements are values',
         'ad.tree_map(lambda *ys: np.stack(ys), *outs)',
         'ad.stop_gradient(ad.tree_map(lambda *ys: np.stack(ys), *outs))'),
        ('one rule for one batch', 'f(*element(i))',
         'np.reshape(fun(*element(i)), ())'),
    ],
    'e23_2_thrice': [
        ('a list is a batch', "'a': 4.0", "'a': 12.0"),
        ('a scan is a vmap', "'b': 4.0", "'b': 12.0"),
        ('forward mode opens the call', "'c': 12.0", "'c': 4.0"),
        ('inside a vmap, every call is batched', "'d': -2.0", "'d': -10.0"),
        ('two calls, two threes', "'e': 432.0", "'e': 144.0"),
        ('two vmaps, two threes', "'f': 12.0", "'f': 36.0"),
        ('a slope is a batch', "'g': 2.0", "'g': 6.0"),
        ('nothing is mapped', "'h': 6.0", "'h': 2.0"),
    ],
    'e24_1_workspace': [
        ('a stack, since the last call is the first in reverse',
         '        return y, 1 - y * y\n\n    def bwd(slope, ct):\n',
         '        kept.append(1 - y * y)\n        return y, None\n\n'
         '    kept = []\n\n    def bwd(_, ct):\n'
         '        slope = kept.pop()\n'),
        ('one workspace for each size',
         '        return y, 1 - y * y\n\n    def bwd(slope, ct):\n',
         '        kept[len(x)] = 1 - y * y\n        return y, None\n\n'
         '    kept = {}\n\n    def bwd(_, ct):\n'
         '        slope = kept[len(ct)]\n'),
        ('the workspace is a residual',
         '        return y, 1 - y * y\n\n    def bwd(slope, ct):\n',
         '        work[:len(x)] = 1 - y * y\n        return y, work\n\n'
         '    work = np.empty(size)\n\n    def bwd(work, ct):\n'
         '        slope = work[:len(ct)]\n'),
        ('NumPy computes it, and so can the library',
         'f = ad.custom_vjp(lambda x: np.tanh(x))\n',
         'return np.tanh\n'),
        ('the value is enough', 'return y, 1 - y * y', 'return y, y'),
        ('the larger is the longer', 'return y, 1 - y * y',
         'return y, 1 - x * x'),
    ],
    'e25_1_log_diff': [
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
    'e25_2_combinations': [
        ('all of them, since that was missing',
         'range(1, len(args) + 1)', '[len(args)]'),
        ('each, and all of them', 'range(1, len(args) + 1)',
         '{1, len(args)}'),
        ('at most two', 'range(1, len(args) + 1)', '(1, 2)[:len(args)]'),
        ('the largest first', 'range(1, len(args) + 1)',
         'range(len(args), 0, -1)'),
        ('the order is one', '[args[i] for i in chosen], order)',
         '[args[i] for i in chosen], 1)'),
        ('the first is enough to know', "f'{chosen}: {error}'",
         "f'{chosen[:1]}: {error}'"),
        ('the checker says it', "f'{chosen}: {error}'", "f'{error}'"),
        ('others are zeros', 'whole = list(args)',
         'whole = [0 * x for x in args]'),
        ('a rule of two arguments', 'return f(*whole)',
         'return f(*whole[:2], *args[2:])'),
        ('a failure is what is looked for', 'in combinations(range(len('
         'args)), size):\n',
         'in combinations(range(len(args)), size):\n'
         '            if size == len(args) > 2:\n'
         '                raise AssertionError((0,))\n'),
    ],
    'e25_3_tutorial': [
        ('a keyword is an operand', 'p.bind(x, factor)',
         'p.bind(x, factor=factor)'),
        ('a zero is a number', 'y_dot = 0.0', 'y_dot = factor_dot'),
        ('what was there is replaced', 'y_dot = y_dot + x * factor_dot',
         'y_dot = x * factor_dot'),
        ('the factor has a cotangent for each element',
         'np.sum(y_bar * x)', 'y_bar * x'),
    ],
    'e26_1_log1mexp': [
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
    'e26_2_together': [
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
        ('clipped in the forward pass',
         '        return tree\n',
         '        return ad.tree_map(lambda x: x * (limit / np.maximum(np.sqrt('
         'sum(np.sum(y * y) for y in ad.tree_leaves(tree))), limit)), tree)'
         '\n'),
    ],
    'e26_3_cold_case': [
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
    'e26_4_grid': [
        ('NumPy knows how to round', 'return step * rounded(w / step)',
         'return step * np.round(w / step)'),
        ('down', 'return np.round(x)', 'return np.floor(x)'),
        ('the grid of the integers', 'return step * rounded(w / step)',
         'return rounded(w)'),
        ('the step is a constant', 'return step * rounded(w / step)',
         'return step * rounded(w / ad.stop_gradient(step))'),
        ('a rule for the whole', 'return step * rounded(w / step)',
         'return w + ad.stop_gradient(step * np.round(w / step) - w)'),
        ('backwards is what is needed',
         '    @ad.custom_jvp\n    def rounded(x):\n'
         '        return np.round(x)\n\n'
         '    rounded.defjvps(lambda x_dot, y, x: x_dot)\n',
         '    rounded = ad.custom_vjp(lambda x: np.round(x))\n'
         '    rounded.defvjp(lambda x: (rounded(x), None),\n'
         '                   lambda _, ct: (ct,))\n'),
        ('half of it gets through', 'lambda x_dot, y, x: x_dot)',
         'lambda x_dot, y, x: 0.5 * x_dot)'),
    ],
    'e27_1_lambertw': [
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
    'e27_2_path': [
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
    'e27_3_envelope': [
        ('x is constant', 'x = argmin(cost, a, x_guess)',
         'x = ad.stop_gradient(argmin(cost, a, x_guess))'),
        ('x changes, too', 'lambda a: cost(a, x), (a,)',
         'lambda a: cost(a, argmin(cost, a, x_guess)), (a,)'),
        ('at a minimum, nothing changes', 'x_guess), cost_dot\n',
         'x_guess), 0.0 * cost_dot\n'),
        ('any place will do', 'x = argmin(cost, a, x_guess)',
         'x = x_guess'),
        ('a number for the batch', '(a,), (a_dot,))\n',
         '(a,), (a_dot,))\n    cost_dot = float(cost_dot)\n'),
    ],
    'e28_1_heun': [
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
    'e28_2_average': [
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
    'e28_3_lambertw': [
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
    'e29_1_kepler': [
        ('the solver that has no rule', 'E = kepler(e, M, guess)',
         'E = newton(e, M, guess)'),
        ('the guess is good enough', 'E = kepler(e, M, guess)', 'E = guess'),
        ('the orbit does not change', 'M_dot + e_dot * np.sin(E)', 'M_dot'),
        ('the left side', 'sin(E)) / (1 - e', 'sin(E)) / (1 + e'),
        ('a better guess, a later angle',
         '(e, M, guess), (e_dot, M_dot, _) = primals, tangents',
         '(e, M, guess), (e_dot, M_dot, guess_dot) = primals, tangents\n'
         '    M_dot = M_dot + guess_dot'),
    ],
    'e30_1_meter': [
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
    'e30_2_shortened': [
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
    'e31_1_share': [
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
    'e31_2_undone': [
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
    'e31_3_compiler': [
        ('what is computed is a line', "['b = np.exp(a)', 'b *= const_1']",
         "['b = np.exp(a)', 'c = np.sin(a)', 'c *= const_1', 'b *= const_2']"),
        ('each line has a letter', "['b = np.exp(a)', 'b *= const_1']",
         "['b = np.exp(a)', 'c = b * const_1']"),
        ('two calls are two sums', "['b = a + a', 'b *= b']",
         "['b = a + a', 'c = a + a', 'b *= c', 'del c']"),
        ('a rule belongs to a function and not to a call',
         "['b = a + a', 'b *= b']", "['b = const_1 * a', 'b *= b']"),
        ('nothing of a rule is left', "'d = const_1 * b'", "'d = b + b'"),
        ('the argument is free', "'d = const_1 * b', 'np.cos(c, c)', 'd *= c',",
         "'b *= const_1', 'np.cos(c, c)', 'b *= c',"),
        ('nothing is freed', "'d *= c',\n              'del c'", "'d *= c'"),
        ('a program inside is called', "'b *= const_1', 'b += const_2'",
         "'b += const_1'"),
        ('a number stands where it is', "'b += const_2'", "'b += 1'"),
    ],
    'e31_4_places': [
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
        ('a view of a view has no owner',
         "owner.get(operands[0]) if operation == 'T' else name",
         "operands[0] if operation == 'T' else name"),
        ('there is no other view', 'looking == {x}', 'x in looking'),
        ('one operand is enough', 'looking == {x}',
         'looking == {x} and len({*operands}) == len(operands)'),
        ('everybody can write', 'operation in ELEMENTWISE', "operation != "
         "'T'"),
        ('what was looked at is lost', 'looking == {x}',
         "looking == {x} and all(line[1] != 'T' for line in program)"),
        ('nothing may be written', 'return into', 'return {}'),
    ],
    'e31_5_blocks': [
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
        ('written over x', 'out = np.empty_like(x)', 'out = x'),
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
    'e32_1_by_hand': [
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
    'e32_2_on_the_tape': [
        ('a call is an operation', 'y, linear, residuals = linearize_at(\n'
         '        lambda *xs: primitive.bind(*xs, **params), xs)',
         'return run_prepared(primitive, xs, params)'),
        ('one rule for each type of operands',
         'y, linear, residuals = linearize_at(\n'
         '        lambda *xs: primitive.bind(*xs, **params), xs)',
         'if primitive not in prepared:\n'
         '        prepared[primitive,] = prepared[primitive] = prepare(\n'
         '            lambda *xs: primitive.bind(*xs, **params), *xs)\n'
         '    first, second = prepared[primitive]\n'
         '    y, *residuals = first(*xs)\n'
         '    return y, residuals, second'),
        ('a call is its function', 'primitive.bind(*xs, **params), xs)',
         "params['fun'](*xs), xs)"),
        ('the slope is the output', 'linear, args[:-1], args[-1:])',
         'linear, args[:-1], [1.0])'),
    ],
    'e33_1_cold_case': [
        ('batch and record it first', "'vmap', 'grad', 'record', ",
         "'vmap', 'record', 'grad', "),
        ('a derivative first', "'vmap', 'grad', 'record', ",
         "'grad', 'vmap', 'record', "),
        ('reverse mode asks everyone', "'linearize', 'jvp')", "'grad', 'jvp')"),
        ('a pullback is never linearized', "'grad', 'record'",
         "'linearize', 'record'"),
        ('linearize transposes, too', "3 * 3 * 3: 'partial evaluation',",
         "3 * 3 * 3: 'transposition',"),
        ('it was one of them', "5 * 5: 'none'", "5 * 5: 'transposition'"),
        ('the first derivative, to be sure', "    number = ask('vmap'",
         "    if ask('vmap', 'grad') == 2:\n        return 'batching'\n"
         "    number = ask('vmap'"),
    ],
}
