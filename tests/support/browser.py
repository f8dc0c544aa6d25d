"""A browser without a network, and the faults that it finds on a page.

It is the Chromium of this machine. `make test-site` installs Selenium and
axe, so they are imported only where they are used.
"""

import json
import os
import shutil
import time
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

NAMES = 'chromium', 'chromium-browser', 'google-chrome', 'chrome'

FLAGS = [
    '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run',
    '--disable-background-networking', '--disable-component-update',
    '--disable-sync',
    # Only this machine has an address.  It has no mouse, like a telephone.
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
]

SCRIPTS = Path(__file__).parent / 'scripts'
PATIENCE = 5   # seconds for a page to settle


# The server and the browser.

class Host(SimpleHTTPRequestHandler):
    """A host that serves sites, each from its folder, with a 404 page."""

    def log_message(self, *args):
        pass

    def send_head(self):
        if not os.path.exists(self.translate_path(self.path)):
            folder = self.path.split('/')[1]
            page = os.path.join(self.directory, folder, '404.html')
            if os.path.exists(page):
                self.send_response(404)
                self.send_header('Content-Type', 'text/html')
                self.end_headers()
                return open(page, 'rb')
        return super().send_head()


@contextmanager
def serving(folder, policy=None):
    """Serve a folder on a free port of this machine, and yield its address.

    With a policy, each answer carries it as its Content-Security-Policy.
    """
    class Strict(Host):
        def end_headers(self):
            self.send_header('Content-Security-Policy', policy)
            super().end_headers()

    handler = partial(Strict if policy else Host, directory=folder)
    with ThreadingHTTPServer(('127.0.0.1', 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f'http://127.0.0.1:{server.server_port}'
        finally:
            server.shutdown()
            thread.join()


def installed():
    """Return the paths of Chromium and its driver, or None."""
    chrome = os.environ.get('CHROME') or next(
        filter(None, map(shutil.which, NAMES)), None)
    driver = os.environ.get('CHROMEDRIVER') or shutil.which('chromedriver')
    return (chrome, driver) if chrome and driver else None


@contextmanager
def browsing(chrome, driver, profile):
    """Yield a new browser, which logs its requests and its console."""
    from selenium import webdriver
    options = webdriver.ChromeOptions()
    options.binary_location = chrome
    for flag in [*FLAGS, f'--user-data-dir={profile}']:
        options.add_argument(flag)
    options.set_capability('goog:loggingPrefs',
                           {'browser': 'ALL', 'performance': 'ALL'})
    service = webdriver.ChromeService(driver)
    with webdriver.Chrome(options, service) as browser:
        yield browser


# A visit.

def script(name):
    """Return a script that runs in a page."""
    return (SCRIPTS / f'{name}.js').read_text('utf-8')


def faults(browser, url, widths=(1280, 390), axe=True):
    """Return a line for each fault on a page, with axe's or without.

    The page opens in light colors, switches to dark ones, and then becomes
    narrow, because opening a page takes longer than looking at it.  It stays
    dark, because a narrow page has the colors of a wide one.
    """
    emulate(browser, widths[0], 'light')
    visit(browser, url)
    found = []
    for width, scheme in [(widths[0], 'light'), *product(widths, ['dark'])]:
        emulate(browser, width, scheme)
        rest(browser)
        found += look(browser, axe)
    return list(dict.fromkeys(found))   # each once


def look(browser, axe=True):
    return [fault for check in CHECKS if axe or check is not accessibility
            for fault in check(browser)]


def emulate(browser, width, scheme):
    """Set the width of the window and the user's preferred color scheme."""
    browser.execute_cdp_cmd('Emulation.setEmulatedMedia', {
        'media': 'screen',
        'features': [{'name': 'prefers-color-scheme', 'value': scheme}]})
    browser.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
        'width': width, 'height': 900, 'deviceScaleFactor': 1,
        'mobile': False})


