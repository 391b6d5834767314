"""Recurrent layers against their formulas, at several lengths, and their gradients against central differences."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import Tensor, nn
from tests.nn.differences import assert_gradients

rng = np.random.default_rng(0)


def logistic(x):
    return 1 / (1 + np.exp(-x))


def rnn(x, state, w, v, b, c):
    return (np.tanh(w @ x + b + v @ state[0] + c),)


def relu(x, state, w, v, b, c):
    return (np.maximum(w @ x + b + v @ state[0] + c, 0),)


def gru(x, state, w, v, b, c):
    (x_r, x_u, x_n), (h_r, h_u, h_n) = np.split(w @ x + b, 3), np.split(v @ state[0] + c, 3)
    u = logistic(x_u + h_u)
    return ((1 - u) * np.tanh(x_n + logistic(x_r + h_r) * h_n) + u * state[0],)


def lstm(x, state, w, v, b, c):
    i, f, g, o = np.split(w @ x + b + v @ state[0] + c, 4)
    cell = logistic(f) * state[1] + logistic(i) * np.tanh(g)
    return logistic(o) * np.tanh(cell), cell


KINDS = {
    "RNN": (nn.RNN, nn.RNNCell, rnn, {}),
    "relu": (nn.RNN, nn.RNNCell, relu, {"nonlinearity": "relu"}),
    "GRU": (nn.GRU, nn.GRUCell, gru, {}),
    "LSTM": (nn.LSTM, nn.LSTMCell, lstm, {}),
}


def weights(cell, suffix=""):
    found = [getattr(cell, f"{name}{suffix}", None) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    return [0.0 if p is None else p.asnumpy() for p in found]


def layer_by_hand(step, x, state, w, length):
    """Outputs and last state of one example: `state` a list of vectors."""
    y = np.zeros((len(x), len(state[0])))
    for t in range(length):
        state = step(x[t], state, *w)
        y[t] = state[0]
    return y, state


@pytest.mark.parametrize("kind", KINDS)
def test_cell(kind):
    _, make, step, settings = KINDS[kind]
    x = rng.normal(size=(4, 3))
    states = [rng.normal(size=(4, 2)) for _ in range(2 if kind == "LSTM" else 1)]
    for has_bias in (True, False):
        cell = make(3, 2, has_bias, dtype=ad.float64, **settings)
        given = tuple(map(Tensor, states)) if kind == "LSTM" else Tensor(states[0])
        found = cell(Tensor(x), given)
        found = found if kind == "LSTM" else (found,)
        for row in range(4):
            for part, expected in zip(found, step(x[row], [s[row] for s in states], *weights(cell))):
                assert np.allclose(part[row], expected)
        assert len(cell.trainable_params()) == (4 if has_bias else 2)
    if kind != "LSTM":
        assert_gradients(cell, Tensor(x), given)
    else:
        both = Both(cell)
        assert_gradients(both, Tensor(x), *given)


class Both(nn.Cell):
    """The sum of both states of a step."""

    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def construct(self, x, h, c):
        h, c = self.cell(x, (h, c))
        return h * h + c


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [1, 3, 130])
def test_layer(kind, length):
    make, _, step, settings = KINDS[kind]
    layer = make(3, 2, dtype=ad.float64, **settings)
    x = rng.normal(size=(length, 2, 3))
    y, state = layer(Tensor(x))
    state = state if kind == "LSTM" else (state,)
    for row in range(2):
        expected, last = layer_by_hand(step, x[:, row], [np.zeros(2)] * len(state), weights(layer, "_l0"), length)
        assert np.allclose(y[:, row], expected)
        assert all(np.allclose(part[0, row], end) for part, end in zip(state, last))


@pytest.mark.parametrize("kind", ["GRU", "LSTM"])
def test_stacked_layers_in_both_directions_and_sequences_of_their_own_length(kind):
    make, _, step, _ = KINDS[kind]
    layer = make(3, 2, 2, batch_first=True, bidirectional=True, dtype=ad.float64)
    x, lengths = rng.normal(size=(3, 5, 3)), [5, 1, 3]
    y, state = layer(Tensor(x), None, Tensor(lengths))
    state = state if kind == "LSTM" else (state,)
    assert y.shape == (3, 5, 4) and state[0].shape == (4, 3, 2)
    for row, length in enumerate(lengths):
        given = x[row]
        for number in range(2):
            begin = [np.zeros(2)] * len(state)
            ahead, last = layer_by_hand(step, given, begin, weights(layer, f"_l{number}"), length)
            turned = np.concatenate([given[:length][::-1], given[length:]])
            back, first = layer_by_hand(step, turned, begin, weights(layer, f"_l{number}_reverse"), length)
            given = np.hstack([ahead, np.concatenate([back[:length][::-1], back[length:]])])
            for part, forwards, backwards in zip(state, last, first):
                assert np.allclose(part[2 * number, row], forwards)
                assert np.allclose(part[2 * number + 1, row], backwards)
        assert np.allclose(y[row], given)


class Squares(nn.Cell):
    """A number that depends on all that a layer returns."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def construct(self, x, *state):
        y, last = self.layer(x, state if len(state) == 2 else state[0])
        if isinstance(last, tuple):
            return np.sum(y * y) + np.sum(last[0]) + np.sum(last[1] ** 2)
        return np.sum(y * y) + np.sum(last**2)


