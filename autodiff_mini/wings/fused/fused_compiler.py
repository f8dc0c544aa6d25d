"""The fused compiler: the fast one, with kernels."""

from time import perf_counter

from autodiff_mini.core import seams
from autodiff_mini.wings.fast.compiler import FastLowered, Version
from autodiff_mini.wings.fused.fused_emitter import FusedEmitter


class FusedVersion(Version):
    """Python source with kernels, for arrays in row order.

    Args:
        args: the arguments of Version.
    """

    emitter = FusedEmitter

    def __init__(self, *args):
        start = perf_counter()
        super().__init__(*args)
        self.account.append(
            f'# Compiling took {perf_counter() - start:.2f} seconds.')

    def write(self, jaxpr, fast, careful):
        """Return an emitter that has written the program, and the program."""
        emitter, jaxpr = super().write(jaxpr, fast, careful)
        self.account = emitter.account()
        return emitter, jaxpr


@seams.backends['fused'].take
class FusedLowered(FastLowered):
    """A program compiled to Python and to kernels, called with arguments."""

    version = FusedVersion

    @property
    def source(self):
        """What is fused, what is not and why, and the source."""
        return '\n'.join([*self.fast.account, '', '', self.fast.source])
