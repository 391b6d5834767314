"""Central differences of fourth order: the oracle that knows nothing of the compiler."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tests.bank.registry import Program
from tests.bank.structures import Path, leaves, map_leaves, total

# Powers of two, so that x + h and x - h are exact for numbers of ordinary size.
STEPS = {np.dtype(np.float16): 2.0**-4, np.dtype(np.float32): 2.0**-6}
STEP = 2.0**-12
COARSE = 2.0**-6


def quiet(function: Callable[..., Any], *args: Any) -> tuple[Any, str]:
    """Call a function and return its result with what it printed."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        return function(*args), text.getvalue()


def step_of(leaf: Any, shrink: float = 1.0) -> float:
    """Return the step that suits the precision of a leaf."""
    narrow = STEPS.get(np.asarray(leaf).dtype)
    return STEP * shrink if narrow is None else narrow


def moved(args: tuple[Any, ...], path: Path, index: tuple[int, ...], by: complex) -> tuple[Any, ...]:
    """Return the arguments with one number shifted."""

    def change(here: Path, leaf: Any) -> Any:
        if here != path:
            return leaf
        if not isinstance(leaf, np.ndarray):
            return type(leaf)(leaf + by)
        leaf = leaf.copy()
        leaf[index] += by
        return leaf

    shifted: tuple[Any, ...] = map_leaves(change, args)
    return shifted


def slope(f: Callable[[complex], float], h: float, unit: complex) -> float:
    """Return the derivative at 0 of ``f(t * unit)``, with an error of order h to the fourth."""
    near = f(h * unit) - f(-h * unit)
    far = f(2 * h * unit) - f(-2 * h * unit)
    return (8 * near - far) / (12 * h)


def differentiate(
    function: Callable[..., Any], make_args: Callable[[], tuple[Any, ...]], wrt: tuple[int, ...], shrink: float = 1.0
) -> dict[Path, np.ndarray]:
    """Return the gradient of the total of a function's results by every leaf of the arguments `wrt`.

    A complex leaf z = x + iy gets df/dx - i df/dy.
    """
    found = {}
    for path, leaf in leaves(make_args()).items():
        if path[0] not in {f"[{position}]" for position in wrt}:
            continue
        values = np.zeros(np.shape(leaf), dtype=complex if np.iscomplexobj(leaf) else float)
        for index in np.ndindex(values.shape):

            def along(by: complex, path: Path = path, index: tuple[int, ...] = index) -> float:
                return total(quiet(function, *moved(make_args(), path, index, by))[0])

            values[index] = slope(along, step_of(leaf, shrink), 1.0)
            if values.dtype.kind == "c":
                values[index] -= 1j * slope(along, step_of(leaf, shrink), 1j)
        found[path] = values
    return found


@cache
def gradient_by_differences(program: Program) -> dict[Path, np.ndarray]:
    """Return the gradient of a program of the bank, computed once a process."""
    return differentiate(program.function, program.args, program.wrt, shrink=shrink_of(program))


def shrink_of(program: Program) -> float:
    """Return the factor of the steps that suits a program."""
    return COARSE / STEP if "coarse" in program.tags else 1.0


def tolerance_of(program: Program, leaf: Any) -> float:
    """Return the relative error that differences by a leaf may have."""
    if "coarse" in program.tags:
        return 2e-3
    return {np.dtype(np.float16): 1e-2, np.dtype(np.float32): 2e-3}.get(np.asarray(leaf).dtype, 1e-5)


def assert_close(got: Any, expected: np.ndarray, rtol: float, where: str) -> None:
    """Compare element by element, with an absolute tolerance of a hundredth of `rtol` on the scale of the largest."""
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    np.testing.assert_allclose(np.asarray(got), expected, rtol=rtol, atol=0.01 * rtol * scale, err_msg=where)
