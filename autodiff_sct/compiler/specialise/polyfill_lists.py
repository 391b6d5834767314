"""Functions of Python's library that change lists and dicts, in Python: the specialiser inlines these texts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

from .polyfills import order_of, settle_down


def heap_push_pop(heap: Any, item: Any) -> Any:
    if len(heap) > 0 and heap[0] < item:
        item, heap[0] = heap[0], item
        settle_down(heap, 0)
    return item


def heap_replace(heap: Any, item: Any) -> Any:
    first = heap[0]
    heap[0] = item
    settle_down(heap, 0)
    return first


def largest_few(count: Any, items: Any, key: Any = None) -> Any:
    return sorted(items, key=key, reverse=True)[: max(count, 0)]


def smallest_few(count: Any, items: Any, key: Any = None) -> Any:
    return sorted(items, key=key)[: max(count, 0)]


# Dicts


def from_keys(keys: Any, value: Any = None) -> Any:
    return {key: value for key in keys}  # noqa: C420


# collections.Counter


def add_count(table: Any, item: Any, number: Any) -> None:
    table[item] = table.get(item, 0) + number


def count_items(table: Any, items: Any) -> None:
    for item in items:
        table[item] = table.get(item, 0) + 1


def add_counts(table: Any, other: Any) -> None:
    for item, number in other.items():
        table[item] = number + table.get(item, 0)


def most_common(table: Any, n: Any = None) -> Any:
    return sorted(table.items(), key=lambda pair: pair[1], reverse=True)[:n]


def total(table: Any) -> Any:
    return sum(table.values())


# Sorted lists


def place_before(items: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any) -> Any:
    return bisect_left([key(item) for item in items], x, lo, hi)


def place_behind(items: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any) -> Any:
    return bisect_right([key(item) for item in items], x, lo, hi)


def insert_before(items: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    place = bisect_left(items, x, lo, hi) if key is None else place_before(items, key(x), lo, hi, key=key)
    items.insert(place, x)


def insert_behind(items: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    place = bisect_right(items, x, lo, hi) if key is None else place_behind(items, key(x), lo, hi, key=key)
    items.insert(place, x)


# Other changes of lists


def places_in_order(items: Any, *, key: Any = None, reverse: Any = False) -> Any:
    return order_of([item if key is None else key(item) for item in items], reverse)


def rotate(items: Any, steps: Any = 1) -> None:
    if len(items) > 0:
        cut = -steps % len(items)
        items[:] = items[cut:] + items[:cut]


def extend_left(items: Any, others: Any) -> None:
    for item in others:
        items.appendleft(item)


def set_steps(items: Any, part: Any, others: Any) -> None:
    """``items[start:stop:step] = others``"""
    values = list(others)
    places = list(range(len(items)))[part]
    if len(values) != len(places):
        raise ValueError(f"attempt to assign sequence of size {len(values)} to extended slice of size {len(places)}")
    for k in range(len(values)):
        items[places[k]] = values[k]
