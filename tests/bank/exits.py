"""Ways out: `break`, `continue`, loop `else`, early `return`, `return` inside loops."""

import numpy as np

from tests.bank.registry import program


@program(args=lambda rng: (-0.4,))
def guard_clauses(x):
    if x > 100:
        return x
    if x < 0:
        return x**2 + np.exp(x)
    return np.sqrt(x)


@program(args=lambda rng: (rng.uniform(0.3, 0.6, size=6),))
def return_in_loop(x):
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] ** 2
        if total > 0.5:
            return total * i + x[i]
    return total


@program(args=lambda rng: (rng.uniform(0.3, 0.6, size=(3, 4)),))
def return_from_nested_loops(A):
    s = 1.0
    for i in range(3):
        for j in range(4):
            s = s * (1.0 + A[i, j])
            if s > 4.0:
                return np.log(s) * A[i, j]
        s = s * 0.9
    return s


@program(args=lambda rng: (rng.uniform(0.3, 0.6, size=6),))
def break_keeps_state(x):
    s = 0.0
    last = x[0]
    for v in x:
        if s > 1.0:
            break
        s = s + v
        last = last * v
    return s**2 + last


@program(args=lambda rng: (np.array([0.5, -0.3, 0.8, -0.9, 0.4]),))
def continue_skips(x):
    s = 1.0
    for v in x:
        if v < 0:
            continue
        s = s * np.sin(v) + v
    return s


@program(args=lambda rng: (rng.uniform(0.3, 0.6, size=4), 9.0))
def for_else_taken(x, limit):
    s = 0.0
    for v in x:
        s = s + v**2
        if s > limit:
            break
    else:
        s = s * x[0]
    return s


@program(args=lambda rng: (rng.uniform(0.3, 0.6, size=4), 0.3))
def for_else_not_taken(x, limit):
    s = 0.0
    for v in x:
        s = s + v**2
        if s > limit:
            s = np.sin(s)
            break
    else:
        s = s * x[0]
    return s


@program(args=lambda rng: (rng.uniform(0.5, 0.9, size=(4, 3)),))
def break_inner_only(A):
    s = 0.0
    for row in A:
        part = 0.0
        for v in row:
            part = part + v * v
            if part > 1.0:
                break
        s = s + np.sqrt(part)
        if s > 3.5:
            break
    return s


@program(args=lambda rng: (rng.uniform(0.5, 0.9, size=5),), tags={"inplace"})
def early_return_after_write(x):
    y = x.copy()
    for i in range(1, len(y)):
        y[i] = y[i] * y[i - 1]
        if y[i] < 0.35:
            y[0] = y[i] ** 2
            return np.sum(y * y)
    y *= 2.0
    return np.sum(y)


@program(args=lambda rng: (1.2, 0.3), wrt=(0, 1))
def break_and_continue_together(x, y):
    for i in range(10):
        x = x * 0.9
        if i % 2:
            y = y + x**2
            continue
        if x < 0.7:
            break
        y = y * x
    return x * y


@program(args=lambda rng: (0.3,))
def return_from_while(x):
    while True:
        x = x + x**2
        if x > 1.0:
            return np.log(x)


@program(args=lambda rng: (0.3, 2))
def many_returns(x, case):
    for k in range(3):
        if k == case:
            return x**k * np.cos(x)
        if x > 10.0:
            return x
        x = x * 2.0
    else:
        return -x
    return 0.0


@program(args=lambda rng: (rng.normal(size=3), rng.normal(size=3)), wrt=(0, 1))
def unequal_returns(x, y):
    if x is None:
        return x
    for a in x:
        if a > 50:
            return np.zeros(3)
    if np.sum(y) > 100:
        return x
    return x * y


@program(args=lambda rng: (rng.uniform(0.1, 0.2, size=4),))
def break_on_first_trip(x):
    s = x[0]
    for v in x:
        if v > 0:
            break
        s = s * v
    for v in x:
        s = s + v * s
        break
    return s**2


@program(args=lambda rng: (rng.normal(size=3), rng.normal(size=3)), wrt=(0, 1))
def returns_from_a_loop_of_one_step(x, y):
    for _ in range(1):
        for a in x:
            if a > 50:
                return np.zeros(3)
        return x * y
