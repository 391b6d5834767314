"""Tuples that are None at first, and dicts of other keys on other paths."""

from collections import Counter, namedtuple

import numpy as np

from tests.bank.registry import program

R = namedtuple("R", "f i")


def vector(rng):
    return (rng.normal(size=5),)


def positive(rng):
    return (rng.uniform(0.5, 2.0, size=5),)


@program(args=vector)
def best_value_and_its_place(x):
    best = None
    for i in range(len(x)):
        v = x[i] ** 2 + np.sin(x[i])
        if best is None or v > best[0]:
            best = (v, i)
    value, where = best
    return value * 3.0 + x[where]


@program(args=positive)
def prims_tree(x):
    n = len(x)
    cost = np.abs(x[:, None] - x[None, :]) + x[:, None] * x[None, :]
    inside = [0]
    total = 0.0
    while len(inside) < n:
        best = None
        for i in inside:
            for j in range(n):
                if j not in inside:
                    if best is None or cost[i, j] < best[0]:
                        best = (cost[i, j], j)
        total += best[0]
        inside.append(best[1])
    return total**2


@program(args=vector)
def found_or_none(x):
    def find(t):
        for i, v in enumerate(x):
            if v > t:
                return v, i
        return None

    r = find(0.0)
    if r is None:
        return np.sum(x)
    v, i = r
    return v**2 * (i + 1)


@program(args=vector)
def best_weights_or_none(x):
    best = None
    for k in range(len(x)):
        c = x * (k - 1.3)
        loss = np.sum((c - 0.3) ** 2)
        if best is None or loss < best[0]:
            best = (loss, c.copy(), k)
    loss, w, k = best
    return loss + np.sum(np.exp(w)) * k


@program(args=vector)
def best_asked_by_truth(x):
    best = None
    for v in x:
        if not best:
            best = v, 1.0
        elif v > best[0]:
            best = v, best[1] + 1.0
    return best[0] * best[1] if best else 0.0


@program(args=vector)
def never_found(x):
    best = None
    for v in x:
        if v > 100.0:
            best = v, 1.0
    if best is not None:
        return best[0]
    return np.sum(x**2)


@program(args=vector)
def unpacks_what_may_be_none(x):
    best = None
    for v in x:
        if v > 100.0:
            best = v, 1.0
    try:
        a, b = best
    except TypeError:
        a, b = x[0], 3.0
    return a * b


@program(args=vector)
def best_named_tuple(x):
    best = None
    for i, v in enumerate(x):
        f = v**2
        if best is None or f < best.f:
            best = R(f, i)
    return best.f * 2 + x[best.i]


@program(args=vector)
def best_of_each_pass(x):
    total = 0.0
    for k in range(3):
        best = None
        for i in range(k, len(x)):
            if best is not None and x[i] <= best[0]:
                continue
            best = x[i], i
        total += best[0] ** 2 * best[1]
    return total


@program(args=vector)
def pair_before(x):
    prev = None
    total = 0.0
    for i, v in enumerate(x):
        if prev is not None:
            p, j = prev
            total += (v - p) ** 2 / (i - j)
        if v > 0:
            prev = (v, i)
    return total + x[0]


@program(args=vector)
def passes_what_may_be_none(x):
    def better(best, v, i):
        if best is None:
            return v, i
        return (v, i) if v > best[0] else best

    best = None
    for i, v in enumerate(x):
        best = better(best, v, i)
    return best[0] ** 2 + best[1]


@program(args=vector)
def none_inside_a_tuple(x):
    best = None
    for i, v in enumerate(x):
        if best is None or v > best[1]:
            best = (None if i < 1 else i, v)
    return best[1] ** 2 + (0 if best[0] is None else best[0])


@program(args=vector)
def best_pair_of_places(x):
    best = None
    for i in range(len(x)):
        for j in range(i):
            v = x[i] * x[j]
            if best is None or v > best[0]:
                best = (v, (i, j))
    v, (i, j) = best
    return v + x[i] * 2 - x[j]


@program(args=vector)
def best_begins_with_integers(x):
    best = None
    for i in range(len(x)):
        if best is None:
            best = (1, 0)
        elif x[i] > best[0]:
            best = (x[i], i)
    return best[0] * 2.0 + x[best[1]]


@program(args=positive)
def page_ranks(x):
    links = {"a": ["b", "c"], "b": ["c"], "c": ["a"], "d": ["c", "a"]}
    rank = {k: x[i] for i, k in enumerate(links)}
    for _ in range(3):
        new = {k: 0.15 * v for k, v in rank.items()}
        for src, outs in links.items():
            for dst in outs:
                new[dst] += 0.85 * rank[src] / len(outs)
        rank = new
    return sum(v**2 for v in rank.values())


@program(args=positive)
def knapsack_in_dicts(x):
    best = {0: 0.0}
    for i in range(len(x)):
        new = dict(best)
        for c, v in best.items():
            if c + i + 1 <= 6:
                cand = v + x[i] ** 2
                if cand > new.get(c + i + 1, 0.0):
                    new[c + i + 1] = cand
        best = new
    return max(best.values())


@program(args=vector)
def keys_of_a_branch(x):
    if x[0] > 0:
        d = {"a": x[0], "b": x[1]}
    else:
        d = {"a": x[1] * 2}
    return sum(v**2 for v in d.values()) + d["a"]


