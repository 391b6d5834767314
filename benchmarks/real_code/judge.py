"""Outcomes: a gradient against central differences, by one system."""

from __future__ import annotations

import functools
import random
import re
import sys
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .functions import Late, Target, floats_in, limit
from .inputs import direction, make

__all__ = ["Outcome", "autograd_gradient", "judge", "our_gradient", "use_autograd_numpy"]

SECONDS = 60  # for compiling and running one gradient
Gradient = Callable[[Callable[..., Any], list[Any], int], Any]


class Outcome(NamedTuple):
    """What became of a function: `verdict` is a column of the table, `reason` says more."""

    verdict: str
    reason: str = ""


def our_gradient(function: Callable[..., Any], args: list[Any], position: int) -> Any:
    """The gradient of the sum of the results, by autodiff_sct; the value of a Python function has to be equal."""
    import autodiff_sct as ad

    kept = make_like(args)
    gradient_of = ad.value_and_grad(function, position)
    seed()
    value, gradient = gradient_of(*args)
    seed()
    primal = floats_in(function(*make_like(args)))
    ours = floats_in(value)
    same = np.array_equal if isinstance(function, types.FunctionType) else np.allclose
    same = functools.partial(same, equal_nan=True)
    if ours is None or primal is None or not all(map(same, ours, primal)):
        raise AssertionError("the value is not the primal's")
    if not all(np.array_equal(a, b) for a, b in zip(args, kept, strict=True) if isinstance(a, np.ndarray)):
        raise AssertionError("an argument is changed")
    return gradient


def seed() -> None:
    """The same random numbers for each call of a function that draws some."""
    random.seed(7)
    np.random.seed(7)


def make_like(args: list[Any]) -> list[Any]:
    """Copies of the arguments."""
    return [a.copy() if isinstance(a, np.ndarray) else list(a) if isinstance(a, list) else a for a in args]


def autograd_gradient(function: Callable[..., Any], args: list[Any], position: int) -> Any:
    """The same gradient by HIPS autograd, which sees a package only through its own NumPy."""
    import autograd
    import autograd.numpy as anp

    def total(*args: Any) -> Any:
        result = function(*args)
        items = list(result) if isinstance(result, (tuple, list)) else [result]
        return sum(anp.sum(item) for item in items if getattr(item, "dtype", np.dtype(type(item))).kind == "f")

    return autograd.grad(total, position)(*args)


def use_autograd_numpy(package: str) -> None:
    """Put autograd's NumPy in the place of NumPy in all modules of a package, as its users do by hand."""
    import autograd.numpy as anp
    import autograd.scipy as asp

    for name in ("special", "linalg", "stats", "signal"):
        __import__(f"autograd.scipy.{name}")
    pairs = [(np, anp), (np.linalg, anp.linalg), (np.fft, anp.fft)]
    for name in ("special", "linalg", "stats", "signal"):
        __import__(f"scipy.{name}")
        pairs.append((sys.modules[f"scipy.{name}"], getattr(asp, name)))
    instead: dict[int, Any] = {id(old): new for old, new in pairs if not old.__name__.startswith("scipy")}
    for old, new in pairs:
        for name, value in vars(old).items():
            if callable(value) and not isinstance(value, type) and name in vars(new):
                instead.setdefault(id(value), vars(new)[name])
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == package.split(".")[0] and isinstance(module, types.ModuleType):
            for key, value in list(vars(module).items()):
                if id(value) in instead:
                    setattr(module, key, instead[id(value)])


def total_at(function: Callable[..., Any], target: Target, step: float, way: Any) -> tuple[float, float]:
    """The sum of the results, and the error that rounding makes in it, at the argument moved by `step`."""
    args = make(target.names, target.length)
    args[target.position] = args[target.position] + step * way
    seed()
    arrays = floats_in(function(*args)) or []
    total = sum(float(np.sum(a)) for a in arrays)
    error = sum(45 * float(np.finfo(a.dtype).eps * np.sum(np.abs(a))) for a in arrays)
    if not np.isfinite(total):
        raise ArithmeticError("not finite")
    return total, error


def differences(function: Callable[..., Any], target: Target, way: Any) -> tuple[float, float]:
    """The derivative in a direction and the error to be expected of it."""
    slopes, noise = [], 0.0
    for step in (1e-5, 2.5e-6):
        (above, error), (below, _) = (total_at(function, target, s * step, way) for s in (1, -1))
        slopes.append((above - below) / (2 * step))
        noise = max(noise, error / step)
    return slopes[0], abs(slopes[0] - slopes[1]) * 5 + noise + 1e-6 * abs(slopes[0])


def judge(function: Callable[..., Any], target: Target, gradient_of: Gradient) -> Outcome:
    """Differentiate a function and compare."""
    args = make(target.names, target.length)
    way = direction(target.names[target.position], args[target.position])
    try:
        with limit(SECONDS):
            gradient = gradient_of(function, args, target.position)
    except Late:
        return Outcome("slow")
    except AssertionError as error:
        return Outcome("wrong", str(error))
    except (Exception, SystemExit) as error:
        try:
            function(*make(target.names, target.length))
        except (Exception, SystemExit) as own:
            return Outcome("unclear", f"the function itself raises {type(own).__name__}")
        refused = any(base.__name__ == "Refused" for base in type(error).__mro__)
        return Outcome("refused" if refused else "crash", f"{type(error).__name__}: {error}")
    try:
        with limit(SECONDS):
            slope, error_of = differences(function, target, way)
    except (Exception, Late) as error:
        return Outcome("unclear", f"differences: {type(error).__name__}")
    got = float(np.sum(np.asarray(gradient, dtype=float) * way)) if gradient is not None else 0.0
    if np.isnan(got):
        return Outcome("NaN")
    if abs(got - slope) <= error_of and error_of < max(1e-3 * abs(slope), 1e-5):
        return Outcome("right")
    if error_of > max(1e-3 * abs(slope), 1e-5):
        return Outcome("unclear", f"{got} and {slope} +- {error_of}")
    return Outcome("wrong", f"{got}, differences {slope} +- {error_of}")


def class_of(reason: str) -> str:
    """A reason without what is particular to one place: a refusal's sentence, without quoted names and numbers."""
    lines = [line.strip() for line in reason.splitlines() if line.strip()] or [""]
    carets = [i for i, line in enumerate(lines[:-1]) if set(line) == {"^"}]
    return re.sub(r"\d+", "N", re.sub(r"`[^`]*`|'[^']*'", "_", lines[carets[-1] + 1 if carets else 0]))[:150]
