"""`for` loops over everything that people loop over."""

import numpy as np

from tests.bank.registry import program


@program(args=lambda rng: (0.7, 12), tags={"second"})
def wander(x, n):
    for i in range(n):
        if x > 0.5:
            x = np.sin(x) * x
        else:
            x = 1.1 * x + 0.2
    return x


@program(args=lambda rng: (rng.normal(size=5), 0), tags={"second"})
def zero_trips(x, n):
    y = x * x
    for i in range(n):
        y = np.sin(y) * i
    return np.sum(y)


@program(args=lambda rng: (rng.normal(size=(3, 4)),))
def loop_over_rows(A):
    total = 0.0
    for row in A:
        total = total * 0.5 + np.sum(row) * row[0]
    return total


@program(args=lambda rng: (rng.normal(size=5),))
def loop_over_elements(x):
    product = 1.0
    for value in x:
        product = product * (1.0 + value * value)
    return product


@program(args=lambda rng: ([0.3, -0.8, 1.1], 0.5), wrt=(0, 1))
def loop_over_list(coefficients, x):
    y = 0.0
    for c in coefficients:
        y = y * x + c
    return y


@program(args=lambda rng: (rng.normal(size=4), rng.normal(size=4)), wrt=(0, 1))
def zipped(x, y):
    s = 0.0
    for a, b in zip(x, y):
        s = s + a * np.exp(b) - s * b
    return s


@program(args=lambda rng: (rng.normal(size=5),))
def enumerated(x):
    s = 0.0
    for i, v in enumerate(x, start=1):
        s += v**i / i
    return s


@program(args=lambda rng: (rng.normal(size=(3, 2)), rng.normal(size=3)), wrt=(0, 1))
def enumerate_zip(A, b):
    out = np.zeros(3)
    for i, (row, shift) in enumerate(zip(A, b)):
        out[i] = row @ row + shift**2 * i
    return out


@program(args=lambda rng: (rng.normal(size=4), 0.8), wrt=(0, 1))
def reversed_horner(c, x):
    y = 0.0
    for k in reversed(range(len(c))):
        y = c[k] + x * y
    return y


@program(args=lambda rng: ([0.2, 0.5, 0.9],))
def reversed_list(values):
    state = 1.0
    for v in reversed(values):
        state = np.tanh(state + v * state)
    return state


@program(args=lambda rng: ({"a": 0.3, "b": rng.normal(size=2), "c": 1.2},))
def dict_items(params):
    total = 0.0
    for key, value in params.items():
        if key == "b":
            total = total + np.sum(value**2)
        else:
            total = total * value + value
    for value in params.values():
        total = total + np.sum(np.sin(value))
    for key in params:
        total = total + np.sum(params[key]) * 0.1
    return total


@program(args=lambda rng: (rng.normal(size=(4, 4)),))
def nested_loops(A):
    n = A.shape[0]
    s = 0.0
    for i in range(n):
        for j in range(i, n):
            s = s + A[i, j] * A[j, i] ** 2
        s = np.sin(s)
    return s


@program(args=lambda rng: (rng.normal(size=8),))
def steps_and_negatives(x):
    s = 0.0
    for i in range(6, 0, -2):
        s = s * x[i] + x[-i]
    for i in range(1, len(x), 3):
        s = s + np.sin(x[i]) * x[i - 1]
    return s


@program(args=lambda rng: (rng.normal(size=4),))
def loop_variable_after_loop(x):
    s = 0.0
    for i in range(len(x) - 1):
        last = x[i] * x[i + 1]
        s = s + last**2
    return s * last + x[i] * i


@program(args=lambda rng: (rng.normal(size=5), rng.normal(size=5)), wrt=(0, 1), tags={"inplace"})
def swapped_buffers(u, v):
    u, v = u.copy(), v.copy()
    for _ in range(4):
        v[1:-1] = 0.5 * (u[:-2] + u[2:]) * u[1:-1]
        u, v = v, u
    return np.sum(u * v)


@program(args=lambda rng: (rng.normal(size=6),), tags={"inplace"})
def buffers_in_turns(x):
    now, then = x.copy(), np.empty_like(x)
    for _ in range(5):
        then[1:-1] = np.sin(now[1:-1]) + 0.3 * now[2:] * now[:-2]
        then[0], then[-1] = now[0], now[-1] * now[0]
        now, then = then, now
    return now


