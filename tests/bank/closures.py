"""Nested functions, captured variables, `nonlocal`, lambdas."""

import numpy as np

from tests.bank.registry import program

GRAVITY = 9.81
TABLE = np.array([0.3, -0.8, 1.4])


@program(args=lambda rng: (0.4, 1.2), wrt=(0, 1), tags={"second"})
def captured_variable(x, k):
    def force(y):
        return -k * y + x * y**2

    return force(x) * force(k)


@program(args=lambda rng: (rng.normal(size=3),))
def nonlocal_counter(x):
    total = 0.0
    calls = 0

    def add(v):
        nonlocal total, calls
        total = total + v * v * (1 + calls)
        calls += 1
        return total

    for v in x:
        add(v)
    return total * add(x[0]) + calls


@program(args=lambda rng: (0.7,))
def late_binding(x):
    k = x

    def scaled(y):
        return k * y

    first = scaled(x)
    k = np.sin(x)
    second = scaled(x)
    return first * second + scaled(k)


@program(args=lambda rng: (0.7, 0.3), wrt=(0, 1))
def lambdas_in_a_list(x, t):
    steps = [lambda v: v * v, lambda v: np.sin(v) + t, lambda v, k=2.0: k * v]
    for step in steps:
        x = step(x)
    return x + steps[1](t)


@program(args=lambda rng: (rng.normal(size=3), 0.4), wrt=(0, 1))
def factory(x, t):
    def power(n):
        def raise_to(v):
            return t * v**n

        return raise_to

    square, cube = power(2), power(3)
    return np.sum(square(x) * cube(x))


@program(args=lambda rng: (0.7,))
def loop_captures_late(x):
    late, early = [], []
    for k in range(1, 4):
        late.append(lambda v: v * k)
        early.append(lambda v, k=k: v**k)
    return sum(f(x) for f in late) * sum(f(x) for f in early)


@program(args=lambda rng: (rng.normal(size=4), 0.3), wrt=(0, 1), tags={"inplace", "alias"})
def captured_array_written(x, t):
    y = x * 1.0

    def bump(i):
        y[i] = y[i] * y[i - 1] + t

    for i in range(1, 4):
        bump(i)
    return np.sum(y**2)


@program(args=lambda rng: (rng.normal(size=3), 0.3), wrt=(0, 1))
def globals_and_constants(x, t):
    return np.sum(GRAVITY * x * TABLE) + np.sin(GRAVITY * t) * TABLE[1]


@program(args=lambda rng: (0.3,))
def recursion_in_closure(x):
    def power(n):
        if n == 0:
            return 1.0
        half = power(n // 2)
        return half * half * (x if n % 2 else 1.0)

    return power(5)


@program(args=lambda rng: (rng.normal(size=3),))
def captured_list(x):
    log = []

    def record(v):
        log.append(v**2)
        return v + len(log)

    y = record(x[0]) * record(x[1])
    record(y)
    return sum(log) * y


@program(args=lambda rng: (0.5, 1.5), wrt=(0, 1))
def shadowed_names(sum, len):
    np_sin = np.sin
    abs = sum * len

    def max(a, b):
        return a * b + abs

    return max(sum, len) * np_sin(abs)


@program(args=lambda rng: (0.5,))
def counter_factory(x):
    def make():
        state = x

        def advance():
            nonlocal state
            state = state * state + x
            return state

        return advance

    a, b = make(), make()
    a()
    a()
    return a() * b()


# fmt: off
first_lambda, second_lambda = lambda x: x * np.sin(x), lambda x: x ** 3 * np.cos(x)
# fmt: on
program(args=lambda rng: (0.5,), name="first_of_two_lambdas", tags={"second"})(first_lambda)
program(args=lambda rng: (rng.normal(size=3),), name="second_of_two_lambdas")(second_lambda)


def make_loss(data, scale):
    offset = np.mean(data)

    def loss(w):
        return np.sum((data * w - offset) ** 2) * scale

    return loss


program(args=lambda rng: (0.5,), name="loss_from_factory", tags={"second"})(make_loss(TABLE, 0.5))
