"""Lists of arrays that differ in their rank: each item is known until only the run tells which is meant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, check_gradient, registrar

CASES: Cases = []
case = registrar(CASES)
SIZES = [np.linspace(0.1, 0.9, n) for n in (1, 3, 130)]


@case(*SIZES)
def unpacked(x: Any) -> Any:
    items = [x, x[:, None] * x]
    weights, matrix = items
    return np.einsum("i,ij->", weights, np.sin(matrix))


@case(*SIZES)
def read_at_places(x: Any) -> Any:
    items = [x, np.outer(x, x), 2.0 * x]
    return np.sum(items[0] @ items[1] * items[-1])


@case(*SIZES)
def gone_over(x: Any) -> Any:
    total = 0.0
    for item in [x, np.outer(x, x), x[None, None]]:
        total = total + np.sum(np.sin(item), axis=-1).max()
    return total


@case(*SIZES)
def read_at_run_time(x: Any) -> Any:
    items = [x, np.outer(x, x), 2.0 * x]
    total = 0.0
    for k in range(int(x.sum() * 0) + 3):
        total = total + np.sum(np.sin(items[k]))
    return total


@case(*SIZES)
def appended_at_run_time(x: Any) -> Any:
    items = [x, np.outer(x, x)]
    for k in range(int(x.sum() * 0) + 3):
        items.append(items[-1] * (k + 1.0))
    return sum([np.sum(np.sin(item)) for item in items])


@case(*SIZES)
def appended(x: Any) -> Any:
    items = [x, np.outer(x, x)]
    items.append(items[1] @ items[0])
    items.insert(0, x[::-1])
    return np.sum(items[0] * items[-1]) + len(items)


@case(*SIZES)
def stepped(x: Any) -> Any:
    layers = [np.outer(x, x), x]
    for _ in range(4):
        slopes = [np.cos(layers[0]), np.sin(layers[1])]
        for i in range(len(layers)):
            layers[i] = layers[i] - 0.1 * slopes[i]
    return np.sum(layers[0] @ layers[1])


@case(*SIZES)
def stepped_in_place(x: Any) -> Any:
    layers = [np.outer(x, x), x * 1.0]
    for _ in range(int(x.sum() * 0) + 4):
        for layer in layers:
            layer -= 0.1 * np.cos(layer)
    return np.sum(layers[0] @ layers[1])


@case(*SIZES)
def made_anew_in_a_loop(x: Any) -> Any:
    pair = [x, np.outer(x, x)]
    for k in range(int(x.sum() * 0) + 3):
        pair = [pair[1] @ pair[0] / (k + len(x)), np.sin(pair[1])]
    return np.sum(pair[0]) + np.sum(pair[1])


@case(*SIZES)
def made_in_a_loop(x: Any) -> Any:
    total = 0.0
    for k in range(int(x.sum() * 0) + 3):
        pair = [x * k, np.outer(x, x)]
        total = total + pair[0] @ pair[1] @ pair[0]
    return total


@case(*SIZES)
def made_on_two_paths(x: Any) -> Any:
    if x.sum() > 1.0:
        pair = [x, np.outer(x, x)]
    else:
        pair = [2.0 * x, np.outer(x, 3.0 * x)]
    return np.sum(pair[1] @ pair[0])


@case(*SIZES)
def made_on_one_path(x: Any) -> Any:
    pair = [x, np.outer(x, x)]
    if x.sum() > 1.0:
        pair = [x * 2.0, x * 3.0]
    return np.sum(pair[1] * pair[0])


@case(*SIZES)
def swapped_on_a_path(x: Any) -> Any:
    pair = [x, np.outer(x, x)]
    if x.sum() > 1.0:
        pair.reverse()
    return np.sum(np.sin(pair[0])) * np.sum(pair[1])


def first_of(items: Any) -> Any:
    items = list(items)
    return items.pop(0), items


@case(*SIZES)
def given_to_functions(x: Any) -> Any:
    first, rest = first_of([np.outer(x, x), x, 2.0 * x])
    return np.sum(first @ rest[0] * rest[1])


@case(*SIZES)
def kept_in_a_list(x: Any) -> Any:
    layers = [[np.outer(x, x), x], [np.outer(x, x) / len(x), -x]]
    h = x
    for weights, bias in layers:
        h = np.tanh(weights @ h + bias)
    return np.sum(h)


@case(*SIZES)
def filled_with_layers(x: Any) -> Any:
    layers = []
    for k in range(3):
        layers.append([np.outer(x, x) / len(x), x + k])
    h = x
    for weights, bias in layers:
        h = np.tanh(weights @ h + bias)
    return np.sum(h)


@case(*SIZES)
def filled_at_run_time(x: Any) -> Any:
    layers = []
    for k in range(int(x.sum() * 0) + 3):
        layers.append([np.outer(x, x) / len(x), x + k])
    h = x
    for weights, bias in layers:
        h = np.tanh(np.sum(weights * h) + bias)
    return np.sum(h)


@case(*SIZES)
def changed_after_a_branch(x: Any) -> Any:
    if x.sum() > 1.0:
        pair = [x, np.outer(x, x)]
    else:
        pair = [2.0 * x, np.outer(x, 3.0 * x)]
    pair.append(x**2)
    pair[0] = pair[0] * 2.0
    return sum([np.sum(np.sin(item)) for item in pair])


@case(*SIZES)
def changed_after_a_loop(x: Any) -> Any:
    pair = [x, np.outer(x, x)]
    for k in range(int(x.sum() * 0) + 3):
        pair = [np.sin(pair[0]) + k, pair[1] * 0.5]
    last = pair.pop()
    pair.append(x**2)
    return sum([np.sum(np.sin(item)) for item in pair]) + np.sum(last)


@case(*SIZES)
def growing_anew(x: Any) -> Any:
    items = [x, np.outer(x, x)]
    for k in range(int(x.sum() * 0) + 3):
        items = [*items, x * k]
    return sum([np.sum(np.sin(item)) for item in items])


@case(*SIZES)
def taken_while_there_are_some(x: Any) -> Any:
    items = [x, np.outer(x, x), x[None, None] * 2.0]
    total = 0.0
    while items:
        total = total + np.sum(np.sin(items.pop()))
    return total


@case(*SIZES)
def two_names(x: Any) -> Any:
    items = [x, np.outer(x, x)]
    same = items
    same.append(x * 2.0)
    items[0] = items[0] * 3.0
    return np.sum(same[0] * items[2]) + len(same)


@case(*SIZES)
def sorted_and_compared(x: Any) -> Any:
    items = [np.outer(x, x), x]
    items = sorted(items, key=np.ndim)
    return np.sum(items[1] @ items[0]) * (items[0].shape == x.shape)


@case(*SIZES)
def joined_and_cut(x: Any) -> Any:
    items = [x] + [np.outer(x, x)] + [x * 2.0, x[None, None]]
    items += [x * 3.0]
    return np.sum(items[1] @ items[2]) + sum([np.sum(item**2) for item in items[2:]])


@case(*SIZES)
def deleted(x: Any) -> Any:
    items = [x, np.outer(x, x), x * 2.0]
    del items[0]
    return np.sum(items[0] @ items[1])


@case(*SIZES)
def repeated(x: Any) -> Any:
    items = [x, np.outer(x, x)]
    twice = items * 2
    twice += twice
    items[0] = x * 3.0
    return len(twice) * np.sum(twice[0] @ twice[3] + items[0])


@case(*SIZES)
def in_arrays(x: Any) -> Any:
    items = [x, np.outer(x, x), x * 2.0]
    flat = np.concatenate([np.ravel(item) for item in items])
    return np.sum(np.sin(flat)) + np.sum(np.vstack(items) ** 2)


@pytest.mark.parametrize("k", range(len(CASES)), ids=[f"{fn.__name__}_{len(a[0])}" for fn, a in CASES])
def test_gradient(k: int) -> None:
    check_gradient(*CASES[k])


def test_the_second_derivative_keeps_the_items_apart() -> None:
    x = SIZES[1]
    found = ad.grad(lambda x: np.sum(ad.grad(stepped)(x) ** 2))(x)
    shifted = [
        sum(ad.grad(stepped)(x + h * row) ** 2 @ np.ones(3) * sign for h, sign in ((1e-5, 1), (-1e-5, -1))) / 2e-5
        for row in np.eye(3)
    ]
    np.testing.assert_allclose(found, shifted, rtol=1e-5)
