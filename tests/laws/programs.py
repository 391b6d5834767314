"""The cases as programs: ``def program(x0, x1): return np.sum(x0, axis=x1)``, for the compiler to differentiate.

Floating-point arrays and numbers are parameters, everything else is written into the text or is a global of it.
"""

from __future__ import annotations

import cmath
import importlib.util
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tests.laws.checker import Call, Case, full_name, is_inexact

LITERAL = (int, float, bool, str, type(None), slice)


@dataclass
class Program:
    """A case as a function of its floating-point arguments, which are entries `positions` of the row."""

    item: Case
    name: str
    positions: tuple[int, ...]
    text: str
    constants: dict[str, Any]
    function: Callable[..., Any] | None = None

    @property
    def args(self) -> list[Any]:
        inputs = Call(self.item.fn, self.item.args, self.item.kwargs).inputs()
        return [inputs[p] for p in self.positions]


def is_literal(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(is_literal, value))
    return isinstance(value, LITERAL) and not (isinstance(value, float) and not math.isfinite(value))


def spelled(item: Case, active: list[int], name: str) -> tuple[str, dict[str, Any]]:
    """The arguments of a case's call as text, ``x0`` where the first is `active`, and the constants that it names."""
    inputs = Call(item.fn, item.args, item.kwargs).inputs()
    constants: dict[str, Any] = {}

    def write(position: int, value: Any) -> str:
        if position in active:
            return f"x{position}"
        if is_literal(value):
            return repr(value)
        constants[f"{name}_{position}"] = value
        return f"{name}_{position}"

    words = [write(p, x) for p, x in list(inputs.items())[: len(item.args)]]
    words += [f"{k}={write(p, v)}" for (k, v), p in zip(item.kwargs.items(), list(inputs)[len(item.args) :])]
    return ", ".join(words), constants


def program(item: Case, name: str) -> Program:
    """The program of a case."""
    inputs = Call(item.fn, item.args, item.kwargs).inputs()
    active = [p for p, x in inputs.items() if is_inexact(x) and not isinstance(x, (list, tuple))]
    words, constants = spelled(item, active, name)
    called = full_name(item.fn)
    if called.startswith("autodiff_sct"):
        called = f"{name}_fn"
        constants[called] = item.fn
    text = f"def {name}({', '.join(f'x{p}' for p in active)}):\n    return {called}({words})\n"
    return Program(item, name, tuple(active), text, constants)


def load(programs: list[Program], path: Path) -> None:
    """Write the programs to a module at `path`, import it, and fill in their functions."""
    path.write_text("\n\n".join(p.text for p in programs))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    module.__dict__.update(np=np, cmath=cmath, math=math, operator=operator)
    for p in programs:
        module.__dict__.update(p.constants)
    spec.loader.exec_module(module)
    for p in programs:
        p.function = getattr(module, p.name)
