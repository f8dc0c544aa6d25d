"""Make a page for each module of the library: its source, with links.

In the source, every name that the library defines links to the line of its
definition, and a statement that the book shows links to the section that
shows it.  The modules are parsed for this, and never run.
"""

import ast
import html
import os
import re
from functools import lru_cache
from importlib.util import resolve_name
from pathlib import Path

import griffe
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from book.tools import weave
from book.tools.places import Place, told

SCOPES = (ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ListComp
          | ast.SetComp | ast.DictComp | ast.GeneratorExp)
# Names, operators, punctuation, and spaces have the color of text.
PLAIN = re.compile('<span class="[nopw]">([^<]*)</span>')
PIECE = re.compile(r'<[^>]*>|&#?\w+;|\w+|.', re.DOTALL)
FENCES = str.maketrans({'`': '&#96;', '~': '&#126;'})   # hide from Markdown
HERE = Path('book/modules/index.md')       # lists the modules


# The library, as griffe reads it.

class AsHelp(griffe.Extension):
    """Make griffe ignore stubs, and read all names that modules define.

    A stub has the same names, arguments, and defaults as its module.
    """

    def on_module_members(self, *, node, mod, **_):
        if mod.filepath.suffix == '.pyi':
            mod.members.clear()
            mod.overloads.clear()
            return
        for part in getattr(node, 'body', ()):
            match part:
                case ast.Assign([ast.Name('NAMES')], names):
                    for name, where in ast.literal_eval(names).items():
                        publish(mod.package, name, where)
                case ast.Assign([ast.Name('PUBLIC')], names):
                    for where, many in ast.literal_eval(names).items():
                        for name in many.split():
                            publish(mod.package, name, f'{where}.{name}')
        for found in weave.statements(mod.filepath.read_text()):
            for name in weave.bound(found) - mod.members.keys():
                mod.set_member(name, griffe.Attribute(
                    name, lineno=found.node.lineno))

    def on_class_members(self, *, node, cls, **_):
        for part in ast.walk(node):
            match part:
                case ast.Attribute(ast.Name('self'), name, ast.Store()) if (
                        name not in cls.members):
                    cls.set_member(name, griffe.Attribute(
                        name, lineno=part.lineno))


def publish(package, name, where):
    """Give the package a name that it imports from a module on demand."""
    package.set_member(name, griffe.Alias(name, f'{package.path}.{where}'))


def texts():
    """Return {title: source} of the modules that are not empty."""
    return {path.as_posix(): path.read_text()
            for path in sorted(Path(weave.PACKAGE).rglob('*.py'))
            if path.stat().st_size}


def library():
    """Return the library as griffe reads it now."""
    return loaded(tuple(texts().items()))


@lru_cache(maxsize=1)
def loaded(sources):
    """Return the library as griffe reads it, while it has these sources."""
    return griffe.load(weave.PACKAGE, search_paths=[Path()],
                       extensions=griffe.Extensions(AsHelp()))


def within(found, dotted):
    """Return the object that a dotted name means in the library, or None."""
    package, _, rest = dotted.partition('.')
    if package != found.name:
        return None
    for name in filter(None, rest.split('.')):
        found = found and member(found, name)
    return found


def member(found, name):
    """Return an attribute of a module or a class, where it is defined.

    Return None if there is none, or if the library doesn't define it.
    """
    return defined(found.members.get(name) or found.all_members.get(name))


def defined(found):
    """Follow an alias to its definition; None if it is outside."""
    try:
        return found.final_target if isinstance(
            found, griffe.Alias) else found
    except griffe.AliasResolutionError:
        return None


def place(title, line=0):
    """Return the Place of a module, or of a line in it."""
    name = title.removeprefix(f'{weave.PACKAGE}/')
    page = HERE.parent / (name.removesuffix('.py') + '.md')
    return Place(page, f'L{line}' if line else '', name)


def place_of(found):
    """Return the Place of a definition."""
    return place(title_of(found), found.lineno or 0)


