"""The lists of saved values: numbers in an array that is filled and emptied like a list, arrays in a list.

Room for the numbers is made before the outermost loop that knows how many there will be; where that is inside another
loop, or none knows, the caller says how much room there is, and calls again where that was too little.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import gast

from ....core import thresholds
from ... import ir
from ...codegen.emit import is_new_list
from ...domain.facts import INT
from ...frontend.builders import assign
from ..kinds import FLOAT64, Axis, Grid, Items, Number, Value, none_of
from ..passes.affine import Form, constant_form, depth_of, least
from ..passes.index_functions import dtype_name, make, new_array
from ..state import Counter, Stack, State
from .lists import as_items, of_either
from .tape_index import is_written, made_here, may_be_parts, put_in_place


def lists_together(program: ir.Block) -> dict[str, Any]:
    """The lists that are filled in one place and emptied in one, each with these places."""
    pushes: dict[str, list[int]] = {}
    pops: dict[str, list[int]] = {}
    made: dict[str, int] = {}

    def visit(block: ir.Block) -> None:
        for stmt in block:
            if is_new_list(stmt):
                made[stmt.target] = id(block)
            for node in [n for expr in ir.expressions(stmt) for n in gast.walk(expr) if isinstance(n, gast.Call)]:
                table = {"append": pushes, "pop": pops}.get(getattr(node.func, "attr", ""))
                if table is not None and isinstance(node.func.value, gast.Name):
                    table.setdefault(node.func.value.id, []).append(id(block))
            for inner in ir.bodies(stmt):
                visit(inner)

    visit(program)
    single = [name for name in pushes if name in made and len(pushes[name]) == len(pops.get(name, ())) == 1]
    return {name: (made[name], *pushes[name], *pops[name]) for name in single}


def begin(state: State, variable: str) -> None:
    """A new list."""
    name = named(state, state.s.hints[variable])
    place = state.together.get(variable, variable)
    made = [ir.Effect(gast.Pass()), ir.Effect(gast.Pass())]
    if place not in state.counters_of:
        state.counters_of[place] = Counter(named(state, "n_" + name), 0)
    state.stacks[variable] = Stack(name, state.counters_of[place], made)
    state.out += made


def in_list(stack: Stack) -> bool:
    """True if arrays are saved in a list."""
    return stack.ndim > 0 and stack.row is None and not stack.parts


def fill_in(state: State, stack: Stack, variable: str, value: Value) -> None:
    """Make a list for what is saved in it first."""
    stack.dtype, stack.ndim = value.dtype, getattr(value, "ndim", 0)
    stack.parts = isinstance(value, Grid) and saved_row(state, value) is None and may_be_parts(state, variable, value)
    stack.python = getattr(value, "python", False)
    stack.row, stack.axes = saved_row(state, value), getattr(value, "axes", ())
    first, second = stack.made
    if in_list(stack):
        shape = ir.constant((0,) * stack.ndim) if stack.ndim > 1 else ir.constant(0)
        item = ir.call("np.empty", shape, dtype_name(value.dtype))
        # Not a comprehension: with one in a function, numba drops writes to arrays that only lists lead to later.
        none = ir.subscript(gast.List([item], gast.Load()), gast.Slice(None, ir.constant(0), None))
        first.expr, second.expr = assign(stack.array, none), gast.Pass()
    else:
        shape = ir.constant((0, *(stack.row or (0,) * stack.ndim)) if stack.ndim else 0)
        first.expr = assign(stack.array, ir.call("np.empty", shape, dtype_name(value.dtype)))
        stack.counter.members += 1
        if stack.counter.members == 1:
            second.expr = assign(stack.counter.name, ir.constant(0))


def named(state: State, hint: str) -> str:
    """A name that is nobody else's."""
    candidate, number = hint, 1
    while candidate in state.reserved:
        number += 1
        candidate = f"{hint}_{number}"
    state.reserved.add(candidate)
    return candidate


