"""Unpacking and exchanges in one statement each; the only gradient is returned where it is computed.

::

    if len(pair) != 2:                          a, b = pair
        raise ValueError("wrong number ...")
    a = pair[0]                       ->
    b = pair[1]

    h = kernel.shape[0]               ->        h, w = kernel.shape
    w = kernel.shape[1]

    t = edges[k]                      ->        a, b = edges[k]
    b, a = t[1], t[0]

    t = a[j]                          ->        a[j], a[k] = a[k], a[j]
    a[j] = a[k]
    a[k] = t

    d_t = d_a[j]                      ->        d_a[k], d_a[j] = d_a[j], d_a[k]
    d_a[j] = 0.0
    d_t2 = d_a[k]
    d_a[k] = d_t
    d_a[j] += d_t2

Each item is read in the order in which it was, and a wrong number of them raises what Python raises.

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
from ...analysis.liveness import count_uses
from ...domain.facts import Listed, Num
from ...ir.function import Function
from ...ir.patterns import is_ellipsis, is_pop_call
from ...opt.memory.accumulation.first_touch import is_made_there
from ...opt.rewrite.contractions import Contractions
from ...text.expressions import COLUMNS, columns_of
from ..emit import line_of
from .assignments import OPERATIONS, operations

INDEX = (gast.Name, gast.Constant, gast.BinOp, gast.UnaryOp, gast.Tuple)


def recover_unpacking(s: Function, front: ir.Block, back: ir.Block) -> None:
    """Rewrite both sweeps, in place."""
    for block in (front, back):
        unpack(s, block)
    unpack_again(s, front, back)
    program = [*front, *back]
    if any(are_stores(block[k : k + 2]) for block in ir.blocks(program) for k in range(len(block) - 1)):
        uses = count_uses(program)
        swap(front, uses)
        swap(back, uses)
        swap_back(s, back, uses)


def are_stores(statements: ir.Block) -> bool:
    """True if all of some statements put something into places."""
    return all(type(stmt) is ir.Store for stmt in statements)


def unpack(s: Function, block: ir.Block) -> None:
    """Rewrite a block and the blocks inside it, in place."""
    for stmt in list(block):
        for inner in ir.bodies(stmt):
            unpack(s, inner)
        if stmt not in block:
            continue  # part of what was unpacked before it
        base, count = checked(s, stmt)
        first = None if base is None else following(block, stmt)
        if base is None:
            base, count, first = axes_of(s, stmt)
        run = [] if base is None or first is None else items_from(block, first, base, count)
        if run:
            place = block.index(stmt)
            value = base
            whole = ir.Let(tuple(x.target for x in run), value, None, stmt.origin or run[0].origin, effect=True)
            block[:] = [x for x in block if x is not stmt and x not in run]
            block.insert(place, whole)


def unpack_again(s: Function, front: ir.Block, back: ir.Block) -> None:
    """Unpack in the reverse sweep what the forward sweep has unpacked, which has as many items by that."""
    counts = {
        stmt.expr.id: len(stmt.targets)
        for stmt in ir.walk(front)
        if isinstance(stmt, ir.Let) and len(stmt.targets) > 1 and isinstance(stmt.expr, gast.Name)
    }
    if not counts:
        return
    uses = count_uses(back)
    for block in [back, *(inner for stmt in ir.adjoint_walk(back) for inner in ir.adjoint_bodies(stmt))]:
        for stmt in [x for x in block if isinstance(x, ir.Let) and isinstance(x.repeats, ir.Let)]:
            count = counts.get(stmt.repeats.target, 0)
            if count == uses.get(stmt.target) and stmt.target not in s.named:
                unpack_there(block, stmt, count)


def unpack_there(block: ir.Block, stmt: ir.Let, count: int) -> None:
    """Unpack what a statement names, if all that is done with it is to name each of its items."""
    readers = [x for x in block if stmt.target in ir.reads_inside(x)]
    items = {
        x.expr.slice.value: x
        for x in readers
        if isinstance(x, ir.Let) and len(x.targets) == 1 and not x.in_place and is_item_of(x.expr, stmt.target)
    }
    if sorted(items) == [*range(count)] and len(readers) == count:
        place = block.index(stmt)
        between = block[place + 1 : block.index(readers[-1])]
        if not all(isinstance(x, ir.Let) and not x.in_place and (not x.effect or is_pop_call(x.expr)) for x in between):
            return  # what may write into the items
        whole = ir.Let(tuple(items[k].target for k in range(count)), stmt.expr, None, stmt.origin, effect=True)
        whole.repeats = stmt.repeats
        block[:] = [whole if k == place else x for k, x in enumerate(block) if x not in readers]


def is_item_of(expr: Any, name: str) -> bool:
    """True if an expression is an item of a variable at a number."""
    if not isinstance(expr, gast.Subscript) or getattr(expr.value, "id", None) != name:
        return False
    return isinstance(expr.slice, gast.Constant) and type(expr.slice.value) is int


def following(block: ir.Block, stmt: Any) -> Any:
    place = block.index(stmt) + 1
    return block[place] if place < len(block) else None


def checked(s: Function, stmt: Any) -> tuple[Any, int]:
    """The list or array whose length a statement compares before it is unpacked, and that length."""
    if not isinstance(stmt, ir.If) or stmt.orelse or stmt.merges or len(stmt.then) != 1:
        return None, 0
    test: Any = stmt.test
    raised = stmt.then[0]
    error: Any = raised.node.exc if isinstance(raised, ir.Raise) and isinstance(raised.node, gast.Raise) else None
    if not isinstance(error, gast.Call) or getattr(error.func, "id", "") != "ValueError" or not error.args:
        return None, 0
    compared = isinstance(test, gast.Compare) and isinstance(test.ops[0], gast.NotEq)
    if not compared or not isinstance(test.left, gast.Call) or getattr(test.left.func, "id", "") != "len":
        return None, 0
    count = getattr(test.comparators[0], "value", None)
    if getattr(error.args[0], "value", None) != f"wrong number of values to unpack (expected {count})":
        return None, 0
    base = test.left.args[0]
    facts = s.facts.get(base.id) if isinstance(base, gast.Name) else None
    known = isinstance(facts, Listed) or (isinstance(facts, Num) and facts.kind == "array")
    return (base, count) if known and isinstance(count, int) else (None, 0)


def axes_of(s: Function, stmt: Any) -> tuple[Any, int, Any]:
    """The shape of whose axes a statement names the first, how many there are, and the statement."""
    expr: Any = stmt.expr if isinstance(stmt, ir.Let) and len(stmt.targets) == 1 else None
    shape: Any = expr.value if isinstance(expr, gast.Subscript) else None
    if not isinstance(shape, gast.Attribute) or shape.attr != "shape" or not isinstance(shape.value, gast.Name):
        return None, 0, None
    facts = s.facts.get(shape.value.id)
    dims = facts.dims if isinstance(facts, Num) and facts.kind == "array" else None
    return (None, 0, None) if dims is None or len(dims) < 2 else (shape, len(dims), stmt)


def items_from(block: ir.Block, first: Any, base: Any, count: int) -> list[ir.Let]:
    """The statements from one on that name each item of a base, one after the other."""
    place = block.index(first)
    run = block[place : place + count]
    text = gast.dump(base)
    for k, stmt in enumerate(run):
        expr: Any = stmt.expr if isinstance(stmt, ir.Let) and len(stmt.targets) == 1 and not stmt.in_place else None
        if not isinstance(expr, gast.Subscript) or gast.dump(expr.value) != text:
            return []
        if not isinstance(expr.slice, gast.Constant) or type(expr.slice.value) is not int or expr.slice.value != k:
            return []
    return run if len(run) == count > 1 else []


# -- items that change places


def swap(block: ir.Block, uses: dict[str, int]) -> None:
    """Let items that change places in one line of the user's do so in one statement, in place."""
    for stmt in block:
        for inner in ir.bodies(stmt):
            swap(inner, uses)
    for kept, first, second in list(zip(block, block[1:], block[2:])):
        if kept in block and is_swap(kept, first, second, uses):
            places = [gast.Subscript(ir.name(x.base), x.index, gast.Store()) for x in (first, second)]
            values = ir.tuple_([first.value, kept.expr])
            together = ir.Effect(gast.Assign([gast.Tuple(places, gast.Store())], values, None), kept.origin, "swap")
            block[block.index(kept)] = together
            block[:] = [x for x in block if x is not first and x is not second]