def visit(browser, url):
    """Open a page and unfold all of its details."""
    for log in 'browser', 'performance':
        browser.get_log(log)   # an entry is given once
    browser.get(url)
    browser.execute_script(
        'for (const it of document.querySelectorAll("details"))'
        '  it.open = true;')
    rest(browser)


def rest(browser):
    """Wait until the page has its styles, fonts, and formulas."""
    browser.execute_async_script(script('rest'), PATIENCE)


def search(browser, query):
    """Return the addresses that the page's search finds for a query."""
    from selenium.webdriver.support.wait import WebDriverWait
    field = browser.find_element('css selector', '.md-search__input')
    field.click()
    field.send_keys(query)
    links = WebDriverWait(browser, PATIENCE).until(
        lambda _: browser.find_elements('css selector',
                                        '.md-search-result__link'))
    return [link.get_attribute('href') for link in links]


# The checks. Each returns a line for each fault on the open page.

def requests(browser):
    """Find requests that failed, or asked another host."""
    home = urlsplit(browser.current_url).netloc
    for url, end in ends_of_requests(browser):
        if urlsplit(url).netloc != home:
            yield f'asks another host for {url}'
        elif end:
            yield f'{end}: {url}'


def ends_of_requests(browser):
    """Return (url, end) of each request, where the end is '' on success."""
    sent, ended = {}, {}
    deadline = time.monotonic() + PATIENCE
    while True:
        for entry in browser.get_log('performance'):
            note(json.loads(entry['message'])['message'], sent, ended)
        if sent.keys() <= ended.keys() or time.monotonic() > deadline:
            return [(url, ended.get(request, 'no answer'))
                    for request, url in sent.items()]


def note(event, sent, ended):
    """Note the request that an event starts or ends."""
    method, told = event['method'], event['params']
    match method:
        case 'Network.requestWillBeSent':
            url = told['request']['url']
            if not url.startswith(('data:', 'blob:')):
                sent[told['requestId']] = url
            if not told['loaderId']:   # a worker gets the response
                ended[told['requestId']] = ''
        case 'Network.responseReceived':
            status = told['response']['status']
            ended[told['requestId']] = str(status) if status >= 400 else ''
        case 'Network.loadingFailed':
            ended[told['requestId']] = (ended.get(told['requestId'])
                                        or told['errorText'])


def console(browser):
    """Find errors in the console, other than those of requests."""
    for entry in browser.get_log('browser'):
        if entry['level'] == 'SEVERE' and entry['source'] != 'network':
            yield f'console: {entry["message"]}'


def accessibility(browser, part=None):
    """Find what axe calls a violation, on a page or in a part of it.

    This takes longest, so on a whole page axe checks the light colors in a
    wide window, and only the contrast of the dark colors.  It leaves out the
    words of listings, which have the same colors on all pages.
    """
    from selenium_axe_python import Axe
    axe, wanted = Axe(browser), {}
    there, narrow, dark = browser.execute_script('''
        return [!!window.axe, innerWidth < 1280,
                matchMedia("(prefers-color-scheme: dark)").matches]''')
    if narrow and not part:
        return
    if not there:
        axe.inject()
    if dark and not part:
        wanted = {'runOnly': ['color-contrast']}
    options = {'resultTypes': ['violations'], **wanted}
    whole = {'include': [['html']], 'exclude': [['.highlight span']]}
    found = axe.run(json.dumps(part or whole), json.dumps(options))
    for violation in found['violations']:
        for node in violation['nodes']:
            yield f'axe: {violation["id"]}: {node["html"]}'


def layout(browser, *only):
    """Find what the checks in checks.js find, or only some of them."""
    return browser.execute_script(script('checks'), *only)


def hidden(browser):
    """Find what a reader who answers no question doesn't see.

    A question hides the text that its cell prints. Open no details before.
    """
    return browser.execute_script(script('hidden'))


def paper(browser):
    """Find navigation and solutions in print, and leave print emulation on.
    """
    browser.execute_cdp_cmd('Emulation.setEmulatedMedia', {'media': 'print'})
    return layout(browser, 'on paper')


CHECKS = [requests, console, layout, accessibility, paper]
