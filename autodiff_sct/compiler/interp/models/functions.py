"""Higher-order functions of Python and of NumPy, in Python: the specialiser inlines these texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....errors import UnsupportedSyntax
from ....rules.table import nondifferentiable
from ....runtime.sorting import order_of


def filtered(keep: Any, items: Any) -> Any:
    return [item for item in items if (item if keep is None else keep(item))]


def left_out(drop: Any, items: Any) -> Any:
    return [item for item in items if not (item if drop is None else drop(item))]


def compressed(items: Any, chosen: Any) -> Any:
    return [item for item, of_item in zip(items, chosen, strict=False) if of_item]


def folded(items: Any, start: Any) -> Any:
    for item in items:
        start = start + item
    return start


def multiplied(items: Any, start: Any) -> Any:
    for item in items:
        start = start * item
    return start


def reduced_from(fn: Any, items: Any, start: Any) -> Any:
    for item in items:
        start = fn(start, item)
    return start


def reduced(fn: Any, items: Any) -> Any:
    if len(items) == 0:
        raise TypeError("reduce() of empty iterable with no initial value")
    result = items[0]
    for item in items[1:]:
        result = fn(result, item)
    return result


def remembering(fn: Any) -> Any:
    """The result of ``functools.cache(fn)``."""
    cache = {}

    def remembered(*args: Any) -> Any:
        key = args[0] if len(args) == 1 else args
        if key not in cache:
            cache[key] = fn(*args)
        return cache[key]

    return remembered


def check_filled(items: Any, message: Any) -> None:
    if len(items) == 0:
        raise ValueError(message)


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


def largest_or(items: Any, default: Any) -> Any:
    return max(items) if len(items) > 0 else default


def smallest_or(items: Any, default: Any) -> Any:
    return min(items) if len(items) > 0 else default


def check_lengths(first: int, other: int, number: int) -> None:
    """``zip(..., strict=True)``: of iterables of different lengths."""
    if other != first:
        raise ValueError(f"zip() argument {number} is {'shorter' if other < first else 'longer'} than argument 1")


def is_of_type(value: Any, dtype: Any) -> bool:
    """True if a number has a type, where only the run tells."""
    return bool(np.asarray(value).dtype == dtype)


nondifferentiable(is_of_type)


def check_type(first: Any, dtype: Any) -> None:
    """The type of the results of ``np.vectorize(fn)``, which is that of its first."""
    if not is_of_type(first, dtype):
        raise UnsupportedSyntax(
            "which type the results of np.vectorize have only the run tells: give it otypes",
            "write `np.vectorize(f, otypes=[float])`",
            code="vectorize",
        )


def of_all(fn: Any, columns: Any, dtype: Any, shape: Any) -> Any:
    """The result of ``np.vectorize(fn)``."""
    results = [fn(*[column[k] for column in columns]) for k in range(len(columns[0]))]
    return np.reshape(np.array(results).astype(dtype), shape)


def of_all_parts(fn: Any, arrays: Any, ranks: Any) -> Any:
    """The results of a function for all parts of arrays, of which it takes the last axes, `ranks` of each."""
    shape, flat = parts_in_line(arrays, ranks)
    results = np.array([np.asarray(fn(*[a[k] for a in flat])) for k in range(len(flat[0]))])
    return np.reshape(results, shape + results.shape[1:])


def parts_in_line(arrays: Any, ranks: Any) -> Any:
    """The shape of the axes before the last ones, and arrays with one axis in the place of those."""
    before = [a.shape[: a.ndim - n] for a, n in zip(arrays, ranks)]
    shape = np.broadcast_shapes(*before)
    flat = [
        np.reshape(np.broadcast_to(a, shape + a.shape[a.ndim - n :]), (-1,) + a.shape[a.ndim - n :])
        for a, n in zip(arrays, ranks)
    ]
    return shape, flat


def order_by_comparing(items: Any, backwards: Any) -> list[int]:
    """The order of objects that compare themselves: each is put behind those that it is not less than."""
    order: list[int] = []
    count = len(items)
    for k in range(count):
        place = count - 1 - k if backwards else k
        low, high = 0, len(order)
        while low < high:
            middle = (low + high) // 2
            if items[place] < items[order[middle]]:
                high = middle
            else:
                low = middle + 1
        order.insert(low, place)
    return order[::-1] if backwards else order


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


def nested_lists(array: Any) -> Any:
    return [row.tolist() for row in array]


def any_of(items: Any) -> Any:
    for item in items:
        if item:
            return True
    return False


def all_of(items: Any) -> Any:
    for item in items:
        if not item:
            return False
    return True


def first_item(items: Any, *default: Any) -> Any:
    for item in items:
        return item
    if len(default) == 0:
        raise StopIteration
    return default[0]


# Iterators that go through generators, and so are generators.


def items_of(items: Any) -> Any:
    for item in items:  # noqa: UP028
        yield item


def items_by_index(held: Any) -> Any:
    """The items of an object with ``__getitem__`` and without ``__iter__``, by index."""
    k = 0
    while True:
        try:
            item = held[k]
        except (IndexError, StopIteration):
            return
        yield item
        k += 1


def counted(items: Any, start: Any = 0) -> Any:
    k = start
    for item in items:
        yield k, item
        k += 1


def mapped(fn: Any, items: Any) -> Any:
    for item in items:
        yield fn(item)


def first_of(items: Any, start: Any, stop: Any = -1, step: Any = 1) -> Any:
    if stop == -1:
        start, stop = 0, start
    if stop is not None and stop <= 0:
        return
    begin, every = 0 if start is None else start, 1 if step is None else step
    k = 0
    for item in items:
        if k >= begin and (k - begin) % every == 0:
            yield item
        k += 1
        if stop is not None and k >= stop:
            return


def taken_while(goes_on: Any, items: Any) -> Any:
    for item in items:
        if not goes_on(item):
            return
        yield item


def dropped_while(drops: Any, items: Any) -> Any:
    dropping = True
    for item in items:
        if dropping and drops(item):
            continue
        dropping = False
        yield item


def chained(*parts: Any) -> Any:
    for part in parts:
        yield from part


def chained_from(parts: Any) -> Any:
    for part in parts:
        yield from part


def zipped_with(first: Any, items: Any, last: Any) -> Any:
    k = 0
    if has_ended(first, k):
        return
    for item in items:
        if has_ended(last, k):
            return
        yield row_of(first, k, item, last)
        k += 1
        if has_ended(first, k):
            return


def has_ended(sources: Any, k: Any) -> Any:
    """True if one of the iterables beside a generator has no item number `k`."""
    raise NotImplementedError("written by the specialiser")


def row_of(first: Any, k: Any, item: Any, last: Any) -> Any:
    """The items number `k` of the iterables beside a generator, around the generator's own."""
    raise NotImplementedError("written by the specialiser")


