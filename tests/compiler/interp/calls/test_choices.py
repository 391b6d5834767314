"""What a generator chooses from an array with a derivative: the same numbers of its stream as in the program."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import NoRule
from tests.compiler.checked import Cases, check_gradient, names, registrar

X = np.array([0.3, 0.4, 0.5])
A = np.arange(1.0, 7.0).reshape(3, 2)
CASES: Cases = []
case = registrar(CASES)


@case((X, 7))
def bootstrap(x, seed):
    rng = np.random.default_rng(seed)
    total = 0.0
    for _ in range(5):
        sample = rng.choice(x, size=len(x), replace=True)
        total = total + np.mean(sample) ** 2
    return total


@case((A, 7))
def rows(a, seed):
    rng = np.random.default_rng(seed)
    order, some = rng.permutation(a), rng.choice(a, 2, False)
    return np.sum(order * np.arange(6.0).reshape(3, 2)) + np.sum(some**2) + rng.normal() * a[0, 0]


@case((X, 7))
def of_the_older_kind(x, seed):
    generator = np.random.RandomState(seed)
    return generator.choice(x) * generator.permutation(x)[0] + generator.choice(x, p=[0.2, 0.3, 0.5])


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize("fn", [lambda r, a: r.choice(a, 2, axis=1), lambda r, a: r.permutation(a, 1)])
def test_along_another_axis(fn):
    with pytest.raises(NoRule, match="has no derivative rule"):
        ad.grad(lambda a: np.sum(fn(np.random.default_rng(7), a)))(A)
