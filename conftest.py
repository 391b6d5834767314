"""What doctests leave out: a module whose package is not installed."""

import importlib.util

collect_ignore = [] if importlib.util.find_spec("numba") else ["autodiff_sct/native/functions.py"]
