"""The commands: the Makefile's lines parse, and the README's commands start.

`make test-commands` starts them, in a copy of the project. The commands that
take minutes are started by `.ci/run`.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import pytest

from book.tools.places import ROOT
from tests.support import amount

MAKEFILE = (ROOT / 'Makefile').read_text()
TARGETS = {target for targets in re.findall(
               r'(?m)^(?!\.PHONY)([\w./ -]+):(?!=)', MAKEFILE)
           for target in targets.split()}
SITE = 'https://example.org/book/'
OPTIONS = {
    'SITE_URL': SITE, 'PDF': '1', 'TO': 'user@host:folder', 'E': '02_1',
    'ROW': 'tests/interpreters/test_vmap.py', 'SHARE': '30', 'PORT': '9000',
    'FLAGS': '--port 9000', 'DIR': 'book/chapters', 'RESET': '04',
    'TORCH': '2.15.0', 'SYSTEM': 'jax', 'DEPTH': '2'}
ONLY_PARSES = '''#!/bin/sh
if [ "$2" = 'id -u' ]; then echo $USER_ID; else sh -n -c "$2"; fi
'''
CHAPTER = 'chapters/04_the_rule_that_vanished'
PATIENCE = 300    # seconds; most need a few, and a first build needs 120

# How each command of the README is started. Most end by themselves and print
# these words.
PRINTS = {
    'make next': 'Your file:  exercises/e01_1_',
    'make hint': 'Hint 1 of ',
    'make skip': 'Your file:  exercises/e01_2_',
    'make reset': 'Your file:  exercises/e01_1_',
    'make progress': 'You are at e01_1.',
    'make check': 'right   tests/book/test_readme.py',
    'make test ROW=tanh': ' passed',
    'make test ROW=tests/interpreters/test_vmap.py': ' passed',
    f'make publish SITE_URL={SITE}': f'Now copy site/ to {SITE}. Any',
    'make help': 'list the commands'}

# These do not end, or install too much, or words are not enough. Each has a
# test of its own.
OWN_TEST = {'make lab', 'make pdf', 'make serve', 'make serve PORT=9000',
            'make test-torch', 'make watch'}

# These take minutes, and `.ci/run` or a command that it runs needs them.
BY_CI = {'make book', 'make runtime', 'make test', 'make test-all',
         'make test-jax', 'make test-package'}


def environment(**variables):
    """Return the variables for a `make` that `make test` does not affect."""
    return {name: value for name, value in os.environ.items()
            if name not in {'MAKEFLAGS', 'MAKELEVEL', 'MFLAGS', *OPTIONS}
            } | variables


# In the files

@pytest.mark.parametrize('options', [{}, OPTIONS], ids=['bare', 'options'])
@pytest.mark.parametrize('user', [0, 1000])
def test_every_shell_line_parses(options, user, tmp_path):
    """`make` calls a shell that runs nothing, with all lines of all targets.

    It broke: `make lab` had a comma inside $(if ...), so that only a part of
    a message was left, and its quotation mark.
    """
    shell = tmp_path / 'shell'
    shell.write_text(ONLY_PARSES)
    shell.chmod(0o755)
    done = subprocess.run(
        ['make', '--always-make', '--keep-going', f'SHELL={shell}', *TARGETS],
        cwd=ROOT, env=environment(USER_ID=str(user), **options),
        text=True, capture_output=True)
    assert done.returncode == 0 and done.stderr == '', done.stderr


def test_every_command_of_the_readme_has_a_case():
    assert commands_of_the_readme() == {*PRINTS, *OWN_TEST, *BY_CI}


def commands_of_the_readme():
    """Return the commands, also those without `make`, as in `make next` or
    `hint`. An option such as `PORT=9000` makes another command.
    """
    text = (ROOT / 'README.md').read_text()
    found = re.findall(r'(?m)^make \S+', text)
    for code in re.findall('`(.+?)`', text[text.index('| to | run |'):
                                           text.index('\n## Speed\n')]):
        if code.startswith('make ') or code in TARGETS:
            found.append(f'make {code.removeprefix("make ")}')
        elif re.match('[A-Z]+=', code):
            found.append(f'{found[-1]} {code}')
    return set(found)


def test_ci_runs_the_commands_that_take_minutes():
    ran = {word for line in re.findall(
               r'(?m)^ *make ([^&#\n]*)', (ROOT / '.ci/run').read_text())
           for word in line.split() if word in TARGETS}
    while new := set().union(*map(needed, ran)) - ran:
        ran |= new
    assert BY_CI <= {f'make {target}' for target in ran}
    assert 'test-commands' in ran


def needed(target):
    """Return the targets that a command depends on, or makes."""
    return {word for before, lines in re.findall(
                rf'(?m)^{re.escape(target)}:(.*)##.*((?:\n\t.*)*)', MAKEFILE)
            for word in before.split() + re.findall(
                r'\$\(MAKE\) \S+ ([\w-]+)', lines) if word in TARGETS}


# In a copy

@pytest.fixture
def copy(tmp_path):
    """Return a committed copy of the project that shares .venv and .cache.

    Its requirements are as old as a file can be, or .venv would be updated
    and would point to the copy.
    """
    if not (amount.WHOLE and find_spec('jupyterlab') and find_spec('pypdf')):
        pytest.skip('`make test-commands` runs it')
    folder = tmp_path / 'copy'
    for name in git(ROOT, 'ls-files', '-co', '--exclude-standard').split():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    for name in 'pyproject.toml', 'requirements.lock':
        os.utime(folder / name, (0, 0))
    git(folder, 'init', '-q')
    git(folder, 'add', '.')
    git(folder, '-c', 'user.name=A', '-c', 'user.email=a@example.org',
        'commit', '-q', '-m', 'Copy')
    for name in '.venv', '.cache':     # with what the chapters printed
        (ROOT / name).mkdir(exist_ok=True)
        (folder / name).symlink_to(ROOT / name)
    return folder


def git(folder, *words):
    return subprocess.run(['git', *words], cwd=folder, check=True, text=True,
                          stdout=subprocess.PIPE).stdout


@contextmanager
def running(copy, command, **variables):
    """Start a command; yield its process and a file with its output.

    Afterwards, end it, and wait until all its processes have ended, too.
    """
    log = copy.parent / 'log'
    with log.open('w') as file, subprocess.Popen(
            command.split(), cwd=copy, env=environment(**variables),
            text=True, stdin=subprocess.PIPE, stdout=file,
            stderr=subprocess.STDOUT, start_new_session=True) as process:
        try:
            yield process, log
            kill(process.pid, signal.SIGTERM)
            process.wait(PATIENCE)
            wait_until(lambda: not left_over(process.pid, copy), log)
        finally:
            kill(process.pid, signal.SIGKILL)


def wait_until(question, log, process=None):
    """Ask a question until there is an answer, and return the answer.

    Raises:
        AssertionError: time is up, or the process has ended.
    """
    end = time.monotonic() + PATIENCE
    while not (answer := question()):
        ended = process and process.poll() is not None
        assert not ended and time.monotonic() < end, log.read_text()
        time.sleep(0.1)
    return answer


def kill(group, number):
    """Send a signal to a process group, unless all of it has ended."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        pass


