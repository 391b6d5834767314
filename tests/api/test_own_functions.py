"""Functions of NumPy and SciPy that are differentiated themselves, without a function of the user's around them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.special
import scipy.stats

import autodiff_sct as ad

X = np.array([0.3, 0.5, 0.9])
OF_NUMBERS = [np.sin, np.tanh, np.exp, np.log, np.sqrt, np.square, np.absolute, scipy.special.erf, scipy.special.expit]
CASES: list[tuple[Any, tuple[Any, ...]]] = [
    (np.sin, (X,)),
    (np.arctan2, (X, X + 1.0)),
    (np.hypot, (X, X + 1.0)),
    (np.multiply, (X, X + 1.0)),
    (np.sum, (X,)),
    (np.prod, (X,)),
    (np.cumsum, (X,)),
    (np.dot, (X, X + 1.0)),
    (np.concatenate, ([X, X + 1.0],)),
    (np.linalg.inv, (np.eye(2) + 0.1,)),
    (np.linalg.det, (np.eye(2) + 0.1,)),
    (scipy.special.logsumexp, (X,)),
    (scipy.special.softmax, (X,)),
    (scipy.stats.zscore, (X,)),
    (scipy.stats.norm.logpdf, (X,)),
    (scipy.linalg.expm, (np.eye(2) + 0.1,)),
    (scipy.special.gammaln, (X,)),
]


@pytest.mark.parametrize("fn", OF_NUMBERS)
def test_repeated_derivatives(fn: Any) -> None:
    def around(x: Any) -> Any:
        return fn(x)

    first, second, third = ad.grad(fn), ad.grad(ad.grad(fn)), ad.grad(ad.grad(ad.grad(fn)))
    assert first(0.3) == ad.grad(around)(0.3)
    assert second(0.3) == ad.grad(ad.grad(around))(0.3) == ad.hessian(fn)(0.3)
    assert third(0.3) == ad.grad(ad.grad(ad.grad(around)))(0.3)
    assert ad.jvp(ad.grad(fn), (0.3,), (1.0,))[1] == pytest.approx(second(0.3), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("fn", "args"), CASES)
def test_both_modes_at_two_orders(fn: Any, args: tuple[Any, ...]) -> None:
    ad.check_grads(fn, args)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: np.vstack((x, np.sin(x)), dtype=None, casting="same_kind"),
        lambda x: np.sin(x, where=True, dtype=None),
        lambda x: np.exp(x, casting="same_kind", order="K", subok=True),
        lambda x: np.concatenate((x, np.sin(x)), axis=0, dtype=None),
    ],
)
def test_defaults_that_are_written_out(fn: Any) -> None:
    ad.check_grads(fn, (X,))


def test_another_setting_is_refused() -> None:
    with pytest.raises(ad.AutodiffError):
        ad.grad(lambda x: np.sum(np.sin(x, order="F")))(X)
