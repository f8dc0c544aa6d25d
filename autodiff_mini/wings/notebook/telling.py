"""The words of a recording: what happens to whom, a sentence for each step.

An interpreter has the name of its role, and a user's function its own.  The
arrays are seen in boxes, so a sentence has only short values.
"""

import re
import textwrap
from itertools import zip_longest

import numpy as np

from autodiff_mini.core.jaxprs import Var
from autodiff_mini.core.names import fun_name
from autodiff_mini.core.trace import Tracer
from autodiff_mini.core.zeros import Zero

SIGNS = {'add': '+', 'sub': '-', 'subtract': '-', 'mul': '*',
         'multiply': '*', 'div': '/', 'divide': '/'}
# A verb, and how its operands follow: both, the first, or the second.
VERBS = {'+': ('add', '{} and {}', '{}', '{1}'),
         '-': ('subtract', '{1} from {0}', 'from {}', '{1}'),
         '*': ('multiply', '{} by {}', 'by {}', 'by {1}'),
         '/': ('divide', '{} by {}', '{}', 'by {1}')}
FIRST, LAST = 20, 10    # rows of a long table
WORDS, VALUE = 50, 22   # columns of its cells


def asked(question, recorder):
    """Return who asks whom for what."""
    said, asker = lead(question, recorder)
    role = recorder.role(question.trace)
    if is_passed_on(question):
        rule = ', with its rule' * question.carries_rule()
        return sentence(said, f'{asker} passes the call on to {role}{rule}')
    to_do = ' '.join(filter(None, deed(question, recorder)))
    carried = ', which carries a rule' * question.carries_rule()
    if not asker:
        return sentence(said, f'{role} is asked to {to_do}{carried}')
    if asker == role:
        role = 'itself'
    return sentence(said, f'{asker} asks {role} to {to_do}{carried}')


def computed(question, recorder):
    """Return who asks evaluation, and what it computes."""
    said, asker = lead(question, recorder)
    role = recorder.role(question.trace)
    verb, operands = deed(question, recorder)
    does = f'{re.sub("y$", "ie", verb)}s {operands}'.strip()
    if said and not asker:
        return sentence(f'{said} and {does}')
    if is_passed_on(question):
        return sentence(said, f'{asker} passes the call on to {role}, '
                        'which runs it')
    if not asker or asker == role:
        return sentence(said, f'{role} {does}')
    return sentence(said, f'{asker} asks {role}, which {does}')


def lead(question, recorder):
    """Return what the asker has done so far, or '', and who asks, or ''."""
    last, name = question.last, question.function and f'`{question.function}`'
    if not last:
        return '', name
    if not last.trace:
        return '', name or 'the reverse pass'
    role, is_first = recorder.role(last.trace), question.is_first
    if question.in_rule:
        said = f'{role} finds the rule and calls it'
        return said * is_first, name or 'the rule'
    if question.is_inside():
        return opened(last, role, recorder) * is_first, name
    if not last.trace.parent:
        what = ('calls the function' if last.is_call else
                f'runs `{last.primitive}`')
        return f'{role} {what}' * is_first, name
    if name:
        return '', name
    shut = [recorder.role(packed_by(x)) for x in question.args
            if any(x is y for y in last.args) and not last.owns(x)
            and packed_by(x)]
    if question.primitive is last.primitive and role.startswith('partial'):
        several = 's' * (len(last.args) > 1)
        return '', f'{role} knows the operand{several} and'
    if shut:
        return '', f'{role} leaves the box of {shut[0]} shut and'
    return '', role


def is_passed_on(question):
    """Return whether a call is asked for again as a whole."""
    last = question.last
    return bool(last and last.trace and question.is_call
                and question.primitive is last.primitive
                and not question.in_rule and not question.function
                and last.trace.parent)


def opened(question, role, recorder):
    """Return that a trace looks inside an operation."""
    if question.is_call:
        return f'{role} opens the call'
    lost = recorder.loses_rule(question)
    return (f'{role} opens `{question.primitive}`'
            + ', and its rule is gone' * lost)


