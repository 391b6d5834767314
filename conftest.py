"""What doctests leave out: a module whose package is not installed. Nothing is kept in the user's cache folder.

Each test compiles what it calls: none sees the programs of another.
"""

import importlib.util
import os
from collections.abc import Iterator

import pytest

os.environ["AUTODIFF_SCT_CACHE"] = "0"

OPTIONAL = {
    "numba": "autodiff_sct/compiler/numba/math_library.py",
    "bottleneck": "autodiff_sct/rules/bottleneck.py",
    "IPython": "autodiff_sct/inspection/notebook.py",
}
collect_ignore = [path for package, path in OPTIONAL.items() if importlib.util.find_spec(package) is None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", metavar="K/N", help="run every N-th test only, beginning with the K-th (counted from 0)")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if (part := config.getoption("--part")) is not None:
        k, n = map(int, part.split("/"))
        config.hook.pytest_deselected(items=[item for place, item in enumerate(items) if place % n != k])
        items[:] = items[k::n]


@pytest.fixture(autouse=True)
def compiled_anew() -> Iterator[None]:
    from autodiff_sct.api import entry

    entry.PRODUCTS.clear()
    entry.CAPTURED.clear()
    yield
