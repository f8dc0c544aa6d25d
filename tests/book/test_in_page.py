"""The cells of a page run in it, in a browser, and print what the book prints.

`make runtime` brings the Python that a browser runs; without it these tests
are skipped.  `make test-site` runs them.
"""

import hashlib
import io
import json
import re
import zipfile
from base64 import b64encode
from pathlib import Path

import pytest

from book.tools import exercises, in_page
from tests.support.amount import rest as rest_of_tests
from tests.support.browser import (
    accessibility, browsing, emulate, ends_of_requests, installed, rest,
    serving)
from tests.support.page_cells import cells as cells  # a fixture

ROOT = Path(__file__).parents[2]
SITE = ROOT / 'site'
SECONDS = 300
SOME = '05', '30'     # the others can wait
CHAPTERS = sorted(path.stem for path in (ROOT / 'book/chapters').glob('*.md'))

# Cells whose output differs in a browser, by a pattern in their source.
DIFFERS = {
    'times': r'race\(|nanoseconds\(|timeit',
    'calls, which Python 3.12 counts otherwise': r'calls\(|profile',
    'integers of 32 bits': r'np\.float64\(2\.0\), 3, x|\(3\)$',
    'memory': r'peak|tracemalloc|arrays\(',
    'NumPy warnings, which WebAssembly has not': r'800',
    'the interpreter that quotes source': r'symbolic_zeros=True\)$',
    'no SciPy': r'special\.',
}
DIGITS = re.compile(r'-?\d+\.\d{9,}(e[-+]\d+)?')

# Without a browser.

def test_cell_prints_and_shows_its_last_value(cells):
    assert cells.run("print('one')\n{'a': [1, 2.5]}", 0) == []
    assert ''.join(text for _, text in cells.said) == "one\n{'a': [1, 2.5]}"
    assert cells.said[-1][0] == 'result'


def test_semicolon_hides_the_last_value(cells):
    cells.run('1 + 1;', 0)
    assert cells.said == []


def test_error_has_the_lines_of_the_reader(cells):
    cells.run('def f(x):\n    return x / 0', 0)
    text, frames = cells.run('y = 1\nf(y)', 1)
    assert text == 'ZeroDivisionError: division by zero'
    assert frames == [[1, 2], [0, 2]]


def test_syntax_error_has_its_line(cells):
    text, frames = cells.run('x = 1\nfor i in 3', 4)
    assert text.startswith('SyntaxError') and frames == [[4, 2]]


def test_flood_of_output_is_cut(cells):
    cells.run('for i in range(10 ** 6):\n    print(i)', 0)
    assert sum(len(text) for _, text in cells.said) < 2 * cells.MOST


def test_fresh_namespace_has_the_library_of_the_book(cells):
    cells.run('import autodiff_mini.draft as draft\ndraft.jvp = None', 0)
    cells.fresh()
    cells.run('from autodiff_mini.draft import jvp\njvp is None', 0)
    assert cells.said[-1] == ('result', 'False')


def test_cell_that_draws_says_so_until_matplotlib_is_loaded(
        cells, monkeypatch):
    monkeypatch.setenv('MPLBACKEND', 'agg')
    source = 'import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()'
    assert cells.run(source, 0) == []
    assert cells.said == [('undrawn', '')]
    cells.fresh(pictures=True)
    cells.said.clear()
    assert cells.run(source, 0) == []
    [(kind, text)] = cells.said
    assert kind == 'html' and text.startswith('<svg ')
    assert '<g id=' not in text and '<style' not in text


@pytest.mark.parametrize('name', [
    name if name[4:].startswith('1') else rest_of_tests(name)
    for name in exercises.names()])
