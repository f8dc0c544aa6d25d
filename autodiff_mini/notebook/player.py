"""The player: one operation as it passes down the stack of traces.

While a program runs, a recorder listens to every trace.  It notes each
question, its answer, and the questions to other traces in between.  The
frames of the player are exactly these notes.
"""

import inspect
import json
import sys
import weakref
from contextlib import ExitStack, contextmanager
from functools import partial
from html import escape
from importlib.resources import files
from threading import get_ident

import numpy as np

from autodiff_mini import core, seams
from autodiff_mini.errors import LIBRARY
from autodiff_mini.jaxprs import Names, Var
from autodiff_mini.pytree import tree_leaves
from autodiff_mini.zeros import Zero

SCRIPT = files('autodiff_mini.notebook') / 'player.js'
MOST_FRAMES = 500
SIGNS = {'add': '+', 'sub': '-', 'subtract': '-', 'mul': '*',
         'multiply': '*', 'div': '/', 'divide': '/'}
ROLES = {'EvalTrace': 'evaluation', 'JVPTrace': 'forward mode',
         'BatchTrace': 'vmap', 'JaxprTrace': 'staging',
         'PartialEvalTrace': 'partial evaluation'}
COLORS = {'evaluation': 0, 'forward mode': 1, 'partial evaluation': 2,
          'staging': 2, 'vmap': 3}      # the second of a kind has another


def watch(f, *args, name='player', title='', lines=(), roles=(),
          memory=False):
    """Return a recording of `f(*args)` that a notebook can play.

    The recorder listens to the class named `Trace`, and to its subclasses, in
    the library or in a system that you have written.

    Args:
        f: a function, which is called once, with the arguments.
        args: its arguments.
        name: the start of each link to a step, as in `#player-3`.
        title: the title above the player.
        lines: the functions whose source is shown; by default, `f` and the
            arguments, if they have a source.
        roles: the interpreters to record, as in `['evaluation']`; by default,
            all of them.
        memory: whether to show how many arrays made by evaluation are still
            alive.

    Returns:
        A Recording.  Its `value` is what `f` returned.

    Raises:
        Exception: whatever `f` raises.

    Examples:
        >>> import autodiff_mini as ad
        >>> recording = watch(ad.jvp, np.sin, (0.0,), (1.0,))
        >>> recording.value
        (0.0, 1.0)
        >>> for frame in recording.frames:
        ...     print(frame['caption'])
        Forward mode is asked for sin(0, 1).
        For sin, forward mode asks evaluation: sin(0) is 0.
        Forward mode answers (0, 1).
        The result is (0, 1).
    """
    recorder = Recorder(lines or (f, *args), roles)
    value = recorder.listen(sys._getframe(1).f_globals, f, args)
    return Recording(name, title, value, memory, recorder)


