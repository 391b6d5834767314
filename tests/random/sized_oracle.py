"""What a random program of `sized` must satisfy at each size, memory order and dtype."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from autodiff_sct.errors import Refused
from autodiff_sct.runtime.memory import layout_copy
from tests.random.oracle import forget, load

WRT = (0, 1, 2, 3)
LENGTHS = [1, 2, 3, 15, 16, 17, 64, 127, 128, 129, 130, 300]
LAYOUTS: list[Callable[[np.ndarray], np.ndarray]] = [
    lambda a: a,
    lambda a: np.asfortranarray(a),
    lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    lambda a: a[::-1].copy()[::-1],
    lambda a: np.concatenate([a, a])[: len(a)].T.copy().T,
]
STEP = 2.0**-12
Arguments = tuple[Any, ...]


def sizes_of(rng: np.random.Generator) -> list[tuple[int, int]]:
    """Draw the rows and columns at which one program is tried: one small, one of any size."""
    any_size = tuple(int(n) for n in rng.choice(LENGTHS, 2))
    if any_size[0] * any_size[1] > 40_000:
        any_size = (any_size[0], 17)
    return [(int(rng.choice(LENGTHS[:6])), int(rng.choice(LENGTHS[:6]))), (any_size[0], any_size[1])]


def arguments(rng: np.random.Generator, rows: int, columns: int) -> Arguments:
    """Return arguments in a random order of memory."""
    arrays = [rng.uniform(-1, 1, size) for size in (rows, columns, (rows, columns))]
    laid = [LAYOUTS[int(rng.integers(len(LAYOUTS)))](a) for a in arrays]
    return (*laid, float(rng.uniform(-1, 1)))


def copied(args: Arguments) -> Arguments:
    """Return a copy in the same order of memory."""
    return tuple(layout_copy(a) for a in args)


def moved(args: Arguments, direction: Arguments, by: float) -> Arguments:
    """Return arguments a step away, in the same order of memory: what a reshape shows may depend on it."""
    there = copied(args)
    for a, b, d in zip(args, there, direction):
        if isinstance(b, np.ndarray):
            b[...] = a + by * d
    return tuple(b if isinstance(b, np.ndarray) else a + by * d for a, b, d in zip(args, there, direction))


def slope(program: Callable[..., Any], args: Arguments, direction: Arguments, step: float) -> float:
    """Return the derivative along a direction, by differences of fourth order."""
    at = {k: float(program(*moved(args, direction, k * step))) for k in (-2, -1, 1, 2)}
    return (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * step)


def expected_slope(program: Callable[..., Any], args: Arguments, direction: Arguments) -> float | None:
    """Return the derivative along a direction; None where a kink lies near."""
    found = [slope(program, args, direction, step) for step in (STEP, STEP / 4)]
    scale = 1.0 + abs(found[0])
    return found[1] if abs(found[0] - found[1]) < 1e-6 * scale else None


def along(gradient: Any, direction: Arguments) -> float:
    """Return the product of a gradient with a direction."""
    return float(sum(np.sum(g * d) for g, d in zip(gradient, direction)))


def judge(text: str, seed: int) -> str:
    """Try a program at several sizes and return `right`, `refused`, `raised` or `unknown`; raise where it is wrong."""
    program = load(text)
    rng = np.random.default_rng(seed)
    outcomes = []
    try:
        for rows, columns in sizes_of(rng):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    outcomes.append(outcome(program, arguments(rng, rows, columns), rng))
            except Exception as error:
                told = f"{type(error).__name__}: {error}"
                raise AssertionError(f"at {rows} x {columns}: {told}\n{text}") from error
    finally:
        forget(program)
    return min(outcomes, key=["refused", "raised", "unknown", "right"].index)


def outcome(program: Callable[..., Any], args: Arguments, rng: np.random.Generator) -> str:
    """Compare value, gradient, pullback and tangent at one point."""
    gradient = gradient_beside_value(program, args)
    if isinstance(gradient, str):
        return gradient.partition(":")[0]
    direction = tuple(rng.uniform(-1, 1, np.shape(a)) for a in args)
    wanted = expected_slope(program, args, direction)
    agree_alone(program, args, gradient)
    agree_with_passes_off(program, args, gradient)
    agree_with_products(program, args, gradient, direction)
    if wanted is None:
        return "unknown"
    scale = 1.0 + sum(float(np.sum(np.abs(g * d))) for g, d in zip(gradient, direction))
    got = along(gradient, direction)
    assert abs(got - wanted) < 1e-5 * scale, f"along a direction the gradient is {got}, not {wanted}"
    check_narrow(program, args, gradient)
    return "right"


def gradient_beside_value(program: Callable[..., Any], args: Arguments) -> Any:
    """The gradient, beside the program's own value; how the program turned out where there is none."""
    try:
        expected = program(*copied(args))
    except Exception as error:
        return raises_alike(program, args, error)
    if not np.isfinite(expected) or abs(expected) > 1e6:
        return "unknown"
    given = copied(args)
    try:
        value, gradient = ad.value_and_grad(program, WRT)(*given)
    except ad.AutodiffError as error:
        return f"refused: {error}"
    assert type(value) is type(expected), f"the value is of {type(value)}, not {type(expected)}"
    assert value == expected, f"value {value!r} is not {expected!r}"
    assert all(np.array_equal(a, b) for a, b in zip(args, given)), "an argument was changed"
    check_kinds(args[: len(WRT)], gradient)
    return gradient


