"""What a random program of `dtypes` must satisfy for arguments of several dtypes and orders of memory."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.random.oracle import forget, load
from tests.random.sized_oracle import LAYOUTS, STEP, WRT, Arguments, close, copied, gradient_beside_value

WIDTHS = [
    ("f8", "c16", "f8", float),
    ("f4", "c8", "f4", float),
    ("f8", "c8", "f4", np.float64),
    ("f4", "c16", "f8", float),
]
LENGTHS = [1, 2, 3, 5, 8, 17]


def arguments(rng: np.random.Generator) -> Arguments:
    """Return a real and a complex vector, a real matrix, a number and integers, in random orders of memory."""
    n = int(rng.choice(LENGTHS))
    real, complex_, matrix, number = WIDTHS[int(rng.choice(4, p=(0.4, 0.2, 0.2, 0.2)))]
    arrays = [rng.uniform(-1, 1, n), rng.uniform(-1, 1, n) + 1j * rng.uniform(-1, 1, n), rng.uniform(-1, 1, (n, n))]
    laid = [LAYOUTS[int(rng.integers(len(LAYOUTS)))](a.astype(d)) for a, d in zip(arrays, (real, complex_, matrix))]
    integers = rng.integers(0, 4, n).astype(rng.choice(["i8", "i4", "u1"]))
    return (*laid, number(rng.uniform(-1, 1)), integers)


def judge(text: str, seed: int) -> str:
    """Try a program and return `right`, `refused`, `raised` or `unknown`; raise where it is wrong."""
    rng = np.random.default_rng(seed)
    program, wide = load(text), load(text.replace("float32", "float64").replace("complex64", "complex128"))
    outcomes = []
    try:
        for _ in range(2):
            args = arguments(rng)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    outcomes.append(outcome(program, wide, args, rng))
            except Exception as error:
                kinds = [f"{np.asarray(a).dtype}{np.shape(a)}" for a in args]
                raise AssertionError(f"of {kinds}: {type(error).__name__}: {error}\n{text}") from error
    finally:
        forget(program)
        forget(wide)
    return min(outcomes, key=lambda told: ["refused", "raised", "unknown", "right"].index(told.partition(":")[0]))


def outcome(program: Callable[..., Any], wide: Callable[..., Any], args: Arguments, rng: np.random.Generator) -> str:
    """Compare value, gradient, pullback and tangent at one point."""
    gradient = gradient_beside_value(program, args)
    if isinstance(gradient, str):
        return gradient
    if not all(np.all(np.isfinite(g)) for g in gradient):  # of a number so small that its reciprocal overflows
        return "unknown"
    single = any(np.asarray(a).dtype.itemsize < (16 if np.iscomplexobj(a) else 8) for a in args[:4])
    rough = 1e-3 if single or narrows(program) else 1e-8
    with pass_registry.without(*pass_registry.PASSES):
        plain = ad.grad(program, WRT)(*copied(args))
    close(gradient, plain, rough, "gradient against that without optimisations")
    direction = tuple(way(rng, a) for a in args[:4])
    tangent_agrees(program, args, gradient, direction, rough)
    return compare(wide, args, gradient, direction, rough)


def narrows(program: Callable[..., Any]) -> bool:
    """True if a program makes arrays of single precision."""
    return not {"float32", "complex64"}.isdisjoint(program.__code__.co_names)


def way(rng: np.random.Generator, a: Any) -> Any:
    """Return a direction in the dtype of an argument."""
    found = rng.uniform(-1, 1, np.shape(a)) + (1j * rng.uniform(-1, 1, np.shape(a)) if np.iscomplexobj(a) else 0.0)
    return found.astype(a.dtype) if isinstance(a, np.ndarray) else type(a)(found)


def along(gradient: Any, direction: Arguments) -> float:
    """Return the derivative along a direction: products without a conjugate, as docs/complex.md has them."""
    return float(sum(np.sum(np.real(np.multiply(g, d, dtype=complex))) for g, d in zip(gradient, direction)))


def scale_of(gradient: Any, direction: Arguments) -> float:
    return 1.0 + sum(float(np.sum(np.abs(np.multiply(g, d, dtype=complex)))) for g, d in zip(gradient, direction))


def tangent_agrees(
    program: Callable[..., Any], args: Arguments, gradient: Any, direction: Arguments, rough: float
) -> None:
    """Check the tangent and the pullback."""

    def active(x: Any, z: Any, a: Any, t: Any) -> Any:
        return program(x, z, a, t, args[4])

    try:
        value, tangent = ad.jvp(active, copied(args[:4]), direction)
        _, pullback = ad.vjp(active, *copied(args[:4]))
    except ad.AutodiffError:
        return
    assert value == program(*copied(args)), "the value of the tangent's primal"
    error = abs(tangent - along(gradient, direction))
    assert error < rough * scale_of(gradient, direction), f"tangent {tangent} against {along(gradient, direction)}"
    close(pullback(1.0), gradient, rough, "pullback against gradient")


def compare(wide: Callable[..., Any], args: Arguments, gradient: Any, direction: Arguments, rough: float) -> str:
    """Compare the gradient with differences in double precision, unless a kink lies near.

    A conversion that copies arrays of single precision may give a view of others, which cannot be written.
    """

    def at(step: float) -> float:
        moved = [
            np.asarray(a) + step * np.asarray(d, complex if np.iscomplexobj(d) else float)
            for a, d in zip(args, direction)
        ]
        return float(wide(moved[0], moved[1], moved[2], float(moved[3]), args[4]))

    try:
        slopes = [(8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h) for h in (STEP, STEP / 4)]
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        return "unknown"
    if abs(slopes[0] - slopes[1]) > 1e-6 * (1.0 + abs(slopes[0])):
        return "unknown"
    error = abs(along(gradient, direction) - slopes[1])
    told = f"along a direction the gradient is {along(gradient, direction)}, not {slopes[1]}"
    assert error < max(rough, 1e-5) * scale_of(gradient, direction), told
    return "right"
