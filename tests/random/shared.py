"""Random programs in which several names lead to one array: objects, lists, dicts, views, helpers and closures.

Helpers store into their arguments, leave loops early and give views back; slices have bounds that the data decide, and
so have the trips of `while` loops, which may be none.
"""

from __future__ import annotations

from tests.random.grammar import Grammar

GRAMMAR = {
    # Of n items: x, u, v; of m items: y, w; of n rows and m columns: A, M, N; numbers: t, s, k; integers: lo, hi, at.
    "sc": ["s", "t", "k", "0.7", "-0.4", "{x}[{i}]", "{y}[{j}]", "{A}[{i}, {j}]", "np.mean({n})",
           "np.sum({m} ** 2) / m", "{n} @ {n} / n", "np.tanh({sc})", "({sc} * {sc})", "box.size()", "box.total",
           "box.a[{i}]", "np.max({x})",
           "rows[{i}][{j}]", "table['w'][{j}]", "np.sum({x}[:at + 1]) / n", "first_above({x}, 0.2039)", "float({sc})"],
    "n": ["{x}", "{x}", "np.sin({n})", "({n} + {n})", "({n} * {n})", "{A}[:, {j}]", "{A} @ {y} / m", "{x}[::-1]",
          "np.where({n} > 0.1039, {n}, {sc})", "np.tanh({n})", "{x}[order]", "box.a", "table['u']", "{n} * {sc}",
          "np.array([r[0] for r in rows])", "np.cumsum({n}) / n", "{A}.mean(axis=1)"],
    "m": ["{y}", "{y}", "np.cos({m})", "({m} * {m})", "({m} - {sc})", "{A}[{i}]", "rows[{i}]", "row_of({A}, {i})",
          "table['w']", "box.row({i})", "{x} @ {A} / n", "{A}.mean(axis=0)", "{y}[::-1]", "np.exp(-np.abs({m}))"],
    "nm": ["{A}", "{A}", "np.tanh({nm})", "({nm} + {nm})", "{nm} * {y}", "np.outer({n}, {m})", "np.array(rows)",
           "box.grid", "{A}[order]", "{A}[::-1]", "({nm} * {nm})", "0.5 * {nm}"],
    "x": ["x", "u", "u", "v"],
    "y": ["y", "w", "w"],
    "A": ["A", "M", "M", "N"],
    "i": ["0", "-1", "n // 2", "at", "at"],
    "j": ["0", "-1", "m // 2", "m // 3"],
    "un": ["u", "u", "v", "box.a", "table['u']"],
    "wm": ["w", "M[{i}]", "rows[{i}]", "box.row({i})", "table['w']", "row_of(M, {i})"],
    "op": ["+=", "-=", "*="],
    "share": ["box.a = {n}", "box.a = u", "v = u", "v = u[:]", "v = box.a", "rows[{i}] = {m}", "rows[{i}] = M[{i}]",
              "rows[{i}] = rows[{i}] * 1.0", "table['u'] = u", "table['w'] = M[{i}]", "table['w'] = rows[{i}]", "N = M",
              "N = M[::-1]", "w = M[{i}]", "w = rows[{i}]", "box.grid = M", "box.grid = {nm}", "rows = [r for r in M]",
              "rows = rows[1:] + rows[:1]", "rows = rows[::-1]", "u, v = v, u", "M, N = N, M", "box.swap()",
              "u = u * 1.0", "M = {nm}", "w = {m}", "v = {n}"],
    "write": ["u[{i}] = {sc}", "u[{i}] {op} {sc}", "{un}[at] = {sc}", "M[{i}] = {m}", "M[{i}] {op} {m}",
              "M[:, {j}] = {n}", "u[lo:hi] = {x}[lo:hi] * {sc}", "u[lo:hi] {op} {n}[lo:hi]",
              "u[:at + 1] += {sc}", "M[lo:hi] *= {sc}",
              "u[order[:2]] = {sc}", "np.add.at(u, order // 2, {n})", "u *= {sc}", "u += {n}", "M *= {y}", "u[:] = {n}",
              "M[:] = {nm}", "bump(u, {sc})", "bump(M[{i}], {sc})", "bump({wm}, {sc})", "store(u, at, {sc})",
              "store(rows[{i}], {j}, {sc})", "box.scale({sc})", "box.put({i}, {sc})", "s = {sc}", "k = np.tanh({sc})",
              "rows[{i}][{j}] = {sc}", "rows[{i}] *= {sc}", "rows[{i}] = {m}", "update({i}, {sc})", "spread(M, {m})",
              "clip_first(u, {sc})", "u[u > 0.4039] *= 0.5", "box.total += {sc}", "box.a[{i}] {op} {sc}",
              "table['u'][{i}] = {sc}", "table['w'] = {m}", "swap_items(u, 0, at)", "np.sin(u, out=u)",
              "np.multiply(M, {y}, out=M)", "M[{i}, {j}] = {sc}", "N[{i}] {op} {m}", "v[{i}] {op} {sc}",
              "lo, hi = hi // 2, hi", "at = int(np.argmax({x}))", "order = np.argsort({x})"],
    "step": ["u[i] = {sci}", "u[i] {op} {sci}", "M[i] {op} {m}", "r = M[i]; r *= {sc}", "rows[i] = {m}", "M[i] = {m}",
             "rows[i] *= {sci}", "rows[i][{j}] = {sci}", "r = rows[i]; r[0] = {sci}", "bump(rows[i], {sci})",
             "store(u, i, {sci})", "box.put(i, {sci})", "update(i, {sci})", "s = 0.8 * s + 0.2 * {sci}",
             "r = row_of(M, i); r += {m}", "w = 0.5 * w + 0.5 * M[i]", "u[max(i - 2, 0):i + 1] += 0.1 * {sci}",
             "box.row(i)[0] = {sci}", "table['w'] = M[i]", "v = u", "v[i] = {sci}", "M[i, {j}] = {sci}",
             "u[i - 1] = 0.5 * u[i]", "rows[i] = rows[i - 1]", "swap_items(u, i, i - 1)", "k = np.tanh({sci})"],
    "sci": ["0.5 * u[i]", "0.4 * {x}[i] * k", "0.3 * {x}[i - 1]", "{sc}", "np.sin({A}[i, {j}])", "0.5 * rows[i][0]",
            "0.3 * box.a[i] + 0.1 * s", "np.mean(M[i])", "0.2 * {A}[i] @ {y} / m"],
    "leave": ["if u[i] > 0.6039: break", "if u[i] < -0.6039: continue", "if s > 0.9039: break",
              "if rows[i][0] > 0.5039: continue"],
    "range": ["range(n)", "range(1, n)", "range(n - 1, -1, -1)", "range(n // 2, n)", "range(n, n // 2)",
              "range(lo, hi)", "range(0, n, 2)", "range(at)"],
    "test": ["{sc} > 0.1039", "{sc} < -0.0517", "np.sum(u) > 0.1039", "at > 1", "np.any(u > 0.5039)", "hi - lo > 2"],
    "while": ["np.sum(u * u) / n > 0.1039 and c < 4", "abs(s) > 0.3039 and c < 3", "c < at and c < 3", "c < 2"],
    "shrink": ["u *= 0.7", "s *= 0.6", "u = u * 0.8", "box.scale(0.7)", "M[c % n] *= 0.5"],
}  # fmt: skip
TEXT = """\
import numpy as np


class Box:
    def __init__(self, a, grid):
        self.a = a
        self.b = a * 0.5
        self.grid = grid
        self.total = 0.0

    def size(self):
        return np.mean(self.a * self.b)

    def scale(self, k):
        self.a *= 0.6 + 0.3 * np.sin(k)
        self.total = self.total + self.a[0]

    def put(self, i, value):
        self.a[i] = 0.5 * value + 0.2 * self.b[i]

    def row(self, i):
        return self.grid[i]

    def swap(self):
        self.a, self.b = self.b, self.a


def row_of(a, i):
    return a[i]


def bump(a, k):
    a *= 0.5 + 0.3 * np.sin(k)


def store(a, i, value):
    a[i] = 0.6 * a[i] + 0.3 * value


def spread(a, row):
    for r in a:
        r += 0.1 * row


def swap_items(a, i, j):
    a[i], a[j] = a[j], a[i]


def first_above(a, level):
    for i in range(len(a)):
        if a[i] > level:
            return a[i] * a[i]
    return 0.3 * a[0]


def clip_first(a, k):
    for i in range(len(a)):
        if a[i] > 0.3039:
            a[i] = 0.3 * k
            return
        a[i] *= 0.9


def program(x, y, A, t):
    n, m = A.shape
    s, k, at, order = 0.3 * t, 0.7, n // 3, np.argsort(x)
    lo, hi = n // 4, n // 4 + n // 2 + 1
"""
START = ["u = {start_n}", "v = x * 0.5", "w = y.copy()", "M = {start_nm}", "N = A * 0.9", "rows = {start_rows}",
         "box = {start_box}", "table = dict(u=u, w={start_w})"]  # fmt: skip
