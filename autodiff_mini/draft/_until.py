"""The draft, in the notebooks of the chapters that write it.

A notebook starts where the chapter before it ended, because its first cell
runs in the notebook itself what the earlier chapters wrote.  A definition
that you edit there is therefore the one that every other definition calls.
"""

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

PIECE = re.compile(r'(?m)^# (\d+)[a-z]\. ')


def until(chapter, namespace):
    """Define in a notebook what the chapters before one wrote.

    Args:
        chapter: the number of the chapter, an int.
        namespace: the dict to define it in, such as `globals()`.

    Examples:
        >>> until(3, globals())
        >>> jvp(lambda x: x * x, (3.0,), (1.0,))
        (9.0, 6.0)
    """
    for path in files():
        source = path.read_text()
        written = [node for node in ast.parse(source).body
                   if is_before(chapter, source, node)]
        exec(compile(ast.Module(written, []), path, 'exec'), namespace)


def files():
    """Return the draft's modules, each after the modules it imports."""
    paths = {path.stem: path for path in
             sorted(Path(__file__).parent.glob('[!_]*.py'))}
    imported = {name: re.findall(r'(?m)^from \.(\w+)', path.read_text())
                for name, path in paths.items()}
    return [paths[name] for name in
            TopologicalSorter(imported).static_order()]


def is_before(chapter, source, node):
    """Return whether a statement is in a piece of an earlier chapter.

    An import counts as one, unless it is from the draft.
    """
    if isinstance(node, ast.ImportFrom) and node.level:
        return False
    above = '\n'.join(source.splitlines()[:node.lineno - 1])
    pieces = PIECE.findall(above)
    return not pieces or int(pieces[-1]) < chapter