class Recording:
    """What `watch` returns: frames, and the value of the program.

    A notebook shows it as a player; without the script, and in print, it is
    a list of the most important frames, and a table of all.

    Args:
        name: the start of each link to a step.
        title: the title above the player.
        value: the value that the program returned.
        memory: whether to show how many arrays there are.
        recorder: the Recorder that listened.
    """

    def __init__(self, name, title, value, memory, recorder):
        self.name = name
        self.title = title
        self.value = value
        self.memory = memory
        self.frames = recorder.frames
        self.traces = recorder.traces
        self.lines = [line for source in recorder.sources
                      for line in source.lines]

    def __repr__(self):
        return f'<Recording with value {self.value!r}: a notebook shows it>'

    def _repr_html_(self):
        data = json.dumps(
            {'lines': self.lines, 'traces': self.traces,
             'frames': self.frames, 'memory': self.memory},
            separators=(',', ':'))
        data = data.replace('<', r'\u003c')
        title = f'<p><b>{escape(self.title)}</b></p>' if self.title else ''
        return (f'<trace-player id="{escape(self.name)}">{title}'
                f'<script type="application/json">{data}</script>'
                f'{self.still()}</trace-player>'
                f'<script>{SCRIPT.read_text()}</script>')

    def still(self):
        """Return the frames as static HTML."""
        answers = [frame for frame in self.frames if frame['kind'] != 'ask']
        decisive = next((found for depth in range(3) if len(found := [
            frame for frame in answers if frame['depth'] <= depth]) > 4),
            answers)
        every = -(-len(decisive) // 8)
        cards = ''.join(f'<li>{escape(frame["caption"])}</li>'
                        for frame in decisive[::-every][::-1])
        name = escape(self.name)
        rows = ''.join(
            f'<tr id="{name}-{i}"><td>{i}</td><td>{escape(frame["caption"])}'
            '</td></tr>' for i, frame in enumerate(self.frames, 1))
        return (f'<div class="player-still"><ol>{cards}</ol><details>'
                f'<summary>All {len(self.frames)} steps</summary>'
                f'<table>{rows}</table></details></div>')


class Recorder:
    """Listen to traces, and note a frame for each event."""

    def __init__(self, functions, roles):
        self.roles = roles
        self.sources = [*filter(None, map(Source.of, functions))]
        self.thread = get_ident()
        self.frames, self.traces = [], []
        self.numbers = {}       # of traces, by id
        self.kinds, self.tags = {}, {}
        self.open = []          # questions without an answer so far
        self.names = Names()
        self.constants = {}     # by variable: its known value
        self.lines_written = {}
        self.turned = False     # whether the reverse pass has begun
        self.gathered = {}      # by variable: its cotangent so far
        self.living = set()     # the arrays that have been computed, by id
        self.kept = []          # objects with a number, so ids stay valid

    def listen(self, caller, f, args):
        """Return `f(*args)`, and note what happens."""
        with (ExitStack() as stack, seams.plain(),
              seams.ask.taken_by(self.ask),
              seams.transpose.taken_by(self.transpose)):
            for system in systems(caller, f):
                stack.enter_context(listened(system, self))
            value = f(*args)
        self.note('end', f'The result is {in_words(value, self)}.',
                  result=value)
        return value

    def ask(self, trace, primitive, args, params, method=None):
        """Ask a trace about an operation, and note what it answers."""
        method = method or trace.process_primitive
        asked = trace, primitive
        if (get_ident() != self.thread or len(self.frames) > MOST_FRAMES
                or self.open and self.open[-1] == asked
                or self.roles and self.kind(trace)[0] not in self.roles):
            return method(primitive, args, params)
        start = len(self.frames)
        written = len(getattr(trace, 'eqns', ()))
        if trace.parent:
            self.note('ask', self.question(trace, primitive, args),
                      trace, primitive, args)
        self.open.append(asked)
        try:
            result = method(primitive, args, params)
        finally:
            self.open.pop()
        if not trace.parent and len(self.frames) > start:
            self.note('ask', self.question(trace, primitive, args),
                      trace, primitive, args, at=start)
        self.answer(trace, primitive, args, result, written, start)
        return result

    def question(self, trace, primitive, args):
        asked = f'{self.role(trace)} is asked for'
        if self.open:
            asked = f'{self.asker()} asks {self.role(trace)} for'
        return f'{capital(asked)} {applied(primitive, args, self)}.'

    def asker(self):
        """Return the operation and the trace that asks, in words."""
        trace, primitive = self.open[-1]
        role = self.role(trace) if trace else 'the reverse pass'
        return f'for {SIGNS.get(str(primitive), primitive)}, {role}'

    def answer(self, trace, primitive, args, result, written, start):
        if not trace.parent:
            self.count(result)
        eqns = getattr(trace, 'eqns', ())[written:]
        self.constants |= zip(getattr(trace, 'constvars', ()),
                              getattr(trace, 'consts', ()))
        texts = list(map(self.equation, eqns))
        role, said = self.role(trace), in_words(result, self)
        if not trace.parent and len(self.frames) == start:
            who = f'{self.asker()} asks evaluation' if self.open else role
            done = applied(primitive, args, self)
            caption, kind = f'{who}: {done} is {said}.', 'compute'
        elif texts:
            caption, kind = f'{role} records {"; ".join(texts)}.', 'write'
            if primitive.name == 'custom_lin':
                caption += ' The backward rule is sealed in it.'
        else:
            caption, kind = f'{role} answers {said}.', 'answer'
        self.note(kind, capital(caption), trace, primitive, args, result,
                  written=texts)

    def transpose(self, primitive, rule):
        """Return a transpose rule that the recorder hears."""
        return partial(self.back, primitive, rule)

    def back(self, primitive, rule, cts, *operands, **params):
        """Call a transpose rule, and note what it returns."""
        self.open.append((None, primitive))
        start = len(self.frames)
        try:
            given = rule(cts, *operands, **params)
        finally:
            self.open.pop()
        cts = [ct for ct in tree_leaves(cts) if type(ct) is not Zero]
        if self.roles and packed_by(cts[0]):
            return given        # this is being recorded
        line = self.lines_written.get(self.key(primitive, operands))
        if not self.open and not self.turned:
            self.turned = True
            out = [line.split(' = ')[0]] if line else []
            self.note('turn', 'Now backwards: the reverse pass reads the '
                      'recorded lines from last to first. The cotangent of '
                      'the result is '
                      f'{self.said(cts)}.',
                      cotangents=[[name, encoded(cts, self)]
                                  for name in out], at=start)
            start += 1
        told = []
        for v, ct in zip(operands, given):
            if ct is None or isinstance(ct, Zero) or not is_var(v):
                continue
            before, total = self.gathered.get(v), ct
            if packed_by(ct) is None and np.size(ct) <= 4:
                # Not for a tracer: its addition would be recorded.
                total = ct if before is None else before + ct
                self.gathered[v] = total    # a large one would stay alive
            told.append((self.names[v], in_words(ct, self),
                         before is not None, total))
        came = self.said(cts)
        went = ' and '.join(
            f'{name} gets {ct}' + (f', which makes {in_words(total, self)}'
                                   if added else '')
            for name, ct, added, total in told)
        opened = (' The envelope is opened.'
                  if primitive.name == 'custom_lin' else '')
        self.note('back', f'Back through {line or primitive}, with the '
                  f'cotangent {came}: '
                  f'{went or "no operand gets one"}.{opened}',
                  primitive=primitive, written=[line] if line else [],
                  cotangents=[[name, encoded(total, self)]
                              for name, _, _, total in told], at=start)
        return given

    def note(self, kind, caption, trace=None, primitive=None, args=(),
             result=None, written=(), cotangents=(), at=None):
        """Insert a frame, at the end or before the frames noted since."""
        chain = []
        while trace:
            chain.append(self.number(trace))
            trace = trace.parent
        at = len(self.frames) if at is None else at
        self.frames.insert(at, {
            'kind': kind, 'caption': caption, 'line': self.line(),
            'depth': len(self.open), 'stack': chain[::-1],
            'op': SIGNS.get(str(primitive), str(primitive or '')),
            'args': [encoded(x, self) for x in args],
            'result': (None if kind in ('ask', 'turn')
                       else encoded(result, self)),
            'written': list(written), 'cotangents': list(cotangents),
            'living': len(self.living)})

    def number(self, trace):
        """Return the number of a trace, which frames refer to."""
        if id(trace) not in self.numbers:
            self.numbers[id(trace)] = len(self.traces)
            role, number = self.kind(trace)
            color = 4 + number if number else COLORS.get(role, 4)
            self.traces.append([self.role(trace), color])
        return self.numbers[id(trace)]

    def role(self, trace):
        """Return the name of a trace, with a number for a second one."""
        role, number = self.kind(trace)
        return f'{role} {number + 1}' if number else role

    def kind(self, trace):
        """Return the interpreter of a trace, and a number for its tag."""
        if id(trace) not in self.kinds:
            name = type(trace).__name__
            role = next((ROLES[cls.__name__] for cls in type(trace).__mro__
                         if cls.__name__ in ROLES),
                        name.removesuffix('Trace').lower() or name)
            tags = self.tags.setdefault(role, [])
            if not any(tag is trace.tag for tag in tags):
                tags.append(trace.tag)
            [number] = [i for i, tag in enumerate(tags) if tag is trace.tag]
            self.kept.append(trace)
            self.kinds[id(trace)] = role, number
        return self.kinds[id(trace)]

    def said(self, args):
        return ', '.join(in_words(x, self) for x in args) or 'nothing'

    def equation(self, eqn):
        """Return an equation as a line; its variables get names."""
        done = applied(eqn.primitive, eqn.invars, self)
        outs = ', '.join(self.names[v] for v in tree_leaves(eqn.outvars))
        key = self.key(eqn.primitive, eqn.invars)
        return self.lines_written.setdefault(key, f'{outs} = {done}')

    def key(self, primitive, operands):
        """Return a key for an equation: its primitive and its variables."""
        return primitive, *[v for v in operands
                            if is_var(v) and v not in self.constants]

    def count(self, result):
        """Count the arrays that are made and still alive."""
        for x in result if isinstance(result, (list, tuple)) else [result]:
            if (type(x) is np.ndarray and x.size > 1 and x.base is None
                    and id(x) not in self.living):
                self.living.add(id(x))
                weakref.finalize(
                    x, self.living.discard, id(x)).atexit = False

    def line(self):
        """Return the number of the source line that is running, or None."""
        frame, before = sys._getframe(1), 0
        while frame:
            before = 0
            for source in self.sources:
                if source.has(frame):
                    return before + frame.f_lineno - source.first
                before += len(source.lines)
            frame = frame.f_back
        return None


class Source:
    """The source lines of a user's function."""

    def __init__(self, file, first, lines):
        self.file = file
        self.first = first
        self.lines = lines

    @classmethod
    def of(cls, f):
        """Return the source of a function, or None if it is not a user's."""
        for inner in ('__wrapped__', 'fun', 'f'):
            f = getattr(f, inner, f)
        code = getattr(f, '__code__', None)
        if (code is None or code.co_filename.startswith(LIBRARY)
                or code.co_name in draft_names()):
            return None
        try:
            lines, first = inspect.getsourcelines(f)
        except OSError:
            return None
        return cls(code.co_filename, first, [line.rstrip() for line in lines])

    def has(self, frame):
        return (frame.f_code.co_filename == self.file
                and 0 <= frame.f_lineno - self.first < len(self.lines))


def draft_names():
    """Return {name: value} for all names that the draft's modules define.

    There are none in a notebook that doesn't need the draft.
    """
    return {key: value for name, module in [*sys.modules.items()]
            if name.startswith('autodiff_mini.draft.')
            for key, value in vars(module).items()}


def systems(caller, f):
    """Return the namespaces of other systems: the draft, and the caller's.

    Each has a class `Trace` of its own.
    """
    found = [draft_names(), caller, getattr(f, '__globals__', {})]
    return {id(system['Trace']): system for system in found
            if isinstance(system.get('Trace'), type)
            and system['Trace'] is not core.Trace}.values()


@contextmanager
def listened(system, recorder):
    """Let a recorder run traces and transpose rules, inside a block."""
    rules = system.get('transpose_rules', {})
    methods = {cls: cls.process_primitive
               for cls in subclasses(system['Trace'])
               if 'process_primitive' in vars(cls)}
    before = dict(rules)
    for cls, method in methods.items():
        cls.process_primitive = asking(recorder, method)
    rules.update((p, recorder.transpose(p, rule))
                 for p, rule in before.items())
    try:
        yield
    finally:
        for cls, method in methods.items():
            cls.process_primitive = method
        rules.update(before)


def asking(recorder, method):
    """Return a trace's method that a recorder hears."""
    return lambda trace, primitive, args, params: recorder.ask(
        trace, primitive, args, params, partial(method, trace))


def subclasses(cls):
    """Return a class and all its subclasses."""
    return [cls, *(found for child in cls.__subclasses__()
                   for found in subclasses(child))]


def is_var(x):
    return isinstance(x, Var) or type(x).__name__ == 'Var'


def encoded(x, recorder):
    """Return a value, or a box with its contents, as lists."""
    if isinstance(x, (list, tuple)):
        return ['list', *[encoded(part, recorder) for part in x]]
    owner = packed_by(x)
    if owner is None:
        return ['value', in_words(x, recorder)]
    inside = [encoded(part, recorder) for part in contents(x)]
    return ['box', recorder.number(owner), *inside]


def packed_by(x):
    """Return the trace of a tracer, or None for other values."""
    if isinstance(x, core.Tracer):
        return x._trace
    return getattr(x, '__dict__', {}).get('trace')


def contents(x):
    """Return the contents of a tracer: primal and tangent, rows, or a name.

    The contents of other systems' tracers are their attributes.
    """
    if not isinstance(x, core.Tracer):
        return [part for name, part in vars(x).items()
                if name not in ('trace', 'aval')]
    return [getattr(x, name) for name in ('primal', 'tangent', 'val', 'var',
                                          'name')
            if name in type(x).__slots__]


def applied(primitive, args, recorder):
    """Return an operation on its operands as text, the way users write it."""
    texts = [in_words(x, recorder) for x in args]
    sign = SIGNS.get(str(primitive))
    if sign and len(texts) == 2:
        return f' {sign} '.join(texts)
    if str(primitive) in ('neg', 'negative') and texts[0].isalpha():
        return f'-{texts[0]}'
    if len(texts) == 1 and texts[0].startswith('('):
        return f'{primitive}{texts[0]}'
    return f'{primitive}({", ".join(texts)})'


def capital(text):
    return text[:1].upper() + text[1:]


def in_words(x, recorder):
    """Return a value in few words."""
    if isinstance(x, (list, tuple)):
        return f'({", ".join(in_words(part, recorder) for part in x)})'
    if is_var(x):
        return (in_words(recorder.constants[x], recorder)
                if x in recorder.constants else recorder.names[x])
    if packed_by(x) is not None:
        inside = [in_words(part, recorder) for part in contents(x)]
        if len(inside) > 1:
            return f'({", ".join(inside)})'
        is_batch = type(packed_by(x)).__name__ == 'BatchTrace'
        return f'batch of {inside[0]}' if is_batch else inside[0]
    if isinstance(x, Zero):
        return '0'
    if type(x).__name__ == 'Literal':
        return in_words(x.val, recorder)
    if isinstance(x, np.ndarray) and x.ndim == 0:
        x = x[()]
    if isinstance(x, np.ndarray):
        if x.size > 4:
            return f'{" × ".join(map(str, x.shape))} numbers'
        return np.array2string(x, precision=3, separator=' ')
    if isinstance(x, (bool, np.bool_, str, type(None))):
        return str(x)
    if isinstance(x, (int, float, complex, np.number)):
        return f'{x:.5g}'
    return type(x).__name__