def pushed(state: State, variable: str, value: Value) -> None:
    """Save a value."""
    stack = state.stacks.get(variable)
    if stack is not None and isinstance(value, Items):
        return list_pushed(state, stack, value)
    if stack is None or not isinstance(value, (Number, Grid)):
        raise state.outside("a list that is not one of saved values")
    if stack.dtype is None:
        fill_in(state, stack, variable, value)
    if (value.dtype, getattr(value, "ndim", 0), None) != (stack.dtype, stack.ndim, stack.item):
        raise state.outside("a list of values of several kinds")
    array = ir.name(stack.array)
    if stack.parts and isinstance(value, Grid):
        return part_pushed(state, variable, stack, value)
    if isinstance(value, Grid) and stack.row is None:
        stack.axes = tuple(shared_axis(state, a, b) for a, b in zip(stack.axes, value.axes))
        if not is_held(value):
            stack.copies = stack.copies or not value.copied
            value = make(state, value, state.s.fresh("t", INT))
        state.emit(ir.Effect(ir.call(ir.attribute(array, "append"), value.view)))
        state.share(variable, value.view.id)
        return counted(state, stack)
    stack.copies = stack.copies or not getattr(value, "copied", True)
    if saved_row(state, value) != stack.row:
        raise state.outside("a list of values of several kinds")
    if isinstance(value, Number):
        stack.python = value.python if value.python == stack.python else None
        stack.bits = max(stack.bits, value.bits)
    if in_range(state):
        state.demand.setdefault(variable, []).append(constant_form(1))
    else:
        grow(state, stack, variable in state.together)
    for place in places(stack.row):
        target = gast.Subscript(array, item_index(stack, place), gast.Store())
        item = value.expr if isinstance(value, Number) else value.at([ir.constant(k) for k in place])
        state.emit(ir.Effect(gast.Assign([target], item, None)))
    counted(state, stack)


def list_pushed(state: State, stack: Stack, value: Items) -> None:
    """Save a list: itself, as the program does."""
    if stack.dtype is None:
        stack.item, stack.dtype = value.item, FLOAT64
        stack.made[0].expr = assign(stack.array, none_of(value))
    elif stack.item is None:
        raise state.outside("a list of values of several kinds")
    as_items(state, value, stack.item)
    stack.item = of_either(stack.item, value.item)
    state.emit(ir.Effect(ir.call(ir.attribute(ir.name(stack.array), "append"), value.expr)))
    counted(state, stack)


def part_pushed(state: State, variable: str, stack: Stack, value: Grid) -> None:
    """Save an array as a part of one: it is made there."""
    if not isinstance(value.view, gast.Name):
        stack.copies = stack.copies or not value.copied
        value = make(state, value, state.s.fresh("t", INT))
    made = made_here(state, value.view.id)
    assert made is not None
    put_in_place(state, made, ir.subscript(ir.name(stack.array), part_index(stack)))
    state.share(variable, value.view.id)
    state.demand.setdefault(variable, []).append(constant_form(1))
    counted(state, stack)


def shared_axis(state: State, a: Axis, b: Axis) -> Axis:
    """The lengths of saved arrays that hold for each of them, and do not change in the program."""
    if a.one != b.one:
        raise state.outside("a list of values of several kinds")
    lasting = isinstance(a.key, int) or a.key in state.lengths
    return a if a.one or (a.key == b.key and lasting) else Axis(None, None)


def row_of(value: Value) -> tuple[int, ...] | None:
    """The shape of a small array of known lengths: such arrays are saved as rows of one."""
    if not isinstance(value, Grid) or not all(isinstance(axis.key, int) for axis in value.axes):
        return None
    shape = tuple(axis.key for axis in value.axes)
    return shape if 0 < math.prod(shape) <= thresholds.ELEMENTS_IN_VARIABLES else None


