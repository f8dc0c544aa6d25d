"""The programs of the wing `more_numpy`, which join the table of programs."""

import tests.more.arranging  # noqa: F401
import tests.more.averages  # noqa: F401
import tests.more.borrowed  # noqa: F401
import tests.more.decompositions  # noqa: F401
import tests.more.elements  # noqa: F401
import tests.more.fft  # noqa: F401
import tests.more.linear_algebra  # noqa: F401
import tests.more.polynomials  # noqa: F401
import tests.more.products  # noqa: F401
import tests.more.special  # noqa: F401
import tests.more.ufuncs  # noqa: F401