def deed(question, recorder):
    """Return a verb, and the operands that are short."""
    primitive, args = question.primitive, question.args
    texts = [operand(x, recorder) for x in args]
    sign = SIGNS.get(str(primitive))
    if sign and len(texts) == 2:
        verb, *forms = VERBS[sign]
        form = forms[0 if all(texts) else 1 if texts[0] else 2]
        return verb, form.format(*texts) if any(texts) else ''
    if str(primitive) in ('neg', 'negative'):
        return 'negate', texts[0]
    if question.is_call or dict(question.functions).get('fun'):
        return 'run', f'`{primitive}`'
    if str(primitive) == 'custom_lin':
        return 'make', f'the promise `{applied(primitive, args, recorder)}`'
    if len(texts) == 1 and texts[0]:
        return 'compute', f'`{primitive}({texts[0].strip("`")})`'
    return 'compute', f'`{primitive}`'


def operand(x, recorder):
    """Return a number, or the name of an unknown value, or ''."""
    if packed_by(x) is not None:
        parts = contents(x)
        is_name = len(parts) == 1 and is_var(parts[0])
        return operand(parts[0], recorder) if is_name else ''
    if is_var(x) and x not in recorder.constants:
        return f'`{recorder.names[x]}`'
    if isinstance(x, np.ndarray) and x.size and not any(x.strides):
        x = x.flat[0]       # which vmap repeats for each element
    return brief(x, recorder)


def answered(question, result, recorder):
    """Return who answers whom, and what the answer is."""
    role = recorder.role(question.trace)
    whom = asker(question, recorder)
    said = f'{role} answers {whom}'.rstrip() * (whom != role)
    content = what_is(result, question, recorder)
    return sentence(f'{said or f"{role} answers"}{content}')


def asker(question, recorder):
    """Return who asked a question, or ''."""
    if question.function:
        return f'`{question.function}`'
    if question.in_rule:
        return 'the rule'
    last = question.last
    if not last or question.is_inside():
        return ''
    return recorder.role(last.trace) if last.trace else 'the reverse pass'


def what_is(result, question, recorder):
    """Return what an answer consists of."""
    kind = recorder.kind(question.trace)[0]
    if question.called_rule:
        return ' with what the rule returned'
    if kind == 'vmap' and question.owns(result):
        return ' with a batch'
    if kind == 'forward mode' and question.owns(result):
        primal, tangent = contents(result)
        words = [operand(x, recorder) for x in (primal, tangent)]
        if all(words):
            return ' with {} and the tangent {}'.format(*words)
        return (' with values and their tangents' if np.ndim(primal)
                else ' with a value and its tangent')
    text = in_words(result, recorder)
    if not text.endswith('numbers'):
        is_array = isinstance(result, np.ndarray)
        text = (not is_array and operand(result, recorder)
                or brief(result, recorder))
    return f' with {text}' if text else ''


def recorded(question, lines, recorder):
    """Return that a trace records lines, and why."""
    role = recorder.role(question.trace)
    unknown = ' or '.join(dict.fromkeys(
        operand(x, recorder) for x in question.args if question.owns(x)))
    why = (f"{role} doesn't know {unknown}, so it"
           if unknown and role.startswith('partial') else role)
    seal = ', with the backward rule sealed in it' * (
        str(question.primitive) == 'custom_lin')
    return sentence(
        f'{why} records {" and ".join(f"`{line}`" for line in lines)}{seal}')


def turned(cts, recorder):
    """Return that the reverse pass begins."""
    text = brief(cts[0], recorder) if len(cts) == 1 else ''
    return sentence(
        'now backwards', 'the reverse pass reads the recorded lines from '
        'last to first' + f", and the result's cotangent is {text}" * (
            text != ''))


def back(question, cts, told, recorder):
    """Return what a line makes of a cotangent.

    Args:
        told: (name, cotangent, sum, whether there was one before) for each
            operand that gets a cotangent.
    """
    text = brief(cts[0], recorder) if len(cts) == 1 else ''
    through = f'back through {line_of(question)}' + (
        f', with the cotangent {text}' * (text != ''))
    got = [f'`{name}` gets {brief(ct, recorder) or "a cotangent"}'
           + has_more * (f', which makes {brief(total, recorder)}'
                         if packed_by(ct) is None and brief(total, recorder)
                         else ', which is added to another one')
           for name, ct, total, has_more in told]
    if str(question.primitive) == 'custom_lin':
        got.insert(0, 'the envelope is opened')
    return sentence(f'{through}: {listed(got) or "no operand gets one"}')


