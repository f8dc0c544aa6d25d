"""wings/notebook/player.py and telling.py: a recording describes a program.

It changes nothing.
"""

import html
import json
import re

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini import draft
from autodiff_mini.core import seams
from autodiff_mini.core.trace import Trace
from autodiff_mini.draft.jvp import jvp_rules
from autodiff_mini.draft.vmap import vmap_rules, vmap_with
from autodiff_mini.interpreters.transpose import rules as transpose_rules
from autodiff_mini.wings.notebook import player, telling
from tests.support.numerical import assert_same

TRANSFORMED = [
    lambda f, x: ad.jvp(f, (x,), (np.ones_like(x),))[1],
    lambda f, x: ad.vmap(f)(np.stack([x, x])),
    lambda f, x: ad.grad(lambda x: np.sum(f(x)))(x),
    lambda f, x: ad.jit(f)(x)]


def expit(x):
    return 1 / (1 + np.exp(-x))


def swish(x):
    return x * expit(x)


def captions(recording):
    return [frame['caption'] for frame in recording.frames]


@pytest.mark.parametrize('transformed', TRANSFORMED)
@pytest.mark.parametrize('f', [
    swish, lambda x: np.linalg.inv(np.outer(x, x) + np.eye(2)),
    lambda x: np.sort(x) @ x])
def test_a_recording_has_the_value_of_the_program(f, transformed):
    x = np.array([0.5, -2.0])
    recording = ad.watch(transformed, f, x)
    assert_same(recording.value, transformed(f, x))
    assert recording.frames[-1]['kind'] == 'end'
    assert len(recording.frames) > 1


def test_each_question_has_an_answer():
    frames = ad.watch(ad.grad(swish), 2.0).frames
    asked = []
    for frame in frames:
        if frame['kind'] == 'ask':
            asked.append((frame['op'], frame['trace']))
        elif frame['kind'] in ('answer', 'write'):
            assert (frame['op'], frame['trace']) == asked.pop()
        if frame['kind'] not in ('back', 'turn', 'end'):
            assert frame['trace'] is not None
    assert asked == []


def test_a_gradient_has_frames_of_all_three_parts():
    recording = ad.watch(ad.grad(swish), 2.0, lines=[swish, expit])
    assert recording.value == ad.grad(swish)(2.0)
    said = captions(recording)
    assert 'Forward mode answers `expit` with -2 and the tangent `b`.' in said
    assert ("Partial evaluation doesn't know `b`, so it records "
            '`c = b * 0.13534`.') in said
    assert said[-1] == 'The result is 1.0908.'
    back = [frame for frame in recording.frames if frame['kind'] == 'back']
    assert [frame['op'] for frame in back] == [
        '+', '*', '*', '*', '*', 'neg']
    assert back[-1]['caption'] == (
        'Back through `b = -a`, with the cotangent -0.20999: `a` gets '
        '0.20999, which makes 1.0908.')
    assert [frame['kind'] for frame in recording.frames].count('turn') == 1
    assert recording.lines[1].strip() == 'return x * expit(x)'
    assert {frame['line'] for frame in recording.frames} == {1, 3, None}


@pytest.mark.parametrize('system', [ad, draft], ids=['library', 'draft'])
def test_the_draft_is_recorded_like_the_library(system):
    recording = ad.watch(system.grad(swish), 2.0)
    assert recording.value == pytest.approx(1.0907842487848953)
    assert {role for role, *_ in recording.traces} == {
        'evaluation', 'partial evaluation', 'forward mode'}
    assert any(frame['kind'] == 'back' for frame in recording.frames)
    assert 'Var' not in ' '.join(captions(recording))    # but its letter


def test_the_content_of_a_users_tracer_is_shown():
    """In chapter 18, each tracer holds the two ends of an interval."""
    class BoundsTrace(draft.core.Trace):
        def process_primitive(self, primitive, args, params):
            [x] = args
            return draft.core.Tracer(self, x.aval, low=-x.high, high=-x.low)

    def ask():
        with BoundsTrace(draft.core.current_trace(), object()) as trace:
            aval = draft.core.typeof(1.0)
            return -draft.core.Tracer(trace, aval, low=1.0, high=2.0)

    recording = ad.watch(ask)
    assert captions(recording)[:2] == [
        '`ask` asks bounds to negate.', 'Bounds answers `ask` with (-2, -1).']
    trace, *ends = recording.frames[0]['args'][0]
    assert recording.traces[trace][0] == 'bounds'
    assert ends == ['1', '2']


def test_an_envelope_is_sealed_and_opened():
    calm = ad.custom_vjp(lambda x: x)
    calm.defvjp(lambda x: (calm(x), None), lambda _, ct: (-ct,))
    said = ' '.join(captions(ad.watch(ad.grad(calm), 2.0)))
    assert 'with the backward rule sealed in it.' in said
    assert 'the envelope is opened and `a` gets -1.' in said


