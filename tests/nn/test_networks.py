"""Whole networks as users write them: values bit by bit, gradients in a random direction."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autodiff_sct as ad
import autodiff_sct.ops.operations as P
from autodiff_sct import Tensor, nn, ops

rng = np.random.default_rng(3)


class Attention(nn.Cell):
    def __init__(self, width, heads):
        super().__init__()
        self.width, self.heads = width, heads
        self.q, self.k, self.v, self.o = (nn.Dense(width, width) for _ in range(4))
        self.softmax = nn.Softmax(axis=-1)
        self.norm = nn.LayerNorm((width,))
        self.dropout = nn.Dropout(p=0.1)
        self.transpose = P.Transpose()
        self.scores = P.BatchMatMul(transpose_b=True)
        self.mix = P.BatchMatMul()

    def split(self, x):
        n, length, _ = x.shape
        return self.transpose(x.reshape(n, length, self.heads, self.width // self.heads), (0, 2, 1, 3))

    def construct(self, x):
        n, length, _ = x.shape
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        weights = self.dropout(self.softmax(self.scores(q, k) / math.sqrt(self.width // self.heads)))
        y = self.transpose(self.mix(weights, v), (0, 2, 1, 3)).reshape(n, length, self.width)
        return self.norm(x + self.o(y))


class Transformer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([Attention(4, 2) for _ in range(2)])
        self.head = nn.SequentialCell(nn.Dense(4, 8), nn.GELU(), nn.Dense(8, 4))

    def construct(self, x):
        for layer in self.layers:
            x = layer(x)
        return ops.relu(self.head(x)).mean()


class Residual(nn.Cell):
    def __init__(self, channels, out, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, 3, stride=stride, pad_mode="pad", padding=1)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, pad_mode="pad", padding=1)
        self.bn2 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU()
        self.add = P.Add()
        self.down = None
        if stride != 1 or channels != out:
            self.down = nn.SequentialCell([nn.Conv2d(channels, out, 1, stride=stride), nn.BatchNorm2d(out)])

    def construct(self, x):
        identity = x
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        if self.down is not None:
            identity = self.down(x)
        return self.relu(self.add(y, identity))


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 3, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(3, 4, 3, pad_mode="valid")
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()
        self.fc = nn.SequentialCell(nn.Dense(4 * 2 * 2, 8, activation="relu"), nn.Dense(8, 10))

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        return self.fc(self.flatten(x))


class Recurrent(nn.Cell):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.hidden = hidden
        self.wx = nn.Dense(inputs, 3 * hidden)
        self.wh = nn.Dense(hidden, 3 * hidden, has_bias=False)

    def construct(self, sequence):
        h = ops.zeros_like(sequence[0, :, :1]) + ops.zeros_like(self.wh.weight[0])
        seen = []
        for t in range(sequence.shape[0]):
            gates = self.wx(sequence[t]) + self.wh(h)
            keep = ops.sigmoid(gates[:, : self.hidden])
            new = ops.tanh(gates[:, self.hidden : 2 * self.hidden] + gates[:, 2 * self.hidden :])
            h = keep * h + (1 - keep) * new
            seen.append(h)
        return ops.stack(seen).mean()


ad.set_seed(3)  # differences take no step over a kink of the weights that this draws
NETWORKS = [
    (Transformer(), (2, 5, 4)),
    (Residual(2, 3, 2), (2, 2, 6, 6)),
    (Residual(2, 3).set_train(), (3, 2, 4, 4)),
    (Residual(2, 2), (1, 2, 5, 5)),
    (LeNet(), (2, 1, 16, 16)),
    (Recurrent(2, 3), (4, 2, 2)),
]


@pytest.mark.parametrize("net, shape", NETWORKS, ids=lambda value: getattr(value, "cls_name", ""))
def test_network(net, shape):
    rng = np.random.default_rng(3)
    for parameter in net.get_parameters():
        parameter._data = parameter.asnumpy().astype(np.float64)
    x = Tensor(rng.normal(size=shape))
    weights, start = net.trainable_params(), {p: p.asnumpy().copy() for p in net.get_parameters()}

    def total(step: float) -> float:
        for parameter, value in start.items():
            parameter.set_data(value + step * direction[parameter] if parameter in direction else value)
        return float(np.sum(net(x).asnumpy()))

    value, gradients = ad.value_and_grad(net, None, weights)(x)
    direction: dict = {}
    total(0.0)
    assert np.array_equal(value, net(x))
    direction = {weight: rng.normal(size=weight.shape) for weight in weights}
    expected = (total(1e-6) - total(-1e-6)) / 2e-6
    found = sum(float(np.sum(g.asnumpy() * direction[w])) for g, w in zip(gradients, weights))
    assert found == pytest.approx(expected, rel=1e-6)


def test_a_gradient_inside_the_loss():
    """The residual of a differential equation, as mindscience writes it."""
    net = nn.SequentialCell(nn.Dense(2, 8), nn.Tanh(), nn.Dense(8, 1))

    def residual(x):
        slope = ad.grad(net)(x)
        return (slope[:, 0] ** 2 + slope[:, 1]).mean()

    for parameter in net.get_parameters():
        parameter._data = parameter.asnumpy().astype(np.float64)
    x = Tensor(rng.normal(size=(5, 2)))
    weight = net[0].weight
    gradient = ad.grad(residual, None, weight)(x)
    start, direction = weight.asnumpy().copy(), rng.normal(size=(8, 2))
    moved = []
    for step in (1e-6, -1e-6):
        weight.set_data(start + step * direction)
        moved.append(float(residual(x)))
    assert np.sum(gradient.asnumpy() * direction) == pytest.approx((moved[0] - moved[1]) / 2e-6, rel=1e-6)
