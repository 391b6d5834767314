"""The gradient with respect to one argument that is a tuple: all of it, whatever becomes of the last line."""

import numpy as np
import pytest

import autodiff_sct as ad

X = np.array([0.4, 1.3, -0.7, 0.9])


def list_in_it_written(pair):
    _, items = pair
    items[1] = items[0] * 2
    return (items[1] * items[0]).sum()


def list_in_it_written_in_a_loop(pair):
    scale, items = pair
    total = 0.0
    for k, v in enumerate(items):
        items[1] = v * scale
        total += (v * items[1] * (k + 1)).sum()
    return total


def dict_in_it_written(pair):
    scale, table = pair
    table["y"] = table["x"] * scale
    return (table["x"] * table["y"]).sum()


PROGRAMS = [
    (list_in_it_written, (X, [X * 2, X + 1])),
    (list_in_it_written_in_a_loop, (X, [X * 2, X + 1])),
    (dict_in_it_written, (X, {"x": X * 2, "y": X + 1})),
]


@pytest.mark.parametrize(("fn", "pair"), PROGRAMS, ids=[fn.__name__ for fn, _ in PROGRAMS])
def test_a_tuple_comes_back_whole(fn, pair):
    value, gradient = ad.value_and_grad(fn)(pair)
    assert value == fn((pair[0].copy(), type(pair[1])(pair[1])))
    for found in (ad.grad(fn)(pair), ad.grad(fn, (0,))(pair), ad.vjp(fn, pair)[1](1.0)[0]):
        assert type(found) is tuple and len(found) == 2 and type(found[1]) is type(pair[1])
        np.testing.assert_allclose(found[0], gradient[0])
        for key in pair[1] if isinstance(pair[1], dict) else range(2):
            np.testing.assert_allclose(found[1][key], gradient[1][key])
    moved = (value_at(fn, pair, 1e-6) - value_at(fn, pair, -1e-6)) / 2e-6
    parts = gradient[1].values() if isinstance(gradient[1], dict) else gradient[1]
    np.testing.assert_allclose(gradient[0].sum() + sum(part.sum() for part in parts), moved, rtol=1e-6)


def value_at(fn, pair, step):
    first, rest = pair
    if isinstance(rest, dict):
        return fn((first + step, {key: part + step for key, part in rest.items()}))
    return fn((first + step, [part + step for part in rest]))
