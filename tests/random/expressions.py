"""Expressions of random programs: texts of bounded numbers, vectors and matrices over the names in scope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Choose = Callable[[int], int]
Item = TypeVar("Item")

ROWS, COLUMNS = 3, 4
MATRIX = ("matrix",)
SCALAR = ("scalar",)
Kind = tuple[object, ...]


def vector_of(length: int) -> Kind:
    """Return the kind of a vector."""
    return ("vector", length)


class Expressions:
    """Writes expressions; `scope` maps names to kinds, `choose(n)` draws an integer below n."""

    def __init__(self, choose: Choose) -> None:
        self.choose = choose
        self.scope: dict[str, Kind] = {}

    def pick(self, items: Sequence[Item]) -> Item:
        """Draw one of several."""
        return items[self.choose(len(items))]

    def names(self, kind: Kind) -> list[str]:
        """Return the names of a kind."""
        return [name for name, known in self.scope.items() if known == kind]

    def vectors(self, least: int = 1) -> list[tuple[str, int]]:
        """Return the vectors of some length, with their lengths."""
        found = [(name, kind[1]) for name, kind in self.scope.items() if kind[0] == "vector"]
        return [(name, length) for name, length in found if isinstance(length, int) and length >= least]

    def constant(self) -> str:
        """Return a literal."""
        return self.pick(["0.3", "0.7", "-0.4", "1.1", "0.15", "-0.8"])

    def threshold(self) -> str:
        """Return a literal that no sampled number equals."""
        return self.pick(["0.1037", "-0.2183", "0.4519", "0.0391"])

    def index(self, length: int) -> str:
        """Return the text of an index into a vector."""
        loops = [str(name) for name, kind in self.scope.items() if kind[0] == "index"]
        fitting = [name for name in loops if self.scope[name][1] <= length]  # type: ignore[operator]
        forms = [str(self.choose(2 * length) - length)] * 3
        forms += fitting * 2 + [f"({name} + 1) % {length}" for name in loops]
        forms += [f"int(np.argmax({name}))" for name, size in self.vectors() if size == length][:1]
        return self.pick(forms)

    def indices(self, count: int, length: int) -> str:
        """Return the text of an integer array that may repeat itself."""
        return f"np.array({[self.choose(length) for _ in range(count)]})"

    def part(self, length: int) -> str:
        """Return a name or a view of something longer."""
        name, size = self.pick(self.vectors(length))
        start = self.choose(size - length + 1)
        if size == length:
            return self.pick([name, name, name, f"{name}[::-1]", f"{name}[:]"])
        forms = [f"{name}[{start}:{start + length}]", f"{name}[-{length}:]", f"{name}[:{length}][::-1]"]
        if 2 * length - 1 <= size:
            forms.append(f"{name}[:{2 * length - 1}:2]")
        return self.pick(forms)

    def has_part(self, length: int) -> bool:
        """Tell whether something in scope is long enough."""
        return bool(self.vectors(length))

    def vector(self, length: int, depth: int = 2) -> str:
        """Return the text of a vector."""
        if depth == 0 or self.choose(4) == 0:
            return self.part(length) if self.has_part(length) else f"np.linspace(0.1, 0.9, {length})"
        return self.pick([self.vector_map, self.vector_pair, self.vector_pick, self.vector_from_matrix])(
            length, depth - 1
        )

    def vector_map(self, length: int, depth: int) -> str:
        """Return a function of one vector."""
        form = self.pick(
            ["np.sin({})", "np.tanh({})", "0.7 * {}", "abs({})", "np.cumsum({}) * 0.4", "({}) ** 2 * 0.5", "0.2 - {}"]
            + [f"{{}} * np.arange({length}) * 0.2", "np.exp(-np.abs({}))", "smooth({0}, {0})"]
        )
        return form.format(self.vector(length, depth))

    def vector_pair(self, length: int, depth: int) -> str:
        """Return a function of a vector and something else."""
        form = self.pick(
            [
                "0.5 * {a} + 0.3 * {b}",
                "0.6 * {a} * {b}",
                "0.5 * ({a} - {b})",
                "np.maximum({a}, {b})",
                "smooth({a}, {b})",
            ]
            + ["np.where({a} > {c}, {b}, {s})", "({a}) * np.cos({s})", "{a} / (1.5 + np.cos({b}))"]
        )
        a, b, s = self.vector(length, depth), self.vector(length, depth), self.scalar(depth)
        return form.format(a=a, b=b, s=s, c=self.threshold())

    def vector_pick(self, length: int, depth: int) -> str:
        """Return elements of a vector, by an integer array, or two vectors joined."""
        if length > 1 and self.choose(3) == 0:
            cut = 1 + self.choose(length - 1)
            return f"np.concatenate([{self.vector(cut, depth)}, {self.vector(length - cut, depth)}])"
        name, size = self.pick(self.vectors())
        return f"{name}[{self.indices(length, size)}]"

    def vector_from_matrix(self, length: int, depth: int) -> str:
        """Return a row, a column, a reduction or a product of a matrix, where the length fits."""
        matrices = self.names(MATRIX)
        if not matrices or length not in (ROWS, COLUMNS):
            return self.vector_map(length, depth)
        name = self.pick(matrices)
        if length == COLUMNS:
            row = self.index(ROWS)
            forms = [f"{name}[{row}]", f"{name}[{row}, ::-1]", f"{name}.mean(axis=0)", f"0.4 * (({{}}) @ {name})"]
            return self.pick(forms).format(self.vector(ROWS, depth))
        column = self.index(COLUMNS)
        forms = [
            f"{name}[:, {column}]",
            f"np.sum({name} ** 2, axis=1) * 0.2",
            f"0.4 * ({name} @ ({{}}))",
            f"{name}.T[{column}]",
        ]
        return self.pick(forms).format(self.vector(COLUMNS, depth))

    def matrix(self, depth: int = 2) -> str:
        """Return the text of a matrix of 3 rows and 4 columns."""
        matrices = self.names(MATRIX)
        if depth == 0 or not matrices:
            return self.pick(matrices) if matrices else f"np.full(({ROWS}, {COLUMNS}), 0.3)"
        form = self.pick(
            [
                "np.tanh({m})",
                "0.5 * {m} + 0.3 * {n}",
                "{m} * {v}",
                "0.6 * {m} * {n}",
                "np.outer({w}, {v}) * 0.5",
                "{m}[::-1]",
            ]
            + ["{m} * np.cos({s})", "{m}.T.reshape(3, 4) * 0.9", "0.8 * {m} + {w}[:, None]", "{m}.copy()"]
        )
        m, n = self.matrix(depth - 1), self.pick(matrices)
        v, w, s = self.vector(COLUMNS, 0), self.vector(ROWS, 0), self.scalar(depth - 1)
        return form.format(m=m if m.isidentifier() else f"({m})", n=n, v=v, w=w, s=s)

    def scalar(self, depth: int = 2) -> str:
        """Return the text of a number."""
        if depth == 0 or self.choose(4) == 0:
            return self.pick([*self.names(SCALAR), self.constant(), self.element()])
        return self.pick([self.scalar_map, self.scalar_pair, self.scalar_reduced, self.scalar_choice])(depth - 1)

    def element(self) -> str:
        """Return an element of a vector or matrix."""
        matrices = self.names(MATRIX)
        if matrices and self.choose(3) == 0:
            return f"{self.pick(matrices)}[{self.index(ROWS)}, {self.index(COLUMNS)}]"
        name, size = self.pick(self.vectors())
        return f"{name}[{self.index(size)}]"

    def scalar_map(self, depth: int) -> str:
        """Return a function of one number."""
        form = self.pick(
            ["np.sin({})", "math.tanh({})", "bend({})", "0.5 * ({}) ** 2", "float({})", "np.exp(-abs({}))"]
        )
        return form.format(self.scalar(depth))

    def scalar_pair(self, depth: int) -> str:
        """Return a function of two numbers."""
        form = self.pick(
            ["0.5 * {} + 0.3 * {}", "0.6 * {} * {}", "max({}, {})", "np.cos({}) * {}", "({}) / (1.5 + ({}) ** 2)"]
        )
        return form.format(self.scalar(depth), self.scalar(depth))

    def scalar_reduced(self, depth: int) -> str:
        """Return a reduction of a vector or matrix."""
        name, size = self.pick(self.vectors())
        forms = [
            f"np.sum({name}) * 0.3",
            f"np.mean({name} ** 2)",
            f"({name} @ ({{}})) * 0.3",
            "np.mean({m})",
            "np.sum(np.sin({m})) * 0.2",
        ]
        forms += [f"sum({name}) * 0.3", f"sum(e * e for e in {name}) * 0.2"]
        return self.pick(forms).format(self.vector(size, depth), m=self.matrix(0))

    def scalar_choice(self, depth: int) -> str:
        """Return a ternary."""
        return f"({self.scalar(depth)} if {self.condition(0)} else {self.scalar(depth)})"

    def condition(self, depth: int = 1) -> str:
        """Return the text of a condition on data."""
        low, high = self.threshold(), self.threshold()
        forms = [f"{self.scalar(1)} > {low}", f"{self.element()} < {high}", f"-0.9 < {self.scalar(0)} < {low}"]
        forms += [f"np.sum({self.part(2)}) > {low}"] if self.has_part(2) else []
        if depth:
            forms += [f"{self.condition(0)} and {self.condition(0)}", f"not {self.condition(0)}"]
        return self.pick(forms)