def test_exercise_in_a_page_is_solved_only_by_its_solution(cells, name):
    given = json.loads(in_page.exercise(name))
    if 'dask' in given['tests'] or 'book' in given['tests']:
        pytest.skip('a browser has no Dask and no book')
    lines = given['head'].count('\n')
    solved = exercises.solution(name)
    assert cells.attempt(name, solved, lines, given['tests'])[2], cells.said
    unsolved = given['head'] + exercises.stub(name).removeprefix(given['head'])
    assert unsolved == exercises.stub(name)
    assert not cells.attempt(name, unsolved, lines, given['tests'])[2]


def test_another_address_of_python_has_no_hashes(monkeypatch):
    assert in_page.settings()['files']
    monkeypatch.setenv('RUNTIME', 'https://example.org/')
    found = in_page.settings()
    assert (found['runtime'], found['files']) == ('https://example.org/', {})


def test_archive_holds_the_library_and_is_the_same_each_time():
    first, second = in_page.library(), in_page.library()
    names = zipfile.ZipFile(io.BytesIO(first)).namelist()
    assert first == second
    assert {'cells.py', 'autodiff_mini/draft/core.py'} <= {*names}


def test_scripts_before_the_click_are_small():
    assert sum(len((in_page.SCRIPTS / name).read_bytes())
               for name in ('run.js', 'run.css')) < 10_000


def test_editor_is_the_one_that_its_recipe_makes():
    """`npm install && npm run build` in book/run/codemirror makes it."""
    recipe = json.loads(
        (in_page.SCRIPTS / 'codemirror/package.json').read_text())
    made = (ROOT / 'book/assets/codemirror/codemirror.js').read_bytes()
    assert hashlib.sha256(made).hexdigest() == recipe['sha256']
    versions = recipe['dependencies'].values()
    assert all(re.fullmatch(r'[\d.]+', version) for version in versions)


# With one.

@pytest.fixture(scope='module')
def browser(request, tmp_path_factory):
    if request.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        pytest.skip('only `make test-site` starts a browser')
    if not (SITE / 'assets/run/runtime').exists():
        pytest.skip('no Python for the browser: `make runtime` brings it, '
                    'if npm and a package index can be reached')
    pytest.importorskip('selenium', reason='`make test-site` installs it')
    if not installed():
        pytest.skip('there is no browser: install Chromium and chromedriver')
    with browsing(*installed(), tmp_path_factory.mktemp('profile')) as found:
        found.set_script_timeout(SECONDS)
        yield found


@pytest.fixture(scope='module')
def home():
    with serving(SITE) as address:
        yield address


def page_of(browser, home, name, touched=True):
    """Open a page as a reader does who has edited nothing."""
    url = f'{home}/chapters/{name}.html'
    browser.get(url)
    browser.execute_script('localStorage.clear()')
    browser.get(url)
    rest(browser)
    if touched:
        touch(browser)


def touch(browser):
    """Wait until the page has loaded what a click needs."""
    browser.execute_async_script(
        'bookRun.open().then(() => arguments[0]())')


def wait(browser, condition):
    """Wait until a condition holds in the page."""
    browser.execute_async_script(f"""
        const done = arguments[0];
        (function look() {{
          if ({condition}) done(); else setTimeout(look, 20);
        }})();""")


def do(browser, script, *args):
    """Do something on the page, and wait until Python is done."""
    browser.execute_async_script(f"""
        const done = arguments[arguments.length - 1];
        {script}
        const look = setInterval(async () => {{
          const opened = await (await bookRun.open()).session;
          if (!opened || opened.busy) return;
          clearInterval(look);
          window.opened = opened;
          done();
        }}, 50);
    """, *args)


def run_all(browser):
    do(browser, 'bookRun.ask("runAll");')


def run(browser, number):
    do(browser, 'bookRun.ask("run", arguments[0]);', number)


def write(browser, number, source):
    browser.execute_script(
        'bookRun.cells[arguments[0]].fill(arguments[1])', number, source)


def says(browser, number):
    """Return the output of a cell of the page."""
    return browser.execute_script("""
        const cell = bookRun.cells[arguments[0]];
        return (cell.output || cell.printed)?.innerText || '';
    """, number)


