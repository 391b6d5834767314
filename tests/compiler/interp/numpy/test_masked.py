"""Masked arrays that a program makes: what ``numpy.ma`` computes, with derivatives of what is not masked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import AutodiffError


def third(x):
    return np.arange(x.size).reshape(x.shape) % 3 == 1


def mean(x):
    return np.ma.masked_array(x, third(x)).mean()


def squares(x):
    m = np.ma.array(x, mask=third(x))
    return (m**2).sum() + np.sum(m.filled(0.0) ** 2) + np.sum(m.data)


def without_nan(x):
    y = np.where(third(x), np.nan, x)
    m = np.ma.masked_invalid(y)
    return m.mean() * m.count() + (m * m).sum() + np.ma.mean(m**2)


def statistics(x):
    m = np.ma.masked_less(x, 0.1)
    return m.var() + m.std() + m.max() - m.min() + np.sum(m) + np.mean(m) * np.ma.sum(m) + m.std(ddof=1)


def functions(x):
    m = np.ma.masked_where(x < 0, x)
    z, w = np.ma.log(m) + np.exp(-m), 2.0 / m + m / 3 - 1
    return z.sum() + w.mean() + np.ma.sqrt(m).sum() + np.tanh(m).sum() + np.divide(m, m + 1).sum()


def written(x):
    m = np.ma.array(x, mask=third(x), copy=True)
    m[0] = x[1] * 2
    m[2:4] *= 3.0
    d, e = x + m, x * m - m
    m[x > 1] = np.ma.masked
    return d.sum() + np.sum(e.compressed() ** 2) + m.sum() + e[0]


def axes(x):
    rows = np.outer(x, x + 1)
    m = np.ma.masked_where(third(rows), rows)
    a, s = m.mean(axis=0), m.sum(axis=1)
    centred = (m - m.mean(axis=0)).std()
    return np.sum(a.filled(0.0) ** 2) + s.filled(1.0).sum() + np.ma.average(m, weights=np.abs(rows) + 1) + centred


def repeated(x):
    m, r = np.ma.array([x[0], x[1], x[2], x[4]], mask=[0, 1, 0, 0]), 0.0
    for _ in range(3):
        m = m * 0.5 + 1 / (m**2 + 1.0)
        r += m.mean()
    return r + np.ma.array(x, mask=False)[1:].sum()


PROGRAMS = (mean, squares, without_nan, statistics, functions, written, axes, repeated)


@pytest.mark.parametrize("size", [5, 40])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda fn: fn.__name__)
def test_masked(program: Any, size: int) -> None:
    x = np.random.default_rng(0).normal(size=size) + 0.3
    value, gradient = ad.value_and_grad(program)(x)
    assert value == program(x)
    assert np.isfinite(gradient).all()
    ad.check_grads(program, (x,))


def emptied(x):
    return np.ma.masked_where(x < 5, x).mean()


def unmasked(x):
    return np.ma.array(x).mean()


@pytest.mark.parametrize(
    ("program", "message"), [(emptied, "a number that is masked"), (unmasked, "np.ma.array\\(x, mask=m\\)")]
)
def test_refused(program: Any, message: str) -> None:
    with pytest.raises(AutodiffError, match=message):
        ad.grad(program)(np.ones(3))


class Doubled:
    """A class to which NumPy hands its functions."""

    def __init__(self, v):
        self.v = v

    def __array_ufunc__(self, fn, method, *inputs):
        return Doubled(fn(*[i.v if isinstance(i, Doubled) else i for i in inputs]) * 2.0)

    def mean(self, axis=None, dtype=None, out=None):
        return np.sum(self.v)


def handed_over(x):
    d = Doubled(x)
    return np.sum(np.exp(d).v) + np.sum((x * d).v) + np.mean(d)


def test_protocols_of_classes() -> None:
    x = np.array([0.3, -0.2, 1.5])
    assert ad.value_and_grad(handed_over)(x)[0] == handed_over(x)
    ad.check_grads(handed_over, (x,))


WEIGHTS, HIDDEN = np.array([3.0, 1.0, 2.0]), np.array([False, True, False])


def constants_of_numpys(x):
    fields = np.zeros(3, dtype=[("a", float), ("b", int)])
    fields["a"], fields["b"] = WEIGHTS, [2, 1, 3]
    ordered = np.sort(fields, order="b")
    masked = np.ma.array(WEIGHTS, mask=HIDDEN)
    return np.sum(x * ordered["a"]) * np.ma.median(masked) + np.ma.dot(masked, masked) * x[0]


def test_constants_stay_numpys() -> None:
    """What carries no derivative may be given to every function."""
    x = np.array([0.3, -0.2, 1.5])
    assert ad.value_and_grad(constants_of_numpys)(x)[0] == constants_of_numpys(x)
    ad.check_grads(constants_of_numpys, (x,))
