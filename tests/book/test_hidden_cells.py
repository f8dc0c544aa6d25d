"""A cell that the reader doesn't see leaves alone what the reader edits.

A reader who changes a rule on a page and runs the page sees what the new rule
does, in the printed results, the players, and the plots.
"""

import ast
import re
from functools import cache

import pytest

from book.tools import mainline, places, render, weave
from tests.support.amount import rest
from tests.support.page_cells import cells as cells     # a fixture

PAGES = {page.stem: page for page in weave.chapters(places.ROOT)
         if page.parent.name in ('book', 'chapters')}
QUICK = '04'    # the chapter whose rule vanished; the others can wait
CHAPTER_4 = '04_the_rule_that_vanished'

# The names that a notebook of Book One has from the chapters before it.
DRAFT = {name for title, module in weave.modules(places.ROOT).items()
         if title.startswith(weave.DRAFT) for found in module.values()
         for name in mainline.defined(found)}

# Rules whose numbers don't show, because they return or raise something else.
SILENT = {'cube_jvp', 'hasty_jvp', 'calm_jvp', 'square_jvp', 'solve_bwd'}

TIMES = re.compile(r'\b(timeit\b|race\(|milliseconds\(|count_both\()')
SCOPES = (ast.Lambda | ast.GeneratorExp | ast.ListComp | ast.SetComp
          | ast.DictComp)


@cache
def sources(name):
    """Return [(source, tags)] of the cells of a page."""
    return [(cell.source, {*render.tags(cell)})
            for cell in render.code_cells(render.read(PAGES[name]))]


def parsed(source):
    """Return the syntax tree of a cell without its magics."""
    return ast.parse(re.sub('(?m)^[%!].*', '', source))


def visible(cells):
    """Return [(number, syntax tree)] of the cells that a page shows."""
    return [(number, parsed(source))
            for number, (source, tags) in enumerate(cells)
            if not tags & {'hide-input', 'imports'}]


def gives_rule(name):
    return re.match('def_?(jvp|vjp|vmap|impl|abstract|transpose)', name)


# In the files.

def bound(tree):
    """Return what statements outside functions bind, as source text.

    These are names, attributes, items of tables such as `jvp_rules[f]`, and
    rules that a call gives, such as `f.defjvp` and `defjvp(sin_p`.  An import
    of a name is `import sin_p`.
    """
    found = set()
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.FunctionDef(name) | ast.ClassDef(name):
                found |= {name, *[ast.unparse(it) for it in node.decorator_list
                                  if isinstance(it, ast.Attribute)
                                  and gives_rule(it.attr)]}
                continue
            case ast.alias(name, asname):
                found.add(f'import {asname or name}')
            case (ast.Name(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store())
                  | ast.Subscript(ctx=ast.Store())):
                found.add(ast.unparse(node))
            case ast.Call(ast.Name(name), [first, *_]) if gives_rule(name):
                found.add(f'{name}({ast.unparse(first)}')
            case ast.Call(ast.Attribute(attr=name)) if gives_rule(name):
                found.add(ast.unparse(node.func))
        if not isinstance(node, SCOPES):
            found |= bound(node)
    return found


def rebound(cells):
    """Return what a hidden cell binds, and a visible one or the draft, too.

    Each can import a name.
    """
    seen = set().union(*[bound(tree) for _, tree in visible(cells)])
    unseen = set().union(*[bound(parsed(source)) for source, tags in cells
                           if 'hide-input' in tags])
    seen = {name for name in seen if not name.startswith('import ')}
    return unseen & DRAFT | seen & {
        name.removeprefix('import ') for name in unseen}


@pytest.mark.parametrize('name', PAGES)
def test_no_hidden_cell_binds_what_a_visible_one_binds(name):
    assert rebound(sources(name)) == set()


# While a page runs.

def rules(cells):
    """Return [(number of its cell, tree)] of the rules in [(number, tree)].

    A rule is in a table, is given to a function, or is an argument `rule`.
    """
    given, functions = [], []
    for number, tree in cells:
        for node in ast.walk(tree):
            match node:
                case ast.Assign([ast.Subscript(table)], value) if ast.unparse(
                        table).endswith('rules'):
                    given.append((number, value))
                case ast.keyword('rule', value):
                    given.append((number, value))
                case ast.Call(ast.Name(word) | ast.Attribute(attr=word)
                              ) if gives_rule(word):
                    given += [(number, value) for value in node.args]
                case ast.FunctionDef():
                    functions.append((number, node))
    lambdas = [(number, value) for number, value in given
               if isinstance(value, ast.Lambda)]
    named = {it.id for _, value in given if not isinstance(value, ast.Lambda)
             for it in ast.walk(value) if isinstance(it, ast.Name)}
    return lambdas + [(number, it) for number, it in functions if it.name in (
        named) or any(isinstance(it, ast.Attribute) and gives_rule(it.attr)
                      for it in it.decorator_list)]


