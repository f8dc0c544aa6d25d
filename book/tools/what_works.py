"""Make the tables of supported functions from book/what_works.json.

`python -m tests.commands.what_works` makes the data by calling and
differentiating each function, so no entry is typed by hand.
"""

import json
from pathlib import Path

STILL = 'These work, and their derivative is zero:'
DATA = Path(__file__).parents[1] / 'what_works.json'


def table(module):
    """Return the functions of a module, and how each can be differentiated.

    Args:
        module: its name, such as 'numpy.linalg'.
    """
    answers = json.loads(DATA.read_text(encoding='utf-8'))[module]
    works, groups = {}, {STILL: []}
    for name, answer in answers.items():
        if isinstance(answer, str):
            groups.setdefault(f'Not supported, because {answer}:', []).append(name)
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
