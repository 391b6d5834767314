"""`while` loops whose conditions depend on data."""

import numpy as np

from tests.bank.registry import program


@program(args=lambda rng: (1.7,), tags={"second"})
def newton_sqrt(a):
    x = a
    while abs(x * x - a) > 1e-13:
        x = 0.5 * (x + a / x)
    return x


@program(args=lambda rng: (rng.normal(size=4) + 3.0,))
def shrink_until_small(x):
    steps = 0
    while np.linalg.norm(x) > 1.0:
        x = 0.6 * x + 0.01 * np.sin(x)
        steps += 1
    return np.sum(x**2) * steps


@program(args=lambda rng: (0.2,))
def while_true_break(x):
    n = 0
    while True:
        x = x * 1.5 + 0.1
        n += 1
        if x > 3.0:
            break
        x = np.sin(x) + x
    return x**2 / n


@program(args=lambda rng: (5.0, 0.3), wrt=(0, 1))
def while_never_runs(x, y):
    while x < 0:
        x = x + y
        y = y * y
    return x * y**2


@program(args=lambda rng: (0.3,))
def while_else(x):
    count = 0
    while x < 2.0:
        x = x * 1.3
        count += 1
        if count > 50:
            break
    else:
        x = x**2
    return np.sin(x)


@program(args=lambda rng: (2.5, 0.3), wrt=(0, 1))
def nested_whiles(x, y):
    outer = 0
    while x > 0.5:
        inner = x
        while inner > 0.7:
            inner = inner * 0.6
            y = y + inner**2
        x = x - 0.4 * inner
        outer += 1
    return x * y + outer


@program(args=lambda rng: (0.3,))
def walrus_in_while(x):
    total = 0.0
    while (y := np.exp(-x)) > 0.2:
        total = total + y * x
        x = x + 0.35
    return total * y


@program(args=lambda rng: (rng.normal(size=4), 6))
def while_with_counter(x, limit):
    i = 0
    s = 1.0
    while i < limit and s < 1e3:
        s = s + s * x[i % 4] ** 2
        i += 1
    return s


@program(args=lambda rng: (rng.uniform(0.5, 1.0, size=5),))
def stack_while(x):
    stack = [x[0], x[1], x[2]]
    total = 0.0
    while stack:
        top = stack.pop()
        total = total * top + top**2
        if len(stack) == 1 and top < 10.0:
            stack.append(top * 5.0 + 10.0)
    return total


@program(args=lambda rng: (rng.normal(size=5) * 0.3, 0.4), wrt=(0, 1), tags={"inplace"})
def relax_in_place(u, k):
    u = u.copy()
    change = 1.0
    while change > 0.15:
        before = u.copy()
        u[1:-1] += k * (u[:-2] - 2 * u[1:-1] + u[2:])
        u *= 0.9
        change = np.max(np.abs(u - before))
    return np.sum(u**2)


@program(args=lambda rng: (1.1,))
def while_continue(x):
    i = 0
    s = 0.0
    while i < 7:
        i += 1
        if i % 3 == 0:
            continue
        s = s + x**i
        x = x * 0.9
    return s


@program(args=lambda rng: (0.9, 0.1), wrt=(0, 1))
def bouncing_ball(height, speed):
    t = 0.0
    bounces = 0
    while bounces < 2:
        speed = speed - 9.81 * 0.02
        height = height + speed * 0.02
        if height < 0:
            height = -0.8 * height
            speed = -0.8 * speed
            bounces += 1
        t += 0.02
    return height**2 + speed * t
