"""Optimizers by their formulas, and cells that train."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import Parameter, Tensor, nn

START, SLOPES = np.array([1.0, -2.0], np.float32), [np.array([0.5, 1.0], np.float32), np.array([-1.0, 2.0], np.float32)]


def run(make) -> np.ndarray:
    p = Parameter(START, "p")
    optimizer = make([p])
    for slope in SLOPES:
        assert optimizer((Tensor(slope),)) is True
    assert p.dtype == ad.float32 and optimizer.parameters[0] is p
    return p.asnumpy()


def momentum(rate, keep, nesterov=False):
    p, v = START.astype(float), 0.0
    for g in SLOPES:
        v = keep * v + g
        p = p - rate * (g + keep * v if nesterov else v)
    return p


def adam(rate):
    p, m, v = START.astype(float), 0.0, 0.0
    for t, g in enumerate(SLOPES, 1):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        p = p - rate * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * m / (np.sqrt(v) + 1e-8)
    return p


def rmsprop(rate, momentum=0.0, centered=False):
    p, s, mean, m = START.astype(float), 1.0, 0.0, 0.0
    for g in SLOPES:
        s, mean = 0.9 * s + 0.1 * g**2, 0.9 * mean + 0.1 * g
        m = momentum * m + rate * g / np.sqrt(s - centered * mean**2 + 1e-10)
        p = p - m
    return p


def adagrad(rate):
    p, s = START.astype(float), 0.1
    for g in SLOPES:
        s = s + g**2
        p = p - rate * g / np.sqrt(s)
    return p


def adamax(rate):
    p, m, v = START.astype(float), 0.0, 0.0
    for t, g in enumerate(SLOPES, 1):
        m, v = 0.9 * m + 0.1 * g, np.maximum(0.999 * v, np.abs(g))
        p = p - rate / (1 - 0.9**t) * m / (v + 1e-8)
    return p


def adam_decayed(rate, decay):
    p, m, v = START.astype(float), 0.0, 0.0
    for g in SLOPES:
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        p = p - rate * (m / (np.sqrt(v) + 1e-6) + decay * p)
    return p


@pytest.mark.parametrize(
    "make, expected",
    [
        (lambda p: nn.SGD(p), START - 0.1 * sum(SLOPES)),
        (lambda p: nn.SGD(p, 0.1, loss_scale=2.0), START - 0.05 * sum(SLOPES)),
        (lambda p: nn.SGD(p, 0.1, momentum=0.9), momentum(0.1, 0.9)),
        (lambda p: nn.SGD(p, 0.1, momentum=0.9, nesterov=True), momentum(0.1, 0.9, True)),
        (lambda p: nn.Momentum(p, 0.1, 0.9), momentum(0.1, 0.9)),
        (lambda p: nn.Momentum(p, 0.1, 0.9, use_nesterov=True), momentum(0.1, 0.9, True)),
        (lambda p: nn.Adam(p, 0.01), adam(0.01)),
        (lambda p: nn.RMSProp(p, 0.1), rmsprop(0.1)),
        (lambda p: nn.RMSProp(p, 0.1, momentum=0.5, centered=True), rmsprop(0.1, 0.5, True)),
        (lambda p: nn.Adagrad(p, learning_rate=0.1), adagrad(0.1)),
        (lambda p: nn.AdaMax(p, 0.1), adamax(0.1)),
        (lambda p: nn.AdamWeightDecay(p, 0.1, weight_decay=0.5), adam_decayed(0.1, 0.5)),
        (lambda p: nn.SGD(p, nn.WarmUpLR(0.2, 2)), START - 0.1 * SLOPES[1]),
        (lambda p: nn.SGD(p, [0.1, 0.2]), START - 0.1 * SLOPES[0] - 0.2 * SLOPES[1]),
        (lambda p: nn.SGD(p, lambda step: 0.1 * (step + 1)), START - 0.1 * SLOPES[0] - 0.2 * SLOPES[1]),
        (lambda p: nn.SGD(p, Tensor(0.1)), START - 0.1 * sum(SLOPES)),
    ],
)
def test_formula(make, expected):
    assert np.allclose(run(make), expected, rtol=1e-5)


@pytest.mark.parametrize("make", [nn.SGD, nn.AdamWeightDecay])
def test_groups_of_parameters(make):
    a, b, c = (Parameter([2.0], name) for name in "abc")
    groups = [
        {"params": [a], "weight_decay": 0.5},
        {"params": [b, c], "lr": [0.2, 0.0]},
        {"order_params": [c, a, b]},
    ]
    optimizer = make(groups, learning_rate=0.1)
    assert [p.name for p in optimizer.parameters] == ["c", "a", "b"]
    slopes = (Tensor([1.0]), Tensor([0.0]), Tensor([-1.0]))
    optimizer(slopes)
    assert a.item() == pytest.approx(2 - 0.1 * 0.5 * 2)
    size = 1 if make is nn.SGD else 0.1 / (np.sqrt(0.001) + 1e-6)
    assert c.item() == pytest.approx(2 - 0.2 * size) and b.item() == pytest.approx(2 + 0.2 * size)
    optimizer(slopes)
    assert c.item() == pytest.approx(2 - 0.2 * size), "the rate of the second step is 0"
    for wrong, error in (([{"parameters": [a]}], TypeError), ([{"params": [a]}, {"order_params": [a, b]}], ValueError)):
        with pytest.raises(error):
            make(wrong, learning_rate=0.1)


SCHEDULES = [
    (nn.ExponentialDecayLR(0.1, 0.9, 4), lambda t: 0.1 * 0.9 ** (t / 4)),
    (nn.ExponentialDecayLR(0.1, 0.9, 4, True), lambda t: 0.1 * 0.9 ** (t // 4)),
    (nn.NaturalExpDecayLR(0.1, 0.9, 4), lambda t: 0.1 * np.exp(-0.9 * t)),
    (nn.NaturalExpDecayLR(0.1, 0.9, 4, True), lambda t: 0.1 * np.exp(-0.9 * (t // 4 * 4))),
    (nn.InverseDecayLR(0.1, 0.9, 4), lambda t: 0.1 / (1 + 0.9 * t / 4)),
    (nn.CosineDecayLR(0.01, 0.1, 4), lambda t: 0.01 + 0.045 * (1 + np.cos(np.pi * min(t, 4) / 4))),
    (nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5), lambda t: 0.09 * (1 - min(t, 4) / 4) ** 0.5 + 0.01),
    (nn.PolynomialDecayLR(0.1, 0.01, 4, 2.0, True), lambda t: 0.09 * (1 - t / (4 * max(-(-t // 4), 1))) ** 2 + 0.01),
    (nn.WarmUpLR(0.1, 4), lambda t: 0.1 * min(t, 4) / 4),
]


@pytest.mark.parametrize("schedule, formula", SCHEDULES, ids=lambda value: getattr(value, "cls_name", ""))
def test_schedules(schedule, formula):
    for step in (0, 1, 3, 4, 9):
        assert float(schedule(step)) == pytest.approx(formula(step))
        assert float(schedule(Tensor(step, ad.int32))) == pytest.approx(formula(step), rel=1e-6)


def test_lists_of_rates():
    exponential = nn.exponential_decay_lr(0.1, 0.9, 6, 2, 1)
    assert exponential == pytest.approx([0.1, 0.1, 0.09, 0.09, 0.081, 0.081])
    assert nn.natural_exp_decay_lr(0.1, 0.9, 4, 2, 2, True) == pytest.approx([0.1] * 4)
    assert nn.inverse_decay_lr(0.1, 0.5, 3, 1, 1) == pytest.approx([0.1, 0.1 / 1.5, 0.05])
    assert nn.cosine_decay_lr(0.01, 0.1, 6, 2, 2) == pytest.approx([0.1, 0.1, 0.055, 0.055, 0.01, 0.01])
    assert nn.polynomial_decay_lr(0.1, 0.01, 4, 2, 2, 1.0) == pytest.approx([0.1, 0.1, 0.055, 0.055])
    assert nn.warmup_lr(0.1, 6, 2, 2) == pytest.approx([0, 0, 0.05, 0.05, 0.1, 0.1])
    assert nn.piecewise_constant_lr([2, 5], [0.1, 0.05]) == [0.1, 0.1, 0.05, 0.05, 0.05]
    optimizer = nn.SGD([p := Parameter([1.0], "p")], exponential)
    for _ in range(3):
        optimizer((Tensor([1.0]),))
    assert p.item() == pytest.approx(1 - 0.29)


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: nn.ExponentialDecayLR(1, 0.9, 4), TypeError),
        (lambda: nn.ExponentialDecayLR(0.1, 0.9, 4, 1), TypeError),
        (lambda: nn.InverseDecayLR(0.1, 0.9, 0), ValueError),
        (lambda: nn.CosineDecayLR(0.1, 0.1, 4), ValueError),
        (lambda: nn.WarmUpLR(-0.1, 4), ValueError),
        (lambda: nn.warmup_lr(0.1, 6.0, 2, 2), TypeError),
        (lambda: nn.piecewise_constant_lr([2], [0.1, 0.2]), ValueError),
        (lambda: nn.piecewise_constant_lr([2, 2], [0.1, 0.2]), ValueError),
        (lambda: nn.piecewise_constant_lr(2, 0.1), TypeError),
    ],
)
def test_errors_of_schedules(make, error):
    with pytest.raises(error):
        make()


def test_weight_decay():
    decayed = nn.SGD([p := Parameter([2.0], "p")], 0.1, weight_decay=0.5)
    decayed((Tensor([1.0]),))
    assert p.tolist() == pytest.approx([2 - 0.1 * (1 + 0.5 * 2)])
    decoupled = nn.AdamWeightDecay([p := Parameter([2.0], "p")], 0.1, weight_decay=0.5)
    decoupled((Tensor([0.0]),))
    assert p.tolist() == pytest.approx([2 - 0.1 * 0.5 * 2])


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: nn.SGD([]), ValueError),
        (lambda: nn.SGD([1.0]), TypeError),
        (lambda: nn.SGD([Parameter([1.0])], -1.0), ValueError),
        (lambda: nn.SGD([Parameter([1.0])], "a"), TypeError),
        (lambda: nn.SGD([Parameter([1.0])], nesterov=True), ValueError),
        (lambda: nn.Momentum([Parameter([1.0])], 0.1, -0.9), ValueError),
        (lambda: nn.Adam([Parameter([1.0])], beta1=2.0), ValueError),
        (lambda: nn.SGD([Parameter([1.0])])((Tensor([1.0]), Tensor([1.0]))), ValueError),
        (lambda: nn.SGD([Parameter([1.0])])((Tensor([1.0, 2.0]),)), ValueError),
    ],
)
def test_errors(make, error):
    with pytest.raises(error):
        make()


def line():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 2)).astype(np.float32)
    return Tensor(x), Tensor(x @ np.array([[1.0], [-2.0]], np.float32) + 0.5)


def test_train_one_step():
    net = nn.Dense(2, 1)
    names = [p.name for p in net.trainable_params()]
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.05, 0.9))
    losses = [float(step(*line())) for _ in range(200)]
    assert step.training and net.training
    assert [p.name for p in net.trainable_params()] == [p.name for p in step.trainable_params()] == names
    assert losses[-1] < 1e-4 * losses[0]
    assert np.allclose(net.weight, [[1, -2]], atol=0.02) and np.allclose(net.bias, 0.5, atol=0.02)


def test_a_training_loop():
    ad.set_seed(1)
    net = nn.SequentialCell(nn.Dense(2, 8), nn.Tanh(), nn.BatchNorm1d(8), nn.Dense(8, 1)).set_train()
    loss_fn, optimizer = nn.MSELoss(), nn.Adam(net.trainable_params(), 0.02)

    def forward(x, y):
        predicted = net(x)
        return loss_fn(predicted, y), predicted

    step = ad.value_and_grad(forward, None, optimizer.parameters, has_aux=True)
    losses = []
    for _ in range(60):
        (loss, predicted), gradients = step(*line())
        optimizer(gradients)
        losses.append(float(loss))
    assert predicted.shape == (64, 1) and losses[-1] < 0.05 * losses[0]


def test_seed():
    weights = []
    for _ in range(2):
        ad.set_seed(7)
        weights.append(nn.Dense(3, 3).weight.asnumpy())
    assert np.array_equal(*weights)
    with pytest.raises(TypeError):
        ad.set_seed("a")
    with pytest.raises(ValueError):
        ad.set_seed(-1)


@pytest.mark.parametrize(
    "name", "zeros ones normal uniform xavier_uniform xavier_normal he_uniform he_normal truncatedNormal".split()
)
def test_initializers(name):
    from autodiff_sct.common.initializer import initializer

    tensor = initializer(name, (4, 3))
    assert tensor.shape == (4, 3) and tensor.dtype == ad.float32 and np.isfinite(tensor).all()


def test_initializer_errors():
    assert ad.initializer(0.5, (2,)).tolist() == [0.5, 0.5]
    with pytest.raises(ValueError):
        ad.initializer("nothing", (2,))
    with pytest.raises(TypeError):
        ad.initializer(None, (2,))
    with pytest.raises(ValueError):
        ad.initializer("he_uniform", (2,))
