"""Branches: `if`, ternaries, chained and boolean conditions, values that only one branch defines."""

import math

import numpy as np

from tests.bank.registry import program


@program(args=lambda rng: (0.7,), tags={"second"})
def drag(speed):
    if speed < 0.1:
        force = 3.0 * speed
    elif speed < 1.0:
        force = 0.3 + speed**2
    else:
        force = 1.3 * speed**1.5
    return force * speed


@program(args=lambda rng: (1.7, 0.4), wrt=(0, 1))
def value_from_one_branch(x, y):
    hot = x > 1.0
    if hot:
        excess = (x - 1.0) ** 2
    total = x * y
    if hot:
        total = total + np.sin(excess)
    return total


@program(args=lambda rng: (rng.normal(size=4) + 2.0,), tags={"second"})
def ternary(x):
    scale = 2.0 if x.sum() > 0 else 0.5
    shift = x[0] if scale > 1 else x[1]
    return np.sum(np.tanh(scale * x + shift))


@program(args=lambda rng: (0.6, 1.4), wrt=(0, 1))
def chained_comparison(a, b):
    if 0.0 < a < b <= 2.0 and not a == b:
        return a * b**2
    return a + b


@program(args=lambda rng: (0.0, 0.8), wrt=(1,))
def or_picks_a_value(given, fallback):
    level = given or fallback
    gate = fallback and level * 3.0
    return level**2 + gate * np.cos(level)


@program(args=lambda rng: (rng.normal(size=5),))
def walrus_condition(x):
    if (energy := np.sum(x**2)) > 0.01:
        return np.sqrt(energy) * x[0]
    return energy


@program(args=lambda rng: (rng.uniform(0.5, 1.5, size=(3, 2)), None))
def optional_weights(x, weights=None):
    if weights is None:
        weights = np.ones(x.shape[1])
    return np.sum(np.log(x) @ weights)


@program(args=lambda rng: (rng.normal(size=3), "cubic"))
def string_switch(x, kind):
    if kind == "linear":
        y = x
    elif kind in ("square", "quadratic"):
        y = x * x
    else:
        y = x**3
    return y.mean()


@program(args=lambda rng: (rng.uniform(0.2, 0.8, size=4), 1.3), wrt=(0, 1), tags={"inplace"})
def write_in_one_branch(x, k):
    y = x * k
    if np.all(y < 5.0):
        y[1:3] = y[1:3] ** 2
    else:
        y[0] = k
    if np.any(y > 100.0):
        y *= 0.0
    return np.sum(y**3)


@program(args=lambda rng: (rng.normal(size=3), True), tags={"inplace", "alias"})
def alias_in_one_branch(x, share):
    a = x * 2.0
    b = a if share else a.copy()
    b *= x
    return np.sum(a * b)


@program(args=lambda rng: (rng.normal(size=3), 0.9), wrt=(0, 1), tags={"inplace", "alias"})
def alias_by_data(x, t):
    a = np.sin(x)
    b = np.cos(x)
    target = a if t > 0.5 else b
    target += t
    target[0] = t * t
    return np.sum(a * a * b)


@program(args=lambda rng: (rng.normal(size=3), 0.3), wrt=(0, 1))
def scalar_or_array(x, t):
    scale = 1.0
    if t < 0.5:
        scale = np.exp(x) * t
    return np.sum(scale * x)


@program(args=lambda rng: (0.4,), tags={"second"})
def overwritten_in_both(x):
    y = x * x
    if y > 0.1:
        y = np.sin(y) * y
        if y < 1.0:
            y = y * y + x
    else:
        y = np.exp(y)
    return y * x


@program(args=lambda rng: (rng.normal(size=6), [0, 1, 0, 2, 1, 0]))
def branch_by_label(x, labels):
    total = 0.0
    for value, label in zip(x, labels):
        if label == 0:
            total += value
        elif label == 1:
            total += value**2
        else:
            total *= value
    return total


@program(args=lambda rng: (0.8, 1.9), wrt=(0, 1))
def condition_calls_function(a, b):
    def inside(u, v):
        return u * u + v * v < 9.0

    if inside(a, b) and (a < b or b < 0):
        a, b = b, a
    return a**2 / b


@program(args=lambda rng: (rng.normal(size=(3, 4)), 0.5), wrt=(0, 1), tags={"inplace", "alias"})
def written_view_or_number(A, c):
    B = A * 0.8
    t = B[1]
    t[0] = c
    if c > 0:
        t = B[2, 1] * c
    u = B[0]
    if c < 1:
        u = t
    return np.sum(t * t) + np.sum(B * B) + np.sum(u**3)


@program(args=lambda rng: (rng.normal(size=(3, 4)), 2), tags={"inplace", "alias"})
def number_from_a_try(A, k):
    B = A * 0.8
    t = B[1]
    t[0] *= B[1, 2]
    try:
        t = B[2, k]
    except IndexError:
        t[1] = 3.0
    return np.sum(t * t) + np.sum(B * B)


@program(
    args=lambda rng: (rng.uniform(0.5, 1.5, size=(3, 4)), 1.0),
    tags={"inplace"},
)
def items_written_in_one_branch(x, c):
    total = 0.0
    if c > 0:
        y = x + x * c
        for i in range(y.shape[0]):
            for j in range(y.shape[1]):
                y[i, j] = y[i, j] * x[i, j]
        total = np.sum(np.sin(y) * y)
    return total + np.sum(x)


@program(args=lambda rng: (rng.normal(size=4),))
def normalised_where_it_is_long(x):
    y = np.tanh(x)
    n = np.linalg.norm(y)
    if n > 0.5:
        y = y / n
    return np.sum(y * x)


@program(args=lambda rng: (np.abs(rng.normal(size=4)),))
def one_value_under_two_names(x):
    y, z = x, x * 2
    if x[1] > 0:
        y = np.exp(x)
        z = y
    return np.sum(y * z)


@program(args=lambda rng: (np.abs(rng.normal(size=4)),))
def written_after_one_side(x):
    y = x * 2.0
    if x[0] > 0:
        y = np.exp(y)
    y[0] *= y[1]
    y[2:] = np.sin(y[2:])
    return np.sum(y * y)


@program(args=lambda rng: (0.8, 0.3), wrt=(0, 1))
def same_functions_on_both_sides(x, y):
    if x > y:
        a = math.sin(x) * math.cos(y)
    else:
        a = math.sin(y) * math.cos(x)
    for k in range(int(3 * x)):
        a = a * math.sin(x) * math.cos(x) + math.exp(a) * k
    return a * math.sin(x) * math.cos(y)


@program(args=lambda rng: (0.8, 0.3), wrt=(0, 1))
def eccentric_anomaly(x, y):
    E = x
    for _ in range(4):
        E -= (E - y * math.sin(E) - x) / (1 - y * math.cos(E))
    return E
