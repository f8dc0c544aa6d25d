"""notebook/player.py: a recording describes a program and changes nothing."""

import html
import json
import re

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini import draft, seams
from autodiff_mini.core import Trace
from autodiff_mini.interpreters.transpose import rules as transpose_rules
from autodiff_mini.notebook import player
from tests.numerical import assert_same

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
            asked.append((frame['op'], frame['stack']))
        elif frame['kind'] in ('answer', 'write'):
            assert (frame['op'], frame['stack']) == asked.pop()
        if frame['kind'] not in ('back', 'turn', 'end'):
            assert frame['stack']
    assert asked == []


def test_a_gradient_has_frames_of_all_three_parts():
    recording = ad.watch(ad.grad(swish), 2.0, lines=[swish, expit])
    assert recording.value == ad.grad(swish)(2.0)
    said = captions(recording)
    assert 'Forward mode answers (-2, b).' in said
    assert 'Partial evaluation records c = b * 0.13534.' in said
    assert said[-1] == 'The result is 1.0908.'
    back = [frame for frame in recording.frames if frame['kind'] == 'back']
    assert [frame['op'] for frame in back] == [
        '+', '*', '*', '*', '*', 'neg']
    assert back[-1]['caption'].startswith('Back through b = -a, with')
    assert back[-1]['caption'].endswith('a gets 0.20999, which makes 1.0908.')
    assert [frame['kind'] for frame in recording.frames].count('turn') == 1
    assert recording.lines[1].strip() == 'return x * expit(x)'
    assert {frame['line'] for frame in recording.frames} == {1, 3, None}


@pytest.mark.parametrize('system', [ad, draft], ids=['library', 'draft'])
def test_the_draft_is_recorded_like_the_library(system):
    recording = ad.watch(system.grad(swish), 2.0)
    assert recording.value == pytest.approx(1.0907842487848953)
    assert {role for role, _ in recording.traces} == {
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
        'Bounds is asked for negative(1, 2).', 'Bounds answers (-2, -1).']
    kind, trace, *ends = recording.frames[0]['args'][0]
    assert kind == 'box' and recording.traces[trace][0] == 'bounds'
    assert ends == [['value', '1'], ['value', '2']]


def test_an_envelope_is_sealed_and_opened():
    calm = ad.custom_vjp(lambda x: x)
    calm.defvjp(lambda x: (calm(x), None), lambda _, ct: (-ct,))
    said = ' '.join(captions(ad.watch(ad.grad(calm), 2.0)))
    assert "The backward rule is sealed in it." in said
    assert 'a gets -1. The envelope is opened.' in said


def test_nested_boxes_have_the_colors_of_their_traces():
    recording = ad.watch(ad.vmap(ad.grad(expit)), np.array([1.0, 2.0]))
    asked = recording.frames[0]['args'][0]
    kind, trace, primal, tangent = asked
    assert kind == 'box' and recording.traces[trace][0] == 'forward mode'
    assert primal[0] == 'box' and recording.traces[primal[1]][0] == 'vmap'
    assert tangent[0] == 'box'
    assert dict(recording.traces) == {
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
        assert player.in_words(x, player.Recorder([], [])) == words


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
    data = json.loads(data)
    assert data['frames'] == json.loads(json.dumps(recording.frames))
    assert 'id="a&quot;b"' in text and '&lt;swish&gt;' in text
    rows = re.findall(r'<tr id="a&quot;b-\d+"><td>\d+</td><td>(.*?)</td>', text)
    assert [html.unescape(row) for row in rows] == captions(recording)
    assert '<tr id="a&quot;b-1"><td>1</td>' in text
    assert 4 < text.count('<li>') <= 8
    assert len(player.SCRIPT.read_text()) < 15_000