def is_swap(kept: Any, first: Any, second: Any, uses: dict[str, int]) -> bool:
    """True if three statements let two items of lists or arrays change places."""
    if not isinstance(kept, ir.Let) or kept.effect or len(kept.targets) != 1 or uses.get(kept.target) != 1:
        return False
    stores = [x for x in (first, second) if isinstance(x, ir.Store) and x.aug is None and ir.same_line(kept, x)]
    if len(stores) < 2 or getattr(second.value, "id", None) != kept.target:
        return False
    here, there = place_of(kept.expr), place_of(first.value)
    to = [(x.base, gast.dump(x.index)) for x in stores]
    return here is not None and there is not None and here != there and to == [here, there]


def place_of(expr: Any) -> tuple[str, str] | None:
    """The container and the simple index of an item."""
    if not isinstance(expr, gast.Subscript) or not isinstance(expr.value, gast.Name):
        return None
    simple = all(isinstance(n, INDEX) for n in ir.nodes(expr.slice))
    return (expr.value.id, gast.dump(expr.slice)) if simple else None


def swap_back(s: Function, block: ir.Block, uses: dict[str, int]) -> None:
    """Let cotangents of numbers that changed places change them back in one statement, in place.

    Where the two places are one, the number stays in both texts.
    """
    for stmt in block:
        for inner in ir.bodies(stmt):
            swap_back(s, inner, uses)
    for run in list(zip(*(block[k:] for k in range(5)))):
        if all(stmt in block for stmt in run) and is_swap_back(s, run, uses):
            here, there = (gast.Subscript(ir.name(x.base), x.index, gast.Store()) for x in (run[1], run[3]))
            values = ir.tuple_([run[0].expr, run[2].expr])
            together = ir.Effect(
                gast.Assign([gast.Tuple([there, here], gast.Store())], values, None), run[0].origin, "swap"
            )
            block[block.index(run[0])] = together
            block[:] = [x for x in block if x not in run]