def title_of(found):
    """Return the title of the module that has a definition."""
    return found.relative_package_filepath.as_posix()


def first_paragraph(docstring):
    """Return the first paragraph of a docstring, on one line."""
    text = docstring.value if docstring else ''
    return ' '.join(text.partition('\n\n')[0].split())


# The names of a module, and what they mean.

class Names:
    """Find what the names of a module mean."""

    def __init__(self, title, library):
        self.library = library
        self.home = within(library, weave.dotted(title))
        self.package = weave.dotted(title[:title.rindex('/')])

    def uses(self, node, local, around):
        """Yield (line, column, text, meaning) of the names in a node.

        Args:
            local: the meanings of names bound by enclosing functions.
            around: the module or class whose body this is, or None.
        """
        seen = local | around.members if (
            isinstance(around, griffe.Class)) else local
        match node:
            case ast.ImportFrom():
                yield (node.lineno, node.col_offset + len('from '),
                       *self.origin(node))
            case ast.Name(text) | ast.Attribute(_, text):
                yield (node.end_lineno, node.end_col_offset
                       - len(text.encode()), text, self.meaning(node, seen))
        for part, meaning in self.imported(node):
            yield part.lineno, part.col_offset, part.name, meaning
        inside = around
        if isinstance(node, ast.ClassDef):
            inside = around and member(around, node.name)
        elif isinstance(node, SCOPES):
            local, inside = local | self.bound(node, around), None
        for part in ast.iter_child_nodes(node):
            yield from self.uses(part, local, inside)

    def origin(self, node):
        """Return the name of what is imported from, and the module, if ours.
        """
        name = '.' * node.level + (node.module or '')
        return name, within(self.library, resolve_name(name, self.package))

    def imported(self, node):
        """Return (part, meaning) of the names that an import lists."""
        match node:
            case ast.Import(parts):
                return [(x, within(self.library, x.name)) for x in parts]
            case ast.ImportFrom(_, parts):
                _, source = self.origin(node)
                return [(x, source and member(source, x.name)) for x in parts]
        return []

    def bound(self, node, around):
        """Return the meanings of the names that a function binds.

        They are None, mostly. Names bound by a nested function are included.
        """
        found = {symbol.get_name(): None
                 for table in weave.tables(ast.unparse(node))[1:]
                 for symbol in table.get_symbols() if symbol.is_local()}
        found |= {x.asname or x.name: meaning for part in ast.walk(node)
                  for x, meaning in self.imported(part)}
        if isinstance(around, griffe.Class):
            found |= dict.fromkeys(('self', 'cls'), around)
        return found

    def meaning(self, node, local):
        """Return the object that an expression means, or None.

        The first argument of a method means its class.
        """
        match node:
            case ast.Name(name):
                return defined(local[name] if name in local
                               else self.home.members.get(name))
            case ast.Attribute(value, name):
                found = self.meaning(value, local)
                return found and member(found, name)
        return None


# A source as HTML, line by line.

def source(lines, marks):
    """Return the HTML of a module's source, with links and marks in it."""
    lines = [f'<span id="L{number}"><a class="ln" href="#L{number}" '
             f'tabindex="-1">{number:3} </a>{line}{marks.get(number, "")}\n'
             '</span>' for number, line in enumerate(lines, 1)]
    return ('<div class="highlight module"><pre><code>'
            + ''.join(lines) + '</code></pre></div>')


@lru_cache(maxsize=1000)
def highlighted(title, text, library):
    """Return the HTML of each line of a module."""
    code = highlight(text, PythonLexer(ensurenl=False, stripnl=False),
                     HtmlFormatter(nowrap=True))
    links = links_in(title, text, library)
    return linked(PLAIN.sub(r'\1', code), links).translate(FENCES).splitlines()


def linked(code, links, attributes=''):
    """Return the HTML of code with links {(line, column): (name, link)}."""
    made, line, column, end = '', 1, 0, None
    for piece in PIECE.findall(code):
        if piece[0] == '<':      # a tag
            made += piece
            continue
        if (line, column) in links:
            name, link = links[line, column]
            made += f'<a href="{link}"{attributes}>'
            end = line, column + len(name)
        column += len(html.unescape(piece))
        made += piece + '</a>' * ((line, column) == end)
        if piece == '\n':
            line, column = line + 1, 0
    return made


