"""What no gradient reads is not computed; where the program raises for shapes or subscripts, the gradient does."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import differences

pytestmark = pytest.mark.once


def to_and_fro(n, a, b):
    a, b = a.copy(), b.copy()
    for _ in range(n):
        b[1:-1] = 0.5 * (a[:-2] + a[2:])
        a[1:-1] = 0.3 * (b[:-2] + b[1:-1] - b[2:])
    return np.sum(a) + np.sum(b)


def planes(n, a, b):
    a, b = a.copy(), b.copy()
    for _ in range(n):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[2:, 1:-1])
        a[1:-1, 1:-1] += b[1:-1, 2:] / 4.0
    return np.sum(a) - np.sum(b)


def sweeps(n, a):
    a = a.copy()
    for i in range(1, n - 1):
        a[i, 1:-1] += a[i - 1, :-2] + a[i + 1, 2:]
        for j in range(1, n - 1):
            a[i, j] += a[i, j - 1]
            a[i, j] /= 3.0
    return np.sum(a)


def filters(n, a):
    y = np.zeros_like(a)
    y[:, 0] = 0.5 * a[:, 0]
    y[:, 1] = 0.5 * a[:, 1] + 0.25 * y[:, 0]
    for j in range(2, n):
        y[:, j] = 0.5 * a[:, j] + 0.2 * y[:, j - 1] + 0.1 * y[:, j - 2]
    out = y + a
    out[:] = 1.5 * (y + a)
    return np.sum(out)


def product(n, c, a, b):
    c = c.copy()
    c[:] = n * a @ b + 0.5 * c
    return np.sum(c)


def vectors(n, x, y, u, v, a):
    x, y = x.copy(), y.copy()
    x += n * (a @ u)
    y += v @ a
    return np.sum(x) + np.sum(y)


def rows(n, a, b):
    a = a.copy()
    for i in range(n):
        a[i] += b
        a[i, :] -= 0.5 * b
    return np.sum(a)


def written(n, a, b):
    """What is written is an argument, which the caller sees."""
    a[1:-1] = n * b[1:-1]
    return np.sum(b)


def shown(n, a, b):
    """A length that two arrays have decides what a third one is like."""
    c = np.zeros_like(b)
    c[:] = n * a
    return np.sum(c) + np.sum(np.zeros_like(c) + b)


CASES = [
    (to_and_fro, 2, (20,), (20,)),
    (to_and_fro, 2, (4,), (4,)),
    (to_and_fro, 0, (20,), (17,)),
    (planes, 2, (18, 20), (18, 20)),
    (planes, 1, (4, 3), (4, 3)),
    (sweeps, 18, (18, 18)),
    (sweeps, 5, (5, 6)),
    (filters, 20, (17, 20)),
    (filters, 4, (3, 4)),
    (product, 2, (5, 6), (5, 4), (4, 6)),
    (product, 2, (16, 16), (16, 16), (16, 16)),
    (vectors, 2, (4,), (5,), (5,), (4,), (4, 5)),
    (vectors, 2, (16,), (16,), (16,), (16,), (16, 16)),
    (rows, 3, (3, 4), (4,)),
    (written, 2, (20,), (20,)),
    (shown, 2, (20,), (20,)),
    (shown, 2, (3,), (3,)),
]


def arrays(shapes):
    rng = np.random.default_rng(0)
    return [rng.uniform(0.3, 0.9, size=shape) for shape in shapes]


def others(n, shapes):
    """The shapes of a case, and with each of its lengths changed, alone and with the next one; other trip counts."""
    yield n, shapes
    yield n + 1, shapes
    yield max(n - 1, 0), shapes
    places = [(k, axis) for k, shape in enumerate(shapes) for axis in range(len(shape))]
    for first, second in zip(places, [*places[1:], places[0]]):
        length = shapes[first[0]][first[1]]
        for length in (length - 1, length + 1, 1, 3):
            for changed in ([first], [first, second]) if length > 3 else ([first],):
                new = [list(shape) for shape in shapes]
                for k, axis in changed:
                    new[k][axis] = max(length, 0)
                yield n, [tuple(shape) for shape in new]


def outcome(call):
    try:
        with np.errstate(all="ignore"):
            return call(), None
    except (ValueError, IndexError) as error:
        return None, type(error)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].__name__}-{case[2]}")
def test_gradients_and_errors(case):
    fn, n, *shapes = case
    positions = tuple(range(1, 1 + len(shapes)))
    gradient = ad.grad(fn, positions)
    for trips, changed in others(n, shapes):
        args = [trips, *arrays(changed)]
        _, failed = outcome(lambda args=args: fn(*(x.copy() if isinstance(x, np.ndarray) else x for x in args)))
        given = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
        found, raised = outcome(lambda given=given: gradient(*given))
        assert (raised is None) == (failed is None), (changed, trips, failed, raised)
        if failed is None and sum(x.size for x in args[1:]) < 120:
            for position, each in zip(positions, found if len(shapes) > 1 else [found]):
                np.testing.assert_allclose(
                    each, differences(lambda *a: fn(*(np.copy(x) if np.ndim(x) else x for x in a)), args, position),
                    rtol=1e-6, atol=1e-7, err_msg=str((changed, trips)),
                )  # fmt: skip


@pytest.mark.parametrize("case", [CASES[0], CASES[3], CASES[5], CASES[7], CASES[10]], ids=lambda case: case[0].__name__)
def test_nothing_is_computed_to_be_thrown_away(case):
    fn, n, *shapes = case
    source = ad.adjoint_source(fn, n, *arrays(shapes), grad_position=tuple(range(1, 1 + len(shapes))))
    forward = source[: source.index("return np.sum")]
    assert "[...] =" not in forward and "for " not in forward and ".copy()" not in forward, source


def test_memory_that_is_not_written_is_not_read():
    source = ad.adjoint_source(filters, 20, *arrays([(17, 20)]), grad_position=1)
    assert "zeros_like" not in source, source