def outputs(browser):
    """Return each cell's source, the book's output, and the page's output."""
    return browser.execute_script(r"""
        const texts = (box) => box ? [...box.querySelectorAll(":scope > pre")]
          .map((pre) => pre.textContent.replace(/<cell \d+>/g, "<cell>")
            .replace(/(lambda in line \d+) of cell \d+/g, "$1")) : [];
        return opened.program.map((cell) => [
          cell.original, !!cell.ran, texts(cell.printed),
          texts(cell.output || (cell.box ? null : cell.fresh))]);
    """)


def rounded(texts):
    """Return texts with no more than nine digits of a number."""
    return [DIGITS.sub(lambda number: f'{float(number[0]):.9g}', text)
            for text in texts]


@pytest.mark.parametrize('name', [
    name if name[:2] in SOME else rest_of_tests(name) for name in CHAPTERS])
def test_every_cell_of_a_chapter_prints_what_the_book_prints(
        browser, home, name):
    page_of(browser, home, name)
    run_all(browser)
    for source, ran, book, here in outputs(browser):
        assert ran, source
        assert rounded(here) == rounded(book) or any(
            re.search(words, source) for words in DIFFERS.values()), (
                source, here)


RULE = '11_your_own_pullback'


def test_page_asks_for_nothing_before_the_first_click(browser, home):
    browser.get_log('performance')
    page_of(browser, home, RULE, touched=False)
    asked = [url for url, _ in ends_of_requests(browser)]
    assert not [url for url in asked if '/run/' in url or 'ipynb' in url
                or 'codemirror' in url]


def test_error_names_the_line_of_the_reader(browser, home):
    page_of(browser, home, RULE)
    write(browser, 1, 'def f(y):\n    return y / 0\n\nf(1)')
    run(browser, 1)
    assert 'ZeroDivisionError: division by zero' in says(browser, 1)
    assert 'line 4: f(1) → line 2: return y / 0' in says(browser, 1)


def test_endless_loop_is_stopped_and_the_next_run_works(browser, home):
    page_of(browser, home, RULE)
    write(browser, 1, 'while True:\n    pass')
    do(browser, """
        bookRun.ask("run", 1);
        const wait = setInterval(async () => {
          if (!bookRun.cells[1].running) return;
          clearInterval(wait);
          setTimeout(async () => (await bookRun.session).stop(), 300);
        }, 50);""")
    assert 'Stopped.' in says(browser, 1)
    browser.execute_script('bookRun.cells[1].reset()')
    write(browser, 2, '6 * 7')
    run(browser, 2)
    assert '42' in says(browser, 2)


SHOWN = """return [...document.querySelectorAll(".run-top > button")]
    .filter((it) => !it.hidden && !it.matches(".md-top"))
    .map((it) => it.textContent)"""


def test_edits_survive_a_reload_and_a_reset_is_undone(browser, home):
    """Reset page threw away every edit, and nothing brought it back."""
    def sources():
        return browser.execute_script(
            'return bookRun.cells.slice(1, 3).map((cell) => cell.source)')

    def press(label):
        browser.execute_script(f"""
            [...document.querySelectorAll(".run-top > button")]
              .find((it) => it.textContent === "{label}").click()""")

    def reload():
        browser.refresh()
        touch(browser)

    page_of(browser, home, RULE)
    book = sources()
    write(browser, 1, 'x = 1')
    write(browser, 2, 'x + 1')
    reload()
    assert sources() == ['x = 1', 'x + 1']
    press('Reset page')
    assert sources() == book
    reload()
    assert browser.execute_script(SHOWN) == [
        'Run all', 'Undo reset', 'Download']
    press('Undo reset')
    assert sources() == ['x = 1', 'x + 1']
    browser.execute_script('bookRun.cells[1].again.click()')
    assert sources() == [book[0], 'x + 1']
    browser.execute_script('bookRun.cells[1].again.click()')
    assert sources() == ['x = 1', 'x + 1']
    # Another tab has the same page.
    browser.execute_script('window.open(location.href)')
    here, there = browser.window_handles
    browser.switch_to.window(there)
    touch(browser)
    write(browser, 1, 'x = 2')
    browser.close()
    browser.switch_to.window(here)
    wait(browser, 'bookRun.cells[1].source === "x = 2"')


