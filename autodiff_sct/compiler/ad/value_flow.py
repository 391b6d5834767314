"""Flow of values: from the operands of a statement to its results, and through merges."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from types import BuiltinFunctionType
from typing import Any, NamedTuple, cast

import numpy as np

from ...rules.table import NONDIFFERENTIABLE, STEPS_OF_REALS, TABLE
from .. import ir
from ..analysis.alias import Regions, roots_of, written_arguments
from ..domain.facts import Mapped, Num, Opaque
from ..domain.values import Const, Leaf
from ..interp.calls.recursive_functions import Recursion
from ..interp.kernel.bind_arguments import SHOWING, WRITTEN, look
from ..interp.kernel.specialiser import Specialiser
from ..interp.numpy.methods import is_random, opaque_method
from .nested_gradients import nested_gradient

# Functions that look at their arguments and change nothing.
READERS = {look, print, repr, str, format, len, isinstance, bool, int, type, id, hash, dict.keys, np.ndarray.setflags}


INERT = {bool, int, type, type(None), np.dtype, range}
TEXT = (str, bytes)
CATCHING = (ir.Try, ir.With)
TO_TEXT = {str, repr, format}
STRUCTURAL = {list, dict, list.pop, list.copy, operator.concat, nested_gradient}


class Flow(NamedTuple):
    """Variables whose derivative comes from others'."""

    targets: list[str]
    sources: list[str]


def flows(s: Specialiser, block: ir.Block, still: set[str], caught: bool = False) -> list[Flow]:
    """The edges along which derivatives pass through a program, in order; none lead into the variables in `still`.

    None pass through a block that ends in a ``raise``, unless a handler or a manager around it may have it `caught`.
    """
    if not caught and ir.ends_in_raise(block):
        return []
    found = []
    for stmt in block:
        if isinstance(stmt, ir.Let):
            if stmt.op is None:
                found += unknown_flow(s, stmt)
            elif not is_step(s, stmt.op) and stmt.target not in still:
                written = written_arguments(stmt).values()
                found.append(Flow([*stmt.targets, *written, *keepers(s, stmt)], sources(s, stmt)))
        elif isinstance(stmt, ir.Store):
            found.append(Flow([stmt.base], [n for n in sources(s, stmt) if n != stmt.base]))
        elif isinstance(stmt, ir.Effect) and stmt.kind and stmt.kind != "publish":
            found.append(Flow([stmt.operands[0].name], operands(s, stmt)[1:]))
        if type(stmt) not in ir.SIMPLE:
            passed = [Flow([target], sources) for target, sources in joins(stmt)]
            held = caught or isinstance(stmt, CATCHING)
            inside = [flow for inner in ir.bodies(stmt) for flow in flows(s, inner, still, held)]
            found += [*passed, *inside, *passed]  # to what is inside, and from there
    return found


def key_flows(s: Specialiser, block: ir.Block, regions: Regions) -> list[Flow]:
    """The flows from keys when they were put into dicts to keys that are read."""
    found = []
    lists = [stmt for stmt in ir.walk(block) if is_of_keys(s, stmt)] if s.keys_of else []
    for stmt in ir.walk(block) if lists else ():
        if isinstance(stmt, ir.Store) and isinstance(s.facts[stmt.base], Mapped) and stmt.op is not None:
            table, keys = regions.of(stmt.base), s.leaves(stmt.op.arguments["index"])
            read = [each.target for each in lists if table in tables_of(s, each, regions)]
            found.append(Flow(read, [*keys]))
    return found


def is_of_keys(s: Specialiser, stmt: Any) -> bool:
    """True if a statement makes the list of the keys of a dict."""
    return isinstance(stmt, ir.Let) and not roots_of(s.facts[stmt.target]).isdisjoint(s.keys_of)


def tables_of(s: Specialiser, stmt: ir.Let, regions: Regions) -> set[int]:
    """The dicts whose keys a list holds."""
    roots = roots_of(s.facts[stmt.target])
    return {regions.find(table) for root in roots & s.keys_of.keys() for table in s.keys_of[root]}


def keepers(s: Specialiser, stmt: ir.Let) -> list[str]:
    """The variables in which a call of a function of which nothing is known may keep what it is given."""
    if stmt.op is None or not stmt.effect or has_meaning(stmt) or stmt.op.fn in READERS:
        return []
    if stmt.op.fn is not opaque_method and only_reads(stmt.op):
        return []
    return [n for n in operands(s, stmt) if can_keep(s.facts[n])]


def can_keep(facts: Any) -> bool:
    """True if something may hold what it is given."""
    if isinstance(facts, Opaque):
        return facts.cls not in INERT and facts.cls not in TEXT and not is_random(facts)
    return not isinstance(facts, Num) or facts.kind == "array"


def has_meaning(stmt: ir.Let) -> bool:
    """True if it is known how derivatives pass through a statement's operation."""
    op = cast(ir.Op, stmt.op)
    known = op.fn in TABLE and "argument 0" not in op.arguments
    step = op.fn in NONDIFFERENTIABLE and op.fn not in TO_TEXT
    return known or step or op.fn in STRUCTURAL or isinstance(op.fn, Recursion)


