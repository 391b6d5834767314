"""Python's own higher-order functions, in Python: the specialiser inlines these texts."""

from __future__ import annotations

from typing import Any

from ...rules.table import nondifferentiable


def filtered(keep: Any, items: Any) -> Any:
    return [item for item in items if (item if keep is None else keep(item))]


def folded(items: Any, start: Any) -> Any:
    for item in items:
        start = start + item
    return start


def reduced_from(fn: Any, items: Any, start: Any) -> Any:
    for item in items:
        start = fn(start, item)
    return start


def reduced(fn: Any, items: Any) -> Any:
    result = items[0]
    for item in items[1:]:
        result = fn(result, item)
    return result


def largest(items: Any) -> Any:
    best = items[0]
    for item in items[1:]:
        if item > best:
            best = item
    return best


def smallest(items: Any) -> Any:
    best = items[0]
    for item in items[1:]:
        if item < best:
            best = item
    return best


def largest_by(items: Any, key: Any) -> Any:
    best = items[0]
    best_key = key(best)
    for item in items[1:]:
        item_key = key(item)
        if item_key > best_key:
            best = item
            best_key = item_key
    return best


def smallest_by(items: Any, key: Any) -> Any:
    best = items[0]
    best_key = key(best)
    for item in items[1:]:
        item_key = key(item)
        if item_key < best_key:
            best = item
            best_key = item_key
    return best


def order_of(keys: list[Any], backwards: bool) -> list[int]:
    """The positions of `keys` in sorted order, as ``sorted`` would arrange them."""
    return sorted(range(len(keys)), key=lambda k: keys[k], reverse=backwards)


nondifferentiable(order_of)


def ordered(items: Any, key: Any, backwards: Any) -> Any:
    keys = [item if key is None else key(item) for item in items]
    return [items[k] for k in order_of(keys, backwards)]


def pairs(items: Any) -> Any:
    return [(items[i], items[j]) for i in range(len(items)) for j in range(i + 1, len(items))]


def accumulated(items: Any, fn: Any) -> Any:
    results = []
    if len(items) > 0:
        total = items[0]
        results.append(total)
        for item in items[1:]:
            total = fn(total, item)
            results.append(total)
    return results


def accumulated_from(items: Any, fn: Any, start: Any) -> Any:
    results = [start]
    for item in items:
        start = fn(start, item)
        results.append(start)
    return results


def take_item(key: Any, value: Any) -> Any:
    return value[key]


def take_attribute(name: Any, value: Any) -> Any:
    return getattr(value, name)
