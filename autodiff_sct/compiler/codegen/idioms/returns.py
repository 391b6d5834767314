"""The only gradient is returned where it is computed.

::

    d_x = d_y * (2 * x)
    return d_x                     ->      return d_y * (2 * x)

    if x > 1:                              if x > 1:
        d_x = d_out                            return d_out
    else:                                  else:
        d_x = d_out * (2 * x)      ->          return d_out * (2 * x)
    return d_x

    d_k = np.sum(d_y * x)                  return d_y * k, np.sum(d_y * x)
    d_x = d_y * k                  ->
    return d_x, d_k

    d_x += d_y * (2 * x)                   return d_x + d_y * (2 * x)
    return d_x                     ->

Of several, in a tuple or in what the arguments came in, those that are short and belong to one line of the user's; of
additions, those in `last_sums`.

Which additions at the end of a program may make a new array, so that they are part of what is returned.

::

    d_x += d_y * (2 * x)
    return d_x                ->    return d_x + d_y * (2 * x)

NumPy adds in the memory of the product either way. So what is added is made there and as large as what it is added to,
whose type the sum keeps.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from ... import ir
from ...analysis.alias import roots_of
from ...analysis.text_width import COLUMNS, columns_of
from ...domain.facts import Num
from ...ir.builder import Specialiser
from ...ir.patterns import is_ellipsis, is_pop_call
from ...opt.memory.accumulation.first_touch import is_made_there
from ...opt.rewrite.contractions import Contractions
from ..emit import line_of
from .assignments import OPERATIONS, operations


def forward_returns(body: list[Any]) -> None:
    """Rewrite the end of the body of an emitted function, in place."""
    while len(body) > 1 and (last := joined(body[-2], body[-1])):
        body[-2:] = [last]
    if len(body) > 1 and isinstance(body[-1], gast.Return) and isinstance(body[-1].value, gast.Name):
        if isinstance(body[-2], gast.If) and all_end(body[-2], body[-1].value.id):
            in_branches(body[-2], body.pop())


def all_end(stmt: Any, name: str) -> bool:
    """True if each path through a branch ends by giving a name its value."""
    for block in (stmt.body, stmt.orelse):
        last = block[-1] if block else None
        if not (isinstance(last, gast.If) and all_end(last, name)) and not is_assignment(last, name):
            return False
    return True


def is_assignment(stmt: Any, name: str) -> bool:
    target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
    return isinstance(target, gast.Name) and target.id == name


def in_branches(stmt: Any, final: Any) -> None:
    """Let each path through a branch return what it ends with."""
    for block in (stmt.body, stmt.orelse):
        if isinstance(block[-1], gast.If):
            in_branches(block[-1], final)
        else:
            block.append(gast.Return(final.value))
            forward_returns(block)


def joined(stmt: Any, final: Any) -> Any:
    """The return of what a statement assigns, or nothing."""
    if not isinstance(final, gast.Return) or getattr(final, "comment", None):
        return None
    if isinstance(stmt, gast.Assign):
        target, value = stmt.targets[0], stmt.value
    elif getattr(stmt, "is_last_sum", False) and isinstance(stmt.target, gast.Name):
        target, value = stmt.target, ir.binop(ir.name(stmt.target.id), gast.Add, stmt.value)
    else:
        return None
    if not isinstance(target, gast.Name) or ir.names_in(final.value).count(target.id) != 1:
        return None
    single, several = isinstance(final.value, gast.Name), isinstance(final.value, gast.Tuple)
    if not single and not (
        (several or is_collected(final.value, target.id)) and is_short(stmt, value, target.id, final)
    ):
        return None
    if not single and columns_of(value) + columns_of(final.value) > COLUMNS:
        return None
    result = gast.Return(ir.substitute(final.value, {target.id: value}))
    for attribute in ("origin", "comment", "sweep"):
        if hasattr(stmt, attribute):
            setattr(result, attribute, getattr(stmt, attribute))
    return result


def is_collected(returned: Any, name: str) -> bool:
    """True if a variable is one of several gradients that are returned in a tuple, a list, a dict or an object."""
    if isinstance(returned, gast.Call):
        inside = [*returned.args, *(k.value for k in returned.keywords)]
    elif isinstance(returned, gast.Dict):
        inside = returned.values
    else:
        inside = returned.elts if isinstance(returned, (gast.Tuple, gast.List)) else []
    return any(getattr(e, "id", None) == name or is_collected(e, name) for e in inside)


def is_short(stmt: Any, value: Any, name: str, final: Any) -> bool:
    """True if what a statement assigns to a variable may stand among several gradients."""
    if is_last_step(value, name):
        return True
    lines = {line_of(stmt), line_of(final)} - {None}
    popped = any(is_pop_call(node) for node in ir.nodes(value))
    return len(lines) <= 1 and not popped and operations(value) <= OPERATIONS


def is_last_step(value: Any, name: str) -> bool:
    """True if an expression turns a variable into a float."""
    is_call = isinstance(value, gast.Call) and getattr(value.func, "id", "") == "float"
    return is_call and isinstance(value.args[0], gast.Name) and value.args[0].id == name


def last_sums(s: Specialiser, back: ir.Block) -> set[Any]:
    """The statements of the reverse sweep that are such additions."""
    found: set[Any] = set()
    final = back[-1] if back else None
    if not isinstance(final, ir.Return):
        return found
    returned = [n for n in ir.names_in(final.value) if ir.is_variable(n)]
    looped = any(isinstance(stmt, ir.Loop) for stmt in back)
    for stmt in reversed(back[:-1]):
        if not isinstance(stmt, (ir.Let, ir.Store)):
            break
        if is_last_sum(s, stmt, returned, looped):
            found.add(stmt)
        elif isinstance(stmt, ir.Store):
            break
    return found


def is_last_sum(s: Specialiser, stmt: Any, returned: list[str], looped: bool) -> bool:
    """True if a statement adds a new array to one that is returned next, and that nothing else returned is part of.

    Where the sweep has a loop, that may be one that has a name: an array more is nothing beside those of its steps.
    """
    if isinstance(stmt, ir.Let):
        sums = stmt.in_place and isinstance(stmt.expr, gast.BinOp) and isinstance(stmt.expr.op, gast.Add)
        if not sums or not isinstance(stmt.expr.left, gast.Name):
            return False
        name, before, value = stmt.target, stmt.expr.left.id, stmt.expr.right
    elif stmt.aug is gast.Add and is_ellipsis(stmt.index) and adds_floats(s, stmt):
        name, before, value = stmt.base, stmt.base, stmt.value
    else:
        return False
    memory = roots_of(s.facts[name]) | roots_of(s.facts[before])
    others = [n for n in returned if n != name]
    if returned.count(name) != 1 or any(roots_of(s.facts[n]) & memory for n in others):
        return False
    return (is_made_there(value) or (looped and isinstance(value, gast.Name))) and is_as_large(s, value, before)


def adds_floats(s: Specialiser, stmt: ir.Store) -> bool:
    """True if what is added to an array of doubles is made of real numbers only."""
    facts = [s.facts.get(n) for n in (stmt.base, *ir.names_in(stmt.value)) if ir.is_variable(n)]
    real = all(isinstance(f, Num) and f.dtype is not None and f.dtype.kind in "iuf" for f in facts)
    return real and getattr(facts[0], "dtype", None) == np.float64


def is_as_large(s: Specialiser, value: Any, name: str) -> bool:
    """True if an expression surely has the shape of an array."""
    facts, dims = s.facts[name], Contractions(s).dims(value)
    names = [n for n in ir.names_in(value) if ir.is_variable(n)]
    return isinstance(facts, Num) and s.same_lengths(dims, facts.dims, s.where_made(name, *names))
