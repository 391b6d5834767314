"""Items and attributes: reading and writing what is inside tuples, lists, dicts, objects and arrays."""

from __future__ import annotations

import operator
from typing import Any

import gast
import numpy as np

from ....core import thresholds
from ... import ir
from ...domain.facts import INT, Facts, Listed, Mapped, Num, Opaque, Pair, are_mixed
from ...domain.values import Const, Leaf, ListV, MaybeV, Obj, Suspended, TupleV, Value
from ..arrays import emit_op, indexing
from ..arrays.flat import is_flat
from ..arrays.flat_items import get_flat, set_flat
from ..kernel import operations
from ..kernel.bind_arguments import Shown
from ..kernel.handlers import OTHERWISE
from ..kernel.operations import (
    augment,
    call_method_of,
    call_value,
    defines,
    kept_under_name,
    operate,
    over,
    replace_slice,
)
from ..kernel.program_values import INTEGER_LISTS, Restart
from ..kernel.slice_lengths import display_length, site_of
from ..kernel.specialiser import Specialiser, as_element, element_facts, is_slice, storable
from ..kernel.user_errors import always, refuse_item, refuse_unpacking
from ..objects import attributes, dict_views, objects, optional, record_tables, union_tables
from ..objects.attributes import assign_attribute
from ..objects.fields import field, refuse_frozen, stays_short
from ..objects.tables import is_reference, operation, restart_tabled
from ..world.captures import put_outside
from ..world.names import called_after
from ..world.partial_keys import narrowed, note_assigned, restart_whole
from .iteration import are_known_integers, keys_of
from .iterators import kept
from .missing_keys import call_factory, fill_missing, holds_nothing, key_error
from .sources import Source, check_length, is_range, part_of_range
from .swaps import is_put_back

# -- making


def own_list(s: Specialiser, value: ListV) -> Value:
    """A list display gets a variable; one of objects or functions exists at compile time only."""
    site = ("list", value.site)
    items = [own_value(s, v) for v in value.items]
    if site in s.dynamic:
        items = [as_element(s, v) for v in items]
    of_rule = s.frame is not None and s.frame.rule  # the program is not specialised again for lists of a rule
    short = len(items) <= thresholds.SHORT_LIST and not of_rule
    known = False
    if site not in s.dynamic:
        known = ("static", site) in s.dynamic or (short and stays_short(s))
        if not of_rule and INTEGER_LISTS not in s.dynamic and are_known_integers(items):
            known = True
            s.integer_lists.add(site)
        known = known or ("ranks", site) in s.dynamic or are_of_several_ranks(s, items)
    if known or not all(storable(s, v) for v in items) or are_mixed(map(s.facts_of, items)):
        if site in s.dynamic:
            restart_tabled(s, *items)
            raise s.refuse("list-of-objects", "a list of objects or functions changes its length in the program")
        obj = begun(s, Obj(site, list))
        s.env |= {(site, k): item for k, item in enumerate(items)}
        return obj
    listed = Listed(frozenset([s.root(site)]))
    for item in items:
        s.put_element(listed, element_facts(s.facts_of(item)))
    note_display(s, s.root(site), len(items))
    expr = gast.List([s.stored(v) for v in items], gast.Load())
    return s.let(expr, listed, ir.Op(list, {"items": ListV(tuple(items))}), hint="items", may_raise=False)


def are_of_several_ranks(s: Specialiser, items: list[Value]) -> bool:
    """True if arrays are together that differ in their rank, of which nothing would be known at a place of the run."""
    ranks = {facts.ndim for facts in map(s.facts_of, items) if isinstance(facts, Num) and facts.kind == "array"}
    return len(ranks) > 1


def note_display(s: Specialiser, root: int, count: int) -> None:
    s.nesting[root] = s.loops, s.branches
    if s.displays.setdefault(root, count) != count:
        s.resized.add(root)


def note_resized(s: Specialiser, facts: Listed) -> None:
    """The length of a list changes: where its display's length was relied on, the program is specialised again."""
    if facts.roots & s.walked:
        raise s.refuse(
            "changed-while-iterated",
            "a list changes its length while an iterator goes over it",
            "give the iterator a copy",
        )
    for root in facts.roots & s.assumed:
        raise Restart(("resized", site_of(s, root)))
    s.resized |= facts.roots


