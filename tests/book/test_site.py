"""The site: its files, and what a browser without a network shows.

`make test-site` builds the site and runs this; `make test` only checks the
links of the site that is there.
"""

import json
import os
import re
from html import unescape
from pathlib import Path

import pytest

from book.tools import spreads
from book.tools.places import ROOT
from tests.support.browser import (
    accessibility, browsing, emulate, faults, hidden, installed, layout, look,
    rest, script, search, serving, visit)
from tests.support.links import broken_links

SITE = Path(__file__).parents[2] / 'site'
PAGES = [path.relative_to(SITE).as_posix()
         for path in sorted(SITE.rglob('*.html'))
         if 'location.replace' not in path.read_text('utf-8')]

# What is planted in a sound page, and the one fault that it causes.
FAULTS = [
    ('<img src="nowhere.png" alt="A map">', '404: .*/nowhere.png'),
    ('<img src="../assets/logo.svg">',
     'axe: image-alt: .*<img src="../assets/logo.svg">'),
    ('<div style="width: 1500px">Wide</div>',
     r'the page scrolls sideways: \d+ px wide'),
    (f'<div class="highlight"><pre><code tabindex="0">'
     f'{"x" * 90}</code></pre></div>',
     'a listing scrolls: x{90}'),
    ('<svg viewBox="0 0 30 30" width="24"><text y="9" font-size="12">ab'
     '</text></svg>', 'a word is small: ab'),
    (r'<p><span class="arithmatex">\(\frac12\)</span></p>',
     r'a formula is not set: \\\(\\frac12'),
    ('<style>body { color-scheme: dark !important }</style>',
     'the wrong colors: dark'),
    ('<nav aria-label="Planted">Home</nav>',
     'on paper: <nav aria-label="Planted">Home</nav>')]


@pytest.fixture(scope='session')
def site():
    if not (SITE / 'index.html').exists():
        pytest.skip('the site is not built: `make test-site` does it')
    return SITE


@pytest.fixture(scope='session')
def browser(request, site, tmp_path_factory):
    if request.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        pytest.skip('only `make test-site` shows the site to a browser')
    for package in 'selenium', 'selenium_axe_python':
        pytest.importorskip(package, reason='`make test-site` installs it')
    if not installed():
        pytest.skip('there is no browser: install Chromium and chromedriver, '
                    'or set CHROME and CHROMEDRIVER to their paths')
    profile = tmp_path_factory.mktemp('profile')
    with browsing(*installed(), profile) as browser:
        browser.set_script_timeout(90)      # for axe, on a busy machine
        yield browser


@pytest.fixture(scope='session')
def home(site):
    with serving(site) as address:
        yield address


# In the browser.

# One tool makes all module pages, so the test opens only a few.
SHOWN = [page for page in PAGES if not page.startswith('modules/')]
SHOWN += sorted(set(PAGES) - set(SHOWN))[::40]


# axe takes longest, so `.ci/run` shows it every other page.
WHOLE = os.environ.get('SHARE', '1') == '1'
BY_AXE = SHOWN[::1 if WHOLE else 2]


@pytest.mark.parametrize('page', SHOWN)
def test_a_page_is_sound(browser, home, page):
    assert faults(browser, f'{home}/{page}', axe=page in BY_AXE) == []


@pytest.mark.parametrize('scheme', ['light', 'dark'])
def test_the_words_of_listings_can_be_read(browser, home, scheme):
    emulate(browser, 1280, scheme)
    visit(browser, f'{home}/modules/core/trace.html')
    assert [*accessibility(browser, '.highlight')] == []


def test_search_works_from_a_folder(browser, site):
    emulate(browser, 1280, 'light')
    browser.get((site / 'index.html').as_uri())
    assert search(browser, 'tangent')[0].startswith(site.as_uri())


@pytest.fixture(scope='session')
def below(site, tmp_path_factory):
    """Yield the address of the site in a folder of a host."""
    host = tmp_path_factory.mktemp('host')
    (host / 'book').symlink_to(site)
    with serving(host) as address:
        yield f'{address}/book'


def test_the_root_of_the_site_can_be_a_folder(browser, below):
    emulate(browser, 1280, 'light')
    browser.get(f'{below}/index.html')
    assert search(browser, 'tangent')[0].startswith(f'{below}/')
    assert faults(browser, f'{below}/chapters/10_backwards.html', [1280]) == []


