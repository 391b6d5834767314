"""Lists of dicts, and recursion over lists: what only the run tells apart, and what is put in and taken out again."""

import operator
from collections import defaultdict

import numpy as np

from tests.bank.registry import program


def vector(rng):
    return (rng.normal(size=5),)


def positive(rng):
    return (rng.uniform(0.5, 2.0, size=5),)


def rows(rng):
    return (rng.normal(size=(5, 2)),)


# -- dicts in lists


@program(args=vector)
def rows_are_filtered(x):
    rows = []
    for i, v in enumerate(x):
        rows.append({"id": i, "v": v, "ok": v > 0})
    good = [r for r in rows if r["ok"]]
    return sum(r["v"] ** 2 * r["id"] for r in good) + max(rows, key=lambda r: r["v"])["v"]


@program(args=vector)
def rows_are_sorted(x):
    rows = [dict(idx=i, val=v * v) for i, v in enumerate(x)]
    rows.sort(key=operator.itemgetter("val"), reverse=True)
    top = rows[:2]
    return sum(r["val"] * (r["idx"] + 1) for r in top)


@program(args=vector)
def rows_are_changed(x):
    rows = []
    for v in x:
        rows.append({"v": v, "w": 1.0})
    for r in rows:
        r["w"] = r["v"] ** 2
    rows[0]["w"] *= 2
    alias = rows[1]
    alias["v"] = 3.0 * rows[0]["v"]
    return sum(r["v"] * r["w"] for r in rows)


@program(args=vector)
def history_of_dicts(x):
    history = []
    w = x
    for k in range(len(x) + 3):
        g = w**3 - w
        w = w - 0.1 * g
        history.append({"step": k, "loss": np.sum(w**2), "w": w.copy()})
    best = min(history, key=lambda h: h["loss"])
    return best["loss"] + np.sum(best["w"]) * best["step"] + sum(h["loss"] for h in history) + history[-1]["w"][0]


@program(args=positive)
def spanning_tree_of_dicts(x):
    n = len(x)
    edges = [{"w": x[i] * x[j], "ends": (i, j)} for i in range(n) for j in range(i)]
    edges = sorted(edges, key=lambda e: e["w"])
    group = {i: i for i in range(n)}
    total = 0.0
    for e in edges:
        i, j = e["ends"]
        if group[i] != group[j]:
            old, new = group[i], group[j]
            for k in group:
                if group[k] == old:
                    group[k] = new
            total += e["w"]
    return total


@program(args=vector)
def best_dict_of_three(x):
    best = None
    for k in range(3):
        c = {"v": x * (k - 1.3), "k": k}
        if best is None or np.sum(c["v"] ** 2) < np.sum(best["v"] ** 2):
            best = c
    return np.sum(np.exp(best["v"])) * (best["k"] + 1)


@program(args=vector)
def best_dict_of_many(x):
    best = None
    for k in range(len(x)):
        c = {"v": x * (k - 1.3), "k": k}
        if best is None or np.sum(c["v"] ** 2) < np.sum(best["v"] ** 2):
            best = c
    return np.sum(np.exp(best["v"])) * (best["k"] + 1)


@program(args=positive)
def viterbi_in_dicts(x):
    n = len(x)
    trans = np.log(np.array([[0.7, 0.3], [0.4, 0.6]]))
    V = [{}]
    for s in (0, 1):
        V[0][s] = -x[0] * (s + 1)
    for t in range(1, n):
        V.append({})
        for s in (0, 1):
            V[t][s] = max(V[t - 1][r] + trans[r, s] for r in (0, 1)) - x[t] * (s + 0.5)
    return max(V[-1].values())


@program(args=vector)
def defaultdict_of_defaultdicts(x):
    t = defaultdict(lambda: defaultdict(float))
    for i, v in enumerate(x):
        t[i % 2][i % 3] += v**2
    return sum(sum(d.values()) ** 2 for d in t.values())


@program(args=vector)
def dicts_in_a_dict(x):
    stats = {}
    for i, v in enumerate(x):
        k = i % 3
        if k not in stats:
            stats[k] = {"n": 0, "sum": 0.0, "sq": 0.0}
        s = stats[k]
        s["n"] += 1
        s["sum"] += v
        s["sq"] += v * v
    return sum(s["sq"] - s["sum"] ** 2 / s["n"] for s in stats.values())