@defines(operations.own_value)
def own_value(s: Specialiser, value: Value) -> Value:
    """List displays inside a value get variables of their own, so that every way to them leads to one list."""
    if isinstance(value, ListV):
        return own_list(s, value)
    if isinstance(value, TupleV) and holds_display(value):
        return TupleV(tuple(own_value(s, v) for v in value.items), value.cls)
    if isinstance(value, Source):
        return kept(s, value)
    if isinstance(value, Suspended):
        return kept_under_name(s, value)
    return value


def holds_display(value: Value) -> bool:
    display = isinstance(value, (ListV, Source, Suspended))
    return display or isinstance(value, TupleV) and any(holds_display(v) for v in value.items)


def new_dict(s: Specialiser) -> Value:
    site = ("dict", s.site())
    if site in s.dynamic:
        return s.let(
            gast.Dict([], []), Mapped(frozenset([s.root(site)])), ir.Op(dict, {}), hint="table", may_raise=False
        )
    return begun(s, Obj(site, dict))


def begun(s: Specialiser, obj: Obj) -> Obj:
    """A list or dict without items, whatever became of the one made here before."""
    s.frozen.discard(obj.id)
    for key in s.fields(obj):
        del s.env[(obj.id, key)]
    s.env[("made", obj.id)] = Const(True)
    return obj


def update_dict(s: Specialiser, target: Value, pairs: list[tuple[Value | None, Value]]) -> None:
    for key, value in pairs:
        if key is None and isinstance(s.facts_of(value), Mapped):
            call_method_of(s, target, "update", [value], {})
        elif key is None:
            update_dict(s, target, [*record_tables.pairs_of(s, value)])
        else:
            set_item(s, target, key, value)


# -- reading


@defines(operations.get_item)
def get_item(s: Specialiser, base: Value, index: Value) -> Value:
    """``base[index]``."""
    if s.facts_of(base) == Opaque(Shown):
        return s.let(ir.subscript(s.expr(base), s.expr(index)), Opaque(Shown), hint="item", effect=True)
    if isinstance(base, (TupleV, ListV)):
        return get_from_items(s, base, index)
    if isinstance(base, Obj):
        if base.cls is dict or base.cls is list:
            return get_field(s, base, index)
        if base.cls is np.flatiter:
            return get_flat(s, base, index)
        return objects.call_method(s, base, "__getitem__", [index])
    if isinstance(base, Const):
        return get_from_constant(s, base, index)
    if isinstance(base, MaybeV):
        return get_from_items(s, optional.present(s, base, optional.SUBSCRIPTED), index)
    if not isinstance(base, Leaf):
        return part_of_range(s, base, index)
    facts = s.facts[base.name]
    if (record := record_tables.record_of(s, base)) is not None:
        return record_tables.get_item(s, base, record, index)
    if (item := operation(s, base, "__getitem__", index)) is not None:
        return item
    if isinstance(facts, Pair):
        return get_from_items(s, TupleV(tuple(items_of(s, base, None)), facts.cls), index)
    if isinstance(facts, (Listed, Mapped)):
        return get_element(s, base, facts, index)
    if isinstance(facts, Num) and (facts.kind in ("array", None) or facts.kind == "npscalar"):
        return indexing.load_item(s, base, index)
    refuse_item(s, base, "is not subscriptable")
    return s.let(
        ir.subscript(ir.name(base.name), s.expr(index)),
        Opaque(),
        ir.Op(operator.getitem, {"x": base, "index": index}),
        effect=True,
    )


def is_whole(s: Specialiser, value: Value) -> bool:
    """True if a value is a whole number."""
    facts = s.num(value)
    return facts is not None and facts.kind == "int"