def left_over(group, folder):
    """Return the processes of a group or with a folder, but no zombies."""
    listed = subprocess.run(['ps', '-A', '-o', 'pgid=,stat=,args='],
                            text=True, stdout=subprocess.PIPE).stdout
    return [line for line in listed.splitlines()
            if (line.split()[0] == str(group) or str(folder) in line)
            and not line.split()[1].startswith('Z')]


@pytest.mark.parametrize('command', PRINTS)
def test_a_command_ends_well_and_prints_its_words(command, copy):
    with (copy / 'tests/book/test_readme.py').open('a') as file:
        file.write('# It has changed.\n')
    with running(copy, command) as (process, log):
        status = process.wait(PATIENCE)
        assert status == 0 and PRINTS[command] in log.read_text(), (
            log.read_text())


def test_help_lists_every_command(copy):
    with running(copy, 'make help') as (process, log):
        process.wait(PATIENCE)
        listed = {line.split()[0] for line in log.read_text().splitlines()}
    assert listed == {target for target in TARGETS
                      if '.' not in target} - {'everything'}


def test_watch_shows_an_exercise_until_the_reader_quits(copy):
    with running(copy, 'make watch') as (process, log):
        wait_until(lambda: 'to choose.' in log.read_text(), log, process)
        process.communicate('q\n', PATIENCE)
        assert process.returncode == 0
        assert PRINTS['make next'] in log.read_text()


