"""Lists, dicts, tuples, namedtuples: as arguments, as results, built, written and read inside."""

from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tests.bank.registry import program

Point = namedtuple("Point", ["x", "y"])


class Layer(NamedTuple):
    weight: np.ndarray
    bias: np.ndarray


@program(args=lambda rng: (rng.normal(size=4),))
def append_and_pop(x):
    work = []
    for v in x:
        work.append(v * v)
        if len(work) > 2:
            last = work.pop()
            work[0] = work[0] * last + v
    first = work.pop(0)
    return first * work[-1] + sum(work)


@program(args=lambda rng: (rng.normal(size=3),))
def list_methods(x):
    values = list(x)
    values.insert(1, x[0] * x[2])
    values.extend([x[1], 2.0])
    values.reverse()
    head = values[:2] + [x[2]] * 2
    values[1:3] = [x[0] ** 2]
    copy = values.copy()
    values[0] = 0.5
    return sum(h * v for h, v in zip(head, copy)) + values[0] * values[1]


@program(args=lambda rng: (rng.normal(size=3),))
def deleted_items(x):
    values = list(x)
    del values[0]
    table = {"a": x[0], "b": x[1] ** 2}
    del table["a"]
    return sum(values) * sum(table.values())


@program(args=lambda rng: (rng.normal(size=(3, 2)),), tags={"inplace"})
def arrays_in_list_written(A):
    rows = [row * 1.0 for row in A]
    for i in range(3):
        rows[i][0] = rows[i - 1][1] * rows[i][0]
        rows[i] *= 1.5
        rows[i] = rows[i] + A[0]
    rows[1][1] = 0.0
    return np.sum(np.array(rows) ** 2)


@program(args=lambda rng: (rng.normal(size=3), 0.7), wrt=(0, 1))
def dict_updates(x, t):
    state = {"u": x, "v": t * x}
    for k in range(3):
        state["v"] = state["v"] - 0.1 * np.sin(state["u"])
        state["u"] = state["u"] + 0.1 * state["v"]
        state.update(t=t * k, last=state["u"])
        state["count"] = state.get("count", 0.0) + t
    state.setdefault("u", 0.0)
    scale = state.pop("count")
    return np.sum(state["u"] * state["last"]) * scale + state["t"]


@program(args=lambda rng: ((rng.normal(size=2), 0.4),))
def tuple_argument(pair):
    a, b = pair
    return np.sum(a**2) * b + pair[0][1]


@program(
    args=lambda rng: ([rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=(4, 1))], rng.normal(size=(5, 3))),
    wrt=(0, 1),
)
def list_argument(weights, x):
    w1, b1, w2 = weights
    return np.tanh(x @ w1 + b1) @ w2


@program(
    args=lambda rng: (
        {"w": rng.normal(size=(3, 2)), "b": rng.normal(size=2), "unused": rng.normal(size=3)},
        rng.normal(size=(4, 3)),
    )
)
def dict_argument(params, x):
    return np.mean((x @ params["w"] + params["b"]) ** 2)


@program(
    args=lambda rng: (
        [{"w": rng.normal(size=(2, 3)), "b": 0.3}, {"w": rng.normal(size=(3, 2)), "b": -0.2}],
        rng.normal(size=2),
    ),
    wrt=(0, 1),
)
def nested_argument(layers, x):
    for layer in layers:
        x = np.tanh(x @ layer["w"] + layer["b"])
    return np.sum(x)


@program(
    args=lambda rng: (Point(rng.normal(size=3), 0.8), Layer(rng.normal(size=(3, 3)), rng.normal(size=3))), wrt=(0, 1)
)
def namedtuple_argument(p, layer):
    hidden = np.sin(layer.weight @ p.x + layer.bias * p.y)
    q = p._replace(y=p.y**2)
    return np.sum(hidden * q.x) * q.y + p[0][0]


