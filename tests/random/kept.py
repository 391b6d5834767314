"""Random programs that keep fresh arrays in lists, dicts and objects, and write into the items or into views of them.

There are few names, so that little else aliases what a container holds: an analysis that looks at names only is wrong
about the arrays that a container takes from one step of a loop to the next.
"""

from __future__ import annotations

import re

from tests.random.grammar import Grammar

START = {
    "q": ["q = []"],
    "rows": ["rows = [{fresh} for i in range(n)]", "rows = [A[i] * 1.0 for i in range(n)]", "rows = list(A * s)"],
    "views": ["views = [{part_of_r} for r in rows]", "views = [({part_of_r})[:1] for r in rows]", "views = []"],
    "d": ["d = {{}}", "d = {{i: {fresh} for i in range(n)}}"],
    "cells": ["cells = [Cell({fresh}) for i in range(n)]", "cells = [Cell(A[i] * 1.0) for i in range(n)]"],
    "cur": ["cur = y * 1.0", "cur = np.zeros(m)"],
}
GRAMMAR = {
    "fresh": ["A[i] * 1.0", "np.sin(A[i])", "y * s", "A[i] + y", "A[i] * A[i - 1]", "0.5 * {item}",
              "({item} + A[i])", "{item}.copy()", "A[i] * {item}"],
    "item": ["q[0]", "q[-1]", "q[len(q) // 2]", "rows[i]", "rows[i - 1]", "d[i]", "cells[i].a", "cells[i - 1].a",
             "cur", "fresh"],
    "view": ["{item}", "{item}", "{item}[:2]", "{item}[::-1]", "{item}[m // 2:]", "{item}.reshape(1, -1)[0]",
             "views[i % len(views)]", "cells[i].head", "np.asarray({item})"],
    "part_of_r": ["r", "r[:2]", "r[::-1]", "r[m // 2:]", "r.reshape(1, -1)[0]", "half(r)"],
    "num": ["0.9", "s", "A[i, 0]", "{item}[0]", "{item}[-1]", "np.mean({item})", "np.tanh(s)"],
    "write": ["v = {view}; v *= 0.5 + 0.2 * np.sin({num})", "v = {view}; v += 0.3 * {num}", "{item}[0] = {num}",
              "{item}[-1] *= {num}", "{item}[:] = {fresh}", "bump({view}, {num})", "v = {view}; v[0] = 0.5 * {num}",
              "fresh *= 0.5 + 0.3 * np.cos({num})", "np.multiply({item}, 0.7, out={item})"],
    "push": ["q.append({fresh})", "q.append(fresh)", "q.append({view})", "q.insert(0, {fresh})", "rows[i] = {fresh}",
             "views.append({view})", "d[i] = {fresh}", "d[i] = {view}", "cells[i].a = {fresh}",
             "cells[i].head = {view}", "cur = {fresh}", "cur = {item}", "q.append(q.pop(0))", "rows[i] = {item}",
             "q = q[-2:]"],
    "read": ["s = 0.5 * s + 0.2 * {item}[0] * {item}[-1]", "s = 0.5 * s + 0.2 * np.sum({view} ** 2) / m",
             "s = 0.8 * s + 0.1 * sum([np.sum(v * v) for v in {all}]) / n / m", "s += 0.1 * {num}"],
    "all": ["q", "rows", "views", "[fresh]"],
    "each": ["v *= 0.9", "v[0] = 0.3 * s", "v += 0.1 * y[: len(v)]", "s = 0.9 * s + 0.1 * np.sum(v * v) / m",
             "bump(v, s)"],
    "step": ["{write}", "{write}", "{push}", "{read}"],
}  # fmt: skip
TEXT = """\
import numpy as np


class Cell:
    def __init__(self, a):
        self.a = a
        self.head = a[:1]


def half(a):
    return a[: len(a) // 2 + 1]


def bump(a, k):
    a *= 0.5 + 0.3 * np.sin(k)


def program(x, y, A, t):
    n, m = A.shape
    s = 0.3 * t + 0.1 * x[0]
"""
TOTAL = {
    "q": "sum([v[0] * v[-1] for v in q]) / n",
    "rows": "sum([np.sum(v ** 2) for v in rows]) / n / m",
    "views": "sum([np.sum(v ** 2) for v in views]) / n / m",
    "d": "sum([np.sum(v ** 2) for v in d.values()]) / n / m",
    "cells": "sum([np.sum(c.a ** 2) + c.head[0] for c in cells]) / n / m",
    "cur": "np.sum(cur * y) / m",
}


class Kept(Grammar):
    """A writer of programs; `names` are the variables that a program has at a place."""

    rules = GRAMMAR

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        chosen = self.random.sample([*START], self.random.randint(1, 3))
        self.chosen = [name for name in START if name in chosen or name == "rows" and "views" in chosen]
        self.names: set[str] = set()

    def is_known(self, text: str) -> bool:
        used = set(re.findall(r"\b(q|rows|views|d|cells|cur|fresh)\b(?!\.)|\b(q|d|cells|views)\b", text))
        return {a or b for a, b in used} <= self.names

    def loop(self) -> list[str]:
        """Return a loop over rows, or over what a list holds."""
        lists = [name for name in ("q", "rows", "views") if name in self.names]
        if lists and self.random.random() < 0.25:
            return [f"for v in {self.random.choice(lists)}:", "    " + self.expand("{each}")]
        self.names.add("fresh")
        lines = ["for i in range(n):", "    fresh = " + self.random.choice(["A[i] * 1.0", "np.sin(A[i])", "y * s"])]
        lines += ["    q.append(fresh)"] if "q" in self.names else []
        if "views" in self.names:
            lines += ["    views.append(fresh[:1])"]
        if "d" in self.names:
            lines += ["    d[i] = fresh" if self.random.random() < 0.5 else "    d.setdefault(i, fresh)"]
        for _ in range(self.random.randint(1, 4)):
            indent = "    "
            if self.random.random() < 0.15:
                lines.append(self.random.choice(["    if s > 0.1039:", "    if A[i, 0] > 0.1039:", "    if i > 1:"]))
                indent = "        "
            lines += [indent + text for text in self.expand("{step}").split("; ")]
        self.names.remove("fresh")
        return lines

    def program(self) -> str:
        lines = []
        for name in self.chosen:
            self.names.update({"rows"} & {*self.chosen} if name == "views" else ())
            simple = [t for t in START[name] if name == "views" or "fresh" not in t] or START[name]
            lines.append(self.expand(self.random.choice(simple)))
        self.names = {*self.chosen}
        for _ in range(self.random.randint(1, 3)):
            lines += self.loop()
        total = " + ".join(TOTAL[name] for name in self.chosen)
        return TEXT + "".join(f"    {line}\n" for line in [*lines, f"return s + {total}"])
