"""The tables of what works, from book/what_works.json.

`python -m tests.what_works` makes the data: each function is called and
differentiated; nothing here is typed by hand.
"""

import json
from pathlib import Path

STILL = 'These work, and what they return does not move:'
DATA = Path(__file__).parents[1] / 'what_works.json'


def table(module):
    """Return the functions of a module, and by what they are differentiable.

    Args:
        module: its name, such as 'numpy.linalg'.
    """
    answers = json.loads(DATA.read_text(encoding='utf-8'))[module]
    works, groups = {}, {STILL: []}
    for name, answer in answers.items():
        if isinstance(answer, str):
            groups.setdefault(f'Not there: {answer}.', []).append(name)
        else:
            works[name] = f'- `{name}` {", ".join(answer)}'
            groups[STILL] += [name] * (not answer)
    moving = [line for name, line in works.items() if answers[name]]
    return '\n\n'.join([
        f'{len(works)} of {len(answers)} functions work on traced values, '
        f'and {len(moving)} of these have derivatives.',
        '<div class="works" markdown="1">', '\n'.join(moving), '</div>',
        *[f'*{title}* ' + ', '.join(f'`{name}`' for name in names) + '.'
          for title, names in groups.items() if names]])