def test_nested_boxes_have_the_colors_of_their_traces():
    recording = ad.watch(ad.vmap(ad.grad(expit)), np.array([1.0, 2.0]))
    asked = recording.frames[0]['args'][0]
    trace, primal, tangent = asked
    assert recording.traces[trace][0] == 'forward mode'
    assert recording.traces[primal[0]][0] == 'vmap'
    assert recording.traces[tangent[0]][0] == 'partial evaluation'
    assert {role: color for role, color, _ in recording.traces} == {
        'forward mode': 1, 'partial evaluation': 2, 'vmap': 3,
        'evaluation': 0}


def test_arrays_are_counted_while_they_live():
    def three(x):
        y = np.sin(x)
        y = np.sin(y)
        return np.sum(np.sin(y))

    recording = ad.watch(lambda: ad.eval_jaxpr(
        ad.make_jaxpr(three)(np.ones(5)), [], np.ones(5)))
    living = [frame['living'] for frame in recording.frames
              if frame['kind'] == 'compute']
    assert living == [1, 2, 3, 3]


def test_any_value_can_be_described():
    for x, words in (
            (2, '2'), (0.5, '0.5'), (1 + 2j, '1+2j'), (True, 'True'),
            (None, 'None'), (np.float32(0.1), '0.1'), (np.array(3), '3'),
            (np.zeros(2), '[0. 0.]'), (np.zeros((2, 3)), '2 × 3 numbers'),
            (np.zeros((), ad.float0), 'void'), ((1, 'a'), '(1, a)'),
            (object(), 'object')):
        assert telling.in_words(x, player.Recorder([], [])) == words


def test_a_recording_can_select_interpreters():
    recording = ad.watch(ad.vmap(np.sin), np.ones(3), roles=['evaluation'])
    assert [frame['op'] for frame in recording.frames] == ['sin', '']


@pytest.mark.parametrize('system', [ad, draft], ids=['library', 'draft'])
def test_nothing_is_left_behind_after_an_error(system):
    classes = [*player.subclasses(Trace),
               *player.subclasses(draft.core.Trace)]

    def methods():
        return [vars(cls).get('process_primitive') for cls in classes]

    def wrong(x):
        raise ValueError('from the program')

    before = methods(), dict(transpose_rules)
    with pytest.raises(ValueError, match='from the program'):
        ad.watch(system.grad(wrong), 2.0)
    assert (methods(), dict(transpose_rules)) == before
    assert not seams.ask.taken and not seams.transpose.taken


def test_a_long_program_is_recorded_in_part():
    def long(x):
        for _ in range(player.MOST_FRAMES):
            x = np.sin(x)
        return x

    recording = ad.watch(ad.jvp, long, (1.0,), (1.0,))
    assert recording.value == ad.jvp(long, (1.0,), (1.0,))
    assert len(recording.frames) < player.MOST_FRAMES + 10
    assert captions(recording)[-1].startswith('The result is')


def test_html_has_the_frames_and_a_static_form():
    recording = ad.watch(ad.jvp, swish, (2.0,), (1.0,), name='a"b',
                         title='<swish>')
    text = recording._repr_html_()
    [data] = re.findall(
        r'<script type="application/json">(.*?)</script>', text, re.DOTALL)
    assert '<' not in data
    for packed, frame in zip(
            json.loads(data)['frames'], recording.frames, strict=True):
        left_out = {'caption', 'value', 'living'} | {
            key for key, part in frame.items() if part in (None, '', [])}
        assert packed == {key: part for key, part in frame.items()
                          if key not in left_out}
    assert 'id="a&quot;b"' in text and '&lt;swish&gt;' in text
    rows = re.findall(r'<tr id="a&quot;b-\d+"><td>\d+</td><td>(.*?)</td>', text)
    assert [html.unescape(re.sub('</?code>', '`', row))
            for row in rows] == captions(recording)
    assert '<tr id="a&quot;b-1"><td>1</td>' in text
    assert 4 < text.count('<li>') <= 12
    assert sum(len(script.read_text()) for script in player.SCRIPTS) < 27_000


def test_lines_that_differ_in_a_number_are_told_apart():
    said = captions(ad.watch(ad.grad(lambda x: 2 * x + 3 * x), 1.0))
    for line in 'b = a * 2', 'c = a * 3':
        assert sum(f'records `{line}`' in words for words in said) == 1
        assert sum(f'Back through `{line}`' in words for words in said) == 1


# The two ways of the front page, told in both systems.

def double(x):
    return 2 * x


def three(primals, tangents):
    return carrying(*primals), 3 * tangents[0]


OLD = draft.core.Primitive('double', double)
OLD_RULES = [
    (jvp_rules, lambda tag, xs, x_dots: (OLD.bind(*xs), x_dots[0])),
    (vmap_rules, lambda axis, x: vmap_with(axis, double)(x))]


