"""Loss cells: their defaults, their reductions and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from autodiff_sct import Tensor, nn
from tests.nn.differences import assert_gradients

rng = np.random.default_rng(2)
X, Y = Tensor(rng.uniform(0.1, 0.9, (4, 3))), Tensor(np.round(rng.uniform(size=(4, 3))))
ERROR = X.asnumpy() - Y.asnumpy()


@pytest.mark.parametrize(
    "loss, expected",
    [
        (nn.MSELoss(), (ERROR**2).mean()),
        (nn.MSELoss("sum"), (ERROR**2).sum()),
        (nn.L1Loss(), np.abs(ERROR).mean()),
        (nn.MAELoss(), np.abs(ERROR).mean()),
        (nn.RMSELoss(), np.sqrt((ERROR**2).mean())),
        (nn.SmoothL1Loss(), 0.5 * ERROR**2),
        (nn.HuberLoss(delta=2.0), (0.5 * ERROR**2).mean()),
        (nn.BCELoss(), -np.log(1 - np.abs(ERROR)).mean()),
        (nn.BCEWithLogitsLoss("none"), np.logaddexp(0, X.asnumpy()) - X.asnumpy() * Y.asnumpy()),
        (nn.KLDivLoss("sum"), (-X.asnumpy() * Y.asnumpy()).sum()),
    ],
    ids=lambda value: getattr(value, "cls_name", ""),
)
def test_value_and_gradient(loss, expected):
    assert np.allclose(loss(X, Y), expected)
    assert_gradients(lambda x: loss(x, Y), X)


SIGNS = Tensor(np.where(Y.asnumpy() > 0, 1.0, -1.0))
S, Z = SIGNS.asnumpy(), Tensor(rng.uniform(0.1, 0.9, (4, 3)))


def cosine(x, y):
    return (x * y).sum(1) / np.sqrt((x**2).sum(1) * (y**2).sum(1))


def distance(x, y):
    return np.sqrt(((x - y + 1e-6) ** 2).sum(1))


@pytest.mark.parametrize(
    "loss, inputs, expected",
    [
        (nn.HingeEmbeddingLoss(), (X, SIGNS), lambda x, s: np.where(s > 0, x, np.maximum(0, 1 - x)).mean()),
        (nn.MarginRankingLoss(0.1), (X, Z, SIGNS), lambda x, z, s: np.maximum(0, 0.1 - s * (x - z)).mean()),
        (nn.SoftMarginLoss("sum"), (X, SIGNS), lambda x, s: np.log1p(np.exp(-s * x)).sum()),
        (
            nn.CosineEmbeddingLoss(0.2),
            (X, Z, Tensor([1, -1, 1, -1])),
            lambda x, z, s: np.where(s > 0, 1 - cosine(x, z), np.maximum(0, cosine(x, z) - 0.2)).mean(),
        ),
        (
            nn.TripletMarginLoss(reduction="none"),
            (X, Z, Y),
            lambda x, z, y: np.maximum(0, distance(x, z) - distance(x, y) + 1),
        ),
        (
            nn.TripletMarginLoss(swap=True),
            (X, Z, Y),
            lambda x, z, y: np.maximum(0, distance(x, z) - np.minimum(distance(x, y), distance(z, y)) + 1).mean(),
        ),
        (nn.PoissonNLLLoss(), (X, Y), lambda x, y: (np.exp(x) - y * x).mean()),
        (nn.PoissonNLLLoss(False), (X, Y), lambda x, y: (x - y * np.log(x + 1e-8)).mean()),
        (
            nn.PoissonNLLLoss(full=True),
            (X, Tensor(4 * Y.asnumpy())),
            lambda x, y: (np.exp(x) - y * x + np.where(y > 1, 4 * np.log(4) - 4 + 0.5 * np.log(8 * np.pi), 0)).mean(),
        ),
        (nn.GaussianNLLLoss(), (X, Y, Z), lambda x, y, v: 0.5 * (np.log(v) + (x - y) ** 2 / v).mean()),
        (nn.DiceLoss(), (X, Y), lambda x, y: 1 - (2 * (x * y).sum() + 1e-5) / ((x**2).sum() + (y**2).sum() + 1e-5)),
    ],
    ids=lambda value: getattr(value, "cls_name", ""),
)
def test_losses_of_pairs(loss, inputs, expected):
    assert np.allclose(loss(*inputs), expected(*[x.asnumpy() for x in inputs]))
    assert_gradients(lambda x: loss(x, *inputs[1:]), X)


def test_classes():
    labels = Tensor([0, 2, 1, 1])
    one_hot = Tensor(np.eye(3)[labels.asnumpy()])
    p = np.exp(X.asnumpy()) / np.exp(X.asnumpy()).sum(1, keepdims=True)
    each = -np.log(p[range(4), labels.asnumpy()])
    assert np.allclose(nn.SoftmaxCrossEntropyWithLogits(sparse=True)(X, labels), each)
    assert np.allclose(nn.SoftmaxCrossEntropyWithLogits()(X, one_hot), each)
    assert np.allclose(nn.CrossEntropyLoss()(X, labels), each.mean())
    assert np.allclose(nn.CrossEntropyLoss()(X, one_hot), each.mean())
    assert np.allclose(nn.NLLLoss()(nn.LogSoftmax()(X), labels), each.mean())
    for loss in (
        nn.SoftmaxCrossEntropyWithLogits(True, "mean"),
        nn.CrossEntropyLoss(label_smoothing=0.1),
        nn.NLLLoss(),
    ):
        assert_gradients(lambda x: loss(x, labels), X)


def test_binary_cross_entropy_of_certainty():
    sure = Tensor([0.0, 1.0])
    assert nn.BCELoss(reduction="none")(sure, Tensor([1.0, 1.0])).tolist() == [100, 0]


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: nn.MSELoss("all"), ValueError),
        (lambda: nn.CrossEntropyLoss(reduction="no"), ValueError),
        (lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=1), TypeError),
        (lambda: nn.SmoothL1Loss(beta=0.0), ValueError),
        (lambda: nn.HuberLoss(delta="1"), TypeError),
        (lambda: nn.CrossEntropyLoss(label_smoothing=2.0), ValueError),
        (lambda: nn.CrossEntropyLoss(label_smoothing=1), TypeError),
    ],
)
def test_errors(make, error):
    with pytest.raises(error):
        make()
