"""What notebooks have besides: pictures, players, and live editing."""

import autodiff_mini.notebook.drawing
from autodiff_mini.notebook.live import (
    load_ipython_extension, unload_ipython_extension)
from autodiff_mini.notebook.player import watch
