"""What doctests leave out: a module whose package is not installed. Nothing is kept in the user's cache folder."""

import importlib.util
import os

os.environ["AUTODIFF_SCT_CACHE"] = "0"

collect_ignore = [] if importlib.util.find_spec("numba") else ["autodiff_sct/native/functions.py"]
