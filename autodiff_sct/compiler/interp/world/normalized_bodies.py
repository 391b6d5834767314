"""The texts of functions that are followed, as the specialiser reads them: each is made once."""

from __future__ import annotations

import functools
import types
import weakref
from dataclasses import dataclass, replace
from typing import Any

import gast

from ... import ir
from ...domain.values import Closure
from ...frontend.builders import Names, at, load, parameters, rebuilt, scan
from ...frontend.normalize import desugar, without_locals
from ...frontend.parse import Parsed, parse
from ...frontend.supported_syntax import YIELDS, fence, own_nodes

AT_ONCE = frozenset("all any dict frozenset list max min set sorted sum tuple".split())


@dataclass(frozen=True, eq=False)
class Body:
    """A desugared function; `names` are its parameters and what it assigns, `declared` those of activations around it.

    `makes_closures` tells whether functions defined in it may read its variables when its activation is over; `result`
    is the variable that the desugared text returns and the user's does not have.
    """

    tree: Any
    names: frozenset[str]
    declared: frozenset[str]
    makes_closures: bool
    result: str | None = None

    def part(self, statements: list[Any]) -> Body:
        """Some statements of the function, run by themselves."""
        tree = gast.FunctionDef(self.tree.name, self.tree.args, statements, [], None, None, [])
        return Body(tree, self.names, self.declared, makes_closures(statements))


def body_of(function: Any) -> Body:
    """The body of a function that has not been desugared yet."""
    tree = desugar(function)
    assigned, declared = scan(tree.body)
    names = assigned | frozenset(parameters(tree.args))
    return Body(tree, names, declared, makes_closures(tree.body), made_result(function, tree))


def made_result(function: Any, tree: Any) -> str | None:
    """The variable that a desugared function returns, where its own text knows no such name."""
    last = tree.body[-1]
    if not isinstance(last, gast.Return) or not isinstance(last.value, gast.Name):
        return None
    own = any(isinstance(node, gast.Name) and node.id == last.value.id for node in gast.walk(function))
    return None if own else last.value.id


def body_of_closure(closure: Closure) -> Body:
    """The body of a function that is defined inside the program: made once, for memory is told apart by its nodes."""
    node = closure.node
    if not hasattr(node, "body_as_run"):
        node.body_as_run = body_of(node)
    body: Body = node.body_as_run
    return body


# By the identity of code, as long as that lives: a function would keep what it captures alive.
Texts = dict[tuple[int, bool], tuple[dict[str, Any], tuple[Parsed, Body]]]
PREPARED: dict[int, tuple[weakref.ref[types.CodeType], Texts]] = {}


def prepared(code: types.CodeType, fn: Any, generator: bool = False) -> tuple[Parsed, Body]:
    """The text of a function, and its body: made once for the code and the globals of functions."""
    texts, space = texts_of(code), (id(fn.__globals__), generator)
    if space not in texts:
        parsed = parse(fn)
        fence(parsed, fn.__globals__, generator)
        tree = parsed.tree if "locals" in fn.__globals__ else without_locals(parsed.tree)
        texts[space] = fn.__globals__, (parsed, body_of(tree))
    return texts[space][1]


def texts_of(code: types.CodeType) -> Texts:
    """The prepared texts of a code object, which is told apart from those that equal it."""
    place = id(code)
    found = PREPARED.get(place)
    if found is None or found[0]() is not code:

        def forget(dead: weakref.ref[types.CodeType]) -> None:
            if PREPARED.get(place, (None,))[0] is dead:
                del PREPARED[place]

        found = PREPARED[place] = weakref.ref(code, forget), {}
    return found[1]


@functools.lru_cache(maxsize=4096)
def leaving(tree: Any) -> tuple[Body, str]:
    """A generator that may be left after each value, and the variable that tells whether it is."""
    text, left = with_exits(tree)
    body = body_of(text)
    return replace(body, names=body.names | {left}), left


def makes_closures(statements: list[Any]) -> bool:
    """True if functions and generators of a text may read its variables when its activation is over."""
    nodes = list(ir.nodes(statements))
    through = {id(arg) for n in nodes if isinstance(n, gast.Call) and is_at_once(n.func) for arg in n.args}
    lazy = (n for n in nodes if isinstance(n, gast.GeneratorExp) and id(n) not in through)
    return any(isinstance(n, (gast.FunctionDef, gast.Lambda)) for n in nodes) or any(lazy)


def is_at_once(callee: Any) -> bool:
    """True for the name of a function of Python's that goes through its argument at once."""
    return isinstance(callee, gast.Name) and callee.id in AT_ONCE


def free_names(closure: Closure) -> set[str]:
    """The names in a function that are not its own."""
    body = body_of_closure(closure)
    own = body.names - body.declared
    return {node.id for node in gast.walk(closure.node) if isinstance(node, gast.Name)} - own


def with_exits(tree: Any) -> tuple[Any, str]:
    """The text of a generator that returns after a value where a variable says so, and that variable's name."""
    left = Names(tree).fresh("left")

    def block(statements: list[Any]) -> list[Any]:
        found: list[Any] = []
        for stmt in statements:
            inner: dict[str, Any] = {}
            if not isinstance(stmt, (gast.FunctionDef, gast.ClassDef)):
                blocks = {f: getattr(stmt, f, None) for f in ("body", "orelse", "finalbody")}
                inner = {f: block(each) for f, each in blocks.items() if isinstance(each, list)}
                for f in ("handlers", "cases"):
                    if getattr(stmt, f, None):
                        inner[f] = [rebuilt(part, body=block(part.body)) for part in getattr(stmt, f)]
            found.append(rebuilt(stmt, **inner) if inner else stmt)
            if not inner and any(isinstance(n, YIELDS) for n in own_nodes(stmt)):
                found.append(at(stmt, gast.If(load(left), [gast.Return(None)], [])))
        return found

    return rebuilt(tree, body=block(tree.body)), left