@program(args=vector)
def methods_of_dicts_in_a_list(x):
    rows = []
    for i, v in enumerate(x):
        r = {"a": v, "b": i, "name": f"r{i}"}
        rows.append(r)
    out = 0.0
    for r in rows:
        out += r.get("a", 0.0) ** 2 + r.get("zz", 1.5) + len(r)
        if "a" in r and "q" not in r:
            out += sum(val for key, val in r.items() if key != "name")
    c = rows[0].copy()
    c["a"] = c["a"] * 5
    d = dict(rows[1], b=7)
    e = {**rows[2], "a": 2.0}
    rows[3].update(a=x[0] * x[1], b=2)
    return out + c["a"] * rows[0]["a"] + d["a"] * d["b"] + e["a"] * e["b"] + rows[3]["a"]


@program(args=vector)
def keywords_from_a_list(x):
    def f(a, b):
        return a * b + a

    rows = []
    for i, v in enumerate(x):
        rows.append({"a": v, "b": v * i})
    return sum(f(**r) for r in rows)


@program(args=vector)
def dict_filled_before_it_is_kept(x):
    rows = []
    for v in x:
        row = {}
        row["v"] = v
        row["sq"] = v * v
        rows.append(row)
    return sum(r["v"] * r["sq"] for r in rows)


@program(args=vector)
def events_in_order(x):
    events = [{"t": abs(v), "kind": "a" if v > 0 else "b", "v": v} for v in x]
    events.sort(key=lambda e: e["t"])
    state = 1.0
    while events:
        e = events.pop(0)
        if e["kind"] == "a":
            state = state * 0.9 + e["v"]
        else:
            state = state - e["v"] * e["t"]
    return state


@program(args=vector)
def arrays_in_dicts_in_a_list(x):
    rows = []
    for i in range(len(x)):
        rows.append({"buf": np.zeros(3), "k": i})
    for r in rows:
        r["buf"][r["k"] % 3] += x[r["k"]] ** 2
        r["buf"] *= 2.0
    return sum(np.sum(r["buf"]) * r["k"] for r in rows)


@program(args=vector)
def dicts_in_groups(x):
    rows = [{"g": i % 2, "v": v} for i, v in enumerate(x)]
    by = defaultdict(list)
    for r in rows:
        by[r["g"]].append(r)
    return sum(np.mean([r["v"] for r in rs]) ** 2 for rs in by.values())


@program(args=vector)
def dicts_that_hold_dicts(x):
    rows = []
    for i, v in enumerate(x):
        rows.append({"v": v, "w": i})
    pts = []
    for r in rows:
        pts.append({"p": r, "z": r["v"] * 2})
    pts[0]["p"]["v"] = 9.0
    return sum(q["z"] * q["p"]["v"] * q["p"]["w"] for q in pts)


@program(args=vector)
def grown_decision_tree(x):
    def grow(idx, depth):
        if depth == 0 or len(idx) < 2:
            return {"leaf": True, "mean": sum(x[i] for i in idx) / len(idx), "cut": 0.0, "lo": None, "hi": None}
        k = len(idx) // 2
        return {
            "leaf": False,
            "mean": 0.0,
            "cut": 0.5 * (idx[k - 1] + idx[k]),
            "lo": grow(idx[:k], depth - 1),
            "hi": grow(idx[k:], depth - 1),
        }

    def predict(t, v):
        while not t["leaf"]:
            t = t["lo"] if v < t["cut"] else t["hi"]
        return t["mean"]

    t = grow(list(range(len(x))), 2)
    return sum((predict(t, i) - x[i] ** 2) ** 2 for i in range(len(x)))


@program(args=vector)
def dicts_that_change_places(x):
    r = {"a": x[0], "b": 1.0}
    s = {"a": x[1] * 2, "b": 2.0}
    for i in range(len(x)):
        if x[i] > 0:
            r, s = s, r
        r["a"] = r["a"] * 1.1 + x[i]
    return r["a"] * r["b"] + s["a"] ** 2


# -- recursion over lists


