"""`out=` of another shape or type: every function raises what it raises by itself, writes the same, or is refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import special

import autodiff_sct as ad
from tests.compiler.checked import check_gradient
from tests.random.oracle import forget, load

CALLS = [
    "np.sum(x, axis=0, out=o)", "np.sum(x, out=o)", "np.mean(x, 1, None, o)", "np.prod(x, axis=0, out=o)",
    "np.max(x, axis=0, out=o)", "np.cumsum(x, axis=0, out=o)", "np.cumprod(x, 1, out=o)", "np.var(x, axis=0, out=o)",
    "np.std(x, 1, out=o)", "np.median(x, axis=0, out=o)", "np.ptp(x, axis=0, out=o)", "np.quantile(x, 0.3, 0, out=o)",
    "np.sum(x, axis=0, keepdims=True, out=o)", "np.dot(x, y.T, out=o)", "np.dot(x, y[0], out=o)",
    "np.matmul(x, y.T, out=o)", "np.matmul(x, y[0], out=o)", "np.add(x, y, out=o)", "np.sin(x, out=o)",
    "np.sin(x[0], o)", "np.power(x, 2, out=(o,))", "np.clip(x, 0.2, 0.7, out=o)", "x.clip(0.2, out=o)",
    "x.clip(max=0.7, out=o)", "np.round(x, 2, out=o)",
    "np.take(x, [0, 2], axis=0, out=o)", "np.concatenate([x, y], out=o)", "np.stack([x[0], y[0]], out=o)",
    "np.trace(x, out=o)", "np.einsum('ij,ij->i', x, y, out=o)", "np.outer(x[0], y[0], out=o)", "x.sum(axis=0, out=o)",
    "x.dot(y.T, out=o)", "x.max(axis=0, out=o)", "np.add.reduce(x, axis=0, out=o)", "np.add.accumulate(x, out=o)",
    "np.nansum(x, axis=0, out=o)", "np.linalg.multi_dot([x, y.T, x], out=o)", "np.argmax(x, axis=0, out=o)",
    "np.cumulative_sum(x[0], out=o)", "np.logaddexp.reduce(x, axis=0, out=o)", "np.nanmax(x, axis=0, out=o)",
    "np.choose([0, 1, 0, 1], [x[0], y[0]], out=o)", "np.compress([True, False, True], x, axis=0, out=o)",
]  # fmt: skip
SHAPES = ["(3, 4)", "4", "3", "(1, 4)", "(3, 1)", "(5, 3, 4)", "(3, 3)", "()", "(2, 4)", "(6, 4)", "1"]
OUTS = [f"np.zeros({shape})" for shape in SHAPES]
KINDS = ["np.float32", "int", "complex"]
OUTS += [f"np.zeros({shape}, {kind})" for shape in ("(3, 4)", "4", "(3, 3)") for kind in KINDS]
OUTS += ["np.zeros((3, 8))[:, ::2]", "np.zeros((3, 3), order='F')", "np.zeros(4, bool)"]
X = np.random.default_rng(0).uniform(0.1, 0.9, (2, 3, 4))
TEXT = """\
import numpy as np


def program(x, y):
    o = {}
    {}
    return np.sum(np.abs(o) ** 2) + np.sum(np.real(o))
"""


def outcome(function: Any, *args: np.ndarray) -> Any:
    """What a function returns or raises; None where it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args)
        except ad.AutodiffError:
            return None
        except Exception as error:
            return error


@pytest.mark.parametrize("call", CALLS)
def test_what_is_written_into(call: str) -> None:
    for out in OUTS:
        if out == "np.zeros(())" and ("cum" in call or "accumulate" in call):
            continue  # NumPy writes behind an array without axes
        program = load(TEXT.format(out, call))
        wanted, found = outcome(program, *X.copy()), outcome(ad.value_and_grad(program), *X.copy())
        told = f"{call} with o = {out}: {wanted!r}, {found!r}"
        if isinstance(wanted, Exception):
            assert found is None or isinstance(wanted, type(found)), told
        elif found is not None:
            assert not isinstance(found, Exception), told
            assert found[0] == wanted, told
        forget(program)


@pytest.mark.parametrize("call", CALLS)
def test_single_precision_into_double(call: str) -> None:
    """NumPy adds up in the type of the array that it writes into."""
    x, y = X.astype(np.float32)
    for shape in ("4", "3", "(3, 4)", "(3, 3)"):
        program = load(TEXT.format(f"np.zeros({shape})", call))
        wanted = outcome(program, x.copy(), y.copy())
        for found in (outcome(ad.value_and_grad(program), x, y), outcome(ad.jvp, program, (x, y), (x, y))):
            if not isinstance(wanted, Exception) and found is not None:
                assert not isinstance(found, Exception), f"{call} into {shape}: {found!r}"
                assert found[0] == wanted, f"{call} into {shape}: {wanted!r}, {found[0]!r}"
        forget(program)


def carried(x: Any, y: Any) -> Any:
    w = np.zeros(x.shape[1])
    for _ in range(3):
        w = np.mean(x, axis=0, out=w)
        w = w * max(x[0, 0] * x[1, 1], y[0, 0])  # one of both types, as their values decide
    return np.sum(w * w)


@pytest.mark.parametrize("columns", [3, 130])
@pytest.mark.parametrize("kinds", [(np.float32, np.float64), (np.float64, np.float64), (np.float32, np.float32)])
def test_types_known_at_run_time(columns: int, kinds: Any) -> None:
    for sign in (1, -1):
        x, y = (np.random.default_rng(1).normal(size=(4, columns)).astype(kind) for kind in kinds)
        y[0, 0] *= 9 * sign
        value, gradient = ad.value_and_grad(carried)(x, y)
        assert value == carried(x, y)
        assert gradient.dtype == x.dtype


def test_a_wrong_shape_is_told_at_run_time() -> None:
    program = load(
        "import numpy as np\n\n\ndef program(x, o):\n    np.sum(x, axis=0, out=o)\n    return np.sum(o**2)\n"
    )
    gradient = ad.grad(program)
    for columns in (3, 17, 130):
        x = np.cos(np.arange(2.0 * columns)).reshape(2, columns)
        np.testing.assert_allclose(gradient(x, np.zeros(columns)), 2 * np.sum(x, axis=0) + 0 * x)
        with pytest.raises(ValueError, match="has another shape"):
            gradient(x, np.zeros(columns + 1))
    forget(program)


@pytest.mark.parametrize("positional", [False, True])
def test_functions_of_scipy_write_into_arrays(positional: bool) -> None:
    def program(x: Any) -> Any:
        y = np.zeros(x.shape)
        if positional:
            special.erf(x, y)
        else:
            special.erf(x, out=y)
        return np.sum(y**2)

    check_gradient(program, (np.array([0.3, -0.7, 1.2]),))