def slopes(system, f):
    ones = np.ones(4)
    return ad.watch(
        lambda xs: system.jvp(system.vmap(f), (xs,), (ones,)),
        np.arange(4.0), lines=[double, three])


@pytest.mark.parametrize('has_rule', [True, False])
def test_a_recording_says_that_an_opened_primitive_loses_its_rule(
        monkeypatch, has_rule):
    for table, rule in OLD_RULES[not has_rule:]:
        monkeypatch.setitem(table, OLD, rule)
    lost = ', and its rule is gone' * has_rule
    assert captions(slopes(draft, OLD.bind))[:3] == [
        'Vmap is asked to compute `double`.',
        f'Vmap opens `double`{lost}. `double` asks vmap to multiply by 2.',
        'Vmap asks forward mode to multiply by 2.']


@pytest.mark.parametrize('system', [ad, draft], ids=['library', 'draft'])
def test_a_recording_says_who_finds_the_rule_of_a_call(monkeypatch, system):
    global carrying
    carrying = system.custom_jvp(double)
    carrying.defjvp(three)
    said = captions(slopes(system, carrying))
    assert said[:6] == [
        'Vmap is asked to run `custom_jvp_call`, which carries a rule.',
        'Vmap passes the call on to forward mode, with its rule.',
        ('Forward mode finds the rule and calls it. `three` asks vmap to run '
         '`custom_jvp_call`, which carries a rule.'),
        'Vmap passes the call on to evaluation, with its rule.',
        'Evaluation calls the function. `double` asks vmap to multiply by 2.',
        'Vmap asks evaluation, which multiplies by 2.']
    assert said[-6:-1] == [
        '`three` asks vmap to multiply by 3.',
        'Vmap asks evaluation, which multiplies by 3.',
        'Vmap answers `three` with a batch.',
        'Forward mode answers vmap with what the rule returned.',
        'Vmap answers with a batch.']


def test_a_recording_says_which_box_stays_shut():
    def nested(x):
        return ad.jvp(lambda y: x + y, (3.0,), (1.0,))[1]

    said = captions(ad.watch(ad.jvp, nested, (5.0,), (1.0,)))
    assert said[1] == ('Forward mode leaves the box of forward mode 2 shut '
                       'and asks forward mode 2 to add 3.')


def test_a_recording_shows_who_raises_an_error():
    def caught(x):
        try:
            return ad.vmap(np.linalg.inv)(x)
        except np.linalg.LinAlgError:
            return None

    *_, failed, end = ad.watch(caught, np.zeros((1, 2, 2))).frames
    assert failed['kind'] == 'error'
    assert failed['caption'] == (
        'Evaluation raises a LinAlgError: Singular matrix.')
    assert end['caption'] == 'The result is None.'


# In a terminal.

def test_a_recording_is_printed_as_a_table():
    recording = ad.watch(ad.grad(swish), 2.0, lines=[swish, expit])
    lines = repr(recording).split('\n')
    assert str(recording) == repr(recording)
    assert max(map(len, lines)) <= 79
    assert lines[:2] == [
        ' 1  `expit` asks forward mode to negate.                neg((2, a))',
        ' 2    Forward mode asks partial evaluation to negate    neg(2)']
    assert lines[-1].split('.', 1)[1].split()[-1] == '1.0908'
    numbers = re.findall(r'(?m)^ *(\d+)  ', repr(recording))
    left_out = len(recording.frames) - 30
    assert list(map(int, numbers)) == [
        *range(1, 21), *range(21 + left_out, len(recording.frames) + 1)]
    assert (f'    … {left_out} more steps: after r = ad.watch(…), r.frames '
            'has them all') in lines


def test_a_short_recording_is_printed_whole():
    recording = ad.watch(ad.vmap(np.sin), np.ones(2))
    assert repr(recording).count('\n') == 3
    assert 'more steps' not in repr(recording)


def test_the_table_names_the_user_function_of_a_call_with_a_rule():
    double = ad.custom_jvp(times_two)
    double.defjvp(lambda primals, tangents: (double(*primals), 3 * tangents[0]))
    recording = ad.watch(ad.jit(ad.grad(double)), 3.0)
    text = repr(recording)
    assert '  times_two((a, b))\n' in text and '  times_two(a)\n' in text
    assert 'answers the rule with `e`.' in text
    assert 'times_two(batch of [0.' in repr(
        ad.watch(ad.vmap(double), np.arange(4.0)))


def test_no_cell_of_the_table_is_cut_short():
    text = repr(ad.watch(ad.vmap(ad.grad(np.sin)), np.array([1.25, 2.5, 3])))
    assert '…' not in text
    assert re.search(r'sin\(\(batch of +\[1\.25.*\n.* 2\.5', text)


def times_two(x):
    return 2 * x