@pytest.mark.parametrize('lost', [
    'nowhere', 'no/such/folder/at/all.html', 'chapters/10_backwards.html/'])
def test_a_lost_reader_can_search_and_go_home(browser, below, lost):
    emulate(browser, 1280, 'light')
    visit(browser, f'{below}/{lost}')
    assert browser.find_element('tag name', 'h1').text.startswith('This page')
    assert [*layout(browser), *accessibility(browser)] == []
    assert search(browser, 'tangent')[0].startswith(f'{below}/')
    browser.execute_script('document.querySelector("article a").click()')
    assert browser.current_url == f'{below}/index.html'


def test_keys_turn_the_pages_as_the_footer_says(browser, home):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.support.wait import WebDriverWait
    emulate(browser, 1280, 'light')
    browser.get(f'{home}/chapters/02_two_numbers_at_once.html')
    foot = browser.find_element('class name', 'colophon').text
    assert 'n and p turn the page' in foot
    for key, page in ('n', '03_many_at_once'), ('p', '02_two_numbers_at_once'):
        rest(browser)
        ActionChains(browser).send_keys(key).perform()
        WebDriverWait(browser, 5).until(
            lambda _: browser.current_url == f'{home}/chapters/{page}.html')


def test_a_name_in_a_listing_leads_to_its_definition(browser, home):
    """A click beside the name edits the listing, which loses its links."""
    from selenium.webdriver.support.wait import WebDriverWait
    emulate(browser, 1280, 'light')
    url = f'{home}/chapters/02_two_numbers_at_once.html'
    browser.get(url)
    names = 'a[href*="draft/core.html#L"]'
    listing = browser.find_element('css selector', f'code:has({names})')
    name = listing.find_element('css selector', names)
    goal = name.get_attribute('href')
    assert name.text == 'Trace'
    name.click()
    assert browser.current_url == goal
    line = browser.find_element('id', goal.partition('#')[2]).text
    assert 'class Trace:' in line
    browser.get(url)
    listing = browser.find_element('css selector', f'code:has({names})')
    listing.find_element('css selector', '.c1').click()
    WebDriverWait(browser, 5).until(
        lambda _: not listing.find_elements('css selector', 'a'))


@pytest.mark.parametrize('page, box, lines', [
    ('modules/core/zeros', '.module', lambda: (
        ROOT / 'autodiff_mini/core/zeros.py').read_text().splitlines()),
    ('chapters/20_at_the_edge', '.spread div + div .highlight', lambda: [
        line.text for line in spreads.shown(
            'interpreters/transpose.py backward_pass, accumulate, '
            'transpose_equations', ROOT).lines])])
def test_a_copy_has_the_lines_alone(browser, home, page, box, lines):
    """No numbers, no letters for reasons, and no empty lines between."""
    emulate(browser, 1280, 'light')
    visit(browser, f'{home}/{page}.html')
    copied = browser.execute_script('''
        const code = document.querySelector(arguments[0] + " code");
        code.setAttribute("data-md-copying", "");     // as the theme does
        return code.innerText;
    ''', box)
    copy = [line.rstrip() for line in copied.rstrip().splitlines()]
    assert copy == lines()


def test_search_leads_to_an_error_and_opens_it(browser, home):
    emulate(browser, 1280, 'light')
    browser.get(f'{home}/index.html')
    entry = 'python-needs-an-integer-but-got-a-traced-value'
    [found] = [url for url in search(
        browser, '"__index__() method" was called on traced array')
        if url.endswith(entry)]
    browser.get(found)
    rest(browser)
    assert visible(browser, f'[id="{entry}"] ~ .output')
    assert not visible(browser, f'details:has([id="{entry}"]) + details pre')


PLAYERS = [page for page in PAGES
           if '<trace-player' in (SITE / page).read_text('utf-8')]


@pytest.mark.parametrize('page', PLAYERS)
@pytest.mark.parametrize('width', [390, 1280])
def test_players_show_every_step(browser, home, page, width):
    for scheme in ['light', 'dark'] if WHOLE else [
            'light' if width == 390 else 'dark']:
        emulate(browser, width, scheme)
        browser.get(f'{home}/{page}')
        assert browser.execute_script(script('played')) == []
        # And is the last step, which is there now, one for everybody?
        assert [*accessibility(browser, 'trace-player')] == []


