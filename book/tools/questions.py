"""Questions: what does a cell print, and why, asked before its output.

`book/questions/05.toml` has those of chapter 5, and another page's file has
the name of its page.  Each names its cell by a
part of the source and has several answers, one of them right, with a reason
for each.  `prints` is a part of the output that only the right answer, or
only a wrong one, agrees with.  A test compares them with what the cell
printed.
"""

import hashlib
import html
import re
import tomllib

from book.tools import exercises
from book.tools.places import ROOT

FOLDER = ROOT / 'book/questions'


def of_page(path):
    """Return the questions of a page, which may have none."""
    chapter = path.parent.name == 'chapters'
    name = path.stem.partition('_')[0] if chapter else path.stem
    file = FOLDER / f'{name}.toml'
    if not file.exists():
        return []
    return tomllib.loads(file.read_text())['question']


def about(cell, path):
    """Return the question about a cell as Markdown, or None."""
    return next((markdown(question) for question in of_page(path)
                 if question['cell'] in cell.source), None)


def markdown(question):
    """Return a question as a box.

    The right answer and the last button show the output, which is all that a
    question hides. A wrong answer explains itself, so that another one can be
    tried. Style sheets do that, because details need no script.
    """
    answers = sorted(question['choices'], key=lambda answer: hashlib.sha256(
        answer['says'].encode()).digest())
    return '\n\n'.join([
        '<div class="question" role="group" aria-label="Question" '
        'markdown="1">', question['asks'],
        *(folded(answer) for answer in answers),
        '<details class="shows"><summary>Show the output</summary></details>',
        '</div>'])


def folded(answer):
    """Return an answer, with its reason folded."""
    says = re.sub('`([^`]*)`', r'<code>\1</code>',
                  html.escape(answer['says'], quote=False).replace("'", '’'))
    kind, word = ('right', 'Right') if answer.get('right') else ('wrong', 'No')
    return exercises.folded(says, f'**{word}.** {answer["why"]}',
                            f' class="{kind}"')