def test_edit_takes_effect_below_and_old_outputs_say_so(browser, home):
    def told(number):
        return browser.execute_script("""
            const cell = bookRun.cells[arguments[0]];
            const output = cell.output || cell.printed;
            return [cell.says.textContent,
                    !!output?.matches(".run-stale")]""", number)

    def updates():
        return sum(it.startswith('Update ')
                   for it in browser.execute_script(SHOWN))

    page_of(browser, home, RULE)
    write(browser, 2, '1 + 1')
    browser.refresh()
    touch(browser)
    assert told(2) == ['The output is older than the code.', True]
    assert updates() == 1
    assert browser.execute_script(PLAYERS) == [True]
    do(browser, 'bookRun.runStale()')
    assert browser.execute_script(PLAYERS) == [False]
    assert told(2)[1] is False and says(browser, 2) == '2'
    run(browser, 4)
    write(browser, 1, 'x = 41')
    assert told(1) == ['The output is older than the code.', True]
    assert told(2) == ['The output is older than the cells above.', True]
    assert told(3)[1] is (says(browser, 3) != '')
    write(browser, 1, browser.execute_script(
        'return bookRun.cells[1].original'))
    assert told(1)[1] is told(2)[1] is False
    assert updates() == 0
    write(browser, 1, 'x = 41')
    write(browser, 2, 'x + 1')
    run(browser, 2)
    assert says(browser, 2) == '42'
    assert browser.execute_script('return bookRun.cells[4].stale')
    run(browser, 4)
    assert not browser.execute_script('return bookRun.cells[4].stale')


# Whether each player is older than the code.
PLAYERS = '''
    return [...document.querySelectorAll("trace-player")].map(
      (it) => it.closest(".output").matches(".run-stale"))
'''


def test_output_of_a_hidden_cell_belongs_to_no_other(browser, home):
    """It broke: a cell that prints nothing took the player below it."""
    page_of(browser, home, '04_the_rule_that_vanished')
    touch(browser)
    above = browser.execute_script('''
        const player = document.querySelector("trace-player");
        return bookRun.cells.findLastIndex(({ box }) => box
          .compareDocumentPosition(player) & 4);''')
    run(browser, above)
    assert browser.execute_script(PLAYERS) == [False]
    run_all(browser)
    assert browser.execute_script(PLAYERS) == [False]


LOOKS = """
    const words = document.createTreeWalker(
      arguments[0].code, NodeFilter.SHOW_TEXT);
    const found = [];
    for (let word; word = words.nextNode();) {
      const { color, fontWeight, fontStyle } =
        getComputedStyle(word.parentElement);
      for (const letter of word.data.replace(/\\s/g, ""))
        found.push([letter, color, fontWeight, fontStyle].join(" "));
    }
    const { x, y, width, height } = arguments[0].box.getBoundingClientRect();
    return [x, y, width, height, ...found];
"""


@pytest.mark.parametrize('name', ['01_asking_numpy_first', RULE])
def test_a_listing_looks_the_same_in_the_editor(browser, home, name):
    """Names of functions lost their color when a cell was clicked."""
    emulate(browser, 1280, 'light')
    page_of(browser, home, name)
    before, after = browser.execute_async_script(f"""
        const done = arguments[0];
        document.querySelector(".imports").open = true;
        const look = (cell) => (function () {{ {LOOKS} }})(cell);
        (async () => {{
          const {{ cells }} = bookRun, before = cells.map(look);
          for (const cell of cells) await cell.edit();
          const frames = () => new Promise(requestAnimationFrame);
          await frames(), await frames();
          done([before, cells.map(look)]);
        }})();""")
    assert len(before) > 8
    for cell, (looked, looks) in enumerate(zip(before, after, strict=True)):
        assert looked == looks, cell