def literals(rule):
    """Return the numbers in a rule that aren't indices or defaults."""
    others = {id(it) for node in ast.walk(rule) for part in (
        [node.slice] if isinstance(node, ast.Subscript)
        else [node] if isinstance(node, ast.arguments) else [])
        for it in ast.walk(part)}
    return [it for it in ast.walk(rule) if isinstance(it, ast.Constant)
            and type(it.value) in (int, float) and id(it) not in others]


def changed(source, literals, change):
    """Return a cell in which numbers are replaced."""
    lines = source.split('\n')
    for it in sorted(literals, key=lambda it: it.col_offset, reverse=True):
        line = lines[it.lineno - 1].encode()
        lines[it.lineno - 1] = (line[:it.col_offset] + change(it.value).encode()
                                + line[it.end_col_offset:]).decode()
    return '\n'.join(lines)


def state(main):
    """Return what the names of a notebook refer to, and what they hold.

    The keys are (name,) and (name, item of a table or attribute).
    """
    found = {}
    for name, value in vars(main).items():
        if not name.startswith('_'):
            found[name,] = value
            held = value if isinstance(value, dict) else getattr(
                value, '__dict__', {})
            found |= {(name, key): held[key] for key in [*held]
                      if not isinstance(value, type(ast) | type)}
    return found


def run(cells, page):
    """Run the cells of a page, and yield what each of them said.

    No hidden cell replaces what another cell has made.  A text comes in parts
    of any length, and times differ from run to run.
    """
    cells.fresh()
    for number, (source, tags) in enumerate(page):
        cells.said.clear()
        before = state(cells.main) if 'hide-input' in tags else {}
        error = cells.run(source, number)
        after = state(cells.main) if before else {}
        assert [key for key in before if key in after
                and after[key] is not before[key]] == []
        said = ''.join(text for _, text in cells.said)
        yield () if TIMES.search(source) else (said, *error[:1])


def hidden(page):
    """Return the numbers of the hidden cells of a page."""
    return [number for number, (_, tags) in enumerate(page)
            if 'hide-input' in tags]


def can_change(page):
    """Return whether a page has a hidden cell, or a number in a rule.

    Reading all the notebooks would take a second.
    """
    text = page.read_text()
    seen = (parsed(fence[4]) for fence in weave.FENCE.finditer(
        mainline.UNSEEN.sub('', text)) if fence[2] == 'python')
    return 'hide-input' in text or any(
        literals(rule) for _, rule in rules((0, tree) for tree in seen))


@pytest.mark.parametrize('name', [
    name if name[:2] == QUICK else rest(name)
    for name, page in PAGES.items() if can_change(page)])
def test_a_changed_rule_is_the_one_that_the_page_uses(
        cells, name, monkeypatch):
    """Each rule is changed in a number, such as the 3 of a dye.

    A rule whose numbers change no output isn't used on its page, where an
    error in their place changes nothing, either.
    """
    monkeypatch.setenv('MPLBACKEND', 'agg')
    book = [*run(cells, sources(name))]

    def differs(number, literals, change):
        page, found = [*sources(name)], False
        page[number] = changed(page[number][0], literals, change), set()
        needed = max([number, *hidden(page)])
        for at, told in enumerate(run(cells, page)):
            found = found or at >= number and told != book[at]
            if found and at >= needed:
                break
        return found

    for number, rule in rules(visible(sources(name))):
        first, *others = [[it] for it in literals(rule)] or [[]]
        shows = not first or differs(number, first, larger)
        is_used = not shows and differs(number, literals(rule), wrong)
        assert shows or not is_used or getattr(rule, 'name', '') in SILENT or (
            any(differs(number, it, larger) for it in others)), (
                ast.unparse(rule))


def larger(value):
    return str(value + 4)


def wrong(value):
    return '[][0]'


@pytest.mark.parametrize('line, undone', [
    ('jvp_rules[f] = lambda tag, xs, x_dots: (f.bind(*xs), 3 * x_dots[0])',
     'jvp_rules[f]'),
    ('def rule(tag, xs, x_dots): pass', 'rule'),
    ('from autodiff_mini.draft import jvp as loop', 'loop')])
def test_a_hidden_cell_that_undoes_an_edit_is_found(cells, line, undone):
    """In chapter 4, a hidden cell gave `f` its old rule again."""
    page = [*sources(CHAPTER_4), (line, {'hide-input'})]
    assert rebound(page) == {undone}
    with pytest.raises(AssertionError, match=undone.partition('[')[0]):
        list(run(cells, page))


@pytest.mark.rest
def test_the_puzzle_and_its_players_show_a_changed_claim(cells, monkeypatch):
    """The front page invites the reader to change the 3 of `claim`."""
    monkeypatch.setenv('MPLBACKEND', 'agg')
    page = [(re.sub('(?m)^claim = 3', 'claim = 7', source), tags)
            for source, tags in sources('index')]
    text = [str(told) for told in run(cells, page)]
    [puzzle] = [told for told in text if 'in one go' in told]
    assert '[7. 7. 7. 7.]' in puzzle and '[2. 2. 2. 2.]' in puzzle
    new = text[-1]
    assert '[7. 7. 7. 7.]' in new and '[3. 3. 3. 3.]' not in new