def grouped(items: Any, key: Any) -> Any:
    groups: list[Any] = []
    for item in items:
        of_item = item if key is None else key(item)
        if len(groups) == 0 or groups[-1][0] != of_item:
            groups.append((of_item, []))
        groups[-1][1].append(item)
    return groups


def made_of(cls: Any, items: Any) -> Any:
    """``cls._make(items)`` of a class of named tuples."""
    return cls(*items)


def wrapped(fn: Any, inner: Any) -> Any:
    """``functools.wraps(fn)(inner)``: only what the function is called changes."""
    return inner


def take_item(key: Any, value: Any) -> Any:
    return value[key]


def take_items(keys: Any, value: Any) -> Any:
    return tuple([value[key] for key in keys])


def take_attribute(path: Any, value: Any) -> Any:
    for name in path:
        value = getattr(value, name)
    return value


def take_attributes(paths: Any, value: Any) -> Any:
    return tuple([take_attribute(path, value) for path in paths])


def call_method(name: Any, args: Any, value: Any, **kwargs: Any) -> Any:
    return getattr(value, name)(*args, **kwargs)


def set_at(fn: Any, a: Any, places: Any, value: Any) -> None:
    """``ufunc.at(a, places, value)`` of one number."""
    for place in zip(*places, strict=True):
        a[place] = fn(a[place], value)