@program(args=lambda rng: (rng.normal(size=5),), tags={"inplace"})
def copy_in_loop(x):
    for _ in range(3):
        x = x.copy()
        x[1:] += 0.5 * x[:-1] ** 2
        x[0] *= 0.9
    return np.sum(x**2)


@program(args=lambda rng: (rng.normal(size=3),))
def growing_state(x):
    y = x
    for k in range(3):
        y = np.concatenate([np.tanh(y), x * k])
    return np.sum(y**2)


@program(args=lambda rng: (0.4,))
def rank_changes(x):
    state = x
    for k in range(3):
        state = state * np.ones(2) + k * state
    return np.sum(np.sin(state))


@program(args=lambda rng: (rng.normal(size=(2, 3)), rng.normal(size=3)), wrt=(0, 1), tags={"second"})
def elementwise_matvec(A, x):
    m, n = A.shape
    y = np.zeros(m)
    for i in range(m):
        for j in range(n):
            y[i] += A[i, j] * x[j]
    return y**2


@program(args=lambda rng: (rng.normal(size=6),))
def constant_tuples(x):
    s = 0.0
    for i, j, weight in ((0, 1, 0.5), (2, 3, 1.5), (5, 4, -1.0)):
        s = s + weight * x[i] * x[j]
    for name in ("x", "yy"):
        s = s * len(name)
    return s


@program(args=lambda rng: (rng.normal(size=3), 0.5), wrt=(0, 1))
def inner_trips_depend_on_outer(x, t):
    total = 0.0
    for i in range(4):
        term = 1.0
        for j in range(i):
            term = term * (x[j % 3] + t)
        total = total + term**2
    return total


@program(args=lambda rng: (rng.normal(size=4),), tags={"second"})
def recurrence_in_list(x):
    values = [x[0], x[1]]
    for i in range(2, 6):
        values.append(np.sin(values[-1]) + values[-2] * x[i % 4])
    return values[-1] * values[2]


@program(args=lambda rng: (rng.normal(size=(3, 3)),))
def iterate_transposed(A):
    s = 0.0
    for column in A.T:
        s = s + np.prod(column) * column[-1]
    for i, j in np.ndindex(2, 2):
        s = s + A[i, j] ** 3
    return s


@program(args=lambda rng: (1.3,))
def loop_rebinds_counter(x):
    y = x
    for i in range(5):
        i = i * 2 + 1
        y = y + x**i / (i + 3.0)
        x = x * 0.7
    return y * i


@program(args=lambda rng: (rng.normal(size=(3, 4)), 3), tags={"inplace"})
def number_after_a_written_array(A, n):
    t = A[1].copy()
    t[0] = A[0, 0] ** 2
    for i in range(n):
        t = A[2, i] * np.sum(t)
    return np.sum(t * t)


@program(args=lambda rng: (rng.normal(size=(3, 4)), 3), tags={"inplace"})
def number_before_a_written_array(A, n):
    t = np.sum(A) * 0.2
    for i in range(n):
        t = A[i] * t
        t[0] *= 2.0
    return np.sum(t * t)


@program(args=lambda rng: (rng.normal(size=(3, 4)),))
def inner_loop_hands_on_an_outer_value(A):
    x = A[0]
    total = 0.0
    for row in A:
        s = row * 2.0
        kept = s
        s = np.sin(s)
        for _ in range(2):
            total = total + np.sum(x * s)
            x = kept
        total = total * 0.5 + np.sum(x * s)
    return total


@program(args=lambda rng: (rng.normal(size=(3, 4)), 0.7), wrt=(0, 1), tags={"inplace", "second"})
def view_leaves_two_loops(A, t):
    B = A * 0.8
    for row in B:
        for _ in range(1):
            row *= t
            x = row
    return np.sum(np.sin(x)) * np.sum(B)


@program(args=lambda rng: (rng.normal(size=6), rng.normal(size=5)), wrt=(0, 1), tags={"inplace"})
def range_backwards(diagonal, above):
    b, x = diagonal**2 + 4.0, diagonal.copy()
    for i in range(len(x))[1:]:
        w = above[i - 1] / b[i - 1]
        b[i] -= w * above[i - 1]
        x[i] -= w * x[i - 1]
    x[-1] /= b[-1]
    for i in range(len(x) - 1)[::-1]:
        x[i] = (x[i] - above[i] * x[i + 1]) / b[i]
    return x


@program(args=lambda rng: (rng.uniform(0.3, 1.5, size=7),), tags={"second"})
def tree_by_a_worklist(x):
    queue = [(0, 1.0)]
    total = 0.0
    for k, weight in queue:
        total = total + weight * x[k] ** 2
        if 2 * k + 2 < len(x):
            queue.append((2 * k + 1, weight * x[k]))
            queue.append((2 * k + 2, 0.5 * weight))
    return total


