"""Import the whole wing `fast`, which the first program otherwise imports."""

import autodiff_mini.wings.fast.fission  # noqa: F401  (opens loops)
