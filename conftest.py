"""What doctests leave out: a module whose package is not installed. Nothing is kept in the user's cache folder.

Each test compiles what it calls: none sees the programs of another.
"""

import importlib.util
import os
import zlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

os.environ["AUTODIFF_SCT_CACHE"] = "0"

OPTIONAL = {
    "numba": "autodiff_sct/compiler/numba/math_library.py",
    "bottleneck": "autodiff_sct/rules/bottleneck.py",
    "IPython": "autodiff_sct/inspection/notebook.py",
    "dask": "autodiff_sct/runtime/chunked/*",
}
FEW, EVERY = 4, 32
SAMPLED = pytest.StashKey[bool]()
collect_ignore_glob = [path for package, path in OPTIONAL.items() if importlib.util.find_spec(package) is None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--whole", action="store_true", help="run all cases of tests with many, not a sample")
    parser.addoption("--part", metavar="K/N", help="run every N-th test only, beginning with the K-th (counted from 0)")


def pytest_configure(config: pytest.Config) -> None:
    """Sample the cases where neither files nor names are asked for."""
    everything = config.args_source is pytest.Config.ArgsSource.TESTPATHS and not config.option.keyword
    config.stash[SAMPLED] = getattr(config, "workerinput", {}).get("sampled", everything and not config.option.whole)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist, which sees other arguments."""
    node.workerinput["sampled"] = node.config.stash[SAMPLED]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.stash[SAMPLED]:
        keep(config, items, sample(items))
    if (part := config.option.part) is not None:
        k, n = map(int, part.split("/"))
        keep(config, items, items[k::n])


def sample(items: list[pytest.Item]) -> list[pytest.Item]:
    """One case in `EVERY` of each test, but not less than `FEW`, and all of those that are marked `every_case`.

    Each test begins at another case, so that the checks of one program are not all left out.
    """
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    chosen: set[pytest.Item] = set()
    for name, several in cases.items():
        step = 1 if several[0].get_closest_marker("every_case") else max(1, min(EVERY, len(several) // FEW))
        chosen.update(several[zlib.crc32(name.encode()) % step :: step])
    return [item for item in items if item in chosen]


def keep(config: pytest.Config, items: list[pytest.Item], kept: list[pytest.Item]) -> None:
    left = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in left])
    items[:] = kept


@pytest.fixture(autouse=True)
def compiled_anew() -> Iterator[None]:
    from autodiff_sct.api import entry

    entry.PRODUCTS.clear()
    entry.CAPTURED.clear()
    yield
