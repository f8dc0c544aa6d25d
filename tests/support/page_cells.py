"""A fixture that runs a page's cells, as the browser does."""

import sys
from importlib.util import module_from_spec, spec_from_file_location

import numpy as np
import pytest

from book.tools import in_page

OF_CELLS = 'autodiff_mini', 'tests.support.jaxpr_checks'     # imported anew


@pytest.fixture
def cells():
    """Return the module that runs cells, with what it says in `said`."""
    spec = spec_from_file_location('cells', in_page.SCRIPTS / 'cells.py')
    module = module_from_spec(spec)
    kept = {name: module for name, module in sys.modules.items()
            if name == '__main__' or name.startswith(OF_CELLS)}
    streams = sys.stdout, sys.stderr
    spec.loader.exec_module(module)
    module.said = []
    module.say = lambda kind, text: module.said.append((kind, text))
    module.fresh()
    yield module
    sys.stdout, sys.stderr = streams
    np.set_printoptions(**module.PRINT)     # a chapter sets its own
    np.seterr(**module.ERRORS)
    for name in [name for name in sys.modules
                 if name.startswith((*OF_CELLS, 'matplotlib'))
                 and name not in kept]:
        del sys.modules[name]
    sys.modules.update(kept)