@pytest.mark.parametrize("kind", KINDS)
def test_gradient(kind):
    make, _, _, settings = KINDS[kind]
    layer = make(2, 2, dtype=ad.float64, **settings)
    states = [Tensor(rng.normal(size=(1, 2, 2))) for _ in range(2 if kind == "LSTM" else 1)]
    net = Squares(layer)
    for length in (1, 4):
        assert_gradients(net, Tensor(rng.normal(size=(length, 2, 2))), *states)


def test_gradient_of_stacked_layers_in_both_directions():
    net = nn.LSTM(2, 1, 2, bidirectional=True, dtype=ad.float64)
    lengths = Tensor([3, 2])
    x = Tensor(rng.normal(size=(3, 2, 2)))

    def run(x, w):
        return np.sum(net(x, None, lengths)[0] ** 2)

    by_x = ad.grad(run)(x, None)
    step = 1e-6
    for index in [(0, 0, 0), (1, 1, 1), (2, 0, 1), (2, 1, 0)]:
        values = []
        for sign in (1, -1):
            moved = x.asnumpy().copy()
            moved[index] += sign * step
            values.append(float(run(Tensor(moved), None)))
        assert by_x[index].item() == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-6, abs=1e-8)
    assert by_x[2, 1].tolist() == [0, 0]


def test_names_dtypes_and_modes():
    layer = nn.GRU(3, 2, num_layers=2, bidirectional=True, dropout=0.5)
    assert [p.name for p in nn.SequentialCell(layer).trainable_params()][:2] == ["0.weight_ih_l0", "0.weight_hh_l0"]
    assert layer.weight_ih_l1_reverse.shape == (6, 4) and len(layer.trainable_params()) == 16
    x = Tensor(np.ones((4, 1, 3), np.float32))
    assert np.array_equal(layer(x)[0], layer(x)[0]) and layer(x)[0].dtype == ad.float32
    layer.set_train()
    assert not np.array_equal(layer(x)[0], layer(x)[0])
    layer.weight_ih_l0 = Tensor(np.zeros((6, 3), np.float32))
    assert not layer.weight_ih_l0.any()


def test_errors():
    for make in (lambda: nn.RNN(0, 1), lambda: nn.LSTM(1, 1, 0), lambda: nn.RNN(1, 1, nonlinearity="sin")):
        with pytest.raises(ValueError):
            make()
    for make in (lambda: nn.GRU(1.0, 1), lambda: nn.LSTM(1, 1, bidirectional=1), lambda: nn.LSTMCell(1, 1, has_bias=2)):
        with pytest.raises(TypeError):
            make()