def get_from_items(s: Specialiser, base: Any, index: Value) -> Value:
    if s.is_static(index):
        kind = "tuple" if isinstance(base, TupleV) and base.listed is None else "list"
        try:
            found = base.items[s.static(index)]
        except IndexError:
            raise always(s, IndexError, f"{kind} index out of range") from None
        except TypeError as error:
            raise always(s, TypeError, str(error).replace("tuple", kind, 1)) from None
        if isinstance(found, tuple):
            return TupleV(found, None, None, base.listed) if isinstance(base, TupleV) else ListV(found)
        return found
    if isinstance(base, TupleV) and base.cls is None and all(is_whole(s, item) for item in base.items):  # as a shape is
        found = Opaque(tuple) if is_slice(index) else INT
        return s.let(ir.subscript(s.expr(base), s.expr(index)), found, hint="part" if is_slice(index) else "n")
    if isinstance(base, TupleV) and is_slice(index):
        s.write_out_loop(s.expr(index))
        raise s.refuse(
            "unknown-length",
            "a tuple is cut where only the run tells",
            "make a list of it first, or cut it at a constant",
        )
    if union_tables.are_functions([*base.items]) and not is_slice(index):
        return union_tables.by_position(s, [*base.items], index)
    # An index known only at run time: the tuple becomes a list for it.
    return get_item(s, own_list(s, ListV(base.items, s.site("runtime index"))), index)


def get_field(s: Specialiser, base: Obj, index: Value) -> Value:
    if not s.is_static(index):
        return field_at_run_time(s, base, index)
    key = s.static(index)
    if base.cls is list and isinstance(key, slice):
        return ListV(tuple(items_of(s, base, None))[key], s.site())
    if base.cls is list and key < 0:
        key += len(items_of(s, base, None))
    value = field(s, base, key)
    if value is None and base.id in s.factories:
        set_field(s, base, index, call_factory(s, base.id))
        value = field(s, base, key)
    if value is None and base.id in s.counters:
        return Const(0)
    if value is None:
        raise always(s, KeyError, key) if base.cls is dict else always(s, IndexError, "list index out of range")
    return value


def unknown_key(s: Specialiser, base: Obj, index: Value) -> Exception:
    """The way on where only the run tells a key: write out the loop, keep the container in a variable, or refuse."""
    items = [s.env[(base.id, key)] for key in s.fields(base) if (base.id, key) in s.env]
    if base.cls is list and (stays_short(s) or not all(storable(s, item) for item in items)):
        s.write_out_loop(s.expr(index))
    if ("static", base.id) in s.dynamic:
        restart_tabled(s, *items)  # a list to which objects are added can live at run time if they do
    if base.id[0] in ("dict", "list"):
        return Restart(base.id)
    restart_tabled(s, base)
    restart_whole(s, base, index)
    return s.refuse("dict-key", "a key that is known only at run time")


def get_from_constant(s: Specialiser, base: Const, index: Value) -> Value:
    if s.is_static(index):
        try:
            found = base.value[s.static(index)]
        except (LookupError, TypeError) as error:
            raise always(s, type(error), error.args[0]) from error
        if base.value is not np.mgrid:
            return Const(found)
        facts = Num("array", found.dtype, found.shape, frozenset([s.root(s.site())]))
        return s.let(ir.subscript(s.expr(base), s.expr(index)), facts, may_raise=False)
    if base.value is np.r_ or base.value is np.c_:
        found = OTHERWISE[base.value.__getitem__](s, [base, index], {})
        if found is not None:
            return found
    if isinstance(base.value, (tuple, list)):
        return get_item(s, own_list(s, ListV(tuple(Const(v) for v in base.value), s.site())), index)
    whole = isinstance(base.value, range) and s.facts_of(index) == INT
    return s.let(ir.subscript(s.expr(base), s.expr(index)), INT if whole else Opaque(), effect=True)


def get_element(s: Specialiser, base: Leaf, facts: Listed | Mapped, index: Value, present: bool = False) -> Value:
    """An element of a list or dict that lives in a variable."""
    if isinstance(facts, Mapped) and not present:
        if facts.roots & s.counters:
            return call_method_of(s, base, "get", [index, Const(0)], {})
        fill_missing(s, base, facts, index)
    element = s.elements_of(facts)
    op = ir.Op(operator.getitem, {"x": base, "index": index})
    expr = ir.subscript(ir.name(base.name), s.expr(index))
    if is_slice(index):
        copy = Listed(frozenset([s.root(("list", s.site()))]), facts.is_tuple if isinstance(facts, Listed) else False)
        if element is not None:
            s.put_element(copy, element)
        return s.let(expr, copy, op, hint="items")
    if element is None and isinstance(facts, Mapped) and holds_nothing(s, facts):
        raise key_error(s, index)
    element = Opaque() if element is None else element
    if isinstance(facts, Mapped):
        element = narrowed(s, facts, index, element)
    return spread(s, s.let(expr, element, op, hint="item"))


