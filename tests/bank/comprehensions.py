"""List, dict and set comprehensions and generator expressions."""

import numpy as np

from tests.bank.registry import program


@program(args=lambda rng: (rng.normal(size=5),), tags={"second"})
def list_comprehension(x):
    squares = [v * v for v in x]
    return sum(squares) * squares[0]


@program(args=lambda rng: (rng.normal(size=5),))
def filtered_comprehension(x):
    return sum([np.exp(v) for i, v in enumerate(x) if i % 2 == 0 if v > -50.0])


@program(args=lambda rng: (rng.normal(size=3), rng.normal(size=2)), wrt=(0, 1))
def nested_comprehension(x, y):
    table = [[a * b + i for b in y] for i, a in enumerate(x)]
    flat = [v**2 for row in table for v in row]
    return np.sum(np.array(table)) * sum(flat)


@program(args=lambda rng: (rng.normal(size=3),), tags=("second",))
def dict_comprehension(x):
    features = {f"f{i}": v**i for i, v in enumerate(x)}
    inverse = {k: 2.0 * v for k, v in features.items() if k != "f0"}
    return features["f2"] * inverse["f1"] + sum(inverse.values())


@program(args=lambda rng: (rng.normal(size=4), [0, 2, 2, 1]))
def set_comprehension(x, labels):
    return sum(x[i] ** 2 * i for i in sorted({label for label in labels}))


@program(args=lambda rng: (rng.normal(size=4), rng.normal(size=4)), wrt=(0, 1))
def generator_expressions(x, y):
    dot = sum(a * b for a, b in zip(x, y))
    largest = max(v**2 for v in x)
    if any(v > 50 for v in x) or not all(abs(v) < 50 for v in y):
        return dot
    return dot * largest


@program(args=lambda rng: (rng.normal(size=(3, 4)),))
def stacked_comprehension(A):
    rows = np.stack([np.tanh(row) * k for k, row in enumerate(A)])
    columns = np.array([np.sum(A[:, j]) ** 2 for j in range(A.shape[1])])
    joined = np.concatenate([row[:2] for row in A])
    return np.sum(rows @ columns) + np.sum(joined**2)


@program(args=lambda rng: (rng.normal(size=4),))
def conditional_expression_inside(x):
    parts = [v**2 if i % 2 else -v for i, v in enumerate(x)]
    return np.prod(np.array(parts)) + parts[0]


@program(args=lambda rng: (0.5,))
def comprehension_scope(x):
    i = x * 2.0
    values = [i * x for i in range(3)]
    return i * sum(values)


@program(args=lambda rng: (rng.normal(size=3),))
def walrus_in_comprehension(x):
    kept = [y * v for v in x if (y := v * v) > -1.0]
    return sum(kept) * y


@program(args=lambda rng: (rng.normal(size=(3, 3)), rng.normal(size=3)), wrt=(0, 1))
def matrix_product_by_comprehension(A, x):
    n = len(x)
    return np.array([sum(A[i, j] * x[j] for j in range(n)) for i in range(n)])


@program(args=lambda rng: (rng.normal(size=3),))
def list_of_functions_applied(x):
    fs = [np.sin, np.cos, lambda v: v**2]
    return sum(f(v) for f, v in zip(fs, x)) * np.prod([f(x[0]) for f in fs])


@program(args=lambda rng: (rng.normal(size=4),), tags={"inplace"})
def comprehension_of_written_arrays(x):
    y = x * 1.0
    snapshots = []
    for i in range(3):
        y[i] *= y[i + 1]
        snapshots.append(y.copy())
    views = [y[k:] for k in range(3)]
    y[3] = 2.0
    return sum(np.sum(s * s) for s in snapshots) + sum(np.sum(v**2) for v in views)


@program(args=lambda rng: (rng.normal(size=4),))
def generator_kept_in_a_name(x):
    squares = (v**2 for v in x)
    first = next(squares)
    rest = sum(squares)
    return first * rest
