"""Every row of the derivative table keeps the laws of ``checker.py``, and is reachable only as NumPy would call it."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import math
import pathlib
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from autodiff_sct.errors import NoRule
from autodiff_sct.rules.table import NONDIFFERENTIABLE, STATIC, TABLE, Rule
from tests.laws.checker import Call, Case, check, check_rules, full_name, reshaped

pytestmark = pytest.mark.once

TOPICS = sorted(path.stem for path in pathlib.Path(__file__).parent.glob("cases_*.py"))
CASES: list[Case] = [item for topic in TOPICS for item in importlib.import_module(f"tests.laws.{topic}").CASES]
BROADCASTS = (((), (3,)), ((3,), ()), ((1, 3), (2, 1)), ((2, 3), (3,)), ((1,), (4,)), ((0, 3), (1,)), ((2, 1), (2, 0)))


def name_of(row: Rule) -> str:
    return full_name(row.fn)


STAND_INS = {row.perturbed for row in TABLE.values()}  # near degenerate spectra: see `test_degenerate`
OWN = [row for row in TABLE.values() if "scipy" not in row.home and row.fn not in STAND_INS]
ROWS = sorted(OWN, key=name_of)


@pytest.mark.every_case
@pytest.mark.parametrize("item", CASES, ids=str)
def test_laws(item: Case) -> None:
    check(item.fn, *item.args, **item.kwargs)


def elementwise_cases(arrays: int) -> list[Case]:
    """One case for each elementwise row, with that many array arguments."""
    chosen: dict[Callable[..., Any], Case] = {}
    for item in CASES:
        count = sum(isinstance(a, np.ndarray) for a in item.args)
        if item.fn in TABLE and TABLE[item.fn].kind == "elementwise" and count == arrays and count == len(item.args):
            chosen.setdefault(item.fn, item)
    return list(chosen.values())


@pytest.mark.parametrize("item", elementwise_cases(2), ids=str)
@pytest.mark.parametrize("shapes", BROADCASTS, ids=str)
def test_broadcasting(item: Case, shapes: tuple[tuple[int, ...], ...]) -> None:
    check_rules(Call(item.fn, reshaped(item.args, shapes), item.kwargs))


@pytest.mark.parametrize("item", elementwise_cases(1), ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 1)], ids=str)
def test_shapes(item: Case, shape: tuple[int, ...]) -> None:
    check_rules(Call(item.fn, reshaped(item.args, (shape,)), item.kwargs))


@pytest.mark.parametrize("item", elementwise_cases(1) + elementwise_cases(2), ids=str)
def test_python_floats(item: Case) -> None:
    """A Python float in, a number out."""
    numbers = [a.ravel()[0].item() for a in item.args]
    check_rules(Call(item.fn, tuple(numbers), item.kwargs))


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_has_a_case_and_both_modes(row: Rule) -> None:
    assert row.reverse is not None
    assert row.forward is not None or row.kind == "linear"
    assert any(item.fn == row.fn for item in CASES)
    assert row.fn not in NONDIFFERENTIABLE


def positional(signature: inspect.Signature) -> list[inspect.Parameter]:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p for p in signature.parameters.values() if p.kind in kinds]


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_parameters_are_the_primals(row: Rule) -> None:
    """An argument given by place reaches the parameter that NumPy gives it to; a keyword, the one of its name.

    What is left out is what NumPy takes, so that the compiler may leave it out where a rule writes it.
    """
    try:
        primal = inspect.signature(row.fn)
    except ValueError:
        return
    if any(p.kind is p.VAR_POSITIONAL for p in primal.parameters.values()):
        return
    place = list(primal.parameters.values())
    takes_any_keyword = any(p.kind is p.VAR_KEYWORD for p in place)
    for own, other in zip(positional(row.signature), place, strict=False):
        free = own.kind is own.POSITIONAL_ONLY or other.kind in (other.POSITIONAL_ONLY, other.VAR_KEYWORD)
        assert free or own.name == other.name, f"the rule has {own.name} where NumPy has {other.name}"
    for name, p in row.signature.parameters.items():
        if p.kind is p.KEYWORD_ONLY and not takes_any_keyword:
            assert name in primal.parameters
        if name in primal.parameters and p.default is not p.empty:
            default = primal.parameters[name].default
            assert default in (p.empty, np._NoValue) or repr(default) == repr(p.default)


def referred(rule: Callable[..., Any]) -> list[Any]:
    """The functions that a rule's text calls, as objects."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(rule)))
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    scope = {**vars(builtins), **rule.__globals__}
    decorators = [n for f in tree.body if isinstance(f, ast.FunctionDef) for d in f.decorator_list for n in ast.walk(d)]
    found = []
    for node in calls:
        if node in decorators:
            continue
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id in scope:
            found.append(eval(ast.unparse(node), scope))
    return found


LANGUAGE = {abs, bool, complex, enumerate, float, int, isinstance, len, list, max, min, pow, range, reversed, round,
            set, slice, sorted, sum, NoRule, tuple, type, zip, math.prod}  # fmt: skip
PLAIN = "autodiff_sct"


def referred_to(row: Rule) -> Iterator[Any]:
    """Yield the functions that the rules of a row call, and those that the package's own among these do."""
    seen: set[Any] = set()
    waiting = [rule for rule in (row.reverse, row.forward) if rule is not None]
    while waiting:
        for fn in referred(waiting.pop()):
            if fn in seen or fn in LANGUAGE or fn in TABLE or fn in NONDIFFERENTIABLE or fn in STATIC:
                continue
            seen.add(fn)
            yield fn
            waiting.append(fn)


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_is_differentiable_again(row: Rule) -> None:
    """Every function that a rule calls has a row itself, or is a setting, or is plain Python of this package."""
    for fn in referred_to(row):
        assert (getattr(fn, "__module__", "") or "").startswith(PLAIN), f"{fn} has no rule"