def reached(question, recorder):
    """Return that the reverse pass asks about a line."""
    return sentence(f'the reverse pass reaches {line_of(question)}')


def line_of(question):
    """Return the recorded line of a question of the reverse pass."""
    return f'`{"".join(question.lines) or question.primitive}`'


def failed(question, error, recorder):
    """Return who raises an error."""
    role, name = recorder.role(question.trace), type(error).__name__
    first = textwrap.shorten(
        str(error).partition('\n')[0], 120, placeholder=' …')
    return sentence(f'{role} raises a {name}: {first}'.rstrip('.'))


def sentence(*parts):
    """Return clauses as sentences; those that are empty are left out."""
    return ' '.join(f'{part[:1].upper()}{part[1:]}.'
                    for part in parts if part)


def listed(parts):
    """Return `a, b, and c`."""
    *some, last = parts or ['']
    comma = ',' if len(some) > 1 or any(',' in part for part in parts) else ''
    return f'{", ".join(some)}{comma} and {last}' if some else last


def brief(x, recorder):
    """Return a value if it is short and not an array, or ''."""
    text = in_words(x, recorder)
    short = len(text) <= 12 and not re.search(r'\[|numbers|batch', text)
    return text if short else ''


def is_var(x):
    return isinstance(x, Var) or type(x).__name__ == 'Var'


def encoded(x, recorder):
    """Return a value as text, and a box as a list.

    The list has the number of the box's trace and the contents; a list of
    values has None for the number.
    """
    if isinstance(x, (list, tuple)):
        return [None, *[encoded(part, recorder) for part in x]]
    owner = packed_by(x)
    if owner is None:
        return in_words(x, recorder)
    inside = [encoded(part, recorder) for part in contents(x)]
    return [recorder.number(owner), *inside]


def packed_by(x):
    """Return the trace of a tracer, or None for other values."""
    if isinstance(x, Tracer):
        return x._trace
    return getattr(x, '__dict__', {}).get('trace')


def contents(x):
    """Return the contents of a tracer: primal and tangent, rows, or a name.

    The contents of other systems' tracers are their attributes.
    """
    if not isinstance(x, Tracer):
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


def called(question, recorder):
    """Return a question as text: the user's function, if it is a call.

    A pair of a value and its tangent is one operand.
    """
    primitive, args = question.primitive, question.args
    if question.is_call and question.functions:
        primitive = fun_name(question.functions[0][1])
    elif len(args) != 1 or not in_words(args[0], recorder).startswith('('):
        return applied(primitive, args, recorder)
    texts = [in_words(x, recorder) for x in args]
    return f'{primitive}({", ".join(texts)})'


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


def table(frames):
    """Return the steps as text, at most 79 columns wide."""
    wide = len(str(len(frames)))
    below = '\n' + ' ' * (wide + 2)
    rows = [f'{number:{wide}}  ' + row(frame).replace('\n', below)
            for number, frame in enumerate(frames, 1)]
    left_out = len(rows) - FIRST - LAST
    if left_out > 1:
        note = (f'… {left_out} more steps: after r = ad.watch(…), '
                'r.frames has them all')
        rows[FIRST:-LAST] = [below[1:] + note]
    return '\n'.join(rows)


def row(frame):
    """Return the lines of a step: its words by depth, and a value."""
    indent = '  ' * min(frame['depth'], 8)
    words = textwrap.wrap(
        frame['caption'], WORDS, initial_indent=indent,
        subsequent_indent=indent + '  ')
    value = textwrap.wrap(frame['value'], VALUE, subsequent_indent='  ',
                          max_lines=4, placeholder=' …')
    return '\n'.join(f'{left:{WORDS}}  {right}'.rstrip()
                     for left, right in zip_longest(words, value,
                                                    fillvalue=''))


# The words of the steps that a short list needs.
DECISIVE = re.compile('opens|calls|passes|leaves|records|returned|raises|'
                      'backwards|^Back|^The result')


def decisive(frames, most=12):
    """Return the most important frames."""
    found = [frame for frame in frames if DECISIVE.search(frame['caption'])]
    if len(found) < 4:
        found = [frame for frame in frames
                 if frame in found or frame['kind'] != 'ask']
    return found[::-1][::-(-len(found) // most)][::-1]
