"""Random programs over lists, lists of lists, dicts and iterators, written from a grammar.

They may fail as Python has it: an index out of range, an iterator at its end.
"""

from __future__ import annotations

import re

from tests.random.grammar import Grammar

START = {
    "s": ["0.55", "x[0]"],
    "a": ["[v * v for v in x]", "[x[0], {number}, {number}]", "list(x)"],
    "rows": ["[[v * k for v in x] for k in range(1, 4)]", "[[v, {number}] for v in x]", "[a, list(a)]", "[a[:], a]"],
    "d": ["{{k: x[k] for k in range(3)}}", "{{'p': x[0], 'q': {number}}}"],
    "it": ["{iterator}"],
}
GRAMMAR = {
    "place": ["0", "1", "-1", "k", "k % 2"],
    "items": ["a", "list(a)", "a[1:]", "a[::-1]", "rows[{place}]", "[{number}, {number}]", "[{of_v} for v in a]",
              "sorted(a)", "[*a, {number}]", "rows.pop()", "[row[0] for row in rows]", "list(d.values())"],
    "of_v": ["v * 0.5", "v * s", "v * a[0]", "v + {number}"],
    "number": ["x[1]", "s", "a[{place}]", "sum(a)", "rows[{place}][0]", "rows[{place}][-1]", "{number} * {number}",
               "({number} + 0.3 * {number})", "next(it, 0.45)", "len(a) * 0.2", "max(a)", "a.pop()",
               "sum(map(sum, rows))", "sum(d.values())"],
    "iterator": ["iter({items})", "({of_v} for v in {items})", "map(lambda v: {of_v}, {items})", "reversed({items})",
                 "filter(lambda v: v > 0.3, {items})", "(v for row in rows for v in row)", "islice(iter(a), 2)",
                 "chain(a, {items})", "chain.from_iterable(rows)", "map(sum, rows)", "iter(d.values())",
                 "takewhile(lambda v: v > 0.1, {items})", "accumulate(a)", "(row[0] * s for row in rows)"],
    "change": ["a[{place}] = {number}", "s = {number}", "s += {number}", "a[{place}] *= {number}",
               "rows[{place}][0] = {number}", "rows[{place}][-1] += {number}", "rows[{place}] = {items}",
               "a[0], a[-1] = a[-1], a[0]", "rows[0], rows[-1] = rows[-1], rows[0]", "s += sum(it)",
               "a.reverse()", "a.sort()", "a = {items}", "d = {{key: {of_v} for key, v in d.items()}}",
               "s *= next(it)"],
    "growth": ["a.append({number})", "a += {items}", "a *= 2", "a.insert({place}, {number})", "del a[{place}]",
               "a[1:] = {items}", "rows.append({items})", "rows[{place}].append({number})", "rows[{place}] += {items}",
               "rows.insert(0, {items})", "rows.append(rows.pop(0))", "rows.reverse()", "rows.sort(key=sum)",
               "rows = rows[::-1]", "rows = [list(row) for row in rows]", "it = {iterator}",
               "a.extend(row[0] for row in rows)"],
    "statement": ["{change}", "{growth}"],
    "head": ["for k in range(2):", "for k in range(len(x)):", "for k, v in enumerate(list(a)):", "if {number} > 0.4:",
             "for v in list(it):"],
    "quiet": ["for v in a:", "for row in rows:", "for v in it:", "for k, v in enumerate(a):",
              "for k, row in enumerate(rows):"],
}  # fmt: skip
WEIGHTS = {
    "s": "s",
    "a": "sum([(k + 1) * v * v for k, v in enumerate(a)])",
    "rows": "sum([(k + 1) * sum([v * v for v in row]) for k, row in enumerate(rows)])",
    "d": "sum([(k + 1) * v * v for k, v in enumerate(d.values())])",
    "it": "sum([v * v for v in it])",
}
IMPORTS = "from itertools import accumulate, chain, islice, takewhile\n\n\n"


class Containers(Grammar):
    """A writer of programs; `names` are the variables that a program has."""

    rules = GRAMMAR

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        chosen = self.random.sample(["rows", "d", "it", "it"], self.random.randint(0, 2))
        self.names = [name for name in START if name in {"s", "a", *chosen}]

    def is_known(self, text: str) -> bool:
        used = set(re.findall(r"\b(a|rows|d|it)\b", text))
        return used <= {*self.names}

    def block(self, count: int, symbol: str, indent: str) -> list[str]:
        lines = []
        for _ in range(count):
            if len(indent) < 8 and self.random.random() < 0.3:
                quiet = symbol == "change" or self.random.random() < 0.4
                lines.append(indent + self.expand("{quiet}" if quiet else "{head}"))
                inner = "change" if quiet else symbol
                lines += self.block(self.random.randint(1, 2), inner, indent + "    ")
            else:
                lines.append(indent + self.expand(f"{{{symbol}}}"))
        return lines

    def program(self) -> str:
        lines, names = ["    k = 1"], self.names
        for name in names:
            self.names = names[: names.index(name)]
            lines.append(f"    {name} = {self.expand(self.random.choice(START[name]))}")
        self.names = names
        lines += self.block(self.random.randint(2, 5), "statement", "    ")
        total = " + ".join(WEIGHTS[name] for name in names)
        return "\n".join([f"{IMPORTS}def program(x):", *lines, f"    return {total}", ""])