def test_a_player_reacts_to_keys_buttons_and_links(browser, home):
    from selenium.webdriver.common.keys import Keys
    emulate(browser, 1280, 'light')
    browser.get(f'{home}/index.html#old-3')
    player = browser.find_element('id', 'old')

    def step():
        return player.find_element('class name', 'pl-number').text

    def press(label):
        player.find_element(
            'css selector', f'button[aria-label="{label}"]').click()

    assert step().startswith('3 / ')
    press('Next step')
    assert step().startswith('4 / ')
    player.find_element('css selector', 'input').send_keys(Keys.ARROW_LEFT)
    assert step().startswith('3 / ')
    browser.execute_script('location.hash = "#old-1"')
    browser.execute_async_script('setTimeout(arguments[0], 50)')
    assert step().startswith('1 / ')


SHIFTS = """
    let sum = 0;
    new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) sum += value;
    }).observe({ type: "layout-shift", buffered: true });
    setTimeout(() => arguments[0](sum), 300);"""


def test_a_player_is_there_before_the_page_is_painted(browser, home):
    """The bars of the cells, which come later, are left out."""
    emulate(browser, 1280, 'light')
    browser.execute_cdp_cmd('Network.enable', {})
    browser.execute_cdp_cmd('Network.setBlockedURLs', {'urls': ['*/run.js']})
    try:
        browser.get(f'{home}/chapters/04_the_rule_that_vanished.html#old-3')
        assert browser.execute_async_script(SHIFTS) < 0.02
    finally:
        browser.execute_cdp_cmd('Network.setBlockedURLs', {'urls': []})


def test_a_page_loads_the_player_that_a_cell_shows(browser, home):
    emulate(browser, 1280, 'light')
    browser.get(f'{home}/chapters/03_many_at_once.html')
    browser.execute_script("""
        document.querySelector("article").insertAdjacentHTML("beforeend", `
          <trace-player><script type="application/json">
          {"lines": [], "traces": [["evaluation", 0, null]],
           "frames": [{"kind": "end", "result": "3"}]}</script>
          <div class="player-still"><table><tr><td>1</td><td>The result is 3.
          </td></tr></table></div></trace-player>`);""")
    browser.execute_async_script('setTimeout(arguments[0], 300)')
    assert browser.find_element('class name', 'pl-number').text == '1 / 1'


def test_a_reader_guesses_the_steps_of_a_player(browser, home):
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.wait import WebDriverWait
    emulate(browser, 1280, 'light')
    browser.get(f'{home}/index.html#old-1')
    player = browser.find_element('id', 'old')
    [guess] = player.find_elements('xpath', './/button[.="Guess"]')

    def choose(words):
        guess.send_keys(Keys.ENTER)
        choices = WebDriverWait(browser, 5).until(
            lambda _: player.find_elements('css selector', '.pl-guess button'))
        [choice] = [it for it in choices if words in it.text]
        choice.send_keys(Keys.ENTER)
        return player.find_element('css selector', '.pl-guess p[role]').text

    wrong = choose('asks forward mode')
    assert wrong == 'Not yet: that is step 3. Try another.'
    assert len(player.find_elements('class name', 'pl-wrong')) == 1
    guess.send_keys(Keys.ENTER)
    assert choose('opens double') == 'Yes, 0 of 1 right.'
    assert choose('asks forward mode') == 'Yes, 1 of 2 right.'
    assert guess.is_enabled()
    browser.execute_script('location.hash = "#old-7"')
    browser.execute_async_script('setTimeout(arguments[0], 50)')
    assert choose('is done') == 'That was the last step: 2 of 3 right.'
    assert not guess.is_enabled()


def test_a_switch_shows_one_of_two_players(browser, home):
    from selenium.webdriver.common.keys import Keys
    emulate(browser, 1280, 'light')
    browser.get(f'{home}/index.html#new-2')

    def shown():
        return [browser.find_element('id', name).is_displayed()
                for name in ('old', 'new')]

    height = 'return document.querySelector(".ways").offsetHeight'
    before = browser.execute_script(height)
    assert shown() == [False, True]
    browser.find_elements('css selector', '.way-bar input')[1].send_keys(
        Keys.ARROW_LEFT)
    assert shown() == [True, False]
    assert browser.execute_script(height) == before
    assert browser.find_element('id', 'old').find_element(
        'class name', 'pl-number').text == '2 / 8'


