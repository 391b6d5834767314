"""Random numbers: the value drawn in the forward sweep is the one that the reverse sweep sees."""

import random

import numpy as np

from tests.bank.registry import program


@program(args=lambda rng: (rng.normal(size=4), 0.5), wrt=(0, 1))
def seeded_inside(x, sigma):
    rng = np.random.default_rng(3)
    noise = rng.normal(size=4)
    return np.sum(np.sin(x + sigma * noise) * noise)


@program(args=lambda rng: (rng.normal(size=(3, 4)), np.random.default_rng(5)))
def dropout(x, rng):
    keep = rng.random(x.shape) < 0.6
    hidden = np.where(keep, np.tanh(x) / 0.6, 0.0)
    hidden *= rng.uniform(0.5, 1.5, size=4)
    return np.sum(hidden**2)


@program(args=lambda rng: (0.3, 0.8, np.random.default_rng(11)), wrt=(0, 1))
def reparametrised(mu, sigma, rng):
    total = 0.0
    for _ in range(5):
        z = mu + sigma * rng.standard_normal()
        total = total + z**2
    return total / 5


@program(args=lambda rng: (0.3,))
def legacy_generator(x):
    np.random.seed(4)
    y = x
    for _ in range(3):
        y = np.sin(y + np.random.rand()) * np.random.randn()
    return y


@program(args=lambda rng: (rng.normal(size=6), np.random.default_rng(2)))
def minibatches(x, rng):
    order = rng.permutation(6)
    total = 0.0
    for start in range(0, 6, 2):
        batch = x[order[start : start + 2]]
        total = total * 0.5 + np.prod(batch)
    picked = rng.choice(6, size=3, replace=False)
    k = rng.integers(0, 3)
    return total * x[picked[k]]


@program(args=lambda rng: (0.4, np.random.default_rng(8)))
def random_walk_until(x, rng):
    position, steps = x, 0
    while abs(position) < 2.0 and steps < 40:
        if rng.random() < 0.5:
            position = position * 1.2 + 0.1
        else:
            position = position + x * rng.normal()
        steps += 1
    return position * steps


@program(args=lambda rng: (0.4,))
def standard_random(x):
    source = random.Random(5)
    weights = [source.random() for _ in range(3)]
    return sum(w * x ** (i + 1) for i, w in enumerate(weights)) * source.gauss(0, 1)


@program(args=lambda rng: (rng.normal(size=5), np.random.default_rng(9)), tags={"inplace"})
def shuffled_in_place(x, rng):
    index = np.arange(5)
    rng.shuffle(index)
    y = x * x
    y[index[:2]] *= x[index[2:4]]
    return np.sum(y * rng.normal(size=5))


@program(args=lambda rng: (0.5, np.random.default_rng(1)))
def monte_carlo_option(volatility, rng):
    z = rng.standard_normal(50)
    price = np.exp(-0.5 * volatility**2 + volatility * z)
    payoff = np.maximum(price - 1.0, 0.0)
    return payoff.mean()


@program(args=lambda rng: (rng.normal(size=2), np.random.default_rng(6)))
def generator_in_helper(x, rng):
    def noisy(v, scale=0.1):
        return v * (1.0 + scale * rng.normal())

    return noisy(x[0]) * noisy(x[1]) + np.sum(x * noisy(2.0))


@program(args=lambda rng: (rng.uniform(0.3, 1.7, size=(3, 4)),), tags={"second"}, float32=False)
def drawn_with_location_and_scale(x):
    rng = np.random.default_rng(1)
    z = rng.normal(x, np.exp(0.3 * x))
    w = rng.normal(x[0], 1.0, size=(3, 4))
    u = rng.uniform(-x, x**2)
    e = rng.exponential(x)
    single = rng.normal(loc=x[0, 0], scale=x[0, 1])
    return np.sum(z**2 + w * u + e * single) * rng.normal(0.0, 1.0)


@program(args=lambda rng: (rng.normal(size=(4, 3)), np.random.default_rng(5)))
def rows_shuffled_again_and_again(x, rng):
    y = x * 2.0
    for _ in range(3):
        rng.shuffle(y)
        y[0] *= rng.normal()
    return np.sum(y**2 * np.arange(12.0).reshape(4, 3))


@program(args=lambda rng: (rng.normal(size=5), np.random.default_rng(5), 3), tags={"inplace"})
def order_shuffled_in_each_epoch(x, rng, epochs):
    order, noise = np.arange(5), np.empty(5)
    y, total = x * 2.0, 0.0
    for _ in range(epochs):
        rng.shuffle(order)
        rng.standard_normal(out=noise)
        y = y * np.sin(y[order] + noise)
        total = total + y[order[0]]
    return total * np.sum(noise[order] * y)


@program(args=lambda rng: (rng.normal(size=4),), tags={"inplace"})
def order_shuffled_by_the_global_generator(x):
    np.random.seed(3)
    order = np.arange(4)
    y = x[order] * x
    np.random.shuffle(order)
    return np.sum(y * x[order])
