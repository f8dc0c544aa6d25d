"""The gallery: programs of the kinds that users write.

Each module is a theme, and each function in it is a program as a NumPy user
would write it: a number computed from arrays or dictionaries. The point at
which it is differentiated is above it. Arrays to be filled with traced values
are created with `like=`, as the chapter *Whose memory is it?* explains.
Otherwise, the programs make no concessions to differentiation.
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