@program(args=lambda rng: (0.4, 1.3), wrt=(0, 1))
def namedtuple_inside(a, b):
    p = Point(a * b, y=b)
    for _ in range(3):
        p = Point(p.x + 0.1 * p.y, p.y - 0.1 * np.sin(p.x))
    x, y = p
    return x * y + p.x


@program(args=lambda rng: (rng.normal(size=3),))
def tuple_result(x):
    return x * x, np.sum(x) ** 2, 3.0


@program(args=lambda rng: (rng.normal(size=3), 0.5), wrt=(0, 1))
def dict_result(x, t):
    y = np.sin(x) * t
    return {"y": y, "loss": np.sum(y**2), "parts": [y[0], (t**2,)], "n": 3}


@program(args=lambda rng: (0.5,))
def namedtuple_result(t):
    return Point(t * t, np.cos(t))


@program(args=lambda rng: (rng.normal(size=6), ["a", "b", "a", "c", "b", "a"]))
def group_by_key(x, keys):
    groups = defaultdict(list)
    for key, value in zip(keys, x):
        groups[key].append(value)
    return sum(np.mean(np.array(v)) ** 2 * len(v) for v in groups.values())


@program(args=lambda rng: (rng.normal(size=5),))
def moving_window(x):
    window = deque(maxlen=3)
    total = 0.0
    for v in x:
        window.append(v)
        total = total + sum(window) ** 2
    window.popleft()
    return total * window[0]


@program(args=lambda rng: (rng.uniform(0.5, 1.0, size=(3, 4)),))
def dynamic_programming(cost):
    n, m = cost.shape
    best = [[0.0] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            if i == 0 and j == 0:
                best[i][j] = cost[0, 0]
            elif i == 0:
                best[i][j] = best[i][j - 1] + cost[i, j]
            elif j == 0:
                best[i][j] = best[i - 1][j] + cost[i, j]
            else:
                best[i][j] = cost[i, j] * cost[0, j] + min(best[i - 1][j], best[i][j - 1])
    return best[-1][-1]


@program(args=lambda rng: (rng.normal(size=3), rng.normal(size=3)), wrt=(0, 1))
def starred_unpacking(x, y):
    first, *middle, last = [x[0], y[0], x[1], y[2] * x[2]]
    (a, b), c = (first, last), middle
    merged = [*c, a, *[b, b]]
    settings = {**{"p": a * b}, "q": c[0]}
    return sum(m**2 for m in merged) * settings["p"] + settings["q"]


@program(args=lambda rng: (rng.normal(size=(3, 3)),))
def transposed_zip(A):
    columns = list(zip(*A))
    total = 0.0
    for a, b, c in columns:
        total += a * b - c**2
    return total * columns[0][1]


@program(args=lambda rng: ([rng.normal(size=2), rng.normal(size=2)], 0.3), tags={"inplace", "in_argument"})
def list_argument_written(arrays, t):
    arrays[0][1] = t
    arrays.append(arrays[0] * arrays[1])
    arrays[1] = arrays[1] ** 2
    arrays[2] *= 2.0
    return np.sum(arrays[0] * arrays[1] * arrays[-1])


@program(args=lambda rng: ({"u": rng.normal(size=3), "v": rng.normal(size=3)},), tags={"inplace", "in_argument"})
def dict_argument_written(state):
    state["u"][0] *= 3.0
    state["w"] = state["u"] * state["v"]
    state["v"] = np.sin(state["w"])
    return np.sum(state["v"] * state["u"])


@program(args=lambda rng: (rng.normal(size=4),))
def sets_and_membership(x):
    chosen = {0, 2} | {3}
    total = 0.0
    for i in range(4):
        if i in chosen and i not in (3,):
            total += x[i] ** 2
        elif i in chosen:
            total *= x[i]
    return total * len(chosen)


@program(
    args=lambda rng: (rng.uniform(1, 2, size=3), {"decay": 0.5, "steps": 3, "mode": "exp", "shift": None}), wrt=(0,)
)
def settings_dict(x, config):
    for _ in range(config["steps"]):
        if config["mode"] == "exp":
            x = x * np.exp(-config["decay"] * x)
        if config.get("shift") is not None:
            x = x + config["shift"]
    return np.sum(x)


@program(args=lambda rng: (rng.normal(size=(4, 2)),))
def adjacency(x):
    neighbours = {0: [1, 2], 1: [0], 2: [3, 0], 3: []}
    h = x
    for _ in range(2):
        messages = []
        for node, others in neighbours.items():
            message = h[node] * 0.5
            for other in others:
                message = message + np.tanh(h[other])
            messages.append(message)
        h = np.stack(messages)
    return h


def layers_by_name(rng):
    shapes = {"w0": (3, 4), "b0": (4,), "w1": (4, 2), "b1": (2,)}
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}, rng.normal(size=(5, 3)), 2


