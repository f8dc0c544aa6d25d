"""The tables of what works, from book/what_works.json.

`python -m tests.what_works` makes the data: each function is called and
differentiated; nothing here is typed by hand.
"""

import json
from pathlib import Path

STILL = 'These work, and what they return does not move:'
DATA = Path(__file__).parents[1] / 'what_works.json'


def table(module):
    """Returns the functions of a module, and by what they are differentiable.

    Args:
        module: its name, such as 'numpy.linalg'.
    """
    answers = json.loads(DATA.read_text(encoding='utf-8'))[module]
    moving = [f'- `{name}` {", ".join(answer)}'
              for name, answer in answers.items()
              if answer and not isinstance(answer, str)]
    groups = {STILL: [name for name in answers if answers[name] == []]}
    for name, answer in answers.items():
        if isinstance(answer, str):
            groups.setdefault(f'Not there: {answer}.', []).append(name)
    return '\n\n'.join([
        summary(answers), '<div class="works" markdown="1">',
        '\n'.join(moving), '</div>',
        *[f'*{title}* ' + ', '.join(f'`{name}`' for name in names) + '.'
          for title, names in groups.items() if names]])


def summary(answers):
    """Returns how many of the functions work, and have derivatives."""
    works = [x for x in answers.values() if not isinstance(x, str)]
    return (f'{len(works)} of {len(answers)} functions work on traced '
            f'values, and {sum(map(bool, works))} of these have derivatives.')