def saved_row(state: State, value: Value) -> tuple[int, ...] | None:
    """The shape of a small array that is saved as a row: nobody writes its memory, so that a copy is as good."""
    return None if is_held(value) and is_written(state, value) else row_of(value)


def is_held(value: Value) -> bool:
    """True if a list can hold the memory of a value itself."""
    return isinstance(value, Grid) and value.contiguous and isinstance(value.view, gast.Name)


def places(row: tuple[int, ...] | None) -> list[tuple[int, ...]]:
    """The places of a saved value: one of a number, all of a small array."""
    return list(itertools.product(*map(range, row or ())))


def item_index(stack: Stack, place: tuple[int, ...]) -> Any:
    used = used_index(stack)
    return ir.tuple_([used, *map(ir.constant, place)]) if place else used


def grow(state: State, stack: Stack, together: bool) -> None:
    """See to room for one item, where no loop knows how many there will be: once for lists that are filled together."""
    one = ir.constant(1)
    if not state.in_loop:
        state.emit(ir.Effect(assign(stack.array, reserved(state, stack, one))))
        return
    begin_with_room(state, stack)
    if not (together and stack.counter.checked):
        state.emit(check_room(gast.Compare(ir.name(stack.counter.name), [gast.Eq()], [room_of(stack)])))
    stack.counter.checked = True


def begin_with_room(state: State, stack: Stack) -> None:
    """Let a list begin with room for as many items as the caller says.

    An array that a loop makes anew would be counted by those that refer to it, each time round: where the room does not
    last, the program gives up and is called with more.
    """
    if state.room is None:
        state.room = named(state, "room")
    assert stack.dtype is not None
    room = ir.name(state.room)
    shape = ir.tuple_([room, *map(ir.constant, stack.row)]) if stack.row else room
    stack.made[0].expr = assign(stack.array, ir.call("np.empty", shape, dtype_name(stack.dtype)))


def check_room(full: Any) -> ir.If:
    return ir.If(full, [ir.Raise(gast.Raise(ir.name("NoRoom"), None))], [], [])


def room_of(stack: Stack) -> Any:
    return ir.call("len", ir.name(stack.array))


def counted(state: State, stack: Stack) -> None:
    """Count what was saved, once for all lists that are counted together: after the last of them."""
    stack.counter.pushed += 1
    lists = sum(other.counter is stack.counter for other in state.stacks.values())
    if stack.counter.members and stack.counter.pushed % lists == 0:
        state.emit(count(stack, gast.Add))


def used_index(stack: Stack) -> Any:
    """The place behind what is used: without a sign, for no negative index has to be looked out for."""
    return ir.call("np.uint64", ir.name(stack.counter.name))


def part_index(stack: Stack) -> Any:
    """The place of an array that is being saved.

    It is never behind the last one, but LLVM is not to know how it moves: it would see whether loops over elements may
    run several at a time once for all parts, and an array that the part before became (``h = saved[k]``) is among them.
    """
    last = ir.binop(ir.call("len", ir.name(stack.array)), gast.Sub, ir.constant(1))
    return ir.call("np.uint64", ir.call("min", ir.name(stack.counter.name), last))


def count(stack: Stack, op: type) -> ir.Effect:
    return ir.Effect(gast.AugAssign(gast.Name(stack.counter.name, gast.Store(), None, None), op(), ir.constant(1)))


def in_range(state: State) -> bool:
    """True if the innermost loop around is one over a range."""
    kinds = [scope.kind for scope in state.scopes if scope.kind != "if"]
    return bool(kinds) and kinds[-1] == "range"


def reserved(state: State, stack: Stack, more: Any) -> Any:
    if stack.parts:
        shape = ir.tuple_([state.lasting(axis) for axis in stack.axes])
        return ir.call("reserve_parts", ir.name(stack.array), ir.name(stack.counter.name), more, shape)
    return ir.call("reserve", ir.name(stack.array), ir.name(stack.counter.name), more)