@lru_cache(maxsize=1000)
def links_in(title, text, library):
    """Return {(line, column): (name, link)} of the names in a text."""
    names, lines, found = Names(title, library), text.splitlines(), {}
    for line, column, name, meaning in names.uses(
            ast.parse(text), {}, names.home):
        start = len(lines[line - 1].encode()[:column].decode())
        # Python 3.11 has wrong columns in f-strings. Empty modules have no
        # page.
        if not meaning or name in ('self', 'cls') or (
                not lines[line - 1].startswith(name, start)) or (
                meaning.is_module and not meaning.docstring):
            continue
        goal = place_of(meaning)
        if goal != place(title, line):
            found[line, start] = name, address(goal, place(title).page)
    return found


def links_shown(title, text, home):
    """Return the links in a text that shows statements of a module.

    Args:
        home: the link to the folder `modules`.
    """
    whole, found = Path(title).read_text(), {}
    links, folder = links_in(title, whole, library()), place(title).page.parent
    starts = {x.address: x for x in weave.statements(whole)}
    for shown in weave.statements(text):
        if (there := starts.get(shown.address)) and there.text == shown.text:
            found |= {
                (line - there.line + shown.line, column): (
                    name, home + os.path.normpath(
                        folder.relative_to(HERE.parent) / link))
                for (line, column), (name, link) in links.items()
                if there.line <= line <= there.end}
    return found


def address(goal, page):
    """Return the link from a page of the site to a Place."""
    return goal.link(page).replace('.md', '.html')


def marks_in(title, text, shown):
    """Return {line: HTML} of the links to sections that show a line.

    Args:
        shown: the Places in the book of its statements, by address.
    """
    marks, before = {}, None
    for found in weave.statements(text):
        places = shown.get(found.address)
        if places and places != before:
            marks[found.line] = '  ' + ' '.join(
                f'<a class="shown" href="{address(x, place(title).page)}" '
                f'title="{html.escape(x.title)}">{kind(x)}</a>'
                for x in places)
        before = places
    return marks


# The pages.

def pages():
    """Return {name in the folder: text} of the modules."""
    sources, shown = texts(), told()
    library = loaded(tuple(sources.items()))
    return {place(title).page.relative_to('book').as_posix():
            page(title, text, shown.get(title, {}), library)
            for title, text in sources.items()}


def page(title, text, shown, library):
    """Return the page of a module; the book shows `shown` of it."""
    where = place(title)
    docstring = within(library, weave.dotted(title)).docstring
    first = {x.page: x for places in reversed(shown.values())
             for x in reversed(places)}
    chapters = ', '.join(f'[{kind(x)}]({x.link(where.page)})'
                         for x in sorted(first.values()))
    up = os.path.relpath(HERE, where.page.parent)
    return '\n\n'.join([
        f'# `{where.title}`', docstring.value if docstring else '',
        f'Explained in {chapters}. ' * bool(chapters)
        + f'[All modules]({up})',
        source(highlighted(title, text, library),
               marks_in(title, text, shown))]) + '\n'


def kind(place):
    """Return the name of a page, such as `chapter 3`."""
    return f'chapter {place.label}' * place.label.isdigit() or place.label


def listed(folders):
    """Return a list of the modules in some folders, with their summaries.

    The modules of the draft are in the order of the book, and those in no
    folder are called `core`.
    """
    titles, found = [*texts()], library()
    if folders == 'draft':
        titles = list(dict.fromkeys([*told(), *titles]))
    return '\n'.join(
        f'- [`{place(title).title}`]({place(title).link(HERE)}) '
        + first_paragraph(within(found, weave.dotted(title)).docstring)
        for title in titles
        if '/'.join(title.split('/')[1:-1] or ['core']) in folders.split())
