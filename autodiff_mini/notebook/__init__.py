"""What notebooks have besides: pictures, players, and live editing."""

import autodiff_mini.notebook.drawing  # noqa: F401
from autodiff_mini.notebook.live import (  # noqa: F401
    load_ipython_extension,
    unload_ipython_extension,
)
from autodiff_mini.notebook.player import watch  # noqa: F401
