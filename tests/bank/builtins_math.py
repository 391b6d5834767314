"""Python's own functions on numbers and lists, and the `math` module."""

import math
from math import cos, exp, pi

import numpy as np

from tests.bank.registry import program


@program(args=lambda rng: (0.6, 1.3), wrt=(0, 1), tags={"second"})
def math_functions(x, y):
    a = math.sin(x) * math.exp(-y) + math.log(y) * math.sqrt(x)
    b = math.atan2(y, x) + math.hypot(x, y) + math.tanh(x * y)
    return a * b + math.pow(x, y) + cos(pi * x) * exp(x)


@program(args=lambda rng: (0.6,))
def more_math(x):
    a = math.asin(x) + math.acos(x * 0.5) + math.atan(x) + math.tan(x)
    b = math.sinh(x) * math.cosh(x) + math.log1p(x) + math.expm1(x)
    c = math.log2(x + 1.0) + math.log10(x + 2.0) + math.degrees(x) * 0.01 + math.radians(x)
    return a * b + c + math.fabs(-x) * math.asinh(x)


@program(args=lambda rng: (rng.normal(size=4), -0.7), wrt=(0, 1))
def abs_min_max(x, t):
    a = abs(x) * abs(t)
    biggest = max(x[0], x[1], t)
    smallest = min([x[2], x[3], t * 2.0])
    bounded = max(0.1, min(t * t, 5.0))
    return np.sum(a) * biggest + smallest * bounded + max(a) + max(x, key=lambda v: -v)


@program(args=lambda rng: ([0.4, 0.9, 0.2],))
def sums_and_products(values):
    total = sum(values)
    shifted = sum(values, 10.0)
    product = math.prod(values)
    exact = math.fsum(v**2 for v in values)
    return total * shifted + product * exact * len(values)


@program(args=lambda rng: ([0.4, 0.9, 0.2, 1.7],))
def sorting(values):
    ascending = sorted(values)
    descending = sorted(values, reverse=True)
    by_distance = sorted(values, key=lambda v: abs(v - 0.8))
    total = 0.0
    for k, (a, b) in enumerate(zip(ascending, descending)):
        total += k * a * b
    return total + by_distance[0] * by_distance[-1] ** 2


@program(args=lambda rng: (np.array([0.3, -1.2, 0.8]),))
def floats_and_items(x):
    a = float(x[0]) * x[1].item()
    b = x.sum().item() ** 2
    c = float(np.dot(x, x))
    values = x.tolist()
    return a * b + c + values[2] ** 3 + x.item(1) * float("2.5")


@program(args=lambda rng: (2.37, 3), tags={"second"})
def rounding_is_flat(x, n):
    whole = int(x)
    near = round(x)
    digits = round(x, 1)
    remainder = x % 1.0
    quotient = x // 0.5
    return x * whole + near * x**2 + math.floor(x) * remainder + quotient + digits * n + math.ceil(x)


@program(args=lambda rng: (2.37, 0.85), wrt=(0, 1))
def powers_and_modulo(x, y):
    q, r = divmod(x, y)
    return pow(x, 2) * r + x**y + 2**x + (-y) ** 2 + x**-1.5 + q + math.fmod(x, y) + x**0


@program(args=lambda rng: (rng.normal(size=4), 0.3), wrt=(0, 1))
def isinstance_and_type(x, t):
    total = 0.0
    for v in (x, t, 3, "no", None):
        if isinstance(v, np.ndarray):
            total = total + np.sum(v**2)
        elif isinstance(v, float):
            total = total * v
        elif isinstance(v, (int, str)) and not isinstance(v, str):
            total = total + v
    return total if type(t) is float else 0.0


@program(args=lambda rng: (0.3,))
def strings_and_prints(x):
    label = f"x = {x:.2f}, twice = {2 * x!r}"
    print(label, "{:>8.3f}".format(x), "%.1f" % x)
    print(len(label))
    return x * len(label.split(",")) + x**2


@program(args=lambda rng: (rng.normal(size=(3, 4)),))
def shape_arithmetic(A):
    m, n = A.shape
    scale = 1.0 / (m * n) ** 0.5
    half = n // 2
    blocks = A.reshape(m, -1, half)
    return np.sum(blocks[:, 0] * blocks[:, 1]) * scale * A.ndim / A.size + len(A) * A[0, 0]


@program(args=lambda rng: (0.6, 0.9), wrt=(0, 1))
def python_complex(x, y):
    z = complex(x, y) * (1 + 2j)
    w = z * z.conjugate()
    return w.real + abs(z) * z.imag


@program(args=lambda rng: (rng.normal(size=5),))
def counting(x):
    positive = sum(v > 0 for v in x)
    large = len([v for v in x if abs(v) > 0.01])
    below = np.count_nonzero(x < 10.0)
    return np.sum(x**2) * positive + x[large - 1] * below * bool(large)


@program(args=lambda rng: (rng.uniform(0.2, 1.0, size=3),))
def mean_kinds(x):
    arithmetic = sum(x) / len(x)
    geometric = math.exp(sum(math.log(v) for v in x) / len(x))
    harmonic = len(x) / sum(1 / v for v in x)
    return arithmetic * geometric - harmonic**2


@program(args=lambda rng: (0.6,))
def inactive_side_work(x):
    grid = np.arange(12).reshape(3, 4)
    names = sorted({"b": 1, "a": 2})
    index = names.index("b") + int(grid[1].sum() > 3)
    bits = (index << 2) | 1
    text = "-".join(str(b) for b in range(bits % 4))
    return x ** (index + len(text)) * ~index


@program(args=lambda rng: (rng.normal(size=4),), tags={"second"})
def sum_of_an_array(x):
    return np.sin(sum(x)) * np.sum(np.cos(x))


@program(args=lambda rng: (rng.normal(size=4),), tags={"inplace"})
def slope_with_a_sign(x):
    x[-4] = math.tanh(np.exp(-abs(x[-4])))
    return np.sum(np.sin(x))