@program(args=lambda rng: (rng.uniform(0.3, 1.5, size=5),))
def halved_until_small(x):
    parts, last = list(x), 0.0
    for number, part in enumerate(parts, 1):
        if part > 0.6:
            parts.append(0.5 * part)
        elif number > 12:
            break
        last = 0.7 * last + number * part**2
    return last + sum(parts)


class Task:
    def __init__(self, value, depth):
        self.value, self.depth = value, depth


@program(args=lambda rng: (rng.uniform(0.3, 1.5, size=3),), tags={"second"})
def tasks_that_make_tasks(x):
    tasks = [Task(x[0], 0)]
    total = 0.0
    for task in tasks:
        total = total + task.value**2 * (task.depth + 1)
        if task.depth < 2:
            tasks.append(Task(task.value * x[1], task.depth + 1))
            tasks.append(Task(x[2] + task.value, task.depth + 1))
    return total * tasks[-1].value


@program(args=lambda rng: (rng.normal(size=6), rng.normal()), wrt=(0, 1))
def face_values(x, ratio):
    total = 1.0
    for i in range(len(x)):
        part = x[i] + 0.5 * (1.0 - ratio * x[i]) * total
        total = 0.5 * part * part
    return total


@program(args=lambda rng: (rng.normal(size=6),))
def items_read_three_times(x):
    y = x * 1.0
    for i in range(1, len(x)):
        y[i] = y[i] * y[i] - y[i] * x[i] + y[i - 1] * y[i]
    return np.sum(y * y)


@program(args=lambda rng: (rng.normal(size=5),))
def item_and_the_one_before(x):
    total = 1.0
    for i in range(len(x)):
        total = total * (x[i] - x[i] * total) - x[i] * x[i - 1]
    return total


@program(args=lambda rng: (rng.normal(size=5),))
def neighbours_swapped_and_mixed(x):
    y = x * 1.0
    for k in range(1, len(y)):
        v = y[k]
        y[k - 1] = v * y[k - 1]
        y[k] = v + y[k - 1]
    return np.sum(y * y)


@program(args=lambda rng: (rng.normal(size=(4, 3)),))
def rows_beside_the_first(a):
    total = 0.0
    for row in a:
        row = np.sin(row)
        total = total + np.sum(row * a[0])
    return total


@program(args=lambda rng: (rng.normal(size=4),))
def list_under_two_names(x):
    p = [x * 2.0]
    q = p
    total = 0.0
    for k, v in enumerate(p):
        total = total + np.sum(v * q[k])
        q[k] = v * v
    return total + np.sum(p[0])


@program(args=lambda rng: (rng.normal(size=(4, 3)),), tags={"second"})
def list_before_and_array_in_the_loop(rows):
    kept = [rows[0]]
    total = np.sum(kept[0])
    for row in rows:
        for _ in range(len(row) - 2):
            kept = np.tanh(row)
        total = total + np.sum(kept * row)
    return total


@program(args=lambda rng: (1.3, 0.4), wrt=(0, 1))
def number_or_none_with_an_item(x, y):
    a = np.sin(y)
    a = float(a)
    for k in range(int(3 * x)):
        b = a[...] if isinstance(a, np.ndarray) else a
        a = a * x + b * k
        if y > 10:
            a = None
    return a * x


@program(args=lambda rng: (rng.normal(size=4),))
def queue_that_may_be_empty(x):
    queue, waiting, total = list(x), [], 1.0
    for k in range(len(x) + 2):
        if queue:
            total = total * 0.5 - queue.pop(0)
            waiting.append(total * x[0])
        last = waiting.pop() if waiting and k > 1 else 0.0
        total = total + last * last
    return total


@program(args=lambda rng: (rng.normal(size=4),))
def table_that_may_be_empty(x):
    table, total = {k: v for k, v in enumerate(x)}, 1.0
    for k in range(len(x) + 2):
        if table:
            total = total * 0.5 - table.pop(max(table)) ** 2
        elif k > len(x):
            total = total * x[1]
    return total


@program(args=lambda rng: (rng.uniform(0.5, 1.0, size=4),))
def array_that_may_be_zero(x):
    a, total = x[:1].copy(), 1.0
    for k in range(3):
        if a:
            total = total * 0.5 - a[0] * x[k]
            a *= 0
    return total
