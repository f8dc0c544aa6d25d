"""The tables of what works, from book/what_works.json.

`python -m tests.what_works` makes the data: each function is called and
differentiated; nothing here is typed by hand.
"""

import json
from pathlib import Path

DATA = Path(__file__).parents[1] / 'what_works.json'


def table(module):
    """Returns the table of a module, in which each function has a line.

    Args:
        module: its name, such as 'numpy.linalg'.
    """
    answers = json.loads(DATA.read_text(encoding='utf-8'))[module]
    lines = ['| function | differentiable by |', '|:--|:--|',
             *[f'| `{name}` | {by(answer)} |'
               for name, answer in answers.items()
               if not isinstance(answer, str)]]
    refused = {}
    for name, answer in answers.items():
        if isinstance(answer, str):
            refused.setdefault(answer, []).append(f'`{name}`')
    sentences = [f'*Not there: {reason}.* {", ".join(names)}.'
                 for reason, names in sorted(refused.items())]
    return '\n\n'.join([summary(answers), '\n'.join(lines), *sentences])


def by(arguments):
    """Returns the names of arguments, or a dash."""
    return ', '.join(f'`{name}`' for name in arguments) or '–'


def summary(answers):
    """Returns how many of the functions work, and have derivatives."""
    works = [x for x in answers.values() if not isinstance(x, str)]
    return (f'{len(works)} of {len(answers)} functions work on traced '
            f'values, and {sum(map(bool, works))} of these have derivatives.')
