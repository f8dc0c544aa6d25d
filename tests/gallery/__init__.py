"""The gallery: programs of the kinds that people bring.

Each module is a theme, and each function in it is a program as a user of
NumPy would write it: a number computed from arrays or dictionaries.  Above
it stands the point at which it is differentiated.  Arrays that are filled
with traced values are made with `like=`, as the chapter *Whose memory is
it?* says; nothing else is written for the sake of derivatives.
"""

import tests.gallery.regression  # noqa: F401
import tests.gallery.gaussian_processes  # noqa: F401
import tests.gallery.filters  # noqa: F401
import tests.gallery.hidden_markov  # noqa: F401
import tests.gallery.variational  # noqa: F401
import tests.gallery.optics  # noqa: F401
import tests.gallery.mechanics  # noqa: F401
import tests.gallery.finance  # noqa: F401
import tests.gallery.control  # noqa: F401
import tests.gallery.imaging  # noqa: F401
import tests.gallery.networks  # noqa: F401
import tests.gallery.transformers  # noqa: F401
import tests.gallery.decompositions  # noqa: F401
import tests.gallery.differential_equations  # noqa: F401
import tests.gallery.statistics  # noqa: F401
import tests.gallery.puzzles  # noqa: F401
from tests.gallery.table import GALLERY  # noqa: F401