def popped(state: State, variable: str) -> Value:
    """Take the last saved value."""
    stack = state.stacks.get(variable)
    if stack is None or stack.dtype is None:
        raise state.outside("a list that is not one of saved values")
    if stack.item is not None:
        return Items(ir.call(ir.attribute(ir.name(stack.array), "pop")), stack.item)
    if in_list(stack):
        return popped_array(state, variable, stack, ir.call(ir.attribute(ir.name(stack.array), "pop")))
    stack.counter.popped += 1
    if stack.counter.popped == 1 or variable not in state.together:
        state.emit(count(stack, gast.Sub))
    if stack.parts:
        return popped_array(state, variable, stack, ir.subscript(ir.name(stack.array), used_index(stack)))
    if stack.row is not None:
        return popped_row(state, variable, stack, stack.row)
    item = Number(ir.subscript(ir.name(stack.array), used_index(stack)), stack.dtype, stack.python, stack.bits)
    return state.let(item, state.s.hints[variable].removeprefix("saved_").removeprefix("took_"))


def popped_array(state: State, variable: str, stack: Stack, item: Any) -> Grid:
    """An array out of a list of arrays, or a part of an array of them."""
    target = state.s.fresh(state.s.hints[variable].removeprefix("saved_"), INT)
    state.emit(ir.Let((target,), item, effect=True))
    state.share(variable, target)
    axes = tuple(Axis(None, (target, k)) if axis.key is None else axis for k, axis in enumerate(stack.axes))
    assert stack.dtype is not None
    return state.array(target, axes, stack.dtype, True)


def popped_row(state: State, variable: str, stack: Stack, row: tuple[int, ...]) -> Grid:
    """A small array that was saved, in memory of its own."""
    target = state.s.fresh(state.s.hints[variable].removeprefix("saved_"), INT)
    axes = tuple(Axis(ir.constant(n), n, n == 1) for n in row)
    assert stack.dtype is not None
    result = new_array(state, target, axes, stack.dtype)
    for place in places(row):
        index = ir.constant(place[0] if len(place) == 1 else place)
        state.emit(ir.Store(target, index, ir.subscript(ir.name(stack.array), item_index(stack, place))))
    return result


def settle_demand(state: State, demand: dict[str, list[Form]], trips: Form, before: ir.Block, outer: bool) -> None:
    """Make room before a loop for what it pushes, or leave that to the loop around it."""
    for variable, counts in demand.items():
        total = constant_form(0)
        for count in counts:
            total = total.plus(count if len(counts) == 1 else at_least_zero(count))
        product = times(total, trips)
        if product is not None and outer and (bound := over_index(state, product)) is not None:
            state.demand.setdefault(variable, []).append(bound)
            continue
        stack = state.stacks[variable]
        more = product.expr() if product is not None else ir.binop(total.expr(), gast.Mult, trips.expr())
        if stack.parts or not state.in_loop:
            before.append(ir.Effect(assign(stack.array, reserved(state, stack, more))))
        else:
            begin_with_room(state, stack)
            needed = ir.binop(ir.name(stack.counter.name), gast.Add, more)
            before.append(check_room(gast.Compare(needed, [gast.Gt()], [room_of(stack)])))


def at_least_zero(count: Form) -> Form:
    """A number of items of which a loop that does not run has none."""
    if not count.terms:
        return count
    expr = ir.call("max", count.expr(), ir.constant(0))
    return Form(((gast.dump(expr), 1, expr),))


def over_index(state: State, count: Form) -> Form | None:
    """The greatest value of a sum in the loop around, as a sum that is known before that loop."""
    scope = state.scopes[-1]
    if scope.kind != "range":
        return None
    if depth_of(state, count) == state.level:
        found = least(state, count.times(-1), state.level)
        if found is None:
            return None
        count = found[0].times(-1)
    return count if depth_of(state, count) < state.level else None


