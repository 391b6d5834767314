"""What doctests leave out: a module whose package is not installed. Nothing is kept in the user's cache folder.

Each test compiles what it calls: none sees the programs of another.
"""

import importlib.util
import os
from collections.abc import Iterator

import pytest

os.environ["AUTODIFF_SCT_CACHE"] = "0"

collect_ignore = [] if importlib.util.find_spec("numba") else ["autodiff_sct/native/functions.py"]


@pytest.fixture(autouse=True)
def compiled_anew() -> Iterator[None]:
    from autodiff_sct import entry

    entry.PRODUCTS.clear()
    entry.CAPTURED.clear()
    yield
