"""Where the programs of the bank are collected.

A decorator registers the function and returns it unchanged: a program is what its author wrote and nothing else.
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from tests.bank.structures import map_leaves

TOPICS = (
    "aliases",
    "applications",
    "branches",
    "builtins_math",
    "checkpoints",
    "classic",
    "closures",
    "comprehensions",
    "containers",
    "copies",
    "corners",
    "dtypes",
    "errors_flow",
    "exits",
    "functions",
    "generators",
    "generators_left",
    "idioms",
    "inplace",
    "iterators",
    "language",
    "library",
    "linalg_programs",
    "local_classes",
    "loops",
    "matching",
    "models",
    "modes",
    "nested",
    "objects",
    "optional",
    "outside",
    "positions",
    "randomness",
    "records",
    "recursion",
    "sharing",
    "simulations",
    "solvers",
    "star_calls",
    "tables",
    "tables_of_functions",
    "views",
    "whiles",
    "writers",
    "refusals",
)
MakeArgs = Callable[[np.random.Generator], tuple[Any, ...]]
AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


@dataclass(frozen=True)
class Program:
    """A function that must be differentiated.

    Attributes
    ----------
    make_args : callable
        Maps a random generator to the positional arguments.
    wrt : tuple of int
        Positions that are differentiated.
    tags : frozenset of str
        `second`: second order is checked, by the first position of `wrt`; `in_argument`: writes into its arguments;
        `coarse`: computes in float32 inside, so that differences need long steps.
    float32 : bool
        Whether the program is also run with float32 arrays.
    """

    name: str
    topic: str
    function: Callable[..., Any]
    make_args: MakeArgs
    wrt: tuple[int, ...]
    tags: frozenset[str]
    float32: bool

    def args(self) -> tuple[Any, ...]:
        """Return fresh arguments, the same ones in each call and in each process."""
        return self.args_elsewhere(0)

    def args_elsewhere(self, number: int) -> tuple[Any, ...]:
        """Return arguments of the same kinds with other numbers; the literal ones move by a few per cent."""
        args = self.make_args(np.random.default_rng(zlib.crc32(self.name.encode()) + number))
        factor = 1 + 0.02 * number
        moved: tuple[Any, ...] = (
            map_leaves(
                lambda path, leaf: (
                    leaf * type(leaf)(factor) if np.isscalar(leaf) else np.asarray(leaf * factor, leaf.dtype)
                ),
                args,
            )
            if number
            else args
        )
        return moved


@dataclass(frozen=True)
class Refused:
    """A function that must raise an `AutodiffError` with a matching text, at the line marked `# refused here`."""

    name: str
    function: Callable[..., Any]
    make_args: MakeArgs
    wrt: tuple[int, ...]
    reason: str

    def args(self) -> tuple[Any, ...]:
        """Return fresh arguments."""
        return self.make_args(np.random.default_rng(0))


PROGRAMS: dict[str, Program] = {}
REFUSED: dict[str, Refused] = {}


def program(
    args: MakeArgs,
    wrt: tuple[int, ...] = (0,),
    tags: Iterable[str] = (),
    float32: bool = True,
    name: str | None = None,
    topic: str | None = None,
) -> Callable[[AnyFunction], AnyFunction]:
    """Register the decorated function as a program that must be differentiated, and return it unchanged."""

    def register(function: AnyFunction) -> AnyFunction:
        key = name or function.__name__
        where = topic or function.__module__.rpartition(".")[2]
        _insert(PROGRAMS, key, Program(key, where, function, args, wrt, frozenset(tags), float32))
        return function

    return register


def refused(reason: str, args: MakeArgs, wrt: tuple[int, ...] = (0,)) -> Callable[[AnyFunction], AnyFunction]:
    """Register the decorated function as one that must be refused, and return it unchanged."""

    def register(function: AnyFunction) -> AnyFunction:
        _insert(REFUSED, function.__name__, Refused(function.__name__, function, args, wrt, reason))
        return function

    return register


def _insert(table: dict[str, Any], key: str, entry: Any) -> None:
    if key in table:
        raise ValueError(f"two programs are named {key!r}")
    table[key] = entry


def load_bank() -> tuple[dict[str, Program], dict[str, Refused]]:
    """Import every topic and return the programs and the refusals by name."""
    for topic in TOPICS:
        importlib.import_module(f"tests.bank.{topic}")
    return PROGRAMS, REFUSED