@program(args=layers_by_name, wrt=(0, 1))
def layers_of_a_dict_by_number(params, h, n):
    for i in range(n):
        h = np.tanh(h @ params[f"w{i}"] + params[f"b{i}"])
    return np.sum(h)


@program(args=layers_by_name, wrt=(0, 1))
def layers_by_joined_names(params, h, n):
    half = len(params) // 2
    for i in range(half):
        h = np.sin(h @ params["w" + str(i)] + params["b%d" % i])
    return np.sum(h) + np.sum(params["w0"])


@program(args=layers_by_name, wrt=(0,), tags={"in_argument"})
def dict_argument_written_by_number(params, h, n):
    for i in range(n):
        params[f"b{i}"] *= 2.0
        params[f"w{i}"] = params[f"w{i}"] * np.sum(params[f"b{i}"])
    return np.sum(h @ params["w0"])


@program(args=lambda rng: (rng.normal(size=4),))
def deque_from_the_left(x):
    q = deque(x, maxlen=3)
    q.append(x[0] * x[1])
    q.appendleft(2.0 * x[2])
    newest = q.copy()
    newest.append(x[3])
    return q[0] * q[1] + q[2] * newest[0] * newest[-1]


@program(args=lambda rng: (rng.normal(size=4),))
def largest_of_starred_items(x):
    squares = x * x
    return min(*x) * 2 + max(*squares) ** 2


@lru_cache(maxsize=None)
def cached_square(t):
    return t * t


@program(args=lambda rng: (rng.normal(size=3),))
def helper_with_a_cache(x):
    return cached_square(float(x[0])) + cached_square(x[1]) * x[2]


@lru_cache(maxsize=None)
def cached_coefficients(n, alpha):
    return (2 * n + alpha) / (n + 1), alpha / (n + 2)


@program(args=lambda rng: (rng.normal(size=3),))
def helper_with_a_cache_of_tuples(x):
    before, now = np.ones_like(x), x
    for n in range(1, len(x) + 1):
        a, b = cached_coefficients(n, 0.5)
        before, now = now, a * x * now - b * before
    return np.sum(now)


class Vector(NamedTuple):
    x: float
    y: float

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    __rmul__ = __mul__


@program(args=lambda rng: (rng.normal(size=4), 0.1))
def operators_of_a_named_tuple(z, dt):
    position, velocity = Vector(z[0], z[1]), Vector(z[2], z[3])
    for _ in range(3):
        position = position + dt * velocity
        velocity = velocity + position * -dt
    return position.x * velocity.y + position.y


@program(lambda rng: (rng.uniform(0.5, 1.5, size=3), [0.3, 0.7, 1.1], (1.5, 0.5, 0.2)), tags={"second"})
def lists_beside_arrays(x, weights, scales):
    y = x * weights + [0.1, 0.2, 0.3]
    y *= scales
    rows = [x, y] * np.sin(x)
    z = scales / x - weights * y + [w * w for w in weights] * x
    return np.sum(rows) + np.sum(z**2)


