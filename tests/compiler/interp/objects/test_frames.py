"""Arrays that a frame of pandas hands out, of which only the run tells the rank."""

import numpy as np
import pytest

from tests.compiler.checked import check_gradient, check_tangent, registrar

pandas = pytest.importorskip("pandas")
RNG = np.random.default_rng(0)
FRAMES = [pandas.DataFrame(RNG.uniform(1, 2, (rows, 4))) for rows in (5, 130)]
W = np.array([0.1, 0.2, 0.3, 0.4])
CASES: list = []
case = registrar(CASES)
both = case(*[(W, frame) for frame in FRAMES])


@both
def drawdown(w, frame):
    value = np.cumprod(1 + 0.1 * (frame.pct_change().dropna().values @ w))
    peak = np.maximum.accumulate(value)
    return np.max(1 - value / peak) + np.cumsum(value)[-1]


@both
def products(w, frame):
    return np.sum(np.einsum("ij,j->i", frame.values, w) ** 2) + np.einsum("ij,kj", frame.values, w[None]).sum()


@both
def row_by_row(w, frame):
    total = 0.0
    for row in frame.values:
        total += np.tanh(row @ w)
    return total


@both
def covariances(w, frame):
    n, k = frame.values.shape
    c = np.zeros((k, k))
    for t in range(n):
        c = 0.9 * c + np.outer(frame.values[t] * w, w)
    return np.sum(c)


@both
def standardised(w, frame):
    x = frame.to_numpy()
    x = (x - x.mean(0)) / x.std(0)
    return np.mean(np.log1p(np.exp(-(x @ w))))


@pytest.mark.parametrize(("fn", "args"), CASES)
def test_both_modes(fn, args):
    check_gradient(fn, args)
    check_tangent(fn, args)