def test_keys_are_those_of_a_notebook(browser, home):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    def press(*keys):
        ActionChains(browser).send_keys(*keys).perform()

    def chord(held, key):
        ActionChains(browser).key_down(held).send_keys(key).key_up(
            held).perform()

    def focus():
        return browser.execute_script(
            'return [document.activeElement.ariaLabel,'
            '        document.activeElement.isContentEditable]')

    def source(number=1):
        return browser.execute_script(
            'return bookRun.cells[arguments[0]].source', number)

    emulate(browser, 1280, 'light')
    page_of(browser, home, RULE)
    code = browser.find_elements('css selector', '[data-cell] code')[1]
    code.find_element('css selector', '.nf').click()
    wait(browser, 'bookRun.cells[1].editor')
    book = source()
    press('np')             # the theme's keys for turning the page
    assert 'np' in source() and 'np' not in book.split('calm')[1][:2]
    chord(Keys.CONTROL, 'z')
    assert source() == book
    chord(Keys.CONTROL, 'a')
    press('def f(s):', Keys.ENTER, 'return s / 2', Keys.ENTER,
          Keys.BACKSPACE, 'f(84)')
    assert source() == 'def f(s):\n    return s / 2\nf(84)'
    chord(Keys.CONTROL, '/')
    assert source().endswith('\n# f(84)')
    chord(Keys.CONTROL, '/')
    press(Keys.TAB)
    assert source().endswith('\n    f(84)')
    chord(Keys.SHIFT, Keys.TAB)
    chord(Keys.CONTROL, Keys.ENTER)
    do(browser, '')
    assert '42.0' in says(browser, 1)
    assert focus() == ['cell 2, Python', True]
    press(Keys.ESCAPE)
    assert focus() == ['cell 2, Python', False]
    press(Keys.TAB)
    assert focus() == ['Run: cell 2', False]
    browser.execute_script('bookRun.cells[1].code.focus()')
    press('j')
    assert focus() == ['cell 3, Python', False]
    press(Keys.ARROW_UP, Keys.ENTER)
    assert focus() == ['cell 2, Python', True]
    chord(Keys.SHIFT, Keys.ENTER)
    assert focus() == ['cell 3, Python', False]
    do(browser, '')


def test_exercise_is_tried_solved_counted_and_kept(browser, home):
    """A solved exercise showed an empty box instead of its mark."""
    emulate(browser, 1280, 'light')
    page_of(browser, home, '02_two_numbers_at_once')
    name = 'e02_1_div'

    def attempt(source):
        browser.execute_script('bookRun.exercises[0].fill(arguments[0])',
                               source)
        do(browser, 'bookRun.exercises[0].run.click()')
        return browser.execute_script(
            'const { says, output } = bookRun.exercises[0];'
            'return [says.textContent, output.textContent]')

    def counts():
        return browser.execute_script(
            'return [...document.querySelectorAll("nav .run-count")]'
            '.filter((it) => it.checkVisibility())'
            '.map((it) => it.textContent)')

    head = json.loads(in_page.exercise(name))['head']
    stub = exercises.stub(name).removeprefix(head)
    told, shown = attempt(stub)
    assert told == 'Not solved yet' and 'fails' in shown
    assert counts() == []
    solution = exercises.weave.join(
        exercises.weave.statements(exercises.solution(name))[1:])
    told, shown = attempt(solution)
    assert told == 'Solved' and '\nfails' not in shown
    for _ in range(2):
        [mark] = browser.find_elements('css selector', '.run-tick')
        assert mark.text == '✓ Solved'
        assert counts() == ['1/4 ✓']
        yours, book = (browser.find_element(
            'css selector', f'.run-solved > {part}').rect
            for part in ('.yours', '.solution[open]'))
        # Below, because a line of code needs the page's whole width.
        assert book['y'] >= yours['y'] + yours['height']
        assert book['width'] == yours['width']
        browser.refresh()
    browser.get(f'{home}/chapters/03_many_at_once.html')
    assert counts() == ['1/4 ✓']


