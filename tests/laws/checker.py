"""The laws that every row of the derivative table keeps, checked by executing the row on arrays.

``check(fn, *args, **kwargs)`` runs the primal, then its rules as the tape would, and asserts for every parameter with
an entry:

1. *transpose*: ``<d, J t> == <J' d, t>`` for random ``d`` and ``t``, ``J t`` from the forward rule;
2. *truth*: the same ``J t`` from fourth-order central differences of the primal;
3. *types*: with float32 (complex64) inputs whose result is float32, no entry is wider than that;
4. *hygiene*: no argument, result or cotangent is written to, and no warning is raised;
5. elementwise rows also take a ``d`` that is one scalar for all elements, and Python floats.

The pairing is bilinear, ``<a, b> = Re(sum(a * b))``: the convention of JAX and HIPS autograd for complex numbers.
A topic's cases are listed in ``cases_<topic>.py`` as ``CASES = [case(np.sum, x, axis=0), ...]``.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import warnings
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import autodiff_sct.rules  # noqa: F401  (fills the table)
from autodiff_sct.rules.table import BROADCASTING, TABLE

STEP = 1e-3
RTOL, ATOL = 1e-6, 1e-7
RTOL32, ATOL32 = 2e-3, 1e-3
NARROW = {"f": np.float32, "c": np.complex64}


@dataclass(frozen=True)
class Case:
    """A call on which a row is checked."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __str__(self) -> str:
        shown = [show(a) for a in self.args] + [f"{k}={show(v)}" for k, v in self.kwargs.items()]
        return f"{full_name(self.fn)}({', '.join(shown)})"


