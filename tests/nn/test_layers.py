"""Layers: values by hand, gradients by central differences, what they keep and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import Tensor, nn, ops
from tests.nn.differences import assert_gradients

rng = np.random.default_rng(0)
IMAGE = rng.normal(size=(2, 2, 5, 4))


def convolved(x, w, stride, pads, dilation, group):
    """The cross-correlation, place by place."""
    (n, c, height, width), (out, per, kh, kw) = x.shape, w.shape
    x = np.pad(x, ((0, 0), (0, 0), pads[:2], pads[2:]))
    rows = (x.shape[2] - dilation * (kh - 1) - 1) // stride + 1
    columns = (x.shape[3] - dilation * (kw - 1) - 1) // stride + 1
    y = np.zeros((n, out, rows, columns))
    for o in range(out):
        start = (o // (out // group)) * per
        for r in range(rows):
            for s in range(columns):
                top, left = r * stride, s * stride
                patch = x[
                    :, start : start + per, top : top + dilation * kh : dilation, left : left + dilation * kw : dilation
                ]
                y[:, o, r, s] = (patch[:, :, :kh, :kw] * w[o]).sum((1, 2, 3))
    return y


@pytest.mark.parametrize(
    "settings, pads, stride, dilation, group",
    [
        ({}, (1, 1, 1, 1), 1, 1, 1),
        ({"stride": 2}, (1, 1, 0, 1), 2, 1, 1),
        ({"pad_mode": "valid"}, (0, 0, 0, 0), 1, 1, 1),
        ({"pad_mode": "pad", "padding": 2, "dilation": 2}, (2, 2, 2, 2), 1, 2, 1),
        ({"pad_mode": "pad", "padding": (1, 0, 2, 1), "group": 2}, (1, 0, 2, 1), 1, 1, 2),
    ],
)
def test_convolution(settings, pads, stride, dilation, group):
    layer = nn.Conv2d(2, 4, 3, has_bias=True, dtype=ad.float64, bias_init="ones", **settings)
    expected = convolved(IMAGE, layer.weight.asnumpy(), stride, pads, dilation, group) + 1
    assert np.allclose(layer(Tensor(IMAGE)), expected)
    assert_gradients(layer, Tensor(IMAGE))


def test_max_pool():
    pooled = nn.MaxPool2d(2, 2)(Tensor(IMAGE))
    assert np.allclose(pooled, IMAGE[:, :, :4].reshape(2, 2, 2, 2, 2, 2).max((3, 5)))
    assert nn.MaxPool2d(3, 2, pad_mode="same")(Tensor(-np.abs(IMAGE))).shape == (2, 2, 3, 2)
    assert nn.MaxPool2d(3, 2, pad_mode="same")(Tensor(-np.abs(IMAGE))).max().item() < 0
    assert_gradients(nn.MaxPool2d(2, 1), Tensor(IMAGE))
    assert_gradients(nn.MaxPool2d(3, 2, pad_mode="same"), Tensor(IMAGE))


def test_max_pool_shares_ties():
    gradient = ad.grad(nn.MaxPool2d(2, 2))(Tensor(np.ones((1, 1, 2, 2), np.float32)))
    assert gradient.tolist() == [[[[0.25, 0.25], [0.25, 0.25]]]]


def test_average_pool():
    pooled = nn.AvgPool2d(2, 2)(Tensor(IMAGE))
    assert np.allclose(pooled, IMAGE[:, :, :4].reshape(2, 2, 2, 2, 2, 2).mean((3, 5)))
    assert np.allclose(nn.AvgPool2d(3, 1, "same")(Tensor(np.ones((1, 1, 4, 4)))), 1)
    assert_gradients(nn.AvgPool2d(2, 1), Tensor(IMAGE))
    assert_gradients(nn.AvgPool2d(3, 2, "same"), Tensor(IMAGE))


def test_dense():
    layer = nn.Dense(3, 2, dtype=ad.float64)
    x = rng.normal(size=(4, 3))
    assert np.allclose(layer(Tensor(x)), x @ layer.weight.asnumpy().T + layer.bias.asnumpy())
    assert np.abs(layer.weight.asnumpy()).max() <= 1 / np.sqrt(3)
    assert_gradients(layer, Tensor(x))
    assert_gradients(nn.Dense(3, 2, activation="tanh", dtype=ad.float64), Tensor(x))
    assert nn.Dense(3, 2, has_bias=False)(Tensor(np.ones((2, 5, 3), np.float32))).shape == (2, 5, 2)
    assert isinstance(nn.Dense(3, 2, activation=nn.ReLU()).activation, nn.ReLU)


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: nn.Dense(1.0, 2), TypeError),
        (lambda: nn.Dense(1, "2"), TypeError),
        (lambda: nn.Dense(1, 2, has_bias=1), TypeError),
        (lambda: nn.Dense(0, 2), ValueError),
        (lambda: nn.Dense(1, -2), ValueError),
        (lambda: nn.Dense(1, 2, weight_init=Tensor([1.0])), ValueError),
        (lambda: nn.Dense(1, 2, activation=3), TypeError),
        (lambda: nn.Dense(1, 2, activation="nothing"), ValueError),
        (lambda: nn.Dense(3, 2)(Tensor(np.ones((2, 4), np.float32))), ValueError),
        (lambda: nn.Conv2d(1, 1, 0), ValueError),
        (lambda: nn.Conv2d(1, 1, "3"), TypeError),
        (lambda: nn.Conv2d(3, 2, 1, group=2), ValueError),
        (lambda: nn.Conv2d(1, 1, 3, pad_mode="none"), ValueError),
        (lambda: nn.Conv2d(1, 1, 3, padding=1), ValueError),
        (lambda: nn.Dropout(1.5), ValueError),
        (lambda: nn.Dropout("a"), TypeError),
        (lambda: nn.LayerNorm(3), TypeError),
        (lambda: nn.BatchNorm1d(2, momentum=2.0), ValueError),
        (lambda: nn.BatchNorm2d(2)(Tensor([[1.0, 2.0]])), ValueError),
        (lambda: nn.GELU(1), TypeError),
    ],
)
def test_errors(make, error):
    with pytest.raises(error):
        make()


def test_batch_norm():
    layer = nn.BatchNorm2d(2, dtype=ad.float64).set_train()
    x = Tensor(IMAGE)
    y = layer(x).asnumpy()
    assert np.allclose(y.mean((0, 2, 3)), 0) and np.allclose(y.var((0, 2, 3)), 1, atol=1e-4)
    assert np.allclose(layer.moving_mean, 0.1 * IMAGE.mean((0, 2, 3)))
    assert np.allclose(layer.moving_variance, 0.9 + 0.1 * IMAGE.var((0, 2, 3), ddof=1))
    assert [p.name for p in layer.trainable_params()] == ["gamma", "beta"]
    layer.set_train(False)
    moving = layer.moving_mean.asnumpy().copy(), layer.moving_variance.asnumpy().copy()
    expected = (IMAGE - moving[0][:, None, None]) / np.sqrt(moving[1][:, None, None] + 1e-5)
    assert np.allclose(layer(x), expected)
    assert_gradients(layer, x)
    assert np.array_equal(layer.moving_mean, moving[0])


@pytest.mark.parametrize(
    "layer, shape", [(nn.BatchNorm1d, (6, 3)), (nn.BatchNorm1d, (4, 3, 2)), (nn.BatchNorm2d, (2, 3, 2, 2))]
)
def test_gradient_of_batch_norm_in_training(layer, shape):
    cell = nn.SequentialCell(layer(3, dtype=ad.float64), nn.Tanh()).set_train()
    assert_gradients(cell, Tensor(rng.normal(size=shape)))


def test_compiled_batch_norm_moves_its_statistics():
    eager, compiled = nn.BatchNorm1d(2).set_train(), nn.BatchNorm1d(2).set_train()
    x = Tensor(rng.normal(size=(5, 2)).astype(np.float32))
    for _ in range(2):
        eager(x)
        ad.grad(compiled)(x)
    assert np.allclose(eager.moving_mean, compiled.moving_mean)
    assert np.allclose(eager.moving_variance, compiled.moving_variance)


def test_layer_norm():
    layer = nn.LayerNorm((4,), dtype=ad.float64)
    y = layer(Tensor(IMAGE)).asnumpy()
    assert np.allclose(y.mean(-1), 0) and np.allclose(y.var(-1), 1, atol=1e-5)
    assert_gradients(nn.SequentialCell(layer, nn.Tanh()), Tensor(IMAGE))
    assert (
        nn.LayerNorm((5, 4), begin_norm_axis=2, begin_params_axis=2, dtype=ad.float64)(Tensor(IMAGE)).shape
        == IMAGE.shape
    )


def test_dropout():
    ad.set_seed(3)
    layer = nn.Dropout(p=0.25)
    x = Tensor(np.ones(10000, np.float32))
    assert layer(x) is x
    layer.set_train()
    y = layer(x).asnumpy()
    assert y.dtype == np.float32
    assert set(np.unique(y)) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs((y == 0).mean() - 0.25) < 0.02
    value, gradient = ad.value_and_grad(layer)(x)
    assert np.array_equal(value, gradient), "the numbers drawn in the forward sweep are those of the reverse sweep"
    assert nn.Dropout(keep_prob=0.9).p == pytest.approx(0.1)


def test_embedding():
    layer = nn.Embedding(5, 3, padding_idx=0)
    ids = Tensor([[0, 2], [2, 4]])
    assert layer(ids).shape == (2, 2, 3) and not layer.embedding_table[0].any()
    gradient = ad.grad(lambda ids: layer(ids).sum(), None, layer.embedding_table)(ids)
    assert gradient.sum(axis=1).tolist() == [3, 0, 6, 0, 3]


def test_flatten():
    assert nn.Flatten()(Tensor(IMAGE)).shape == (2, 40)
    assert nn.Flatten(1, 2)(Tensor(IMAGE)).shape == (2, 10, 4)


ACTIVATIONS = [
    (nn.ReLU(), lambda x: max(x, 0)),
    (nn.ReLU6(), lambda x: min(max(x, 0), 6)),
    (nn.LeakyReLU(), lambda x: x if x > 0 else 0.2 * x),
    (nn.PReLU(), lambda x: x if x > 0 else 0.25 * x),
    (nn.ELU(), lambda x: x if x > 0 else np.expm1(x)),
    (nn.Sigmoid(), lambda x: 1 / (1 + np.exp(-x))),
    (nn.LogSigmoid(), lambda x: -np.log1p(np.exp(-x))),
    (nn.Tanh(), np.tanh),
    (nn.SiLU(), lambda x: x / (1 + np.exp(-x))),
    (nn.Softplus(), lambda x: np.log1p(np.exp(x))),
    (nn.Mish(), lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    (nn.HSigmoid(), lambda x: min(max(x + 3, 0), 6) / 6),
    (nn.HSwish(), lambda x: x * min(max(x + 3, 0), 6) / 6),
    (nn.GELU(), lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))),
    (nn.GELU(approximate=False), lambda x: float(0.5 * x * (1 + ops.erf(np.array(x / np.sqrt(2)))))),
    (nn.Identity(), lambda x: x),
    (nn.CELU(0.5), lambda x: x if x > 0 else 0.5 * np.expm1(x / 0.5)),
    (nn.SeLU(), lambda x: 1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * np.expm1(x))),
    (nn.FastGelu(), lambda x: x / (1 + np.exp(-1.702 * x))),
    (nn.HShrink(), lambda x: x if abs(x) > 0.5 else 0),
    (nn.SoftShrink(), lambda x: np.sign(x) * max(abs(x) - 0.5, 0)),
    (nn.Hardtanh(-1.0, 2.0), lambda x: min(max(x, -1), 2)),
    (nn.Threshold(0.1, 20.0), lambda x: x if x > 0.1 else 20),
    (nn.Softsign(), lambda x: x / (1 + abs(x))),
    (nn.Tanhshrink(), lambda x: x - np.tanh(x)),
    (nn.GLU(), lambda x: x),
]


@pytest.mark.parametrize("layer, formula", ACTIVATIONS, ids=lambda value: getattr(value, "cls_name", ""))
def test_activation(layer, formula):
    if isinstance(layer, nn.GLU):
        x = rng.normal(size=(2, 6))
        assert np.allclose(layer(Tensor(x)), x[:, :3] / (1 + np.exp(-x[:, 3:])))
        return assert_gradients(layer, Tensor(x))
    values = [-7.5, -2.5, -0.3, 0.4, 2.6, 6.5]
    assert np.allclose(layer(Tensor(np.array(values))), [formula(v) for v in values])
    assert layer(Tensor(values)).dtype == ad.float32
    assert_gradients(layer, Tensor(np.array(values)))


def test_relu_at_its_kink():
    assert ad.grad(nn.ReLU())(Tensor([0.0, 1.0])).tolist() == [0, 1]
    assert np.isnan(nn.ReLU()(Tensor([np.nan])).item())


def test_sigmoid_far_out():
    y, slope = ad.value_and_grad(nn.Sigmoid())(Tensor([-1000.0, -50.0, 0.0, 1000.0]))
    assert np.allclose(y, [0, np.exp(-50), 0.5, 1], rtol=1e-5)
    assert np.allclose(slope, [0, np.exp(-50), 0.25, 0], rtol=1e-5)


@pytest.mark.parametrize("axis", [-1, 0])
def test_softmax(axis):
    x = rng.normal(size=(3, 4)) + 1000
    y = nn.Softmax(axis)(Tensor(x))
    assert np.allclose(y.sum(axis=axis), 1)
    assert np.allclose(np.log(y), nn.LogSoftmax(axis)(Tensor(x)))
    weigh = Tensor(rng.normal(size=(3, 4)))
    assert np.allclose(nn.Softmin(axis)(Tensor(-x)), y)
    for layer in (nn.Softmax(axis), nn.LogSoftmax(axis), nn.Softmin(axis)):
        assert_gradients(lambda x, layer=layer: layer(x) * weigh, Tensor(x))