def test_pdf_asks_for_a_browser(copy):
    """It finds none, because `tests/book/test_print.py` prints the book."""
    (copy / 'pages').mkdir()
    with running(copy, f'{shutil.which("make")} -o book pdf',
                 PATH='', CHROME='', CHROMEDRIVER='') as (process, log):
        process.wait(PATIENCE)
        assert 'install Chromium and chromedriver' in log.read_text()


def test_torch_tests_run_without_pytorch(copy):
    """It takes gigabytes, so only the pages are read here."""
    with running(copy, 'make -o .venv/torch-0 test-torch TORCH=0') as (
            process, log):
        status = process.wait(PATIENCE)
        assert status == 0 and ' passed' in log.read_text(), log.read_text()


def test_serve_answers_with_a_page(copy):
    port = free_port()
    page = f'http://127.0.0.1:{port}/{CHAPTER}.html'
    with running(copy, f'make serve PORT={port}') as (process, log):
        text = wait_until(lambda: read(page), log, process)
    assert '<title>4. The rule that vanished' in text


def test_lab_opens_a_chapter_as_a_notebook(copy):
    """A reader's is a copy, and a contributor's is the book's own file."""
    settings = in_lab(copy, 'make lab',
                      f'notebooks/{Path(CHAPTER).name}.ipynb')
    assert '"markdown": "Jupytext Notebook"' not in settings
    assert git(copy, 'status', '--porcelain', 'book', 'notebooks') == ''
    settings = in_lab(copy, 'make lab DIR=book/chapters',
                      f'book/{CHAPTER}.md?type=notebook')
    assert '"markdown": "Jupytext Notebook"' in settings    # a click opens it


def in_lab(copy, command, notebook):
    """Start JupyterLab; return its settings for files."""
    port = free_port()
    home = f'http://127.0.0.1:{port}/'
    flags = (f'--port={port} --ServerApp.port_retries=0 --no-browser '
             '--IdentityProvider.token=')
    with running(copy, command, FLAGS=flags,
                 HOME=str(copy.parent)) as (process, log):
        page, text, settings = [
            wait_until(lambda path=path: read(home + path), log, process)
            for path in (
                f'lab/tree/{Path(notebook).parent}',
                f'api/contents/{notebook}',
                'lab/api/settings/@jupyterlab/docmanager-extension:plugin')]
        warned = 'You are root, so every cell runs as root.\n' in (
            log.read_text())
    assert '<title>JupyterLab</title>' in page
    assert {cell['cell_type'] for cell in json.loads(
        text)['content']['cells']} == {'markdown', 'code'}
    assert warned == (os.getuid() == 0)
    return settings


def free_port():
    """Return the number of a free port."""
    with socket.create_server(('127.0.0.1', 0)) as free:
        return free.getsockname()[1]


def read(address):
    """Return the text of a page; None if no server answers."""
    try:
        with build_opener(ProxyHandler({})).open(address, timeout=20) as page:
            return page.read().decode()
    except OSError:
        return None