def case(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Case:
    """A call on which the row of `fn` is checked; floating-point arguments with an entry are differentiated."""
    return Case(fn, args, kwargs)


def full_name(fn: Callable[..., Any]) -> str:
    """``np.sum``, ``np.ndarray.sum``, ``operator.add``, ``abs``; a ufunc's method with the ufunc's name."""
    owner = getattr(fn, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"np.{owner.__name__}.{fn.__name__}"
    module = getattr(fn, "__module__", None) or "numpy"
    module = {"builtins": "", "_operator": "operator."}.get(module, module.replace("numpy", "np") + ".")
    return module + getattr(fn, "__qualname__", fn.__name__)


def show(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype.kind}{list(value.shape)}".replace(" ", "")
    if isinstance(value, (list, tuple)) and any(isinstance(v, np.ndarray) for v in value):
        return "[" + " ".join(show(v) for v in value) + "]"
    return str(getattr(value, "__name__", value))


# Structures: an argument, a result or an entry is an array, a number, None, or a list or tuple of them.


def leaves(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def matched(fn: Callable[..., Any], first: Any, *rest: Any) -> Any:
    """Apply `fn` to the leaves of structures of one form; the rest may have None or nothing for a branch."""
    if isinstance(first, (list, tuple)):
        columns = [r if r is not None else [None] * len(first) for r in rest]
        return [matched(fn, *row) for row in zip(first, *columns, strict=True)]
    return fn(first, *rest)


def is_inexact(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return len(value) > 0 and any(is_inexact(v) for v in value)
    if not isinstance(value, (np.ndarray, np.generic, float, complex)):
        return False
    return np.asarray(value).dtype.kind in "fc"


def fit(entry: Any, like: Any) -> Any:
    """What an engine does with an entry: sum over or broadcast along the axes that differ, then cast."""
    if entry is None:
        return np.zeros_like(like)
    entry, shape = np.asarray(entry), np.shape(like)
    if not np.iscomplexobj(like):
        entry = entry.real
    entry = entry.sum(axis=tuple(range(max(entry.ndim - len(shape), 0))))
    entry = entry.reshape((1,) * (len(shape) - entry.ndim) + entry.shape)
    over = tuple(k for k, size in enumerate(shape) if size == 1 and entry.shape[k] != 1)
    entry = entry.sum(axis=over, keepdims=True)
    return np.broadcast_to(entry, shape).astype(np.asarray(like).dtype)


def pairing(a: Any, b: Any) -> float:
    """<a, b> over structures of one form."""
    terms = [np.sum(np.multiply(p, q)).real for p, q in zip(leaves(a), leaves(b), strict=True) if p is not None]
    return float(sum(terms))


def random_like(value: Any, rng: np.random.Generator) -> Any:
    """A direction for the inexact leaves of `value`; None for the others."""

    def draw(leaf: Any) -> Any:
        if not is_inexact(leaf):
            return None
        leaf = np.asarray(leaf)
        parts = rng.uniform(0.2, 1.0, (2, *leaf.shape)) * rng.choice([-1.0, 1.0], (2, *leaf.shape))
        return np.asarray(parts[0] + 1j * parts[1] if leaf.dtype.kind == "c" else parts[0], leaf.dtype)

    return matched(draw, value)


# A call: the arguments in the order of the row's parameters, a *args parameter spread out.


class Call:
    """The primal, its row, and its arguments by the position that their entries have."""

    def __init__(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.fn, self.row, self.args, self.kwargs = fn, TABLE[fn], args, kwargs
        self.row.signature.bind(*args, **kwargs)

    def inputs(self) -> dict[int, Any]:
        """Position of the entry -> argument; behind a *args parameter, keywords have no entry."""
        return dict(enumerate(self.args)) | {self.place(k): v for k, v in self.kwargs.items()}

    def place(self, keyword: str) -> int:
        parameters = self.row.signature.parameters
        starred = any(p.kind is p.VAR_POSITIONAL for p in parameters.values())
        return list(parameters).index(keyword) + (len(self.args) if starred else 0)

    def replace(self, position: int, value: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if position < len(self.args):
            return (*self.args[:position], value, *self.args[position + 1 :]), self.kwargs
        name = next(k for k in self.kwargs if self.place(k) == position)
        return self.args, {**self.kwargs, name: value}

    def primal(self) -> Any:
        return self.fn(*self.args, **self.kwargs)

    def entries(self, y: Any, d: Any) -> list[Any]:
        assert self.row.reverse is not None, f"{self.fn} has no reverse rule"
        got = self.row.reverse(y, d, *self.args, **self.kwargs)
        return list(got) if isinstance(got, tuple) else [got]

    def tangent(self, y: Any, position: int, t: Any) -> Any:
        """J t for one parameter, from the forward rule."""
        t = matched(lambda leaf, step: np.zeros_like(leaf) if step is None else step, self.inputs()[position], t)
        if self.row.forward is None:
            assert self.row.kind == "linear" and position == 0, f"{self.fn} has no forward rule"
            args, kwargs = self.replace(0, t)
            return self.fn(*args, **kwargs)
        rule = one_entry(self.row.forward, position)
        if isinstance(self.inputs()[position], (list, tuple)):
            return self.tangent_of_items(rule, y, self.inputs()[position], t)
        return rule(y, t, *self.args, **self.kwargs)

    def tangent_of_items(self, rule: Callable[..., Any], y: Any, x: Any, t: Any) -> Any:
        """J t for a list: a rule that returns a list maps one item's tangent, any other the list of all tangents."""
        try:
            floats = {k: item for k, item in enumerate(t) if is_inexact(x[k])}
            shares = {k: rule(y, item, *self.args, **self.kwargs) for k, item in floats.items()}
        except Exception:
            shares = {}
        if shares and all(isinstance(share, list) for share in shares.values()):
            return sum(share[k] for k, share in shares.items())
        return rule(y, t, *self.args, **self.kwargs)


@cache
def one_entry(rule: Callable[..., Any], position: int) -> Callable[..., Any]:
    """`rule` returning one entry only: a forward rule's other entries do not fit the tangent of this input."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(rule)))
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    function.decorator_list = []
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value is not None:
            node.value = pick(node.value, position)
    scope: dict[str, Any] = {}
    exec(compile(ast.fix_missing_locations(tree), f"<entry {position}>", "exec"), rule.__globals__, scope)
    return scope[function.name]


def pick(value: ast.expr, position: int) -> ast.expr:
    """The expression of one entry of a returned tuple."""
    if isinstance(value, ast.IfExp):
        return ast.IfExp(value.test, pick(value.body, position), pick(value.orelse, position))
    if not isinstance(value, ast.Tuple):
        return value if position == 0 else ast.Subscript(value, ast.Constant(position), ast.Load())
    if position < len(value.elts) and not isinstance(value.elts[position], ast.Starred):
        return value.elts[position]
    last = value.elts[-1]
    if not isinstance(last, ast.Starred):
        return ast.Constant(None)
    return delayed(last.value, position - len(value.elts) + 1)


def delayed(items: ast.expr, index: int) -> ast.expr:
    """``[e for i in r][index]`` without evaluating the other items."""
    if isinstance(items, (ast.ListComp, ast.GeneratorExp)):
        names = [n.id for g in items.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)]
        bound = ", ".join(f"{n}={n}" for n in names)
        items.elt = ast.parse(f"lambda {bound}: {ast.unparse(items.elt)}", mode="eval").body
        return ast.parse(f"list({ast.unparse(items)})[{index}]()", mode="eval").body
    return ast.Subscript(items, ast.Constant(index), ast.Load())


# The laws


def check(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> None:
    """Assert every law of the row of `fn` on this call."""
    call = Call(fn, args, kwargs)
    before = deepcopy((args, kwargs))
    check_rules(call)
    check_narrow(call)
    if call.row.kind == "elementwise":
        check_scalar_derivative(call)
    assert_same_bits(before, (args, kwargs), f"{fn} or its rule writes into an argument")


def check_rules(call: Call) -> None:
    """Laws 1, 2 and 4, for all outputs together and for each one alone."""
    rng = np.random.default_rng(7)
    y = call.primal()
    d = random_like(y, rng)
    for seed in seeds(y, d):
        kept = deepcopy((y, seed))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            entries = call.entries(y, seed)
        assert_same_bits(kept, (y, seed), "the rule writes into y or d")
        active = [p for p, x in call.inputs().items() if p < len(entries) and entries[p] is not None and is_inexact(x)]
        assert active, f"{call.fn}: no entry for any floating-point argument"
        for position in active:
            check_entry(call, y, seed, position, entries[position], rng)


def seeds(y: Any, d: Any) -> list[Any]:
    """All outputs together; for several arrays also each one alone, with None for the rest."""
    if not isinstance(d, list) or isinstance(y, list) and any(isinstance(item, float) for item in y):
        return [d]
    alone = [[item if k == j else None for k, item in enumerate(d)] for j in range(len(d)) if d[j] is not None]
    return [d, *alone]


def check_entry(call: Call, y: Any, d: Any, position: int, entry: Any, rng: np.random.Generator) -> None:
    x = call.inputs()[position]
    check_shape(call.fn, x, entry)
    t = random_like(x, rng)
    entry = matched(lambda leaf, e: fit(e, leaf), x, entry)
    pulled = pairing(t, entry)
    measured = difference(call, position, x, t)
    against = "reverse rule against differences"
    label = f"{full_name(call.fn)}, parameter {position}: "
    accuracy = (RTOL32, ATOL32) if any(is_narrow(leaf) for leaf in leaves(y)) else (RTOL, ATOL)
    np.testing.assert_allclose(pulled, pairing(d, measured), *accuracy, err_msg=label + against)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pushed = fitted_tangent(call, y, position, t)
    np.testing.assert_allclose(pulled, pairing(d, pushed), *accuracy, err_msg=label + "<d, J t> == <J' d, t>")
    for got, expected in zip(leaves(pushed), leaves(measured), strict=True):
        if got is not None:
            np.testing.assert_allclose(got, expected, *accuracy, err_msg=label + "forward rule against differences")


def check_shape(fn: Any, x: Any, entry: Any) -> None:
    """An entry with as many axes as its input has its shape, unless the row says otherwise."""
    row = TABLE.get(fn)
    if row is None or row.kind == "elementwise" or fn in BROADCASTING or not isinstance(x, np.ndarray) or not x.ndim:
        return
    if isinstance(entry, (np.ndarray, np.generic)) and np.ndim(entry) == x.ndim:
        assert np.shape(entry) == x.shape, f"{full_name(fn)} broadcasts: declare it"


def fitted_tangent(call: Call, y: Any, position: int, t: Any) -> Any:
    share = call.tangent(y, position, t)
    return matched(lambda leaf, s: None if s is None else fit(s, leaf) if is_inexact(leaf) else None, y, share)


def difference(call: Call, position: int, x: Any, t: Any) -> Any:
    """The derivative of the primal along `t`, by fourth-order central differences."""

    def at(step: float) -> Any:
        moved = matched(lambda leaf, s: leaf if s is None else leaf + step * s, x, t)
        moved = tuple(moved) if isinstance(x, tuple) else moved
        args, kwargs = call.replace(position, moved)
        return call.fn(*deepcopy(args), **deepcopy(kwargs))

    def combine(leaf: Any, *others: Any) -> Any:
        if not is_inexact(leaf):
            return None
        near, back, far, far_back = (np.asarray(v) for v in (leaf, *others))
        return (8 * (near - back) - (far - far_back)) / (12 * STEP)

    return matched(combine, at(STEP), at(-STEP), at(2 * STEP), at(-2 * STEP))


def narrowed(value: Any) -> Any:
    """`value` in single precision; everything that is not an inexact array stays."""
    if isinstance(value, (list, tuple)):
        return type(value)(narrowed(v) for v in value) if type(value) in (list, tuple) else value
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc":
        return np.asarray(value, NARROW[value.dtype.kind])[()]
    return value


def check_narrow(call: Call) -> None:
    """Law 3, and that the numbers agree with those of double precision."""
    args, kwargs = narrowed(call.args), {k: narrowed(v) for k, v in call.kwargs.items()}
    single = Call(call.fn, args, kwargs)
    y = single.primal()
    if any(is_inexact(leaf) and np.asarray(leaf).dtype not in (np.float32, np.complex64) for leaf in leaves(y)):
        return
    wide = call.primal()
    d = random_like(wide, np.random.default_rng(8))
    entries = single.entries(y, narrowed(d))
    for position, (entry, expected) in enumerate(zip(entries, call.entries(wide, d), strict=True)):
        for got, want in zip(leaves(entry), leaves(expected), strict=True):
            if got is None or not is_inexact(single.inputs().get(position)):
                continue
            assert not is_wide(got), f"{full_name(call.fn)}: entry {position} is {got.dtype} for float32 inputs"
            np.testing.assert_allclose(got, want, RTOL32, ATOL32)


def is_narrow(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype in (np.float32, np.complex64)


def is_wide(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype in (np.float64, np.complex128)


def check_scalar_derivative(call: Call) -> None:
    """Law 5: one scalar for all elements in the place of `d`."""
    y = call.primal()
    full = np.full_like(y, 0.75)
    for got, expected in zip(call.entries(y, 0.75), call.entries(y, full), strict=True):
        if got is not None:
            np.testing.assert_allclose(*np.broadcast_arrays(got, expected), rtol=1e-12, atol=1e-12)


def assert_same_bits(before: Any, after: Any, message: str) -> None:
    for old, new in zip(flat(before), flat(after), strict=True):
        if isinstance(old, np.ndarray):
            assert old.dtype == new.dtype and old.tobytes() == new.tobytes(), message


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return flat(list(value.values()))
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flat(item)]
    return [value]


def reshaped(call_args: tuple[Any, ...], shapes: tuple[tuple[int, ...], ...]) -> tuple[Any, ...]:
    """The array arguments refilled to other shapes, in order; for trying broadcast patterns."""
    remaining = iter(shapes)
    return tuple(np.resize(a, next(remaining)) if isinstance(a, np.ndarray) else a for a in call_args)