def spread(s: Specialiser, leaf: Leaf) -> Value:
    """A tuple held in a variable, taken apart."""
    facts = s.facts[leaf.name]
    if not isinstance(facts, Pair):
        return leaf
    return TupleV(tuple(items_of(s, leaf, None)), facts.cls)


@defines(operations.items_of)
def items_of(s: Specialiser, value: Value, count: int | None) -> list[Value]:
    """The items of something that is unpacked, into `count` names where that is known."""
    if isinstance(value, MaybeV):
        value = optional.present(s, value, optional.UNPACKED)
    if isinstance(value, (TupleV, ListV)):
        return list(value.items)
    if isinstance(value, Obj) and value.cls is list:
        return [get_field(s, value, Const(k)) for k in range(len(s.fields(value)))]
    if isinstance(value, Obj) and value.cls is dict:
        return [Const(k) for k in s.fields(value)]
    if isinstance(value, Const) and isinstance(value.value, (tuple, list, str, range)):
        return [Const(v) for v in value.value]
    if isinstance(value, Source):
        return value.all_items(s, count)
    if (record := record_tables.record_of(s, value)) is not None:
        return [Const(key) for key in record.keys_of_all]
    if isinstance(value, (Obj, Suspended)) or is_reference(s, value):
        return items_of(s, call_value(s, Const(list), [value], {}), count)
    if isinstance(value, Leaf):
        facts = s.facts[value.name]
        if isinstance(facts, Pair):
            return items_of_pair(s, value, facts)
        if isinstance(facts, Mapped):
            value = keys_of(s, value)
            facts = s.facts[value.name]
        known = display_length(s, facts) if count is None else None
        if known is not None:
            return [get_item(s, value, Const(k)) for k in range(known)]
        if isinstance(facts, Num) and count is None and facts.dims and isinstance(facts.dims[0], int):
            count = facts.dims[0]
        refuse_unpacking(s, value)
        if count is not None:
            return items_of_leaf(s, value, facts, count)
        if isinstance(facts, Listed):
            s.write_out_list(facts.roots)
    raise s.refuse(
        "unknown-length",
        "something whose number of items is known only at run time is unpacked",
        "index it, or unpack a tuple",
    )


def items_of_pair(s: Specialiser, value: Leaf, facts: Pair) -> list[Value]:
    result: list[Value] = []
    for k, item in enumerate(facts.items):
        op = ir.Op(operator.getitem, {"x": value, "index": Const(k)})
        leaf = s.let(ir.subscript(ir.name(value.name), ir.constant(k)), item, op, hint="item", may_raise=False)
        result.append(spread(s, leaf))
    return result


def items_of_leaf(s: Specialiser, value: Leaf, facts: Facts, count: int) -> list[Value]:
    """Unpacking checks the length, as Python does."""
    if isinstance(facts, Opaque):
        op = ir.Op(operator.getitem, {"x": value})
        item = facts if facts.cls is Shown else Opaque()
        return list(s.let_several(ir.name(value.name), [item] * count, op, effect=True))
    first = facts.dims[0] if isinstance(facts, Num) and facts.dims else None
    if first != count:
        length = ir.call(gast.Name("len", gast.Load(), None, None), ir.name(value.name))
        check_length(s, length, count)
    return [get_item(s, value, Const(k)) for k in range(count)]


def get_attribute(s: Specialiser, base: Value, attr: str) -> Value:
    """``base.attr``."""
    return attributes.attribute_of(s, base, attr)


# -- writing


@defines(operations.set_item)
def set_item(s: Specialiser, base: Value, index: Value, value: Value) -> None:
    """``base[index] = value``."""
    if isinstance(base, Obj) and base.cls in (dict, list):
        set_field(s, base, index, value)
    elif isinstance(base, Obj) and base.cls is np.flatiter:
        set_flat(s, base, index, value)
    elif isinstance(base, Obj):
        objects.call_method(s, base, "__setitem__", [index, value])
    elif isinstance(base, Leaf):
        if not (isinstance(index, Const) and isinstance(index.value, str)):  # which no array takes
            emit_op.refuse_unknown(s, base)
        set_in_leaf(s, base, index, value)
    elif isinstance(base, Const):
        raise s.refuse("outside-write", "a container that lives outside the function is written into")
    else:
        s.as_list(base)
        raise s.refuse("unknown-value", "this value does not take item assignment", "use an array, a list or a dict")


