"""Variables that some paths leave unbound, each with a truth value that tells whether it is bound.

    for i in range(n):                       bound = False
        if x[i] > 1:                         for i in range(n):
            result = x[i]             ->         if x[i] > 1:
            break                                    result = x[i]
    return result                                    bound = True
                                                     break
                                             assert bound
                                             return result

Where one is read that is not bound, the call is given up, and the NumPy program raises what Python raises.
"""

from __future__ import annotations

from ... import ir
from ..kinds import BOOL, Number
from ..state import State

__all__ = ["begin", "check", "end", "enter", "merged"]


def is_unbound(state: State, variable: str) -> bool:
    return variable in state.s.unbound  # type: ignore[attr-defined]


def flag(state: State, variable: str | None) -> str:
    """A variable that tells whether another one is bound."""
    if variable in state.bound:
        return state.bound[variable]
    name = state.fresh("bound", BOOL)
    state.emit(ir.Let((name,), ir.constant(variable is not None)))
    return name


def told(state: State, variable: str) -> str:
    """The truth value of a variable that is about to be defined."""
    name = state.bound[variable] = state.fresh("bound", BOOL)
    state.values[name] = Number(ir.name(name), BOOL, True)
    return name


def check(state: State, variable: str) -> None:
    """Give the call up where a variable is not bound."""
    if variable in state.bound:
        state.check(ir.name(state.bound[variable]))


def merged(state: State, stmt: ir.If, sides: list[ir.Block]) -> list[ir.Merge]:
    """The flags that tell, after a branch, whether the variables that it assigns are bound."""
    merges = []
    for m in stmt.merges:
        if is_unbound(state, m.target):
            names = []
            for source, side in zip((m.then, m.orelse), sides):
                with state.writing() as extra:
                    names.append(flag(state, source))
                side += extra
            merges.append(ir.Merge(told(state, m.target), *names))
    return merges


def begin(state: State, stmt: ir.Loop) -> list[ir.Carry]:
    """The flags that tell in a loop which of the variables that it carries are bound."""
    carried = [c for c in stmt.carries if is_unbound(state, c.out)]
    inits = [flag(state, c.init) for c in carried]
    return [ir.Carry(told(state, c.phi), init, None, told(state, c.out)) for c, init in zip(carried, inits)]


def enter(state: State, carries: list[ir.Carry]) -> None:
    for c in carries:
        state.define(c.phi, BOOL)


def end(state: State, stmt: ir.Loop, carries: list[ir.Carry]) -> None:
    """Update the flags at the end of an iteration."""
    table = {state.bound[c.phi]: c for c in stmt.carries if c.phi in state.bound}
    for carry in carries:
        carry.next = flag(state, table[carry.phi].next)
