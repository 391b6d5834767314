"""Random programs that go over arrays item by item, forwards and backwards, in steps that change or swap the arrays."""

from __future__ import annotations

from tests.random.grammar import Grammar

GRAMMAR = {
    "array": ["x", "u", "v"],
    "written": ["u", "v"],
    "at": ["i", "i - 1", "(i + 1) % n", "0", "-1", "n - 1 - i"],
    "to": ["i", "i", "i", "(i + 1) % n", "0"],
    "item": ["{array}[{at}]"],
    "there": ["{array}[0]", "{array}[-1]", "{array}[2]"],
    "small": ["{item}", "{item}", "s", "k", "0.5", "tanh({small})", "({small} {operator} {small})"],
    "operator": ["+", "-", "*"],
    "update": ["+=", "-=", "*="],
    "range": ["range(n)", "range(1, n)", "range(1, n - 1)", "range(n - 1, -1, -1)", "range(n - 2, 0, -1)",
              "range(0, n, 2)", "reversed(range(n))", "range(n, 2)"],
    "touch": ["{written}[{to}] = 0.6 * tanh({small})", "{written}[{to}] {update} 0.3 * tanh({small})",
              "s = 0.5 * s + {small} * 0.2", "{written}[{to}] = {small} if {small} > 0.2 else 0.5 * {small}",
              "k = tanh({small})"],
    "new": ["np.zeros(n)", "u.copy()", "np.empty(n)", "np.zeros_like(u)", "v * 0.5", "np.array([a * k for a in x])"],
    "again": ["for i in range(1, n):", "for i in range(n - 2, -1, -1):"],
    "neighbour": ["i - 1", "(i + 1) % n", "0"],
    "hand_on": ["u = w", "u = w", "v = w", "u, v = w, u", "u = w.copy()", "u[:] = w", "v[1:] = w[1:]"],
    "whole": ["u, v = v, u", "u = u + 0.1 * v", "v = u", "v = u.copy()", "u *= 0.9", "u[1:] += 0.2 * v[:-1]",
              "v = u[::-1]", "v = u[::-1].copy()", "u = np.sin(u)", "s = s + np.sum(u * v)", "u[u > 0.5] = 0.25",
              "s = s + u @ u", "s = s * 0.5 + {there}"],
    "choice": ["v = u.copy()", "u[0] = v[-1]", "s = s * 2", "v = u * 2"],
    "u": ["x.copy()", "x * 1.0", "np.zeros(n)", "np.array([a for a in x])"],
    "v": ["np.zeros(n)", "x * k", "x[::-1].copy()", "np.ones(n)"],
}  # fmt: skip
IMPORTS = "from math import tanh\n\nimport numpy as np\n\n\n"
TOTAL = "s * s * 0.1 + np.sum(u * np.arange(1.0, n + 1)) + np.sum(v * v) * 0.5 + u[0] * v[-1]"


class Sweeps(Grammar):
    """A writer of programs."""

    rules = GRAMMAR

    def part(self, indent: str) -> list[str]:
        """Return a sweep over the items, a new array made by one, or a statement of whole arrays."""
        kind = self.random.random()
        if kind < 0.45:
            lines = ["for i in {range}:", *self.touches("    ")]
        elif kind < 0.65:
            lines = ["w = {new}", "for i in range(n):", "    w[i] = 0.7 * tanh({small})"]
            if self.random.random() < 0.5:
                lines += ["{again}", "    w[i] = 0.5 * w[i] + 0.3 * w[{neighbour}] * u[i]"]
            lines += ["{hand_on}"]
        elif kind < 0.85:
            lines = ["{whole}"]
        else:
            lines = ["if {there} > 0.2:", "    {choice}"]
        return [indent + self.expand(line) for line in lines]

    def touches(self, indent: str) -> list[str]:
        lines = []
        for _ in range(self.random.randint(1, 3)):
            if self.random.random() < 0.2:
                lines += [indent + "if {small} > 0.15:", indent + "    {touch}"]
            else:
                lines += [indent + "{touch}"]
        return lines

    def parts(self, indent: str) -> list[str]:
        return [line for _ in range(self.random.randint(1, 4)) for line in self.part(indent)]

    def program(self) -> str:
        lines = ["n, s, k = len(x), 0.0, 0.7", "u = {u}", "v = {v}"]
        lines = ["    " + self.expand(line) for line in lines] + self.parts("    ")
        if self.random.random() < 0.7:
            lines += [f"    for t in range({self.random.randint(0, 3)}):", *self.parts("        ")]
        if self.random.random() < 0.5:
            lines += self.parts("    ")
        return "\n".join([f"{IMPORTS}def program(x):", *lines, f"    return {TOTAL}", ""])