def times(a: Form, b: Form) -> Form | None:
    """The product of two sums, where one of them is one number or both are one product."""
    for x, y in ((a, b), (b, a)):
        if not x.terms:
            return y.times(x.constant)
    left, right = a.expr(), b.expr()
    expr = ir.binop(left, gast.Mult, right)
    return Form(((gast.dump(expr), 1, expr),))


def unsaved(state: State, first: ir.Block, second: ir.Block) -> None:
    """Save no arrays of which only the lengths were asked for, which are known without them."""
    program = ir.walk([*first, *second])
    read = {n for stmt in program for expr in ir.expressions(stmt) for n in ir.names_in(expr)}
    read |= {n for stmt in program for n in handed_on(stmt)}
    for stack in state.stacks.values():
        if not in_list(stack) or stack.dtype is None:
            continue
        calls = [s for s in program if isinstance(s, (ir.Let, ir.Effect)) and is_call_of(s.expr, stack.array)]
        if not any(isinstance(s, ir.Let) and s.targets[0] in read for s in calls):
            stack.made[0].expr = gast.Pass()
            for block in (first, second):
                remove(block, calls)


def handed_on(stmt: Any) -> list[str]:
    """The variables that a statement reads otherwise than in an expression."""
    merged = [n for m in getattr(stmt, "merges", ()) for n in (m.then, m.orelse)]
    carried = [n for c in getattr(stmt, "carries", ()) for n in (c.init, c.next)]
    return [*filter(None, [*merged, *carried]), *([stmt.base] if isinstance(stmt, ir.Store) else [])]


def is_call_of(expr: Any, array: str) -> bool:
    """True if an expression puts something into a list or takes it out."""
    base = expr.func.value if isinstance(expr, gast.Call) and isinstance(expr.func, gast.Attribute) else None
    return isinstance(base, gast.Name) and base.id == array


def remove(block: ir.Block, stmts: list[Any]) -> None:
    block[:] = [s for s in block if s not in stmts]
    for stmt in block:
        for inner in ir.bodies(stmt):
            remove(inner, stmts)


def made_once(state: State, first: ir.Block, second: ir.Block) -> None:
    """Make the arrays for which room is made once, before everything that is saved, with that room at once."""
    assignments: dict[str, list[ir.Effect]] = {}
    for stmt in ir.walk([*first, *second]):
        if isinstance(stmt, ir.Effect) and isinstance(stmt.expr, gast.Assign):
            assignments.setdefault(getattr(stmt.expr.targets[0], "id", ""), []).append(stmt)
    for stack in state.stacks.values():
        making = assignments.get(stack.array, [])
        if len(making) != 2 or making[0] is not stack.made[0] or making[1] not in first:
            continue
        call = making[1].expr.value
        if called_name(call) not in ("reserve", "reserve_parts") or stack.dtype is None:
            continue
        more = call.args[2] if is_no_less_than_zero(call.args[2]) else ir.call("max", call.args[2], ir.constant(0))
        inner = [*map(ir.constant, stack.row or ()), *(call.args[3].elts if len(call.args) > 3 else ())]
        shape = ir.tuple_([more, *inner]) if inner else more
        making[0].expr = gast.Pass()
        making[1].expr = assign(stack.array, ir.call("np.empty", shape, dtype_name(stack.dtype)))


def called_name(expr: Any) -> str:
    return str(getattr(expr.func, "id", "")) if isinstance(expr, gast.Call) else ""


def is_no_less_than_zero(count: Any) -> bool:
    """True if a number of items shows to be one: lengths, numbers, and their sums and products."""
    if isinstance(count, gast.BinOp) and isinstance(count.op, (gast.Add, gast.Mult)):
        return is_no_less_than_zero(count.left) and is_no_less_than_zero(count.right)
    return isinstance(count, gast.Constant) or called_name(count) in ("len", "max")
