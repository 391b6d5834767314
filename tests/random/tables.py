"""Random programs over tables: their items, rows and columns, lists of rows, steps from one table to another."""

from __future__ import annotations

from tests.random.grammar import Grammar

GRAMMAR = {
    "table": ["a", "u", "u", "v", "v"],
    "written": ["u", "v"],
    "row_at": ["i", "i", "i - 1", "(i + 1) % n", "0", "-1", "p[i]"],
    "at": ["j", "j", "j - 1", "(j + 1) % n", "0", "-1", "q[j]"],
    "to": ["i, j", "i, j", "i, (j + 1) % n", "0, j", "i, 0"],
    "item": ["{table}[{row_at}, {at}]", "{table}[{row_at}][{at}]", "x[{at}]", "rows[{row_at}][{at}]"],
    "there": ["u[0, 0]", "v[-1][-1]", "s", "rows[0][-1]"],
    "operator": ["+", "-", "*"],
    "update": ["+=", "-=", "*="],
    "small": ["{item}", "{item}", "s", "k", "0.5", "tanh({small})", "({small} {operator} {small})",
              "max({item}, {item})"],
    "range": ["range(n)", "range(1, n)", "range(n - 1, -1, -1)", "range(0, n, 2)", "range(n, 2)"],
    "inner": ["range(n)", "range(1, n)", "range(n - 1, i - 1, -1)", "range(i, n)", "range(i)", "range(i, n, 2)"],
    "touch": ["{written}[{to}] = 0.6 * tanh({small})", "{written}[{to}] {update} 0.3 * tanh({small})",
              "rows[i][j] = 0.6 * {small}", "s = 0.5 * s + 0.2 * {small}",
              "u[i, j], v[i, j] = v[i, j], 0.9 * u[i, j]"],
    "leave": ["break", "break", "continue"],
    "row": ["{table}[{row_at}]", "{table}[{row_at}, :]", "x", "rows[{row_at}]", "u[:, {row_at}]"],
    "vector": ["{row}", "{row}", "({vector} {operator} {vector})", "np.tanh({vector})", "(s + {row})"],
    "number": ["{row}[0]", "np.sum({row})", "{row} @ {row}", "{row}.max()"],
    "go": ["{written}[i] = 0.7 * np.tanh({vector})", "{written}[i, :] {update} 0.3 * {vector}",
           "{written}[:, i] = 0.5 * {vector}", "{written}[i, 1:] = 0.8 * {table}[{row_at}, :-1]",
           "{written}[1:-1, i] += 0.2 * {table}[2:, 0]", "rows[i] = {vector}", "rows[i] = {row}",
           "{written}[i, 0] = 0.3 * {number}", "s = 0.5 * s + 0.1 * {number}"],
    "step": ["u, v = v, u", "u, v = 0.9 * v, u[::-1]", "u = u + 0.1 * v", "v = u.copy()", "v = u", "u *= 0.9",
             "v = u.T", "u[1:, 1:] = 0.5 * v[:-1, :-1]", "v = np.array(rows)", "rows = list(u)",
             "rows = [r.copy() for r in v]",
             "u = np.where(u > v, u, v)", "u[p] *= 0.5", "np.add.at(u, q, 0.1 * v)", "s = s + 0.1 * np.sum(u * v)",
             "u[:, 0] = [r[-1] * r[0] for r in rows]"],
    "new": ["np.zeros((n, n))", "np.empty((n, n))", "np.full_like(u, k)", "u.copy()", "[[0.0] * n for _ in range(n)]"],
    "hand_on": ["u = np.array(w)", "u, v = np.array(w), u", "v[:] = w", "rows = [np.array(r) for r in w]"],
    "u": ["a.copy()", "a * 1.0", "np.zeros((n, n))", "np.array([[e for e in r] for r in a])"],
    "v": ["a * k", "a[::-1]", "np.ones((n, n))"],
    "rows": ["[r.copy() for r in a]", "list(a * 0.5)", "[np.zeros(n) for _ in range(n)]", "[a[i] for i in range(n)]"],
}  # fmt: skip
IMPORTS = "from math import tanh\n\nimport numpy as np\n\n\n"
START = ["n, s, k = len(x), 0.0, 0.7", "a = np.outer(x, x) + np.arange(0.0, n) * x[:, None]", "p = np.arange(n)[::-1]",
         "q = np.minimum(np.arange(n), 1)", "u = {u}", "v = {v}", "rows = {rows}"]  # fmt: skip
TOTAL = "0.1 * s * s + np.sum(u * np.arange(1.0, n * n + 1).reshape(n, n)) + 0.5 * np.sum(v * v) + u[0, 0] * v[-1, -1]"


class Tables(Grammar):
    """A writer of programs."""

    rules = GRAMMAR

    def part(self, indent: str) -> list[str]:
        """Return a sweep over items or rows, a new table, or a statement of whole tables."""
        kind = self.random.random()
        if kind < 0.35:
            lines = ["for i in {range}:", "    for j in {inner}:", "        {touch}", *self.more("        ")]
        elif kind < 0.6:
            lines = ["for i in {range}:", "    {go}", *["    {go}"] * self.random.randint(0, 2)]
        elif kind < 0.7:
            lines = [
                "w = {new}",
                "for i in range(n):",
                "    for j in range(n):",
                "        w[i][j] = 0.7 * tanh({small})",
            ]
            lines += ["{hand_on}"]
        elif kind < 0.9:
            lines = ["{step}"]
        else:
            lines = ["if {there} > 0.2:", "    {step}"]
        return [indent + self.expand(line) for line in lines]

    def more(self, indent: str) -> list[str]:
        kind = self.random.random()
        end = "{leave}" if kind < 0.2 else "{touch}"
        return [indent + "if {small} > 0.3:", indent + "    " + end, indent + "{touch}"] if kind < 0.5 else []

    def parts(self, indent: str) -> list[str]:
        return [line for _ in range(self.random.randint(1, 3)) for line in self.part(indent)]

    def program(self) -> str:
        lines = ["    " + self.expand(line) for line in START] + self.parts("    ")
        if self.random.random() < 0.6:
            lines += [f"    for t in range({self.random.randint(0, 3)}):", *self.parts("        ")]
        if self.random.random() < 0.5:
            lines += self.parts("    ")
        total = f"{TOTAL} + 0.2 * sum([r[0] * r[-1] for r in rows])"
        return "\n".join([f"{IMPORTS}def program(x):", *lines, f"    return {total}", ""])
