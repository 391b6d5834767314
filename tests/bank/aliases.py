"""Several names for one object."""

import numpy as np

from tests.bank.registry import program

ALIAS = {"inplace", "alias"}


@program(args=lambda rng: (rng.normal(size=4),), tags=ALIAS)
def array_alias(x):
    y = np.sin(x)
    z = y
    y *= 3
    return np.sum(z * z)


@program(args=lambda rng: (0.7,), tags={"alias", "second"})
def float_alias(x):
    y = np.sin(x)
    z = y
    y *= 3
    y += z
    return z * z * y


@program(args=lambda rng: (rng.normal(size=3),), tags=ALIAS)
def rebinding_breaks_alias(x):
    y = x * x
    z = y
    y = y * 3
    z += 1.0
    w = z
    z = z.copy()
    z *= 2.0
    return np.sum(y * z * w)


@program(args=lambda rng: (rng.normal(size=3),), tags=ALIAS)
def scalar_elements_are_copies(x):
    y = x * x
    a = y[0]
    y[0] = 5.0
    a += y[1]
    a *= a
    return a * np.sum(y)


@program(args=lambda rng: (rng.normal(size=3), 0.4), wrt=(0, 1), tags=ALIAS)
def alias_in_list(x, t):
    y = x * t
    kept = [y, x * x]
    y += 1.0
    kept[1][0] = t
    kept[0][1] *= x[2]
    first, second = kept
    first -= second
    return np.sum(y**2)


@program(args=lambda rng: (rng.normal(size=3),), tags=ALIAS)
def alias_twice_in_list(x):
    row = x * 1.0
    table = [row, row, row.copy()]
    table[0][0] = x[1] ** 2
    table[1] *= 2.0
    table[2] += table[0]
    return np.sum(table[0] * table[1] * table[2])


@program(args=lambda rng: (rng.normal(size=3),), tags=ALIAS)
def list_alias(x):
    a = [x[0], x[1]]
    b = a
    b.append(x[2] ** 2)
    b[0] = b[2] * a[1]
    a += [np.sin(x[0])]
    return sum(a) * b[3] * len(b)


@program(args=lambda rng: (rng.normal(size=3), 0.3), wrt=(0, 1), tags=ALIAS)
def alias_through_function(x, t):
    def identity(a):
        return a

    def head(a):
        return a[:2]

    y = x * x
    identity(y)[2] = t
    head(y)[:] *= t
    z = identity(y)
    z += x
    return np.sum(y**2)


@program(args=lambda rng: (rng.normal(size=3),), tags=ALIAS)
def alias_in_dict(x):
    state = {"u": x * 1.0}
    state["v"] = state["u"]
    state["u"] += x**2
    state["v"][0] = 2.0
    state["u"] = state["u"] * state["v"]
    state["v"] *= 0.5
    return np.sum(state["u"] * state["v"])


# In float32 `astype(float)` copies: another program.
@program(args=lambda rng: (rng.normal(size=3),), tags=ALIAS, float32=False)
def default_copy_or_not(x):
    y = np.asarray(x * 2.0)
    z = np.array(y)
    w = np.asarray(y)
    w[0] = z[1]
    z[1] = 9.0
    v = y.astype(float, copy=False)
    v[2] = 0.5 * z[0]
    u = y.astype(float)
    u *= 0.0
    return np.sum(y * z + u)


@program(args=lambda rng: (lambda a: (a, a))(rng.normal(size=3)), wrt=(0, 1), float32=False)
def same_array_twice(x, y):
    return np.sum(x * x * y)


@program(args=lambda rng: (rng.normal(size=4),), tags=ALIAS)
def rotating_aliases(x):
    a, b, c = x * 1.0, x * 2.0, x * x
    for i in range(4):
        a, b, c = b, c, a
        a[i] = b[i] * c[i]
        c += 0.1 * a
    return np.sum(a * b) + np.sum(c**2)


@program(args=lambda rng: (rng.normal(size=3),), tags=ALIAS)
def loop_carried_alias(x):
    previous = x * 1.0
    current = previous
    for k in range(3):
        current = current * x if k % 2 else current
        current += previous[0]
        previous = current
    return np.sum(current * previous)


@program(args=lambda rng: (rng.normal(size=(2, 3)),), tags=ALIAS)
def unpacked_rows_are_views(A):
    B = A * A
    top, bottom = B
    top += bottom
    first, *rest = B
    rest[0][1] = first[2] * A[0, 0]
    return np.sum(B**2) * top[0]