def set_field(s: Specialiser, base: Obj, index: Value, value: Value) -> None:
    if not s.is_static(index) or (base.cls is list and isinstance(s.static(index), slice)):
        raise unknown_key(s, base, index)
    refuse_frozen(s, base)
    key = s.static(index)
    if base.id in s.objects:
        put_outside(s, base, key, own_value(s, value))
        return
    if base.cls is list and key < 0:
        key += len(items_of(s, base, None))
    s.env[(base.id, key)] = called_after(s, key, own_value(s, value))


def set_in_leaf(s: Specialiser, base: Leaf, index: Value, value: Value) -> None:
    facts = s.facts[base.name]
    if (record := record_tables.record_of(s, base)) is not None:
        record_tables.set_item(s, base, record, index, own_value(s, value))
    elif operation(s, base, "__setitem__", index, own_value(s, value)) is not None:
        return
    elif isinstance(facts, (Listed, Mapped)):
        if isinstance(facts, Listed) and facts.is_tuple is not False:
            raise s.refuse("different-kinds", "an item of what may be a tuple is assigned")
        if is_slice(index) and isinstance(facts, Listed):
            return replace_slice(s, base, index, value)
        if is_put_back(s, base, index, value):
            return
        value = as_element(s, own_value(s, value))
        if not storable(s, value):
            restart_tabled(s, value)
            raise s.refuse("list-of-objects", "an object or a function is put into a list that lives at run time")
        if facts.roots & s.lazy:
            raise s.refuse("kept-generator", emit_op.KEPT_GENERATOR)
        if isinstance(facts, Mapped):
            dict_views.refuse_change(s, base)
            note_assigned(s, facts, index, s.facts_of(value))
        s.put_element(facts, element_facts(s.facts_of(value)))
        op = ir.Op(operator.setitem, {"x": base, "index": index, "value": value})
        s.block.append(ir.Store(base.name, s.expr(index), s.stored(value), None, s.where(), op))
    elif isinstance(facts, Num):
        emit_op.store_item(s, base, index, operations.as_list(s, value) if is_range(value) else value)
    else:
        s.block.append(
            ir.Store(
                base.name,
                s.expr(index),
                s.expr(value),
                None,
                s.where(),
                ir.Op(operator.setitem, {"opaque": base, "value": value}),
            )
        )


def augment_item(s: Specialiser, base: Value, index: Value, op: type, value: Value) -> None:
    """``base[index] op= value``."""
    facts = s.facts[base.name] if isinstance(base, Leaf) else None
    if isinstance(facts, Num) and facts.row is None:
        emit_op.store_augmented(s, base, index, op, value)
        return
    if is_flat(base):
        set_item(s, base, index, operate(s, op, get_item(s, base, index), value))
        return
    old = get_item(s, base, index)
    new = augment(s, old, op, value)
    if new != old:  # an array is changed in place and stays where it is
        set_item(s, base, index, new)


def set_attribute(s: Specialiser, base: Value, attr: str, value: Value) -> None:
    """``base.attr = value``."""
    assign_attribute(s, base, attr, own_value(s, value))


# -- iteration


def iteration(s: Specialiser, value: Value) -> Source:
    """The iteration of a loop over a value."""
    return over(s, value)


def field_at_run_time(s: Specialiser, base: Obj, index: Value) -> Value:
    """``base[index]`` of a list or a dict of things known one by one."""
    items = {key: value for key in s.fields(base) if (value := field(s, base, key)) is not None}
    if union_tables.are_functions([*items.values()]) and not is_slice(index):
        return (
            union_tables.by_position(s, [*items.values()], index)
            if base.cls is list
            else union_tables.by_key(s, items, index)
        )
    if base.id in s.objects and base.cls is dict:
        copy = new_dict(s)
        update_dict(s, copy, [(None, base)])
        return get_item(s, copy, index)
    raise unknown_key(s, base, index)