def row_reduced(matrix):
    """The inverse, by operations on the rows of nested lists."""
    rows = [[*row] for row in matrix]
    inverse = [[float(i == j) for j in range(len(rows))] for i in range(len(rows))]
    for i in range(len(rows)):
        pivot = rows[i][i]
        rows[i] = [v / pivot for v in rows[i]]
        inverse[i] = [v / pivot for v in inverse[i]]
        for r in range(len(rows)):
            if r != i:
                f = rows[r][i]
                rows[r] = [a - f * b for a, b in zip(rows[r], rows[i])]
                inverse[r] = [a - f * b for a, b in zip(inverse[r], inverse[i])]
    return inverse


@program(lambda rng: ((rng.normal(size=(3, 3)) + 4 * np.eye(3)).tolist(), rng.normal(size=3).tolist()), wrt=(0, 1))
def rows_of_nested_lists(matrix, b):
    columns = [list(column) for column in zip(*row_reduced(matrix))]
    x = [sum(u * v for u, v in zip(column, b)) for column in columns]
    points = sorted((v * v, v + w) for v, w in zip(x, b))
    squares, sums = zip(*points)
    return sum(s * t for s, t in zip(squares, sums)) + sum(map(sum, columns))


@program(lambda rng: (rng.normal(size=(3, 3)).tolist(), rng.normal(size=3).tolist()), wrt=(0, 1))
def elimination_with_pivots(matrix, b):
    n = len(matrix)
    rows = [[*row, v] for row, v in zip(matrix, b)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(i + 1, n):
            factor = rows[r][i] / rows[i][i]
            for c in range(i, n + 1):
                rows[r][c] -= factor * rows[i][c]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (rows[i][n] - sum(rows[i][j] * x[j] for j in range(i + 1, n))) / rows[i][i]
    return sum(v * v for v in x)


@program(args=lambda rng: (rng.uniform(0.3, 1.5, size=5),))
def least_recently_used(x):
    cache = OrderedDict()
    total = 0.0
    for i in (0, 1, 2, 0, 3, 1, 4):
        if i in cache:
            cache.move_to_end(i)
            total = 0.5 * total + 2 * cache[i]
        else:
            cache[i] = x[i] ** 2
            if len(cache) > 2:
                key, dropped = cache.popitem(last=False)
                total = total + dropped * (key + 1)
    return total * cache.popitem()[1]


@program(args=lambda rng: (rng.uniform(0.3, 1.5, size=4),))
def counters_as_numbers(x):
    a, b = Counter(p=x[0] ** 2 + 1.0, q=x[1]), Counter(p=0.5, r=x[2] ** 2 + 0.1)
    total = a + b
    return total["p"] * total["r"] + (a - b)["p"] ** 2 + (a | b)["r"] * (a & b)["p"] + total["none"]


@program(args=lambda rng: (rng.uniform(0.3, 1.5, size=4),))
def keys_as_sets(x):
    a, b = {"p": x[0], "q": x[1]}, {"q": 3.0, "r": x[2]}
    total = sum(a[k] * b[k] for k in a.keys() & b.keys()) + sum(a[k] ** 2 for k in a.keys() - b.keys())
    other = {"q": 1.0, "p": x[2]}
    return total + (x[2] ** 3 if a.keys() == other.keys() and not a.keys() <= b.keys() else x[0])


TARIFF = {7: 0.31, 8: 0.31, 18: 0.42, 19: 0.42}


@program(args=lambda rng: (rng.uniform(0.5, 2.0, size=24),), tags={"second"})
def tariff_with_a_default(load):
    cost = 0.0
    for hour in range(24):
        cost = cost + TARIFF.get(hour, 0.2) * load[hour] ** 2
    return cost


@program(args=lambda rng: ({"a": 1.5, "b": 0.7}, 2.0, ["a", "c", "b", "a"]), wrt=(0, 1))
def parameters_with_a_default(p, other, names):
    total = 0.0
    for name in names:
        total = total + p.get(name, other) ** 3
    return total


@program(args=lambda rng: (1.2, [1, 7, 18, 2]), wrt=(0,))
def missing_keys_are_passed_over(x, hours):
    total = x
    for hour in hours:
        price = TARIFF.get(hour)
        if price is None:
            continue
        total = total * price + x
    return total
