"""One function of a program: what is known of its variables, and what its text may name.

The interpreter fills these tables while it writes the function's blocks (``interp/kernel/specialiser.py``).
Differentiation and the passes read them, and add variables of their own.
"""

from __future__ import annotations

import builtins
import enum
from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from .. import ir
from ..domain.assumptions import Sizes
from ..domain.facts import MANY, SIMPLE_FACTS, Dim, Facts, Listed, Mapped, Num, Opaque, Pair, are_mixed, join
from ..domain.identifiers import identifier
from ..domain.values import Const, Leaf, TupleV, Value, parts
from .dims import AxisLengths


class Role(enum.Enum):
    """The role of a variable in a derivative, and the prefix of its name; others are the program's own."""

    COTANGENT = "d_"
    SEED = "d_out"  # the cotangent of a result, which the emitted function is given
    TANGENT = "t_"
    SAVED = "saved_"  # lists of values that the reverse sweep reads
    TAKEN = "took_"  # lists of tests, which tell it the sides of branches that were taken
    STATE = "kept_"  # lists of what is kept at the start of segments


COTANGENTS = (Role.COTANGENT, Role.SEED)
TAPE = (Role.SAVED, Role.TAKEN)


class Function(AxisLengths):
    """The variables of one function, with their facts, names and roles, and the globals of the emitted module."""

    def __init__(self, block: ir.Block) -> None:
        self.begin_lengths(block)
        self.sizes = Sizes()  # of the arguments, and what is assumed of them
        self.facts: dict[str, Facts] = {}  # of each variable
        self.hints: dict[str, str] = {}  # variable -> what it is called where that is free
        self.roles: dict[str, Role] = {}  # of variables that a derivative has beside those of the program
        self.named: set[str] = set()  # variables that carry a name of the user's
        self.called: set[str] = set()  # these names, but for those of the arguments
        self.counter = 0  # of the variables so far
        self.definitions: dict[str, Any] = {}  # variable -> the expression that it was made by
        self.elements: dict[int, Facts] = {}  # root of a list or dict -> facts of what is in it
        # roots of lists and dicts that hold containers beside other things, and the facts of what they hold
        self.mixed: dict[int, tuple[Facts, ...]] = {}
        self.roots: dict[Any, int] = {}  # place where memory is made -> its number
        self.globals: dict[str, Any] = {}  # names of the emitted module -> objects
        self.parameters: set[str] = set()  # names of the emitted function, which hide its module's
        self.externals: dict[Any, Any] = {}  # what the emitted function is given beside its arguments
        self.functions: list[Any] = []  # definitions emitted beside the main function
        self.recursions: dict[Any, Any] = {}  # kind of call -> the recursive function compiled for it
        self.effects = False  # whether the program does something besides returning
        self.notes: dict[Any, list[str]] | None = None  # on statements, where explanations are asked for
        self.recursive_calls = 0  # calls of the function itself around what is written
        self.unbound: set[str] = set()  # variables that some paths leave unbound
        self.defaulted: set[str] = set()  # those of them that both sweeps read on all paths: None where unbound
        self.fits: dict[str, str] = {}  # cotangent -> the variable whose shape it surely has
        self.alike: dict[str, str] = {}  # variable -> one that surely has its shape and dtype
        self.saved: set[str] = set()  # lists that carry values from the forward to the reverse sweep
        self.in_rows: dict[str, Any] = {}  # those of short vectors -> the loop that fills them, and its reverse
        # arrays on whose order in memory the last digits of a value that is asked for depend
        self.exact: set[str] = set()
        self.careful = False  # whether derivatives are infinite or NaN where NumPy's numbers are
        self.relies = False  # whether a call that raises has to be run again as the program was before some passes

    # -- variables

    def new_symbol(self, hint: str) -> str:
        """A name that nothing else has; the later it is made, the higher its number."""
        self.counter += 1
        return f"{hint}.{self.counter}"

    def fresh(self, hint: str, facts: Facts, role: Role | None = None) -> str:
        """A new variable, to be called by a hint; its role tells what it is to a derivative."""
        id = self.new_symbol(hint)
        self.facts[id] = self.of_one(facts, id)
        self.call(id, hint, role)
        if self.lengths.depth:
            self.inner[id] = self.lengths
        return id

    def fresh_after(self, role: Role, name: str, facts: Facts) -> str:
        """A new variable that is the cotangent or the tangent of another, or keeps it."""
        return self.fresh(role.value + self.hints[name], facts, role)

    def fresh_like(self, name: str, facts: Facts | None = None, end: str = "") -> str:
        """A new variable that goes by the hint of another, with `end` behind it, and has its role."""
        return self.fresh(self.hints[name] + end, self.facts[name] if facts is None else facts, self.roles.get(name))

    def call(self, variable: str, hint: str, role: Role | None = None) -> None:
        """Give a variable another hint, and another role if one is given."""
        self.hints[variable] = hint
        if role is not None:
            self.roles[variable] = role

    def call_after(self, variable: str, role: Role, name: str) -> None:
        """Call a variable the cotangent or the tangent of another."""
        self.call(variable, role.value + self.hints[name], role)

    def is_cotangent(self, name: str) -> bool:
        return self.roles.get(name) in COTANGENTS

    def is_tangent(self, name: str) -> bool:
        return self.roles.get(name) is Role.TANGENT

    def fits_shape_of(self, cotangent: Value, name: str) -> bool:
        """True if a cotangent was made for a variable, or for another that is alike."""
        found = self.fits.get(cotangent.name) if isinstance(cotangent, Leaf) else None
        return found is not None and self.alike.get(found, found) == self.alike.get(name, name)

    def of_one(self, facts: Facts, name: str) -> Facts:
        """The facts of one variable: what holds of each of several arrays has lengths of its own here."""
        if not isinstance(facts, Num) or not facts.dims or (MANY not in facts.dims and None not in facts.dims):
            return facts
        if self.recursive_calls:
            return replace(facts, dims=tuple(None if a == MANY else a for a in facts.dims))
        own = tuple(Dim((name, k), 0, a == MANY) if a in (None, MANY) else a for k, a in enumerate(facts.dims))
        return replace(facts, dims=own)

    # -- values

    def facts_of(self, value: Value) -> Facts:
        """The facts of any value, as of the variable that would hold it."""
        if isinstance(value, Leaf):
            return self.facts[value.name]
        if isinstance(value, Const):
            if type(value.value) in SIMPLE_FACTS:
                return SIMPLE_FACTS[type(value.value)]
            if isinstance(value.value, np.generic):
                return Num("npscalar", value.value.dtype, ())
            return Opaque(type(value.value))
        if isinstance(value, TupleV):
            return Pair(tuple(self.facts_of(v) for v in value.items), value.cls)
        return Opaque()

    def num(self, value: Value) -> Num | None:
        facts = self.facts[value.name] if isinstance(value, Leaf) else self.facts_of(value)
        return facts if isinstance(facts, Num) else None

    def leaves(self, value: Value) -> Sequence[str]:
        """The variables inside a value."""
        if isinstance(value, Leaf):
            return (value.name,)
        return [name for item in parts(value) for name in self.leaves(item)]

    def new_size(self, leaf: Leaf) -> Dim:
        """The symbol of the length that an integer variable holds."""
        facts = self.facts[leaf.name]
        if isinstance(facts, Num) and facts.size is not None and isinstance(facts.size, Dim):
            return facts.size
        return Dim(leaf.name)

    # -- memory

    def root(self, site: Any) -> int:
        """The number of the place where memory is made."""
        return self.roots.setdefault(site, len(self.roots) + 1)

    def elements_of(self, facts: Listed | Mapped) -> Facts | None:
        result: Facts | None = None
        for root in sorted(facts.roots):
            if root in self.elements:
                result = self.elements[root] if result is None else join(result, self.elements[root])
        return result

    def put_element(self, facts: Listed | Mapped, element: Facts) -> None:
        for root in facts.roots:
            old = self.elements.get(root)
            self.elements[root] = element if old is None else join(old, element)
            if old is not None and are_mixed((old, element)):
                self.mixed[root] = (*dict.fromkeys((*self.mixed.get(root, ()), old, element)),)

    # -- names

    def bind(self, hint: str, value: Any) -> Any:
        """A global of the emitted module that holds `value`."""
        if isinstance(value, ModuleType):
            hint = {"numpy": "np"}.get(value.__name__, hint)
        hint = identifier(hint)
        candidate, number = hint, 1
        while not self.may_name(candidate, value):
            number += 1
            candidate = f"{hint}{number}"
        self.globals[candidate] = value
        return ir.name(candidate)

    def may_name(self, name: str, value: Any) -> bool:
        """True if a global of that name would hide neither a parameter, nor another global, nor a builtin."""
        hidden = self.globals.get(name, getattr(builtins, name, value))
        return name not in self.parameters and hidden is value
