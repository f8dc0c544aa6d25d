"""The programs of the wing `more_numpy`, which join the table of programs."""

import tests.tables.more_numpy.arranging  # noqa: F401
import tests.tables.more_numpy.averages  # noqa: F401
import tests.tables.more_numpy.borrowed  # noqa: F401
import tests.tables.more_numpy.decompositions  # noqa: F401
import tests.tables.more_numpy.elements  # noqa: F401
import tests.tables.more_numpy.fft  # noqa: F401
import tests.tables.more_numpy.linear_algebra  # noqa: F401
import tests.tables.more_numpy.polynomials  # noqa: F401
import tests.tables.more_numpy.products  # noqa: F401
import tests.tables.more_numpy.special  # noqa: F401
import tests.tables.more_numpy.ufuncs  # noqa: F401