def unknown_flow(s: Specialiser, stmt: ir.Let) -> list[Flow]:
    """The flow of derivatives through an expression of which only its variables are known."""
    targets = [t for t in stmt.targets if isinstance(s.facts[t], Opaque)]
    return [Flow(targets, variables_of(stmt.expr))] if targets else []


def variables_of(expr: Any) -> list[str]:
    return [n for n in ir.names_in(expr) if ir.is_variable(n)]


def is_step(s: Specialiser, op: ir.Op) -> bool:
    """True if an operation is constant between steps, or its result is no real number."""
    if op.fn in STEPS_OF_REALS:
        return all(is_real(s.num(v)) for v in op.arguments.values())
    return op.fn in NONDIFFERENTIABLE and op.fn not in TO_TEXT


def is_real(facts: Num | None) -> bool:
    return facts is not None and facts.dtype is not None and facts.dtype.kind != "c"


# Libraries whose functions leave their arguments as they are, those that show things among them.
CYTHON = ("cython_function_or_method", "fused_cython_function")


READING = {"numpy", "scipy", "math", "logging", "warnings", "builtins", "time", *SHOWING}


def only_reads(op: ir.Op) -> bool:
    """True if a call of a library's function, or of a method of a string, surely leaves its arguments as they are."""
    return is_reader(op.fn) and not any(parameter.startswith(WRITTEN) for parameter in op.arguments)


def is_reader(fn: Any) -> bool:
    """True if a function of a library leaves its arguments as they are unless it is told otherwise.

    The compiled functions of which SciPy is made write into arrays that its own functions give them.
    """
    if isinstance(getattr(fn, "__self__", None), str):
        return True
    if getattr(fn, "__name__", "") in (
        "at",
        "shuffle",
        "put",
        "copyto",
        "place",
        "putmask",
        "partition",
        "setfield",
        "byteswap",
        "resize",
    ):
        return False
    home = (getattr(fn, "__module__", None) or "").split(".")[0]
    compiled = isinstance(fn, BuiltinFunctionType) or type(fn).__name__ in CYTHON
    return home in READING and not (compiled and home == "scipy")


def operands(s: Specialiser, stmt: Any) -> list[str]:
    """The variables that a statement's operation works on."""
    if isinstance(stmt, (ir.Let, ir.Store)):
        values: Iterable[Any] = stmt.op.arguments.values() if stmt.op is not None else ()
    elif isinstance(stmt, ir.Effect):
        values = stmt.operands
    else:
        values = ()
    return [name for value in values for name in s.leaves(value)]


def sources(s: Specialiser, stmt: Any) -> list[str]:
    """The operands of a statement that a derivative can come from: an index only chooses."""
    given = stmt.op.arguments.items() if stmt.op is not None else ()
    chosen = [name for parameter, value in given if parameter != "index" for name in s.leaves(value)]
    return [*chosen, *floats_in_brackets(s, stmt)]


def floats_in_brackets(s: Specialiser, stmt: Any) -> list[str]:
    """The floats among the indices of an object of which nothing is known: it may compute with them."""
    if stmt.op is None or stmt.op.fn is not operator.getitem:
        return []
    base, index = stmt.op.arguments["x"], stmt.op.arguments.get("index", Const(None))
    if not isinstance(base, Leaf) or not isinstance(s.facts[base.name], Opaque):
        return []
    return [name for name in s.leaves(index) if isinstance(facts := s.facts[name], Num) and facts.differentiable]


def joins(stmt: Any) -> list[tuple[str, list[str]]]:
    """The variables that a control statement defines, each with those that it stands for."""
    if type(stmt) in ir.SIMPLE:
        return []
    if isinstance(stmt, ir.If):
        return [(m.target, [n for n in (m.then, m.orelse) if n is not None]) for m in stmt.merges]
    if isinstance(stmt, ir.Try):
        # An exception may carry a value out of the block.
        raised = [n for inner in ir.walk(stmt.body) if isinstance(inner, ir.Raise) for n in ir.reads(inner)]
        caught = [(bound, raised) for _, bound, _ in stmt.handlers if bound is not None]
        return [*((target, [n for n in names if n is not None]) for target, names in stmt.merges), *caught]
    if isinstance(stmt, ir.Loop):
        result = []
        for c in stmt.carries:
            sources = [n for n in (c.init, c.next) if n is not None]
            result += [(c.phi, sources), (c.out, sources)]
        if stmt.kind == "iter" and stmt.index is not None:  # what it goes over may hold anything
            result.append((stmt.index, [n for bound in stmt.bounds for n in variables_of(bound)]))
        return result
    return entered(stmt) if isinstance(stmt, ir.With) else []


def entered(stmt: ir.With) -> list[tuple[str, list[str]]]:
    """The variables bound by ``with``, each with those of its manager."""
    return [(bound, variables_of(manager)) for manager, bound in stmt.items if bound is not None]