def is_swap_back(s: Function, run: Any, uses: dict[str, int]) -> bool:
    """True if five statements take two numbers out of their places and put each into the place of the other."""
    lets, stores = (run[0], run[2]), (run[1], run[3], run[4])
    if not all(isinstance(x, ir.Let) and len(x.targets) == 1 and uses.get(x.target) == 1 for x in lets):
        return False
    if not all(isinstance(x, ir.Store) for x in stores) or [x.aug for x in stores] != [None, None, gast.Add]:
        return False
    places = [place_of(x.expr) for x in lets]
    to = [(x.base, gast.dump(x.index)) for x in stores]
    values = [getattr(x.value, "value", None) if k == 0 else getattr(x.value, "id", None) for k, x in enumerate(stores)]
    number = all(isinstance(f := s.facts[x.target], Num) and f.dims == () and f.kind != "array" for x in lets)
    zero = type(values[0]) is float and values[0] == 0.0
    return number and zero and to == [places[0], places[1], places[0]] and values[1:] == [x.target for x in lets]


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


def last_sums(s: Function, back: ir.Block) -> set[Any]:
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


def is_last_sum(s: Function, stmt: Any, returned: list[str], looped: bool) -> bool:
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


def adds_floats(s: Function, stmt: ir.Store) -> bool:
    """True if what is added to an array of doubles is made of real numbers only."""
    facts = [s.facts.get(n) for n in (stmt.base, *ir.names_in(stmt.value)) if ir.is_variable(n)]
    real = all(isinstance(f, Num) and f.dtype is not None and f.dtype.kind in "iuf" for f in facts)
    return real and getattr(facts[0], "dtype", None) == np.float64


def is_as_large(s: Function, value: Any, name: str) -> bool:
    """True if an expression surely has the shape of an array."""
    facts, dims = s.facts[name], Contractions(s).dims(value)
    names = [n for n in ir.names_in(value) if ir.is_variable(n)]
    return isinstance(facts, Num) and s.same_lengths(dims, facts.dims, s.where_made(name, *names))