def visible(browser, name):
    return browser.execute_script(
        'return document.querySelector(arguments[0])?.checkVisibility()',
        name)


def test_a_player_is_a_list_on_paper_and_without_scripts(browser, home):
    emulate(browser, 1280, 'light')
    browser.get(f'{home}/index.html')
    still, live = 'trace-player .player-still', 'trace-player .pl'
    assert visible(browser, live) and not visible(browser, still)
    browser.execute_cdp_cmd('Emulation.setEmulatedMedia', {'media': 'print'})
    assert visible(browser, still) and not visible(browser, live)
    browser.execute_cdp_cmd(
        'Emulation.setScriptExecutionDisabled', {'value': True})
    try:
        emulate(browser, 1280, 'light')
        browser.get(f'{home}/index.html')
    finally:
        browser.execute_cdp_cmd(
            'Emulation.setScriptExecutionDisabled', {'value': False})
    assert visible(browser, still) and not visible(browser, live)


def test_a_question_hides_its_output_until_the_right_answer(browser, home):
    """That works without scripts, and after a wrong answer."""
    output = '.question + .output'
    emulate(browser, 390, 'light')
    browser.execute_cdp_cmd(
        'Emulation.setScriptExecutionDisabled', {'value': True})
    try:
        for answer in 'right', 'shows':
            browser.get(f'{home}/chapters/05_your_own_derivative.html')
            for details, shown in ('wrong', False), (answer, True):
                assert not visible(browser, output)
                assert visible(browser, f'{output} + p')
                choice = browser.find_element(
                    'css selector', f'.question details.{details} > summary')
                assert choice.size['height'] >= 44      # for a thumb
                choice.click()
                assert visible(browser, output) == shown
        assert browser.execute_script(TOLD) == [
            ['wrong', 'No.'], ['shows', '']]
    finally:
        browser.execute_cdp_cmd(
            'Emulation.setScriptExecutionDisabled', {'value': False})


# The kind of each opened answer, and the word that it starts with.
TOLD = '''
    return [...document.querySelectorAll(".question details[open]")].map(
        (it) => [it.className, it.querySelector("strong")?.textContent ?? ""])
'''


def test_a_ring_shows_where_the_keyboard_is(browser, home):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
    browser.get(f'{home}/chapters/01_asking_numpy_first.html')
    for scheme in 'light', 'dark':
        emulate(browser, 1280, scheme)
        kinds = set()
        for part in '.md-skip', '.notebook', '.question summary':
            browser.execute_script(
                'document.querySelector(arguments[0]).focus()', part)
            for _ in range(4):
                ActionChains(browser).send_keys(Keys.TAB).perform()
                kind, *ring, accent = browser.execute_script(RING)
                kinds.add(kind)
                assert ring == ['solid', '2px', accent], kind
        assert kinds >= {'A', 'INPUT', 'BUTTON', 'SUMMARY'}


# The ring of what has the focus, and the color that it should have.
RING = '''
    const it = document.activeElement;
    const box = it.matches(".md-option") ? it.nextElementSibling : it;
    const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(box);
    const sample = document.body.appendChild(document.createElement("i"));
    sample.style.color = "var(--accent)";
    const { color } = getComputedStyle(sample);
    sample.remove();
    return [it.tagName, outlineStyle, outlineWidth, outlineColor, color];
'''


def test_hints_come_one_after_another_without_scripts(browser, home):
    emulate(browser, 1280, 'light')
    browser.execute_cdp_cmd(
        'Emulation.setScriptExecutionDisabled', {'value': True})
    try:
        browser.get(f'{home}/chapters/02_two_numbers_at_once.html')
        assert visible(browser, '.exercise .yours code')
        for hint in '.hint', '.hint .hint':
            summary = browser.find_element(
                'css selector', f'.exercise {hint} > summary')
            assert summary.is_displayed()
            assert not visible(browser, f'.exercise {hint} > p')
            summary.click()
            assert visible(browser, f'.exercise {hint} > p')
    finally:
        browser.execute_cdp_cmd(
            'Emulation.setScriptExecutionDisabled', {'value': False})


