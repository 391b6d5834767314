"""What is given arguments that it does not take raises what it raises in Python."""

import functools
import itertools
import math
import operator
from collections import Counter, OrderedDict, deque

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import V, check_gradient

WRONG = [
    lambda x: sum(x, 1.0, 2.0),
    lambda x: sum(x, initial=2.0),
    lambda x: len(x, x) * x[0],
    lambda x: list(x, x)[0],
    lambda x: tuple(x, 3)[0],
    lambda x: sorted(x, abs)[0],
    lambda x: sorted(x, key=abs, cmp=3)[0],
    lambda x: list(enumerate(x, 1, 2))[0][1],
    lambda x: list(zip(x, x, foo=1))[0][0],
    lambda x: list(filter(abs, x, x))[0],
    lambda x: bool(x[0], 1) * x[0],
    lambda x: list(reversed(x, 1))[0],
    lambda x: min(x, key=abs, foo=2),
    lambda x: next(iter(x), 1.0, 2),
    lambda x: getattr(x, "size", 1, 2) * x[0],
    lambda x: any(x > 0, 1) * x[0],
    lambda x: isinstance(x, np.ndarray, 2) * x[0],
    lambda x: list(map(abs))[0] * x[0],
    lambda x: type(x, 1) and x[0],
    lambda x: dict({"a": x[0]}, {"b": x[1]})["a"],
    lambda x: deque([x[0], x[1]], 3, 4)[0],
    lambda x: deque([x[0], x[1]], foo=4)[0],
    lambda x: Counter([1], [2])[1] * x[0],
    lambda x: OrderedDict({"a": x[0]}, {"b": 1})["a"],
    lambda x: math.exp(x=x[0]),
    lambda x: functools.reduce(operator.add, x, 0.0, 1),
    lambda x: list(itertools.accumulate(x, operator.add, 0, 3))[0],
    lambda x: list(itertools.product(x, foo=1))[0][0],
    lambda x: list(itertools.islice(x, 1, 2, 1, 3))[0],
    lambda x: np.exp(x, x, x).sum(),
    lambda x: np.exp().sum(),
    lambda x: np.add(x, x, x, x).sum(),
    lambda x: np.matmul(x, x, None, 3),
    lambda x: np.hypot(x, x, None, 3).sum(),
    lambda x: np.dot(x, x, x, x),
    lambda x: np.concatenate((x, x), 0, None, 3).sum(),
    lambda x: np.linspace(0, 1, 3, True, False, None, 0, 3).sum() * x[0],
    lambda x: np.average(x, None, x, False, 3),
    lambda x: np.shape(x, 1)[0] * x[0],
    lambda x: x.dot(x, x, x),
    lambda x: x.tolist(1)[0],
    lambda x: x.fill(1, 2) or x[0],
    lambda x: x.sort(0, None, None, 3) or x[0],
    lambda x: [x[0]].append(x[1], x[2]) or x[0],
    lambda x: [x[0]].append() or x[0],
    lambda x: [x[0]].append(object=x[1]) or x[0],
    lambda x: [x[0], x[1], x[2]].pop(1, 2),
    lambda x: [x[0]].extend([x[1]], [x[2]]) or x[0],
    lambda x: [x[0]].reverse(1) or x[0],
    lambda x: [x[0], x[1]].sort(abs) or x[0],
    lambda x: [x[0], x[1]].copy(1)[0],
    lambda x: [x[0]].remove(1, 2) or x[0],
    lambda x: {"a": x[0]}.get("a", 1, 2),
    lambda x: {"a": x[0]}.get("a", default=1.0),
    lambda x: {"a": x[0]}.get(),
    lambda x: {"a": x[0]}.pop("a", 1, 2),
    lambda x: {"a": x[0]}.setdefault("a", 1, 2),
    lambda x: sum({"a": x[0]}.values(1)),
    lambda x: {"a": x[0]}.update({"b": x[1]}, {"c": x[2]}) or x[0],
    lambda x: {"a": x[0]}.copy(1)["a"],
    lambda x: deque([x[0], x[1]]).append(x[0], 2) or x[0],
    lambda x: deque([x[0], x[1]]).pop(0),
    lambda x: deque([x[0], x[1]], 3).pop(0),
    lambda x: deque([x[0], x[1]]).popleft(0),
    lambda x: {1, 2}.add(3, 4) or x[0],
    lambda x: x[0] if "abc".startswith("a", 0, 1, 2) else x[1],
]


@pytest.mark.parametrize("fn", WRONG, ids=range(len(WRONG)))
def test_it_is_an_error(fn):
    with pytest.raises(TypeError) as expected:
        fn(V)
    for derivative in (ad.grad(fn), ad.value_and_grad(fn), lambda x: ad.vjp(fn, x), lambda x: ad.jvp(fn, (x,), (x,))):
        with pytest.raises(TypeError) as found:
            derivative(V)
        assert str(found.value) == str(expected.value)


def by_name(x):
    numbered = enumerate(iterable=x, start=1)
    total = sum((k * v for k, v in numbered), start=x[0])
    pairs = zip(x, sorted(x, key=abs, reverse=True), strict=True)
    return total + sum(a * b for a, b in pairs) + sum(filter(None, reversed(list(x))))


def test_what_they_take_by_name():
    check_gradient(by_name, (V,))


def with_methods(x):
    items = [x[0], x[1], x[2]]
    items.sort(key=abs, reverse=True)
    last = items.pop(-1)
    items.insert(0, last)
    table = {"a": x[0], "b": x[1]}
    ends = deque(items, maxlen=3)
    ends.rotate(1)
    ends.appendleft(x[0])
    rows = x.reshape(2, 2, order="F").sum(axis=0, keepdims=True)
    return rows.dot(np.array([1.0, 2.0])).item() * table.pop("b", None) + ends.popleft() * items[1]


def test_what_methods_take():
    check_gradient(with_methods, (V,))