COVERED = """
    const line = (document.querySelector(".run-top")
      .getBoundingClientRect().bottom);
    return [...document.querySelectorAll(
        "article button, article a, article summary, article code[tabindex]")]
      .filter((it) => it.checkVisibility({ opacityProperty: true }))
      .filter((it) => {
        const { left, top, width, height } = it.getClientRects()[0];
        const x = left + width / 2, y = top + height / 2;
        const inBar = it.closest(".run-top");
        if (y >= innerHeight || (!inBar && y <= line) || x >= innerWidth)
          return false;
        const found = document.elementFromPoint(x, y);
        return !it.contains(found) && !found.contains(it);
      }).map((it) => it.outerHTML.slice(0, 200));
"""


@pytest.mark.parametrize('width', [390, 1280])
def test_no_control_covers_another(browser, home, width):
    """`Back to top` covered the buttons, which covered headings."""
    emulate(browser, width, 'light')
    page_of(browser, home, RULE)
    write(browser, 1, 'x = 1')
    for place in '0', '99999', 'scrollMaxY / 2', 'scrollY - 300':
        browser.execute_script(f"""
            const scrollMaxY =
              document.documentElement.scrollHeight - innerHeight;
            scrollTo(0, {place})""")
        rest(browser)
        assert browser.execute_script(COVERED) == []
    up = browser.find_element('css selector', '.run-top .md-top')
    assert up.is_displayed() and not up.get_attribute('hidden')
    bar, page = browser.execute_script("""
        const bar = document.querySelector(".run-top");
        return [[bar.offsetHeight, bar.scrollWidth - bar.clientWidth],
                document.documentElement.scrollWidth - innerWidth]""")
    assert bar[0] < 50 and bar[1] <= 0 and page <= 0
    browser.get(f'{home}/chapters/{RULE}.html#exercises')
    rest(browser)
    assert browser.execute_script("""
        return document.getElementById("exercises").getBoundingClientRect().top
          >= document.querySelector(".run-top").getBoundingClientRect().bottom
    """)


def test_a_phone_edits_a_cell_with_its_thumb(browser, home):
    """Its browser zooms into small text that is edited, unless told not to.
    """
    phone = {'mobile': True, 'width': 390, 'height': 844,
             'deviceScaleFactor': 1}
    agent = browser.execute_script('return navigator.userAgent')
    browser.execute_cdp_cmd('Emulation.setUserAgentOverride', {
        'userAgent': agent, 'platform': 'iPhone'})
    browser.execute_cdp_cmd('Emulation.setTouchEmulationEnabled', {
        'enabled': True, 'maxTouchPoints': 5})
    try:
        browser.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', phone)
        page_of(browser, home, RULE, touched=False)
        x, y = browser.execute_script("""
            const code = document.querySelectorAll("[data-cell] code")[4];
            code.scrollIntoView({ block: "center" });
            const { x, y } = code.querySelector(".nf")
              .getBoundingClientRect();
            return [x + 2, y + 5];""")
        for kind, points in (('touchStart', [{'x': x, 'y': y}]),
                             ('touchEnd', [])):
            browser.execute_cdp_cmd('Input.dispatchTouchEvent', {
                'type': kind, 'touchPoints': points})
        wait(browser, 'window.bookRun.cells?.[4].editor')
        browser.execute_cdp_cmd('Input.insertText', {'text': 'my_'})
        assert browser.execute_script("""
            const { code, source } = bookRun.cells[4];
            return [source.includes("def my_refuse"),
                    code.scrollWidth <= code.clientWidth,
                    document.querySelector("meta[name=viewport]").content,
                    document.activeElement.isContentEditable]
        """) == [True, True, 'width=device-width, initial-scale=1, '
                 'maximum-scale=1', True]
    finally:
        browser.execute_cdp_cmd('Emulation.setTouchEmulationEnabled', {
            'enabled': False})
        browser.execute_cdp_cmd('Emulation.setUserAgentOverride', {
            'userAgent': agent})


