"""Every public function of NumPy and SciPy, called with arrays and numbers of a few shapes: right, or refused.

No table says which functions there are: what nobody has thought of is tried, too.  Without the environment variable
``AUTODIFF_SCT_EVERY_FUNCTION``, one in eight functions is.
"""

from __future__ import annotations

import copy
import importlib
import os
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import autodiff_sct as ad
from tests.random.oracle import forget, load

pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore")]

MODULES = (
    "numpy numpy.linalg numpy.fft scipy.special scipy.linalg scipy.fft scipy.signal scipy.signal.windows scipy.ndimage "
    "scipy.spatial.distance scipy.integrate scipy.interpolate scipy.stats scipy.sparse scipy.sparse.linalg "
    "scipy.optimize"
).split()
# What reads or writes files, settings and memory, and what ends the process where it is given wrong arguments.
NOT_CALLED = {
    "fromfile", "genfromtxt", "loadtxt", "load", "save", "savez", "savez_compressed", "savetxt", "fromregex", "source",
    "info", "show_config", "show_runtime", "test", "setbufsize", "seterr", "seterrcall", "set_printoptions", "lu_solve",
    "cho_solve", "cho_solve_banded", "set_workers", "set_backend", "set_global_backend", "register_backend",
    "distance_transform_cdt",
}  # fmt: skip
UNDEFINED = {
    "numpy.interp": "places that do not ascend",
    "numpy.kaiser": "lengths that are no integers",
    "numpy.polyadd": "coefficients that are no vectors",
    "numpy.polysub": "coefficients that are no vectors",
    "numpy.polyval": "coefficients that are no vectors",
    "scipy.linalg.cholesky": "a vector that says which triangle is meant",
    "scipy.linalg.cho_factor": "a vector that says which triangle is meant",
}

V = np.array([1.3, 0.4, 0.7, 2.1, 0.9, 1.2, 0.55, 1.7])
M = np.array([[2.3, 0.45, 0.1], [0.31, 1.9, 0.6], [0.2, 0.52, 2.8]])
CALLS: list[tuple[Any, ...]] = [
    (V,), (M,), (V, 1.1 * V + 0.37), (M, V[:3]), (M, M + 0.2), (0.7,), (0.7, 1.3), (V, 2), (2, V), (V, [2, 5]),
    (V, 1.2 * V + 0.3, V * 0.5 + 0.1), (V, 0.7, 1.2), (0.3, 0.6, 0.8, 0.45), (1, 0.7, 0.2), ([V, V * 2],),
]  # fmt: skip
MOST = 3  # calls of one function


class Call(NamedTuple):
    """A function with arguments; it is differentiated by one of them."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    position: int

    def __call__(self, x: Any) -> Any:
        args = list(copy.deepcopy(self.args))
        args[self.position] = x
        return self.function(*args)

    @property
    def start(self) -> Any:
        return copy.copy(self.args[self.position])

    @property
    def direction(self) -> np.ndarray:
        return 0.3 * np.cos(np.arange(1.0, np.size(self.start) + 1)).reshape(np.shape(self.start))

    def difference(self, step: float) -> float:
        """The derivative of the sum of the squares of all results along the direction."""
        change = step * self.direction
        ends = [self.start + change, self.start - change]
        return (total(self(*ends[:1])) - total(self(*ends[1:]))) / (2 * step)

    def text(self, y: Any) -> str:
        """A program that adds up the squares of the results."""
        given = ", ".join("x" if k == self.position else f"a{k}" for k in range(len(self.args)))
        parts = [f"y[{k}]" for k in range(len(y))] if isinstance(y, (tuple, list)) else ["y"]
        squares = " + ".join(f"np.sum(np.abs({part}) ** 2)" for part in parts)
        return f"import numpy as np\n\n\ndef program(x):\n    y = fn({given})\n    return {squares}\n"


def is_float(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic, float, complex)) and np.asarray(value).dtype.kind in "fc"


def total(y: Any) -> float:
    parts = y if isinstance(y, (tuple, list)) else [y]
    return float(sum(np.sum(np.abs(part) ** 2) for part in parts))


def functions() -> Iterator[Any]:
    """The public functions, each once, under the first name that it has."""
    seen: set[int] = set()
    for module in MODULES:
        found = importlib.import_module(module)
        for name in sorted(getattr(found, "__all__", dir(found))):
            fn, full = getattr(found, name, None), f"{module}.{name}"
            known = name.startswith("_") or name in NOT_CALLED or full in UNDEFINED or id(fn) in seen
            if callable(fn) and not isinstance(fn, type) and not known:
                seen.add(id(fn))
                yield pytest.param(fn, id=full)


def calls(fn: Callable[..., Any]) -> Iterator[tuple[Call, float]]:
    """A few smooth calls of a function, each with its derivative."""
    for args in CALLS:
        for position, arg in enumerate(args):
            call = Call(fn, args, position)
            if not is_float(arg):
                continue
            try:
                y = call(call.start)
                parts = y if isinstance(y, (tuple, list)) else [y]
                if not all(map(is_float, parts)):
                    break
                fine, coarse = call.difference(1e-5), call.difference(1e-4)
            except Exception:  # what the function does not take
                break
            if np.isfinite(fine) and abs(fine - coarse) <= 1e-3 * max(1.0, abs(fine)):
                yield call, fine


EVERY = [*functions()]
if not os.environ.get("AUTODIFF_SCT_EVERY_FUNCTION"):
    EVERY = [each for each in EVERY if zlib.crc32(each.id.encode()) % 8 == 0]


@pytest.mark.parametrize("fn", EVERY)
def test_right_or_refused(fn: Callable[..., Any]) -> None:
    for (call, expected), _ in zip(calls(fn), range(MOST)):
        program = load(call.text(call(call.start)))
        names = {"fn": fn, **{f"a{k}": arg for k, arg in enumerate(copy.deepcopy(call.args))}}
        program.__globals__.update(names)
        try:
            gradient = ad.grad(program)(call.start)
        except ad.AutodiffError:
            continue
        finally:
            forget(program)
        found = float(np.sum(np.asarray(gradient) * call.direction).real)
        assert found == pytest.approx(expected, rel=2e-3, abs=1e-4), (call.args, call.position)