CLOSURE = """
    def update(i, value):
        nonlocal s
        u[i] = 0.5 * u[i] + 0.3 * value
        s = 0.9 * s + 0.1 * u[i]
"""
GRAMMAR |= {
    "start_n": ["x.copy()", "0.5 * x", "np.zeros(n)", "x * t", "A[:, 0] * 1.0"],
    "start_nm": ["A.copy()", "0.5 * A", "np.outer(x, y)", "np.zeros((n, m))"],
    "start_rows": ["[r.copy() for r in A]", "list(A * 0.5)", "[r for r in M]", "[y * a for a in x]", "[w] * n"],
    "start_box": ["Box(u, M)", "Box(x * 1.0, A * 1.0)", "Box(v, N)", "Box(M[:, 0], M)"],
    "start_w": ["w", "M[0]", "rows[0]", "y * 1.0"],
}
TOTAL = ["s * s + 0.3 * k", "np.sum(u * np.cos(np.arange(n)))", "np.sum(w * w)", "np.sum(np.sin(M) * np.arange(m)) / m",
         "np.sum(N[0] * N[-1])", "sum([r[0] * r[-1] for r in rows]) / n", "np.sum(box.a * box.b) + box.total",
         "np.sum(v * v)", "np.sum(table['u'] * x) + np.sum(table['w'])"]  # fmt: skip


