"""The conditions under which kernels are right: a wrong one fails a test.

Each row is a module, a condition as it is written there, and a wrong one.
"""

import pytest

from tests.support.amount import rest
from tests.support.planted import check_fails, check_places

pytest.importorskip('numba', reason='numba compiles the kernels')

CONDITIONS = [
    ('stages', 'if out not in alive and eqn.primitive in RAISING:',
     'if False:'),
    ('stages', 'if out in alive and eqn.primitive in STRICT:', 'if True:'),
    ('stages', 'np.isfinite(v.val) == np.isfinite(dtype.type(v.val)))',
     'True)'),
    ('stages', 'and all(v.aval.shape in (shape, ()) for v in eqn.invars))',
     ')'),
    ('stages', 'and is_ordered(eqn, in_order)', ''),
    ('stages', "({0} > {1}) | ({0} != {0})", '({0} >= {1})'),
    ('stages', "STRICT = {\n    add_p", "STRICT = {\n    where_p: '', add_p"),
    ('stages', 'depth[eqn.outvars[0]] = n + (not is_arithmetic(eqn))',
     'depth[eqn.outvars[0]] = n'),
    ('fused_emitter', 'and last[v] == i]', ']'),
    ('fused_emitter', 'self.in_order, shape = True, block', 'shape = block'),
    ('fused_emitter', 'if math.prod(block.outs[0].aval.shape) >= HUGE:',
     'if True:'),
    ('fused_emitter', 'if size % rows and own:', 'if False:'),
    ('fused_emitter', '                   and any(v in eqn.invars for eqn in '
     'arithmetic)]', '                   ]'),
    ('kernels', 'if out in kept:', 'if False:'),
    ('kernels', 'if has_dtype else', 'if True else'),
    ('loop_kernels', 'kept = unneeded(body.jaxpr.eqns, chain(*ys.values()))',
     'kept = []'),
    ('loop_kernels', 'np.ascontiguousarray({x}).reshape(-1)', '{x}.reshape(-1)'),
    ('loop_kernels', "range(int(state[0]) - 1, -1, -1):'", "range(int(state[0])):'"),
    ('native', "self.context.run(np.seterr, all='call')",
     "self.context.run(np.seterr, all='ignore')"),
    ('native', 'self.seen = 0\n        found', 'found'),
    ('native', 'if (found or self.seen) and', 'if found and'),
    ('native', 'readonly=i < len(ins), aligned=False)', 'aligned=False)'),
    ('native', 'return self.pop() if self', 'return self[0] if self'),
    ('choice', 'seams.off.reset(off)', 'pass'),
    ('choice', 'seams.chosen.reset(chosen)', 'pass'),
]


def test_each_condition_is_in_its_module_once():
    check_places('fused', CONDITIONS)


@pytest.mark.parametrize('module, condition, wrong', [
    rest(*row) for row in CONDITIONS], ids=range(len(CONDITIONS)))
def test_a_wrong_condition_fails_a_test(module, condition, wrong, tmp_path):
    check_fails('fused', module, condition, wrong, [
        'tests/wings/fused/test_blocks.py', 'tests/wings/fused/test_loops.py',
        'tests/wings/fused'], tmp_path)