def raises_alike(program: Callable[..., Any], args: Arguments, error: Exception) -> str:
    """Check that a gradient raises what the program raises."""
    try:
        ad.grad(program, WRT)(*copied(args))
    except ad.AutodiffError:
        return "refused"
    except Exception as own:
        assert type(own) is type(error), f"raises {own!r} instead of {error!r}"
        return "raised"
    raise AssertionError(f"does not raise {error!r}")


def check_kinds(args: Arguments, gradient: Any) -> None:
    """Check shapes and dtypes."""
    for a, g in zip(args, gradient):
        assert type(g) is type(a) or np.ndim(a) == 0, f"{type(g)} is the gradient of {type(a)}"
        assert np.shape(g) == np.shape(a), f"the gradient of {np.shape(a)} has the shape {np.shape(g)}"
        assert np.asarray(g).dtype == np.asarray(a).dtype


def close(got: Any, wanted: Any, tolerance: float, told: str) -> None:
    """Compare gradients number by number on the scale of the largest."""
    for k, (g, w) in enumerate(zip(got, wanted)):
        scale = max(1.0, float(np.max(np.abs(w), initial=0.0)))
        np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance * scale, err_msg=f"{told}, argument {k}")


def agree_alone(program: Callable[..., Any], args: Arguments, gradient: Any) -> None:
    """Check the gradient without the value, for which the forward sweep may be another one."""
    given = copied(args)
    close(ad.grad(program, WRT)(*given), gradient, 1e-9, "gradient without the value")
    assert all(np.array_equal(a, b) for a, b in zip(args, given)), "an argument was changed"


def agree_with_passes_off(program: Callable[..., Any], args: Arguments, gradient: Any) -> None:
    """Check that no optimisation changes the gradient."""
    with pass_registry.without(*pass_registry.PASSES):
        plain = ad.grad(program, WRT)(*copied(args))
    close(gradient, plain, 1e-9, "gradient against that without optimisations")


def agree_with_products(program: Callable[..., Any], args: Arguments, gradient: Any, direction: Arguments) -> None:
    """Check the pullback and the tangent."""
    try:
        _, pullback = ad.vjp(program, *copied(args))
        close(pullback(1.0), gradient, 1e-9, "pullback against gradient")
    except Refused:
        pass
    try:
        value, tangent = ad.jvp(program, copied(args), direction)
    except Refused:
        return
    scale = 1.0 + sum(float(np.sum(np.abs(g * d))) for g, d in zip(gradient, direction))
    assert value == program(*copied(args)), "the value of the tangent's primal"
    assert abs(tangent - along(gradient, direction)) < 1e-9 * scale, "tangent against gradient"


def check_narrow(program: Callable[..., Any], args: Arguments, gradient: Any) -> None:
    """Check the program on a matrix of float32 beside vectors of float64, and all of float32."""
    for places in ((2,), (0, 1, 2)):
        narrow = tuple(a.astype(np.float32) if k in places else a for k, a in enumerate(args))
        try:
            expected = program(*copied(narrow))
        except Exception as error:
            raises_alike(program, narrow, error)
            continue
        try:
            value, found = ad.value_and_grad(program, WRT)(*copied(narrow))
        except ad.AutodiffError:
            continue
        assert type(value) is type(expected), f"in float32: {type(value)} is not {type(expected)}"
        assert np.array_equal(value, expected, equal_nan=True), f"in float32: {value!r} is not {expected!r}"
        check_kinds(narrow, found)
        if not np.isfinite(expected):
            continue  # float32 overflows where float64 does not
        for k, (g, w) in enumerate(zip(found, gradient)):
            off = np.abs(np.asarray(g, float) - w)
            scale = max(1.0, float(np.max(np.abs(w), initial=0.0)))
            # A number near a kink or a tie may fall to its other side.
            few = max(1.0, 0.02 * np.size(w)) if np.ndim(w) else 0
            assert np.sum(off > 0.02 * scale) <= few, f"in float32: gradient of argument {k}"