def test_picture_is_the_books_until_the_reader_has_it_drawn(browser, home):
    page_of(browser, home, '26_numbers_that_survive')
    number = browser.execute_script(
        'return bookRun.cells.findIndex('
        '(cell) => cell.original.includes("semilogy"))')
    run(browser, number)
    assert 'This picture is from the book.' in says(browser, number)
    do(browser, 'bookRun.cells[arguments[0]].output'
       '.querySelector("button").click()', number)
    assert 'from the book' not in says(browser, number)
    label, lines = browser.execute_script("""
        const drawn = bookRun.cells[arguments[0]].output.querySelector("svg");
        return [drawn.getAttribute("aria-label"),
                drawn.querySelectorAll("path[style*='#3f7fc4']").length];
    """, number)
    assert label.startswith('Relative error')
    assert lines        # in the book's colors


def test_program_and_player_are_drawn_in_the_page(browser, home):
    page_of(browser, home, RULE)
    players = """return [...document.querySelectorAll("trace-player")].map(
        (it) => [it.id, it.frames.length, it.querySelectorAll("button").length])
    """
    book = browser.execute_script(players)
    run_all(browser)
    assert browser.execute_script(players) == book != []
    write(browser, 1, 'import autodiff_mini.wings.notebook\n'
          'autodiff_mini.make_jaxpr(lambda x: x * x + 1)(1.0)')
    run(browser, 1)
    assert 'mul' in browser.execute_script(
        'return bookRun.cells[1].output.querySelector("svg").textContent')


@pytest.fixture(scope='module')
def policy():
    """Return a strict policy; it allows Material's inline scripts by hash."""
    scripts = re.findall('(?s)<script>(.*?)</script>', (
        SITE / f'chapters/{RULE}.html').read_text('utf-8'))
    hashes = {b64encode(hashlib.sha256(script.encode()).digest()).decode()
              for script in scripts}
    allowed = ' '.join(f"'sha256-{it}'" for it in sorted(hashes))
    return ("default-src 'self'; worker-src 'self'; img-src 'self' data:; "
            "style-src 'self' 'unsafe-inline'; "
            f"script-src 'self' 'wasm-unsafe-eval' {allowed}")


def test_cell_runs_under_a_strict_content_security_policy(browser, policy):
    browser.get_log('browser')
    with serving(SITE, policy) as home:
        page_of(browser, home, RULE)
        write(browser, 1, 'np.arange(4) @ np.arange(4)')
        run(browser, 1)
        assert says(browser, 1) == '14'
    assert [entry for entry in browser.get_log('browser')
            if 'Content Security Policy' in entry['message']] == []


def test_policy_without_webassembly_is_named_as_the_obstacle(
        browser, policy):
    with serving(SITE, policy.replace("'wasm-unsafe-eval'", '')) as home:
        page_of(browser, home, RULE)
        run(browser, 1)
        status = browser.find_element('css selector', '[role=status]').text
    assert status.startswith("Python can't start here: CompileError")
    assert 'Content Security' in status


def test_page_with_an_error_and_stale_outputs_is_accessible(browser, home):
    emulate(browser, 1280, 'light')
    page_of(browser, home, RULE)
    run(browser, 3)
    write(browser, 1, '1 / 0')
    run(browser, 1)
    for scheme in 'light', 'dark':
        for width in 390, 1280:
            emulate(browser, width, scheme)
            rest(browser)
            assert [*accessibility(browser, 'article')] == []
