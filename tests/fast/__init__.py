"""The wing `fast`, all of it: else it comes with the first program."""

import autodiff_mini.fast.fission  # noqa: F401  (opens loops)
