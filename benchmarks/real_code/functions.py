"""Functions of floats: those of a package's public functions that take and give floats."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import pkgutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from .inputs import LENGTH, combinations, make

__all__ = ["Late", "Target", "floats_in", "limit", "public_functions", "targets"]

SKIPPED = (
    "test",
    "plot",
    "example",
    "dataset",
    "conftest",
    "doc",
    "vis",
    "setup",
    "bench",
    "cli",
    "gui",
    "deprecat",
    "numba",
)
NOT_DIFFERENTIATED = {"int", "matrices"}


class Late(BaseException):
    """A time limit has passed."""


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise `Late` in the block after so many seconds."""

    def stop(*_: object) -> None:
        raise Late

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Target(NamedTuple):
    """A function and the names of the generators of its arguments; `position` is that of the first float argument."""

    name: str
    names: tuple[str, ...]
    position: int
    length: int = LENGTH


def modules(package: str) -> Iterator[ModuleType]:
    """The public modules of a package that can be imported."""
    root = importlib.import_module(package)
    yield root
    for found in pkgutil.walk_packages(getattr(root, "__path__", []), package + ".", onerror=lambda _: None):
        parts = found.name.split(".")[1:]
        if any(part.startswith("_") or part.startswith(SKIPPED) or part.endswith("tests") for part in parts):
            continue
        try:
            with limit(30):
                yield importlib.import_module(found.name)
        except Late:
            continue
        except (Exception, SystemExit):  # optional dependencies, scripts
            continue


def public_functions(package: str) -> dict[str, Callable[..., Any]]:
    """The public functions of a package by module and name, in an order that only their names decide."""
    found: dict[int, tuple[str, Callable[..., Any]]] = {}
    for module in modules(package):
        for name, value in sorted(vars(module).items()):
            function = inspect.unwrap(value) if callable(value) else value
            if not isinstance(function, FunctionType) or name.startswith(("_", "plot", "test")):
                continue
            if not (function.__module__ or "").split(".")[0] == package.split(".")[0] or inspect.isgeneratorfunction(
                function
            ):
                continue
            found.setdefault(id(function), (f"{function.__module__}:{name}", value))
    return dict(sorted(found.values(), key=lambda item: hashlib.sha256(item[0].encode()).digest()))


def required(function: Callable[..., Any]) -> int | None:
    """The number of arguments that a call must have; None if there are keyword-only ones among them, or none at all."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    needed = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if any(p.kind is p.KEYWORD_ONLY for p in needed):
        return None
    return len(needed) or (
        1 if any(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters) else None
    )


def floats_in(result: Any) -> list[np.ndarray] | None:
    """The float arrays of a number, an array, or a tuple or list of them; None of anything else."""
    items = list(result) if isinstance(result, (tuple, list)) else [result]
    if not all(isinstance(item, (float, int, np.generic, np.ndarray)) for item in items):
        return None
    arrays = [np.asarray(item) for item in items]
    if any(array.dtype.kind not in "fiub" for array in arrays):
        return None
    return [array for array in arrays if array.dtype.kind == "f"] or None


def gives_floats(function: Callable[..., Any], names: tuple[str, ...]) -> bool:
    """True if a call gives finite floats, and again the same."""
    first = floats_in(function(*make(names)))
    if first is None or not all(np.isfinite(array).all() for array in first):
        return False
    again = floats_in(function(*make(names)))
    return again is not None and all(map(np.array_equal, first, again)) and sum(array.size for array in first) > 0


def arguments_for(function: Callable[..., Any]) -> tuple[str, ...] | None:
    """The first generated arguments of which a function gives floats."""
    count = required(function)
    for names in combinations(count) if count else ():
        if set(names) <= NOT_DIFFERENTIATED:
            continue
        try:
            if gives_floats(function, names):
                return names
        except (Exception, SystemExit):  # not arguments of this function
            continue
    return None


def first_float(names: tuple[str, ...]) -> int:
    """The position of the argument to differentiate with respect to."""
    return next(i for i, kind in enumerate(names) if kind not in NOT_DIFFERENTIATED)


def targets(package: str, most: int, skip: set[str]) -> Iterator[Target | str]:
    """Up to `most` functions of floats; the names of the functions looked at, before each, for the record."""
    left = most
    for name, function in public_functions(package).items():
        if left == 0:
            return
        if name in skip:
            continue
        yield name
        try:
            with limit(5):
                names = arguments_for(function)
        except Late:
            continue
        if names is not None:
            left -= 1
            yield Target(name, names, first_float(names))
