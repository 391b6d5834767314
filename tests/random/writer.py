"""Statements of random programs.

A program is a function of two vectors, a matrix and a number. Each name keeps its kind (and a vector its length) where
control flow joins, and every number stays of the order of one, so that differences of the program are trustworthy.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.random.expressions import COLUMNS, MATRIX, ROWS, SCALAR, Choose, Expressions, Kind, vector_of

if TYPE_CHECKING:
    from collections.abc import Iterator

PRELUDE = """\
import math

import numpy as np


def damp(a, k):
    a *= 0.5 + 0.3 * np.sin(k)
    return a


def bump(a, i, s):
    a[i] = 0.6 * a[i] + 0.3 * s


def smooth(a, b):
    c = np.sin(a) * 0.5
    c += 0.3 * b
    return c


def bend(s):
    if s > 0.3517:
        return s * s * 0.5
    return np.sin(s)


def head(a):
    return a[:2]


def twice(f, a):
    return f(f(a))


"""
FRESH = ("p", "q", "u", "v", "w", "z", "a", "b", "c", "d", "e", "f2", "g", "h", "r", "s", "k2", "m", "o")


class Writer(Expressions):
    """Writes the statements of one program."""

    def __init__(self, choose: Choose, flavour: str, budget: int = 12) -> None:
        super().__init__(choose)
        self.flavour = flavour
        self.budget = budget
        self.lines: list[str] = []
        self.indent = 1
        self.in_loop = 0
        self.frozen_lists = False
        self.returns = "scalar"

    def program(self) -> str:
        """Return the text of a module with a function `program`."""
        self.scope = {"x": vector_of(4), "y": vector_of(5), "A": MATRIX, "t": SCALAR}
        self.returns = self.pick(["scalar", "scalar", "vector", "tuple"])
        self.lines = ["def program(x, y, A, t):"]
        if self.choose(3):
            self.say("x = 0.5 * x", "A = A * 0.8")
        while self.budget > 0:
            self.statement()
        self.say(f"return {self.result(final=True)}")
        return PRELUDE + "\n".join(self.lines) + "\n"

    def say(self, *lines: str) -> None:
        """Append lines at the current indentation."""
        self.lines += ["    " * self.indent + line for line in lines]

    def fresh(self, kind: Kind, rebind: bool = True) -> str:
        """Return a name to bind: a new one, or one of the same kind."""
        known = [n for n in self.names(kind)] if rebind else []
        if known and self.choose(2):
            return self.pick(known)
        name = next(n for n in FRESH if n not in self.scope)
        self.scope[name] = kind
        return name

    def bind(self, kind: Kind, text: str) -> None:
        """Write an assignment; the text is made before the name, so that it cannot read it too early."""
        self.say(f"{self.fresh(kind)} = {text}")

    def result(self, final: bool = False) -> str:
        """Return what is returned; at the end it reads everything that is still alive."""
        if self.returns == "vector":
            return self.vector(4)
        terms = [self.scalar(1)]
        if final:
            terms += [f"np.sum(np.sin({name}))" for name, _ in self.vectors()]
            terms += [f"np.sum({name} * np.cos({name}))" for name in self.names(MATRIX)]
            terms += [f"{name} ** 2" for name in self.names(SCALAR)]
            terms += [f"sum(np.sum(e ** 2) for e in {name})" for name in self.lists()]
        text = " + ".join(terms)
        return f"{self.vector(4)}, {text}" if self.returns == "tuple" else text

    def statement(self) -> None:
        """Write one statement."""
        self.budget -= 1
        favourites = FLAVOURS[self.flavour]
        self.pick([*EVERYTHING, *favourites * 3])(self)

    @contextmanager
    def block(self, **names: Kind) -> Iterator[None]:
        """Indent, with names that only the block knows."""
        outer = dict(self.scope)
        self.scope.update(names)
        self.indent += 1
        yield
        self.indent -= 1
        self.scope = outer

    def body(self, **names: Kind) -> None:
        """Write a block of one to three statements."""
        with self.block(**names):
            for _ in range(1 + self.choose(3)):
                if self.budget > 0 and self.indent < 5:
                    self.statement()
                else:
                    self.set_scalar()

    def loop_body(self, **names: Kind) -> None:
        """Write a block that may be left early."""
        self.in_loop += 1
        self.body(**names)
        self.in_loop -= 1

    # Plain values.

    def set_vector(self) -> None:
        length = self.pick([2, 3, 4, 4, 5])
        self.bind(vector_of(length), self.vector(length))

    def set_scalar(self) -> None:
        text = self.scalar()
        self.bind(SCALAR, text)

    def set_matrix(self) -> None:
        self.bind(MATRIX, self.matrix())

    def augment_scalar(self) -> None:
        name = self.pick(self.names(SCALAR))
        self.say(f"{name} {self.pick(['+=', '-=', '*='])} {self.scalar(1)}")

    def swap(self) -> None:
        name, size = self.pick(self.vectors())
        other = self.pick(self.names(vector_of(size)))
        if name == other:  # CPython 3.11.2 stores the wrong one of two values under one name
            self.say(f"{name} = {name}.copy()")
        else:
            self.say(f"{name}, {other} = {other}, {self.pick([name, f'{name} * 0.9', f'{name}.copy()'])}")

    def copy(self) -> None:
        name, _ = self.pick(self.vectors())
        self.say(f"{name} = {name}{self.pick(['.copy()', ' * 1.0', ' + 0.0'])}")

    # Aliases and views.

    def alias(self) -> None:
        name, size = self.pick(self.vectors())
        self.bind(vector_of(size), name)

    def view(self) -> None:
        length = self.pick([2, 3, 4])
        self.bind(vector_of(length), self.part(length) if self.has_part(length) else self.vector(length))

    def view_of_matrix(self) -> None:
        name = self.pick(self.names(MATRIX) or ["A"])
        if name not in self.scope:
            return self.set_matrix()
        kind, text = self.pick(
            [
                (vector_of(COLUMNS), f"{name}[{self.index(ROWS)}]"),
                (vector_of(ROWS), f"{name}[:, {self.index(COLUMNS)}]"),
            ]
            + [(vector_of(COLUMNS), f"{name}.reshape(-1)[4:8]"), (vector_of(ROWS), f"{name}.T[{self.index(COLUMNS)}]")]
            + [
                (vector_of(ROWS), f"{name}.ravel()[::5]"),
                (MATRIX, name),
                (MATRIX, f"{name}[::-1]"),
                (MATRIX, f"{name}[:, ::-1]"),
            ]
        )
        self.bind(kind, text)
        return None

    # Writes.

    def target(self) -> tuple[str, int]:
        """Return something that can be written to, and its length."""
        options = list(self.vectors(2))
        options += [(f"{name}[{self.index(ROWS)}]", COLUMNS) for name in self.names(MATRIX)]
        options += [(f"{name}[{self.pick(['0', '-1'])}]", COLUMNS) for name in self.lists()]
        return self.pick(options)

    def write_element(self) -> None:
        name, size = self.target()
        self.say(f"{name}[{self.index(size)}] {self.pick(['=', '=', '+=', '*='])} {self.scalar()}")

    def write_slice(self) -> None:
        name, size = self.target()
        length = 1 + self.choose(size)
        start = self.choose(size - length + 1)
        where = self.pick([f"{start}:{start + length}", f"-{length}:", f"{length - 1}::-1"])
        value = self.pick([self.vector(length), self.scalar(), self.vector(length)])
        self.say(f"{name}[{where}] {self.pick(['=', '=', '+=', '*='])} {value}")

    def write_whole(self) -> None:
        name, size = self.target()
        place = name if "[" not in name or self.choose(2) else f"{name}[:]"
        form = self.pick(
            [
                "{n} += {v}",
                "{n} *= 0.5 + 0.3 * np.sin({v})",
                "{n} -= 0.4 * {v}",
                "{n}[:] = {v}",
                "{n} /= 1.5 + np.cos({v})",
            ]
        )
        self.say(form.format(n=place, v=self.vector(size)))

    def write_indices(self) -> None:
        name, size = self.target()
        count = 2 + self.choose(3)
        where = self.indices(count, size)
        value = self.pick([self.vector(count, 1), self.scalar(1)])
        form = self.pick(["{n}[{i}] = {v}", "{n}[{i}] += {v}", "np.add.at({n}, {i}, {v})", "{n}[{i}] *= {v}"])
        self.say(form.format(n=name, i=where, v=value))

    def write_mask(self) -> None:
        name, size = self.target()
        mask = f"{self.vector(size, 1)} > {self.threshold()}"
        self.say(f"{name}[{mask}] {self.pick(['=', '+=', '*='])} {self.scalar(1)}")

    def write_matrix(self) -> None:
        if not self.names(MATRIX):
            return self.set_matrix()
        name = self.pick(self.names(MATRIX))
        row, column = self.index(ROWS), self.index(COLUMNS)
        form = self.pick(
            [
                f"{{n}}[{row}] = {{v}}",
                f"{{n}}[:, {column}] *= {{w}}",
                f"{{n}}[{row}, {column}] = {{s}}",
                "{n} += 0.3 * {v}",
            ]
            + [
                "{n} *= 0.5 + 0.3 * np.cos({m})",
                "{n}[1:] = {n}[:-1]",
                "{n}[:, 1:3] += {s}",
                f"{{n}}.T[{column}] = {{w}}",
            ]
            + ["{n}[:2, ::2] *= {s}", "{n}[...] = 0.7 * {m}", "{n}[[0, 2], [1, 3]] = {s}"]
        )
        self.say(
            form.format(n=name, v=self.vector(COLUMNS, 1), w=self.vector(ROWS, 1), s=self.scalar(1), m=self.matrix(1))
        )
        return None

    def write_by_call(self) -> None:
        name, size = self.target()
        forms = ["np.sin({n}, out={n})", "np.multiply({v}, {s}, out={n})", "{n}.fill({s})", "np.copyto({n}, {v})"]
        forms += [
            f"bump({{n}}, {self.index(size)}, {{s}})",
            "damp({n}, {s})",
            "head({n})[0] = {s}",
            "head({n})[:] *= {s}",
        ]
        self.say(self.pick(forms).format(n=name, v=self.vector(size, 1), s=self.scalar(1)))

    # Calls.

    def call(self) -> None:
        name, size = self.pick(self.vectors(2))
        forms = [f"damp({name}, {self.scalar(1)})", f"smooth({name}, {self.vector(size, 1)})"]
        forms += [f"twice(lambda e: 0.7 * np.cos(e), {name})", f"twice(lambda e: e * {self.scalar(0)}, {name})"]
        self.bind(vector_of(size), self.pick(forms))

    # Lists of vectors of length 4.

    def lists(self) -> list[str]:
        """Return the names of lists."""
        return self.names(("list",))

    def make_list(self) -> None:
        text = f"[{self.vector(4, 1)}, {self.vector(4, 0)}]"
        if not self.frozen_lists:
            self.say(f"{self.fresh(('list',))} = {text}")
        else:
            self.set_scalar()

    def change_list(self) -> None:
        if not self.lists() or self.frozen_lists:
            return self.make_list()
        name = self.pick(self.lists())
        forms = [
            f"{name}.append({self.vector(4, 1)})",
            f"{name}[0] = {self.vector(4, 1)}",
            f"{name}[-1] *= {self.scalar(1)}",
        ]
        forms += [f"{name}[0], {name}[-1] = {name}[-1], {name}[0]", f"{name}[1][2] = {self.scalar(1)}"]
        self.say(self.pick(forms))
        return None

    def read_list(self) -> None:
        if not self.lists():
            return self.make_list()
        name = self.pick(self.lists())
        text = self.pick([f"{name}[0]", f"{name}[-1]", f"0.5 * {name}[-1] * {name}[0]", f"sum({name}) * 0.4"])
        self.bind(vector_of(4), text)
        return None

    # Control flow.

    def branch(self) -> None:
        self.say(f"if {self.condition()}:")
        self.body()
        if self.choose(4) == 0:
            self.say(f"elif {self.condition()}:")
            self.body()
        if self.choose(2):
            self.say("else:")
            self.body()

    def counter(self) -> str:
        """Return the name of the loop's index, another one at each depth."""
        return "ijkl"[self.in_loop]

    def count_loop(self) -> None:
        name = self.counter()
        trips = self.choose(4)
        self.say(f"for {name} in range({trips}):")
        self.loop_body(**{name: ("index", max(trips, 1))})

    def array_loop(self) -> None:
        counter = self.counter()
        vector, size = self.pick(self.vectors())
        other = self.pick(self.names(vector_of(size)))
        matrix = self.pick(self.names(MATRIX) or ["A"])
        heads: list[tuple[str, dict[str, Kind]]] = [
            (f"for e1 in {vector}:", {"e1": SCALAR}),
            (f"for e1, e2 in zip({vector}, {other}):", {"e1": SCALAR, "e2": SCALAR}),
            (f"for {counter}, e1 in enumerate({vector}):", {counter: ("index", size), "e1": SCALAR}),
        ]
        if matrix in self.scope:
            heads += [(f"for row in {matrix}:", {"row": vector_of(COLUMNS)})] * 2
        head, names = self.pick(heads)
        self.say(head)
        self.loop_body(**names)

    def list_loop(self) -> None:
        if not self.lists():
            return self.make_list()
        frozen, self.frozen_lists = self.frozen_lists, True
        self.say(f"for item in {self.pick(self.lists())}:")
        self.loop_body(item=vector_of(4))
        self.frozen_lists = frozen
        return None

    def while_loop(self) -> None:
        counter = f"n{self.in_loop}"
        extra = self.pick(["", f" and {self.condition(0)}"])
        self.say(f"{counter} = 0", f"while {counter} < {1 + self.choose(3)}{extra}:")
        with self.block():
            self.say(f"{counter} += 1")
        self.loop_body(**{counter: ("index", 4)})

    def leave(self) -> None:
        if self.in_loop:
            self.say(f"if {self.condition()}:", f"    {self.pick(['break', 'continue', f'return {self.result()}'])}")
        else:
            self.say(f"if {self.condition()}:", f"    return {self.result()}")


Statement = Callable[[Writer], None]
FLAVOURS: dict[str, list[Statement]] = {
    "values": [
        Writer.set_vector,
        Writer.set_scalar,
        Writer.set_matrix,
        Writer.augment_scalar,
        Writer.copy,
        Writer.swap,
    ],
    "views": [Writer.alias, Writer.view, Writer.view_of_matrix, Writer.write_whole, Writer.write_slice],
    "writes": [Writer.write_element, Writer.write_slice, Writer.write_indices, Writer.write_mask, Writer.write_whole],
    "matrices": [Writer.write_matrix, Writer.view_of_matrix, Writer.array_loop],
    "calls": [Writer.call, Writer.write_by_call, Writer.alias],
    "lists": [Writer.make_list, Writer.change_list, Writer.read_list, Writer.list_loop],
    "branches": [Writer.branch, Writer.leave, Writer.write_element, Writer.alias],
    "loops": [Writer.count_loop, Writer.array_loop, Writer.while_loop, Writer.leave],
}
EVERYTHING: list[Statement] = [statement for statements in FLAVOURS.values() for statement in statements]
