"""What doctests leave out: a module whose package is not installed. Nothing is kept in the user's cache folder.

Each test compiles what it calls: none sees the programs of another.
"""

import importlib.util
import os
from collections.abc import Iterator

import pytest

os.environ["AUTODIFF_SCT_CACHE"] = "0"

OPTIONAL = {"numba": "autodiff_sct/compiler/numba/math_library.py", "bottleneck": "autodiff_sct/rules/bottleneck.py"}
collect_ignore = [path for package, path in OPTIONAL.items() if importlib.util.find_spec(package) is None]


@pytest.fixture(autouse=True)
def compiled_anew() -> Iterator[None]:
    from autodiff_sct.api import entry

    entry.PRODUCTS.clear()
    entry.CAPTURED.clear()
    yield
