"""Functions of Python's library that change lists and dicts, in Python: the specialiser inlines these texts."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from ....runtime.sorting import order_of


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


def pop_item(table: Any, last: Any = True) -> Any:
    if len(table) == 0:
        raise KeyError("popitem(): dictionary is empty")
    key = list(table)[-1 if last else 0]
    return key, table.pop(key)


def move_to_end(table: Any, key: Any, last: Any = True) -> None:
    if last:
        value = table.pop(key)
        table[key] = value
    else:
        value = table[key]
        for other in [other for other in table if other != key]:
            behind = table.pop(other)
            table[other] = behind


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


def counts_and(table: Any, other: Any) -> Any:
    result: Any = Counter()
    for item, number in table.items():
        least = number if number < other[item] else other[item]
        if least > 0:
            result[item] = least
    return result


def counts_or(table: Any, other: Any) -> Any:
    result: Any = Counter()
    for item, number in table.items():
        most = other[item] if number < other[item] else number
        if most > 0:
            result[item] = most
    for item, number in other.items():
        if item not in table and number > 0:
            result[item] = number
    return result


def counts_add(table: Any, other: Any) -> Any:
    result: Any = Counter()
    for item, number in table.items():
        both = number + other[item]
        if both > 0:
            result[item] = both
    for item, number in other.items():
        if item not in table and number > 0:
            result[item] = number
    return result


def counts_sub(table: Any, other: Any) -> Any:
    result: Any = Counter()
    for item, number in table.items():
        left = number - other[item]
        if left > 0:
            result[item] = left
    for item, number in other.items():
        if item not in table and number < 0:
            result[item] = 0 - number
    return result


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


def delete_steps(items: Any, part: Any) -> None:
    """``del items[start:stop:step]``"""
    dropped = list(range(len(items)))[part]
    items[:] = [items[k] for k in range(len(items)) if k not in dropped]


# itertools: what is chosen is handed down, and the places that it was at


def nothing() -> Any:
    return []


def combinations_of(items: Any, count: Any, first: Any, places: Any, chosen: Any, results: Any) -> None:
    if count == 0:
        results.append(chosen)
    else:
        for k in range(first, len(items)):
            combinations_of(items, count - 1, k + 1, places, (*chosen, items[k]), results)


def repeating_combinations_of(items: Any, count: Any, first: Any, places: Any, chosen: Any, results: Any) -> None:
    if count == 0:
        results.append(chosen)
    else:
        for k in range(first, len(items)):
            repeating_combinations_of(items, count - 1, k, places, (*chosen, items[k]), results)


def permutations_of(items: Any, count: Any, first: Any, places: Any, chosen: Any, results: Any) -> None:
    if count == 0:
        results.append(chosen)
    else:
        for k in range(first, len(items)):
            if k not in places:
                permutations_of(items, count - 1, first, (*places, k), (*chosen, items[k]), results)


Choosing = Callable[..., Iterable[Any]]


# What writes out the loops over places, for so many items at a time.
LOOPS: dict[Choosing, Any] = {
    itertools.combinations: combinations_of,
    itertools.combinations_with_replacement: repeating_combinations_of,
    itertools.permutations: permutations_of,
}


def heap_push(heap: Any, item: Any) -> None:
    heap.append(item)
    settle_up(heap, 0, len(heap) - 1)


def heap_pop(heap: Any) -> Any:
    last = heap.pop()
    if len(heap) == 0:
        return last
    result = heap[0]
    heap[0] = last
    settle_down(heap, 0)
    return result


def heap_order(heap: Any) -> None:
    for k in range(len(heap) // 2 - 1, -1, -1):
        settle_down(heap, k)


def settle_up(heap: Any, start: int, place: int) -> None:
    item = heap[place]
    while place > start:
        parent = (place - 1) >> 1
        above = heap[parent]
        if not item < above:
            break
        heap[place] = above
        place = parent
    heap[place] = item


def settle_down(heap: Any, start: int) -> None:
    place, end = start, len(heap)
    item = heap[place]
    child = 2 * place + 1
    while child < end:
        if child + 1 < end and not heap[child] < heap[child + 1]:
            child += 1
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = item
    settle_up(heap, start, place)