class Shared(Grammar):
    """A writer of programs."""

    rules = GRAMMAR

    def part(self, indent: str) -> list[str]:
        """Return statements that share, write, or loop."""
        kind, deep = self.random.random(), len(indent) > 8
        if kind < 0.25:
            lines = ["{share}"]
        elif kind < 0.5 or deep:
            lines = ["{write}"]
        elif kind < 0.72:
            lines = ["for i in {range}:", *self.steps()]
        elif kind < 0.82:
            lines = ["if {test}:", "    {write}", "else:", "    {share}"][: self.random.choice([2, 4])]
        elif kind < 0.9:
            lines = ["c = 0", "while {while}:", "    {shrink}", "    {write}", "    c += 1"]
        else:
            lines = ["for step in range(2):", "    {share}", "    {write}"]
        return [indent + line for text in lines for line in self.expand(text).split("\n")]

    def steps(self) -> list[str]:
        """Return the body of a loop over items."""
        lines = []
        for _ in range(self.random.randint(1, 3)):
            indent = "    "
            if self.random.random() < 0.15:
                lines.append("    if {test}:")
                indent = "        "
            lines += [indent + text for text in self.expand("{step}").split("; ")]
            if self.random.random() < 0.15:
                test, _, leave = self.expand("{leave}").partition(": ")
                lines += [f"    {test}:", f"        {leave}"]
        return [line if "{" not in line else self.expand(line) for line in lines]

    def program(self) -> str:
        lines = ["    " + self.expand(line) for line in START]
        parts = [line for _ in range(self.random.randint(1, 5)) for line in self.part("    ")]
        closure = CLOSURE.strip("\n").split("\n") if any("update(" in line for line in parts) else []
        chosen = self.random.sample(TOTAL, 5)
        return TEXT + "\n".join([*lines, *closure, *parts, f"    return {' + '.join(chosen)}", ""])