def set_each_at(fn: Any, a: Any, places: Any, values: Any) -> None:
    """``ufunc.at(a, places, values)``: a place that comes twice is written twice."""
    given = np.broadcast_to(values, np.shape(places[0]) + a.shape[len(places) :])
    for k, place in enumerate(zip(*places, strict=True)):
        a[place] = fn(a[place], given[k])


def set_where(y: Any, x: Any, condition: Any, fn: Any) -> None:
    """One piece of ``np.piecewise``: a number, or a function of the elements."""
    if callable(fn):
        chosen = x[condition]
        if chosen.size > 0:
            y[condition] = fn(chosen)
    else:
        y[condition] = fn


def shortest(rows: Any) -> Any:
    """The number of columns of ``zip(*rows)``."""
    return min([len(row) for row in rows], default=0)


def width(matrix: Any) -> Any:
    return matrix.shape[1] if len(matrix) > 0 else 0


def check_any(rows: Any, expected: Any) -> None:
    """The columns of no rows cannot be unpacked."""
    if len(rows) == 0:
        raise ValueError(f"not enough values to unpack (expected {expected}, got 0)")


def none_of(conditions: Any) -> Any:
    return ~np.any(conditions, axis=0)


def along_axis(fn: Any, axis: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
    """``np.apply_along_axis`` on a matrix: every lane that `fn` gets is the view that NumPy gives it."""
    results = np.stack([np.asarray(fn(lane, *args, **kwargs)) for lane in np.moveaxis(a, axis, -1)])
    return np.moveaxis(results, 0, -1) if axis % 2 == 0 else results


def over_axes(fn: Any, a: Any, axes: Any) -> Any:
    value = a
    for axis in axes:
        place = axis % a.ndim
        reduced = fn(value, place)
        value = reduced if reduced.ndim == value.ndim else np.expand_dims(reduced, place)
    return value


def shuffled(generator: Any, x: Any) -> None:
    """``generator.shuffle(x)`` draws as ``permutation`` does."""
    order = generator.permutation(len(x))
    x[...] = x[order]


def put_repeated(x: Any, index: Any, values: Any, shape: Any) -> None:
    """``x[index] = values``, repeated until they have a shape: of no values, nothing."""
    if np.size(values):
        x[index] = np.resize(values, shape)


def put_picked(x: Any, mask: Any, values: Any, shape: Any) -> None:
    """The same of those that a mask picks."""
    if np.size(values):
        x[mask] = np.resize(values, shape)[mask]


# Densities are counts divided as NumPy divides them.


def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    counts, edges = np.histogram(a, bins, range, weights=weights)
    return counts / np.diff(edges) / np.sum(counts), edges


def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    counts, first, second = np.histogram2d(x, y, bins, range, weights=weights)
    return counts / np.diff(first)[:, None] / np.diff(second) / np.sum(counts), first, second


# What a generator draws with a location and a scale is a standard draw, scaled and moved, in the same operations.


def normal(generator: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    return loc + scale * generator.standard_normal(drawn_shape(loc, scale, size))


def uniform(generator: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    return low + (high - low) * generator.random(drawn_shape(low, high, size))


def exponential(generator: Any, scale: Any = 1.0, size: Any = None) -> Any:
    return scale * generator.standard_exponential(drawn_shape(scale, scale, size))


def drawn_shape(a: Any, b: Any, size: Any) -> Any:
    if size is not None:
        return size
    return None if np.ndim(a) == 0 and np.ndim(b) == 0 else np.broadcast_shapes(np.shape(a), np.shape(b))


DRAWS = {"normal": normal, "uniform": uniform, "exponential": exponential}


# What a generator chooses from an array along its first axis is what is at the places that it chooses.


def choice(generator: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
    return a[generator.choice(len(a), *args, **kwargs)]


def permutation(generator: Any, x: Any) -> Any:
    return x[generator.permutation(len(x))]


CHOICES = {"choice": (choice, 4), "permutation": (permutation, 1)}  # with how many arguments there are before `axis`
