"""Convolutions of sequences and their adjoints, groups, attention, pools and padding: values by hand and gradients."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import Tensor, nn
from tests.nn.differences import assert_gradients

rng = np.random.default_rng(0)
SEQUENCE, IMAGE = rng.normal(size=(2, 4, 7)), rng.normal(size=(2, 2, 4, 3))
F64 = {"dtype": ad.float64}


@pytest.mark.parametrize(
    "settings, pads, stride, dilation, group",
    [
        ({}, (1, 1), 1, 1, 1),
        ({"stride": 2, "pad_mode": "valid"}, (0, 0), 2, 1, 1),
        ({"pad_mode": "pad", "padding": 2, "dilation": 2, "group": 2}, (2, 2), 1, 2, 2),
    ],
)
def test_convolution_of_sequences(settings, pads, stride, dilation, group):
    layer = nn.Conv1d(4, 2, 3, has_bias=True, bias_init="ones", **settings, **F64)
    w = layer.weight.asnumpy()[:, :, 0]
    padded = np.pad(SEQUENCE, ((0, 0), (0, 0), pads))
    places = range(0, padded.shape[2] - 2 * dilation, stride)
    expected = np.ones((2, 2, len(places)))
    for out in range(2):
        seen = padded[:, :2] if group == 2 and out == 0 else padded[:, 2:] if group == 2 else padded
        for k, at in enumerate(places):
            expected[:, out, k] += np.sum(seen[:, :, at : at + 2 * dilation + 1 : dilation] * w[out], axis=(1, 2))
    assert np.allclose(layer(Tensor(SEQUENCE)), expected)
    assert_gradients(layer, Tensor(SEQUENCE))


@pytest.mark.parametrize(
    "settings, shape",
    [
        ({}, (2, 2, 4, 3)),
        ({"stride": 2}, (2, 2, 8, 6)),
        ({"stride": 3, "kernel_size": 2}, (2, 2, 12, 9)),
        ({"stride": 2, "pad_mode": "valid"}, (2, 2, 9, 7)),
        ({"stride": 2, "pad_mode": "pad", "padding": 1, "output_padding": 1}, (2, 2, 8, 6)),
        ({"pad_mode": "pad", "padding": (1, 0, 2, 1), "dilation": 2, "group": 2}, (2, 2, 7, 4)),
    ],
)
def test_transposed_convolution_is_the_adjoint(settings, shape):
    settings = {"kernel_size": 3} | settings
    layer = nn.Conv2dTranspose(2, 2, **settings, **F64)
    y = layer(Tensor(IMAGE))
    assert y.shape == shape
    settings.pop("output_padding", None)
    convolution = nn.Conv2d(2, 2, **settings, weight_init=layer.weight, **F64)
    other = rng.normal(size=shape)
    assert np.vdot(other, y.asnumpy()) == pytest.approx(np.vdot(convolution(Tensor(other)).asnumpy(), IMAGE))


def test_transposed_convolution():
    assert_gradients(nn.Conv2dTranspose(2, 4, 3, 2, group=2, has_bias=True, **F64), Tensor(IMAGE))
    assert_gradients(nn.Conv1dTranspose(4, 2, 3, 2, has_bias=True, **F64), Tensor(SEQUENCE))
    assert nn.Conv1dTranspose(4, 3, 3, 2)(Tensor(SEQUENCE.astype(np.float32))).shape == (2, 3, 14)
    assert nn.Conv2dTranspose(2, 6, 3).weight.shape == (2, 6, 3, 3)


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_group_norm(groups):
    layer = nn.GroupNorm(groups, 4, **F64)
    x = rng.normal(size=(2, 4, 3, 2))
    parts = x.reshape(2, groups, -1)
    expected = (parts - parts.mean(2, keepdims=True)) / np.sqrt(parts.var(2, keepdims=True) + 1e-5)
    assert np.allclose(layer(Tensor(x)), expected.reshape(x.shape))
    assert_gradients(nn.SequentialCell(layer, nn.Tanh()), Tensor(x))


def attention(q, k, v, heads, mask):
    """Attention of one example, from its projected sequences."""
    out, shares = [], []
    for a, b, c in zip(*[np.split(x, heads, axis=1) for x in (q, k, v)]):
        e = np.exp(a @ b.T / np.sqrt(a.shape[1]) + mask)
        shares.append(e / e.sum(1, keepdims=True))
        out.append(shares[-1] @ c)
    return np.hstack(out), np.mean(shares, axis=0)


@pytest.mark.parametrize("batch_first", [True, False])
def test_attention(batch_first):
    layer = nn.MultiheadAttention(4, 2, batch_first=batch_first, **F64)
    query, key = rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 5, 4))
    hidden = np.array([[False] * 5, [False, False, True, True, False]])
    added = rng.normal(size=(3, 5))
    turned = (lambda x: x) if batch_first else (lambda x: np.swapaxes(x, 0, 1))
    inputs = [Tensor(turned(x)) for x in (query, key, key)]
    y, shares = layer(*inputs, Tensor(hidden), attn_mask=Tensor(added))
    project = lambda dense, x: x @ dense.weight.asnumpy().T + dense.bias.asnumpy()
    for row in range(2):
        q, k = project(layer.q_proj, query[row]), project(layer.k_proj, key[row])
        mask = added + np.where(hidden[row], -np.inf, 0)
        out, expected = attention(q, k, project(layer.v_proj, key[row]), 2, mask)
        assert np.allclose(turned(y.asnumpy())[row], project(layer.out_proj, out))
        assert np.allclose(shares[row], expected)
    assert layer(*inputs, need_weights=False)[1] is None
    assert layer(*inputs, average_attn_weights=False)[1].shape == (2, 2, 3, 5)


def test_gradient_of_attention():
    layer = nn.MultiheadAttention(2, 2, batch_first=True, **F64)
    hidden = Tensor([[False, False, True], [False, True, False]])

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layer = layer

        def construct(self, x, y):
            return self.layer(x, y, y, hidden)[0]

    assert_gradients(Net(), Tensor(rng.normal(size=(2, 2, 2))), Tensor(rng.normal(size=(2, 3, 2))))


@pytest.mark.parametrize("norm_first", [True, False])
def test_transformer_encoder(norm_first):
    layer = nn.TransformerEncoderLayer(2, 1, 3, dropout=0.0, activation="tanh", norm_first=norm_first, **F64)
    x = Tensor(rng.normal(size=(3, 1, 2)))
    norm = lambda x: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    attend = lambda x: layer.self_attn(Tensor(x), Tensor(x), Tensor(x))[0].asnumpy()
    feed = lambda x: layer.linear2(nn.Tanh()(layer.linear1(Tensor(x)))).asnumpy()
    a = x.asnumpy()
    if norm_first:
        first = a + attend(norm(a))
        expected = first + feed(norm(first))
    else:
        first = norm(a + attend(a))
        expected = norm(first + feed(first))
    assert np.allclose(layer(x), expected)
    stack = nn.TransformerEncoder(layer, 2)
    assert np.allclose(stack(x), layer(layer(x)))
    assert len({p.name for p in stack.trainable_params()}) == 2 * len(layer.trainable_params())
    if norm_first:
        weigh = Tensor(rng.normal(size=(3, 1, 2)))
        assert_gradients(lambda x: layer(x) * weigh, x)


def test_pools_of_sequences():
    x = Tensor(SEQUENCE)
    parts = SEQUENCE[:, :, :6].reshape(2, 4, 3, 2)
    assert np.allclose(nn.MaxPool1d(2, 2)(x), parts.max(3)) and np.allclose(nn.AvgPool1d(2, 2)(x), parts.mean(3))
    assert_gradients(nn.MaxPool1d(3, 2, "same"), x)
    assert_gradients(nn.AvgPool1d(2), x)


@pytest.mark.parametrize("size", [1, 2, (3, 2), (None, 1), 5])
def test_adaptive_pools(size):
    rows, columns = size if isinstance(size, tuple) else (size, size)
    rows = rows or 4
    for layer, reduce in ((nn.AdaptiveAvgPool2d(size), np.mean), (nn.AdaptiveMaxPool2d(size), np.max)):
        y = layer(Tensor(IMAGE))
        assert y.shape == (2, 2, rows, columns)
        for i in range(rows):
            for j in range(columns):
                tall = slice(int(np.floor(i * 4 / rows)), int(np.ceil((i + 1) * 4 / rows)))
                wide = slice(int(np.floor(j * 3 / columns)), int(np.ceil((j + 1) * 3 / columns)))
                assert np.allclose(y[:, :, i, j], reduce(IMAGE[:, :, tall, wide], axis=(2, 3)))
    if size == (3, 2):
        assert_gradients(nn.AdaptiveAvgPool2d(size), Tensor(IMAGE))
        assert_gradients(nn.AdaptiveMaxPool2d(size), Tensor(IMAGE))
        assert_gradients(nn.AdaptiveAvgPool1d(3), Tensor(SEQUENCE))


@pytest.mark.parametrize(
    "layer, mode",
    [
        (nn.ConstantPad2d((1, 0, 2, 1), 3.0), {"constant_values": 3.0}),
        (nn.ZeroPad2d((1, 0, 2, 1)), {}),
        (nn.ReflectionPad2d((1, 0, 2, 1)), {"mode": "reflect"}),
        (nn.ReplicationPad2d((1, 0, 2, 1)), {"mode": "edge"}),
    ],
)
def test_padding(layer, mode):
    assert np.array_equal(layer(Tensor(IMAGE)), np.pad(IMAGE, ((0, 0), (0, 0), (2, 1), (1, 0)), **mode))
    assert_gradients(layer, Tensor(IMAGE))


def test_padding_of_sequences():
    for layer, mode in (
        (nn.ConstantPad1d(2, 1.0), {"constant_values": 1.0}),
        (nn.ReflectionPad1d((2, 2)), {"mode": "reflect"}),
        (nn.ReplicationPad1d(2), {"mode": "edge"}),
    ):
        assert np.array_equal(layer(Tensor(SEQUENCE)), np.pad(SEQUENCE, ((0, 0), (0, 0), (2, 2)), **mode))


def test_layers_that_move_elements():
    x = Tensor(np.arange(48.0).reshape(2, 4, 3, 2))
    assert nn.Unflatten(1, (2, 2))(x).shape == nn.Unflatten(-3, [2, 2])(x).shape == (2, 2, 2, 3, 2)
    shuffled = nn.PixelShuffle(2)(x)
    assert shuffled.shape == (2, 1, 6, 4) and shuffled[0, 0, :2, :2].tolist() == [[0, 6], [12, 18]]
    assert_gradients(nn.PixelShuffle(2), x)
    assert nn.OneHot(depth=3)(Tensor([2, 0])).tolist() == [[0, 0, 1], [1, 0, 0]]


def test_bilinear_layer():
    layer = nn.BiDense(2, 3, 4, **F64)
    a, b = rng.normal(size=(5, 2)), rng.normal(size=(5, 3))
    expected = np.einsum("ni,kij,nj->nk", a, layer.weight.asnumpy(), b) + layer.bias.asnumpy()
    assert np.allclose(layer(Tensor(a), Tensor(b)), expected)
    assert_gradients(layer, Tensor(a), Tensor(b))


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: nn.GroupNorm(2, 3), ValueError),
        (lambda: nn.MultiheadAttention(3, 2), ValueError),
        (lambda: nn.Conv1d(1, 1, "3"), TypeError),
        (lambda: nn.Conv2dTranspose(1, 1, 3, output_padding=1), ValueError),
        (lambda: nn.AdaptiveAvgPool2d("a"), TypeError),
        (lambda: nn.ZeroPad2d((1, 2)), ValueError),
        (lambda: nn.ZeroPad2d(1.0), TypeError),
    ],
)
def test_errors(make, error):
    with pytest.raises(error):
        make()