@program(args=vector)
def sums_of_subsets(x):
    out = []

    def go(i, chosen):
        if i == 3:
            out.append(sum(chosen) ** 2)
            return
        go(i + 1, chosen)
        chosen.append(x[i])
        go(i + 1, chosen)
        chosen.pop()

    go(0, [])
    return sum(out)


@program(args=vector)
def puts_in_and_takes_out(x):
    def go(i, chosen):
        if i == 3:
            return sum(chosen) ** 2
        chosen.append(x[i])
        r = go(i + 1, chosen)
        chosen.pop()
        return r * 0.5 + sum(chosen)

    return go(0, [])


@program(args=vector)
def takes_out_what_nobody_reads(x):
    out = []
    ch = []
    for k in range(3):
        out.append(sum(ch) ** 2)
        ch.append(x[k])
        out.append(sum(ch) ** 2)
        if k == 1:
            ch.pop()
    return sum(out)


@program(args=rows)
def rows_changed_at_each_depth(x):
    def go(rows, k):
        if k == 0:
            return 0.0
        for r in rows:
            r[0] = r[0] * 0.9 + r[1] * 0.1
        return rows[k - 1][0] + go(rows, k - 1)

    return go([row.copy() for row in x], 4)


@program(args=rows)
def dict_of_pairs_at_each_depth(x):
    def go(d, k):
        if k == 0:
            return 0.0
        new = {j: (d[j][0] * 2.0, d[j][1]) for j in d}
        return d[k][0] * d[k][1] + go(new, k - 1)

    return go({j: (x[j, 0], x[j, 1]) for j in range(len(x))}, 3)


@program(args=rows)
def lists_of_lists_at_each_depth(x):
    def go(rows, k):
        if k == 0:
            return 0.0
        new = [[v * 1.5 for v in r] for r in rows]
        new[0][0] = new[0][0] * new[1][1]
        return rows[k - 1][0] * rows[0][1] + go(new, k - 1)

    return go([[a, b] for a, b in x], 3)


@program(args=rows)
def sorts_pairs_quickly(x):
    def sort(p):
        if len(p) < 2:
            return p
        q = p[0]
        return sort([r for r in p[1:] if r[0] < q[0]]) + [q] + sort([r for r in p[1:] if r[0] >= q[0]])

    return sum(k * a * b for k, (a, b) in enumerate(sort([(a, b) for a, b in x])))


@program(args=rows)
def farthest_points(x):
    def far(pts, a, b, depth):
        if not pts or depth == 0:
            return 0.0
        best = max(pts, key=lambda q: (q[0] - a[0]) * (b[1] - a[1]) - (q[1] - a[1]) * (b[0] - a[0]))
        rest = [q for q in pts if q[0] != best[0]]
        area = (best[0] - a[0]) * (b[1] - a[1]) - (best[1] - a[1]) * (b[0] - a[0])
        return area + far(rest, a, best, depth - 1) + far(rest, best, b, depth - 1)

    pts = [(a, b) for a, b in x]
    return far(pts[2:], pts[0], pts[1], 2)


@program(args=rows)
def sorts_pairs_at_each_depth(x):
    def go(pairs, depth):
        if not pairs:
            return 0.0
        pairs = sorted(pairs, key=lambda q: q[depth % 2])
        m = len(pairs) // 2
        return pairs[m][0] * pairs[m][1] * depth + go(pairs[:m], depth + 1) + go(pairs[m + 1 :], depth + 1)

    return go([(a, b) for a, b in x], 1)


@program(args=rows)
def keeps_what_it_copies(x):
    def go(pairs, depth, out):
        if not pairs:
            return 0
        pairs = [(q[0], q[1]) for q in pairs]
        m = len(pairs) // 2
        out.append(pairs[m][0] * pairs[m][1] * depth)
        return 1 + go(pairs[:m], depth + 1, out) + go(pairs[m + 1 :], depth + 1, out)

    out = []
    n = go([(a, b) for a, b in x], 1, out)
    return sum(out) * n


@program(args=vector)
def takes_out_of_a_list_of_lists(x):
    stacks = [[x[0], x[1]], [x[2], x[3]]]
    total = 0.0
    for k in range(2):
        stack = stacks[k]
        before = sum(stacks[k]) ** 2
        stack.pop()
        total = total + before * sum(stacks[k]) * x[4]
    return total