@program(args=vector)
def distribution_in_dicts(x):
    cur = {0: x[0]}
    for k in range(len(x) - 1):
        nxt = {}
        for s, v in cur.items():
            nxt[s] = nxt.get(s, 0.0) + v * 0.5
            nxt[s + 1] = nxt.get(s + 1, 0.0) + v * x[k + 1]
        cur = nxt
    return sum(v * (s + 1) for s, v in cur.items())


@program(args=vector)
def products_of_polynomials(x):
    def mul(p, q):
        out = {}
        for i, a in p.items():
            for j, b in q.items():
                out[i + j] = out.get(i + j, 0.0) + a * b
        return out

    p = {0: 1.0}
    for v in x:
        p = mul(p, {0: v, 1: 1.0})
    return sum(c * 0.5**k for k, c in p.items())


@program(args=vector)
def divides_by_counts(x):
    labels = ["a", "b", "a", "c", "a"]
    counts = Counter(labels)
    w = {k: 0.0 for k in counts}
    for l, v in zip(labels, x):
        w[l] += v**2 / counts[l]
    return sum(np.sqrt(s) for s in w.values())


@program(args=vector)
def most_common_sign(x):
    labels = [int(v > 0) for v in x]
    c = Counter(labels)
    top, cnt = c.most_common(1)[0]
    return sum(v**2 for v, l in zip(x, labels) if l == top) / cnt


@program(args=vector)
def counts_signs(x):
    c = Counter()
    for v in x:
        c[int(v > 0)] += 1
    return np.sum(x**2) * c[0] / (c[1] + 1)


@program(args=vector)
def counter_of_numbers(x):
    c = Counter()
    for i, v in enumerate(x):
        c[i % 2] += v**2
    return c[0] * c[1]


@program(args=vector)
def counters_are_updated(x):
    c = Counter(i % 3 for i in range(len(x)))
    c.update([0, 0, 7])
    d = Counter(a=2, b=1)
    d.update({"a": 3})
    e = Counter("abracadabra")
    return (
        np.sum(x**2) * c[0] * c.total() * d["a"]
        + x[0] * c[99]
        + len(c) * x[1]
        + e["a"] * x[2]
        + e.most_common(2)[1][1] * x[3]
    )


@program(args=vector)
def counts_in_order(x):
    words = ["p", "q", "p", "r"]
    c = Counter(words)
    total = 0.0
    for k, (w, n) in enumerate(c.most_common()):
        total += x[k] * n
    for w in sorted(c):
        total *= 1 + 0.1 * c[w]
    return total / sum(c.values())


@program(args=vector)
def copies_of_dicts(x):
    d = dict.fromkeys(range(3), x[0])
    for i in range(len(x)):
        d[i % 3] = d[i % 3] + x[i] ** 2
    e = d.copy()
    e[0] = e[0] * 2
    d[1] = d[1] * e[0]
    return sum(e.values()) * d[1] + d[0]


class Momentum:
    def __init__(self, rate):
        self.rate = rate
        self.speed = None

    def update(self, weights, slopes):
        if self.speed is None:
            self.speed = {}
            for key, value in weights.items():
                self.speed[key] = np.zeros_like(value)
        for key in weights:
            self.speed[key] = 0.9 * self.speed[key] - self.rate * slopes[key]
            weights[key] = weights[key] + self.speed[key]


@program(lambda rng: (rng.normal(size=(5, 3)), rng.normal(size=5), 0.1))
def speeds_made_in_the_first_step(x, y, rate):
    weights, optimizer = {"w": np.zeros(3), "b": np.zeros(1)}, Momentum(rate)
    for _ in range(4):
        error = x @ weights["w"] + weights["b"] - y
        optimizer.update(weights, {"w": x.T @ error / len(y), "b": np.array([error.mean()])})
    return np.mean((x @ weights["w"] + weights["b"] - y) ** 2)


class Cell:
    def __init__(self, weights):
        self.weights = {gate: weights * (k + 1) for k, gate in enumerate("abc")}

    def __call__(self, x, state=None):
        if state is None:
            state = (np.zeros(2), np.zeros(2))
        h, c = state
        gates = {gate: np.tanh(self.weights[gate] @ np.concatenate([x, h])) for gate in self.weights}
        c = gates["a"] * c + gates["b"] * x
        h = gates["c"] * np.tanh(c)
        return h, (h, c)


@program(lambda rng: (rng.normal(size=(4, 2)), 0.3 * rng.normal(size=(2, 4))))
def states_of_a_cell(x, weights):
    cell, state, results = Cell(weights), None, []
    for row in x:
        h, state = cell(row, state)
        results.append(h)
    return np.sum(np.stack(results) ** 2)


def with_the_one_before(x, steps):
    before, total, i = None, 0.0, 0
    while i < steps:
        if before is not None:
            total += np.sum(before[0] * x[i]) * before[1]
        before = [x[i] ** 2, i + 1]
        i += 1
    state = None
    for k in range(steps):
        if state is None:
            state = {name: x[k] * 0.5 for name in "uv"}
        state["u"] = state["u"] * x[k]
        total += np.sum(state["u"] * state["v"])
        if total > 100:
            break
    return total


@program(lambda rng: (rng.normal(size=(4, 2)), 4), wrt=(0,))
def steps_with_the_one_before(x, steps):
    return with_the_one_before(x, steps)


@program(lambda rng: (rng.normal(size=(4, 2)), 1), wrt=(0,))
def one_step_with_the_one_before(x, steps):
    return with_the_one_before(x, steps) + np.sum(x)


@program(lambda rng: (rng.normal(size=(4, 2)), 0), wrt=(0,))
def no_step_with_the_one_before(x, steps):
    return with_the_one_before(x, steps) + np.sum(x)