@program(args=lambda rng: (rng.normal(size=3),), tags=ALIAS)
def list_multiplication(x):
    rows = [x * 1.0] * 3
    rows[0][0] *= x[1]
    rows[2] = rows[1] * 2.0
    rows[1] += rows[2]
    return np.sum(np.stack(rows) ** 2)


@program(args=lambda rng: (rng.normal(size=4),), tags=ALIAS | {"in_argument"})
def argument_alias(x):
    y = x
    y[1:] *= x[0]
    z = x[:2]
    x += 1.0
    return np.sum(y * y) * z[1]


@program(args=lambda rng: (rng.normal(size=4),), tags=ALIAS)
def returned_alias(x):
    y = x * x
    z = y[1:]
    y[2] = x[0]
    return y, z


@program(args=lambda rng: (rng.normal(size=4),))
def returns_argument(x):
    return x


@program(args=lambda rng: (rng.normal(size=4), rng.normal(size=(3, 4))), wrt=(0, 1), tags=ALIAS)
def bound_in_a_loop_to_an_outer_array(x, A):
    x = 0.5 * x
    A = A * 0.8
    p = A[-2]
    for _ in x:
        p = x
    x = A.reshape(-1)[4:8]
    p[-3:] = float(x[0])
    return np.sum(p**2) + np.sum(x[::-1] ** 3)


@program(args=lambda rng: (rng.normal(size=5),), tags={"inplace"})
def halves_in_turns(x):
    line = np.concatenate((x, x[::-1] ** 2))
    left, right = line[: len(x) + 1], line[len(x) - 1 :]
    for _ in range(3):
        right[1:] *= left[:-1]
        left, right = right, left
    return np.sum(line**2) + left @ right


@program(args=lambda rng: (rng.normal(size=4), rng.normal(size=(3, 4))), wrt=(0, 1), tags={"inplace"})
def difference_taken_off_a_row(x, A):
    A = A.copy()
    A[0] -= 0.1 - x @ A.T @ A
    A[-2][:] += 0.5 * (2.0 * np.tanh(A @ x)[:1] * (x @ A.T @ A))
    return np.sum(A * np.cos(A))


@program(args=lambda rng: (rng.normal(size=4), rng.normal(size=(3, 4))), wrt=(0, 1), tags={"inplace"})
def row_raised_before_all_are_lowered(x, A):
    x, A = x.copy(), A.copy()
    shifted, w = x + 0.3, A[:, 0] * 0.7
    A -= np.outer(w, np.sin(w @ A))
    row = A[0]
    row += x
    for _ in range(3):
        A -= x
    return np.sum(x * row) + np.sum(w**2) + np.sum(A.T[:, 1] @ shifted)


@program(args=lambda rng: (rng.uniform(0.3, 1.2, size=3),), tags={"second"})
def list_bound_anew_in_some_iterations(g):
    x = [0.0, 0.5]
    total = 0.0
    for k in range(9):
        before = x
        if k % 3 == 0:
            x = [x[0] + 0.1 * x[1] + g[1], x[1] + g[0]]
        elif k % 3 == 1:
            if g[1] > 0.2:
                x = [x[1], x[0] * g[2]]
        total += x[0] * before[1] + before[0] * g[2]
    return total


@program(args=lambda rng: (rng.uniform(0.3, 1.2, size=3),), tags={"second", "inplace"})
def array_bound_anew_in_some_iterations(g):
    x = np.zeros(3)
    total = 0.0
    for k in range(6):
        old = x
        if k % 2 == 0:
            x = x + g
        x[0] = x[1] * g[2] + 1.0
        if k == 3:
            total += np.sum(old * old)
        total += np.sum(x * g)
    return total


@program(args=lambda rng: (rng.uniform(0.3, 1.2, size=3),))
def list_bound_anew_where_nothing_is_raised(g):
    x = [0.0, 1.0]
    total = 0.0
    for k in range(6):
        try:
            if k == 2:
                raise ValueError
            x = [x[0] + g[0], x[1] * g[1]]
        except ValueError:
            total += x[0]
        total += x[0] * x[1] * g[2]
    return total


@program(args=lambda rng: (rng.uniform(0.3, 1.2, size=3), 0.1), wrt=(0,), tags={"inplace"})
def array_of_several_names_written_on_one_path(x, t):
    x = x.copy()
    try:
        if t > 0.5:
            raise ValueError
        w = x
        if t > 0.2:
            w = x * 2.0
        w += x
    except ValueError:
        pass
    return np.sum(x**2)