ASKING = [page for page in PAGES
          if 'class="question"' in (SITE / page).read_text('utf-8')]


@pytest.mark.parametrize('page', ASKING)
def test_questions_hide_only_printed_text(browser, home, page):
    emulate(browser, 1280, 'light')
    browser.get(f'{home}/{page}')
    assert hidden(browser) == []


@pytest.mark.parametrize('part', ['p', 'figure', 'trace-player'])
@pytest.mark.parametrize('place', ['inside', 'after'])
def test_the_browser_finds_what_a_question_hides(browser, home, part, place):
    emulate(browser, 1280, 'light')
    browser.get(f'{home}/chapters/05_your_own_derivative.html')
    browser.execute_script('''
        const [part, place] = arguments;
        const output = document.querySelector(".question + .output");
        const made = document.createElement(part);
        if (place === "inside") output.append(made);
        else output.after(made);
        if (place === "after") made.style.display = "none";''', part, place)
    [fault] = hidden(browser)
    assert fault.startswith(f'<{part}')


def plant(browser, html):
    """Put HTML at the end of the page."""
    browser.execute_script('document.querySelector("article")'
                           '.insertAdjacentHTML("beforeend", arguments[0])',
                           html)
    rest(browser)


def test_the_browser_finds_a_box_that_no_key_scrolls(browser, home):
    """On a telephone, which axe doesn't look at."""
    emulate(browser, 390, 'light')
    visit(browser, f'{home}/reference/values.html')
    assert layout(browser, 'no key scrolls') == []
    plant(browser, '<div style="overflow: auto">'
                   '<p style="width: 1500px">Wide</p></div>')
    [fault] = layout(browser, 'no key scrolls')
    assert fault.startswith('no key scrolls: <div')


@pytest.mark.parametrize('planted, words', FAULTS)
def test_the_browser_finds_planted_faults(browser, home, planted, words):
    emulate(browser, 1280, 'light')
    visit(browser, f'{home}/chapters/19_the_postcard.html')
    plant(browser, planted)
    [fault] = look(browser)
    assert re.match(words, fault)


# In the files.

def words(html):
    """Return the first words of a text, without its markup."""
    return ' '.join(unescape(re.sub('<[^>]*>', '', html)).split())[:40]


def test_a_page_is_found_by_its_first_sentence(site):
    """The search shows it below the title, and no download or answer."""
    index = json.loads((site / 'search/search_index.json').read_text('utf-8'))
    found = {entry['location']: entry['text'] for entry in index['docs']}
    for page in {*PAGES} - {'404.html'}:
        first = re.search(
            r'(?s)</h1>\s*(?:<p><a class="notebook".*?</p>\s*)?<p>(.*?)</p>',
            (site / page).read_text('utf-8'))
        if first:       # else a heading follows the title
            assert found[page].startswith('<p>'), page
            assert words(found[page]).startswith(words(first[1])), page
    said = re.findall('Open as notebook|The first cell of this page|Hint 1|'
                      'Show the output|Solution of', str(index['docs']))
    assert said == []

def test_every_link_works(site):
    assert broken_links(site) == []


@pytest.mark.parametrize('link', [
    '<a href="nowhere.html">', '<a href="../">', '<a href="#nowhere">',
    '<img src="nowhere.png">', '<a href="../index.html#here">'])
def test_broken_links_are_found(tmp_path, link):
    (tmp_path / 'part').mkdir()
    (tmp_path / 'index.html').write_text('<h1 id="top">Home</h1>')
    (tmp_path / 'part/page.html').write_text(f'<h1 id="here">Page</h1>{link}')
    [fault] = broken_links(tmp_path)
    assert fault.startswith('part/page.html: ')


def test_a_missing_page_links_from_the_folder_of_the_site(tmp_path):
    """It broke: `make publish` took the book's own address for a link."""
    (tmp_path / 'index.html').write_text('')
    (tmp_path / '404.html').write_text(
        '<base href="/book/"><a href="index.html"><a href="nowhere.html">')
    assert broken_links(tmp_path) == ['404.html: nowhere.html']
