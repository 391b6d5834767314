"""``try`` with handlers, one step at a time.

What a block did before an exception cut it off stays done, and has to be followed backwards.  So a block under
handlers is written as a row of *units*, each in a small `try` of its own that does all of its work or none of it.
`path` says which handler caught an exception (0 for none), everything after an exception is skipped, and the
handlers' own blocks come last, as branches on `path`:

    path = 0
    try:
        y[0] = y[1] * y[2]
    except IndexError:
        path = 1
    if path == 0:
        try: ...
    if path == 1:
        <the handler's block>
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast

from .builders import assign, load

Block = list[Any]
SIMPLE = (gast.Assign, gast.AugAssign, gast.AnnAssign, gast.Expr, gast.Raise, gast.Assert, gast.Delete)
QUIET = (gast.Pass, gast.FunctionDef, gast.Nonlocal, gast.Global)


def at(place: Any, node: Any) -> Any:
    """`node` with the position of `place`, in all of its parts that have none."""
    for part in gast.walk(node):
        if isinstance(part, (gast.stmt, gast.expr, gast.ExceptHandler)) and getattr(part, "lineno", None) is None:
            gast.copy_location(part, place)
    return node


def number(value: Any) -> Any:
    return gast.Constant(value, None)


def equals(id: str, value: int) -> Any:
    return gast.Compare(load(id), [gast.Eq()], [number(value)])


def uses_of(block: Block) -> dict[str, int]:
    """The number of occurrences of each name."""
    found: dict[str, int] = {}
    for node in block:
        for part in gast.walk(node):
            if isinstance(part, gast.Name):
                found[part.id] = found.get(part.id, 0) + 1
            elif isinstance(part, (gast.Nonlocal, gast.Global)):
                found |= {id: found.get(id, 0) + 1 for id in part.names}
    return found


def uses_in_function(function: Any) -> dict[str, int]:
    """The same of a function, kept with its tree, which never changes in place."""
    found: dict[str, int] | None = getattr(function, "uses_in_it", None)
    if found is None:
        found = function.uses_in_it = uses_of([function])
    return found


def mentioned(node: Any) -> set[str]:
    return {n.id for n in gast.walk(node) if isinstance(n, gast.Name)}


class Piecewise:
    """The rewriting of one ``try`` of a function; `fresh` gives names that the function does not use."""

    def __init__(self, fresh: Callable[[str], str], function: Any) -> None:
        self.fresh = fresh
        self.uses = uses_in_function(function)
        self.outside: set[str] = set(self.uses)

    def names_outside(self, body: Block) -> set[str]:
        """The names that the function mentions outside the block of a ``try``, too."""
        inside = uses_of(body)
        return {name for name, count in self.uses.items() if count > inside.get(name, 0)}

    def attempt(self, node: Any, guarded: bool) -> Block:
        """The statements that do what a ``try`` does; `guarded` where it is itself under handlers."""
        if node.finalbody:
            return self.with_final(node, guarded)
        path = self.fresh("path")
        needs_error = any(h.name or reraises(h.body) for h in node.handlers)
        caught = self.fresh("caught") if needs_error else ""
        done = [at(node, assign(path, number(0)))]
        if caught:
            done.append(at(node, assign(caught, number(None))))

        def wrap(unit: Block) -> Any:
            return self.small_try(node, unit, path, caught)

        outer, self.outside = self.outside, self.names_outside(node.body)
        done += self.block(node.body, path, wrap, node)
        self.outside = outer
        return done + self.dispatch(node, path, caught)

    def small_try(self, node: Any, unit: Block, path: str, caught: str) -> Any:
        handlers = []
        for k, handler in enumerate(node.handlers):
            name = self.fresh("error") if caught else None
            body = [assign(path, number(k + 1))] + ([assign(caught, load(name))] if name is not None else [])
            bound = None if name is None else gast.Name(name, gast.Store(), None, None)
            kind = load("BaseException") if handler.type is None and bound is not None else handler.type
            handlers.append(at(node, gast.ExceptHandler(kind, bound, body)))
        small = at(unit[0], gast.Try(unit, handlers, [], []))
        small.is_unit = True
        return small

    def dispatch(self, node: Any, path: str, caught: str) -> Block:
        rest: Block = list(node.orelse)
        for k in range(len(node.handlers) - 1, -1, -1):
            handler = node.handlers[k]
            body = [raising(each, caught) for each in handler.body]
            if handler.name:
                id = handler.name if isinstance(handler.name, str) else handler.name.id
                body = [at(node, assign(id, load(caught))), *body]
            rest = [at(node, gast.If(equals(path, k + 1), body, rest))]
        if not node.orelse and all(isinstance(each, gast.Pass) for h in node.handlers for each in h.body):
            return []
        return rest

    def with_final(self, node: Any, guarded: bool) -> Block:
        inner: Block = node.body
        if node.handlers:
            inner = self.attempt(gast.copy_location(gast.Try(node.body, node.handlers, node.orelse, []), node), True)
        if not guarded:
            last = gast.copy_location(gast.Try(inner, [], [], node.finalbody), node)
            last.is_unit = True
            return [last]
        path, caught = self.fresh("path"), self.fresh("caught")
        everything = at(node, gast.ExceptHandler(load("BaseException"), None, []))
        everything.type.passes_on = True
        catching = gast.copy_location(gast.Try(inner, [everything], [], []), node)
        done = [at(node, assign(path, number(0))), at(node, assign(caught, number(None)))]
        self.outside = set(self.uses)
        done += self.block(inner, path, lambda unit: self.small_try(catching, unit, path, caught), node)
        again = gast.If(equals(path, 1), [gast.Raise(load(caught), None)], [])
        return [*done, *node.finalbody, at(node, again)]

    # -- blocks

    def block(self, statements: Block, path: str, wrap: Callable[[Block], Any], place: Any) -> Block:
        """The statements with every unit in a small try, skipped once `path` is not 0."""
        done: Block = []
        queue = list(statements)
        raised = False
        while queue:
            unit, queue = self.unit(queue)
            made = self.written(unit, path, wrap)
            done += [at(place, gast.If(equals(path, 0), made, []))] if raised else made
            raised = raised or not all(is_quiet(each) for each in unit)
        return done

    def unit(self, statements: Block) -> tuple[Block, Block]:
        """The first unit of a block, and the rest."""
        if is_quiet(statements[0]):
            return statements[:1], statements[1:]
        end = 0
        while end < len(statements) and self.is_silent(statements[end], statements):
            end += 1
        if end < len(statements) and is_simple(statements[end]):
            end += 1
        while 0 < end < len(statements) and is_quiet(statements[end]):
            end += 1
        end = max(end, 1)
        return statements[:end], statements[end:]

    def is_silent(self, statement: Any, block: Block) -> bool:
        """True if what a statement does is not seen if an exception comes after it."""
        if is_quiet(statement) or not isinstance(statement, gast.Assign):
            return False
        names = [t.id for t in statement.targets if isinstance(t, gast.Name)]
        if len(names) < len(statement.targets) or any(n in self.outside for n in names):
            return False
        first = {n: next(each for each in block if n in mentioned(each)) for n in names}
        return all(first[n] is statement and n not in mentioned(statement.value) for n in names) and is_pure(
            statement.value
        )

    def written(self, unit: Block, path: str, wrap: Callable[[Block], Any]) -> Block:
        first = unit[0]
        if all(is_quiet(each) for each in unit):
            return unit
        if getattr(first, "is_unit", False):
            return [wrap(unit)]
        if isinstance(first, gast.If):
            return self.branch(first, path, wrap)
        if isinstance(first, gast.For):
            return self.loop(first, path, wrap)
        if isinstance(first, gast.While):
            return self.while_(first, path, wrap)
        if isinstance(first, gast.With):
            return self.with_(first, path, wrap)
        if isinstance(first, gast.Try):
            return self.block(self.attempt(first, True), path, wrap, first)
        return [wrap(unit)]

    def hoisted(self, expr: Any, hint: str, wrap: Callable[[Block], Any]) -> tuple[Block, Any]:
        """An expression that may raise, computed in a unit of its own."""
        if is_calm(expr):
            return [], expr
        id = self.fresh(hint)
        return [wrap([at(expr, assign(id, expr))])], at(expr, load(id))

    def branch(self, node: Any, path: str, wrap: Callable[[Block], Any]) -> Block:
        before, test = self.hoisted(node.test, "chosen", wrap)
        body = self.block(node.body, path, wrap, node)
        orelse = self.block(node.orelse, path, wrap, node) if node.orelse else []
        choice = at(node, gast.If(test, body, orelse))
        return [*before, at(node, gast.If(equals(path, 0), [choice], []))] if before else [choice]

    def loop(self, node: Any, path: str, wrap: Callable[[Block], Any]) -> Block:
        before, source = self.hoisted(node.iter, "items", wrap)
        loop = at(node, gast.For(node.target, source, self.body(node.body, path, wrap, node), [], None))
        loop.is_handled = True
        return [*before, at(node, gast.If(equals(path, 0), [loop], []))] if before else [loop]

    def while_(self, node: Any, path: str, wrap: Callable[[Block], Any]) -> Block:
        body = node.body
        if not isinstance(node.test, gast.Constant):
            body = endless(node, self.fresh)
        return [at(node, gast.While(number(True), self.body(body, path, wrap, node), []))]

    def body(self, statements: Block, path: str, wrap: Callable[[Block], Any], node: Any) -> Block:
        """A loop's body, which ends the loop once `path` is not 0."""
        halt = self.fresh("halt")
        last = statements[-1]
        if isinstance(last, gast.If) and len(last.body) == 1 and isinstance(last.body[0], gast.Break):
            inner = self.block(statements[:-1], path, wrap, node)
            inner.append(at(node, gast.If(equals(path, 0), [assign(halt, last.test)], [assign(halt, number(True))])))
        else:
            inner = self.block(statements, path, wrap, node)
            inner.append(at(node, assign(halt, gast.Compare(load(path), [gast.NotEq()], [number(0)]))))
        return [*inner, at(node, gast.If(load(halt), [gast.Break()], []))]

    def with_(self, node: Any, path: str, wrap: Callable[[Block], Any]) -> Block:
        first, *rest = node.items
        inner = [gast.copy_location(gast.With(rest, node.body, None), node)] if rest else node.body
        before, manager = self.hoisted(first.context_expr, "manager", wrap)
        item = gast.withitem(manager, first.optional_vars)
        made = at(node, gast.With([item], self.block(inner, path, wrap, node), None))
        made.handled = Handled(self, at(node, gast.With([item], inner, None)), path, wrap, self.outside)
        return [*before, at(node, gast.If(equals(path, 0), [made], []))] if before else [made]


@dataclass(eq=False)
class Handled:
    """A ``with`` statement under handlers, as it was: what stands for it depends on the manager.

    Only a manager that lets exceptions through unseen may be around units that catch them.
    """

    piecewise: Piecewise
    statement: Any
    path: str
    wrap: Callable[[Block], Any]
    outside: set[str]

    def as_unit(self) -> Block:
        """The statement in one unit."""
        return [self.wrap([self.statement])]

    def called(self, make: Callable[[Any, Callable[[str], str]], Block], fresh: Callable[[str], str]) -> Block:
        """The calls that `make` writes in its place, one step at a time."""
        rewriting = self.piecewise
        before = rewriting.fresh, rewriting.outside
        rewriting.fresh, rewriting.outside = fresh, self.outside
        statements = rewriting.block(make(self.statement, fresh), self.path, self.wrap, self.statement)
        rewriting.fresh, rewriting.outside = before
        return statements


def endless(node: Any, fresh: Callable[[str], str]) -> Block:
    """The body of ``while True`` that does what ``while test`` does: the test is a statement like others."""
    go_on, stop = fresh("go_on"), fresh("stop")
    *body, last = node.body
    ending = isinstance(last, gast.If) and len(last.body) == 1 and isinstance(last.body[0], gast.Break)
    inner = [*body, assign(stop, last.test)] if ending else [*node.body, assign(stop, number(False))]
    choice = gast.If(load(go_on), inner, [assign(stop, number(True))])
    return [at(node, each) for each in (assign(go_on, node.test), choice, gast.If(load(stop), [gast.Break()], []))]


def is_simple(node: Any) -> bool:
    return isinstance(node, SIMPLE) or getattr(node, "is_unit", False)


def is_quiet(node: Any) -> bool:
    """True if a statement cannot raise."""
    if isinstance(node, QUIET):
        return True
    if isinstance(node, gast.If):
        return is_calm(node.test) and all(is_quiet(each) for each in [*node.body, *node.orelse])
    if not isinstance(node, gast.Assign) or not all(isinstance(t, gast.Name) for t in node.targets):
        return False
    return isinstance(node.value, gast.Constant)


def is_calm(expr: Any) -> bool:
    """True if an expression is known not to raise, or makes something that only a loop or a `with` can use."""
    if isinstance(expr, (gast.Name, gast.Constant)):
        return True
    if isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.Not):
        return is_calm(expr.operand)
    if isinstance(expr, gast.BoolOp):
        return all(is_calm(v) for v in expr.values)
    if isinstance(expr, gast.Compare):
        return (
            is_calm(expr.left)
            and all(isinstance(c, gast.Constant) for c in expr.comparators)
            and isinstance(expr.left, gast.Name)
        )
    if isinstance(expr, gast.Call):
        callee = expr.func.attr if isinstance(expr.func, gast.Attribute) else getattr(expr.func, "id", "")
        if callee in ("errstate", "catch_warnings"):
            return True
        return callee in ("range", "len", "enumerate", "zip", "reversed") and all(is_calm(a) for a in expr.args)
    return isinstance(expr, (gast.Tuple, gast.List)) and all(is_calm(e) for e in expr.elts)


def is_pure(expr: Any) -> bool:
    """True if computing an expression changes nothing, as far as its text tells."""
    for node in gast.walk(expr):
        if isinstance(node, (gast.NamedExpr, gast.Await, gast.Yield, gast.YieldFrom)):
            return False
        if isinstance(node, gast.Call) and not (
            isinstance(node.func, gast.Attribute)
            and isinstance(node.func.value, gast.Name)
            and node.func.value.id in ("np", "math", "numpy")
        ):
            return False
    return True


def is_one_unit(node: Any, function: Any) -> bool:
    """True if a ``try`` does its work in one step already."""
    if getattr(node, "is_unit", False):
        return True
    if node.orelse or not node.handlers:
        return False
    if not all(is_simple(each) or is_quiet(each) for each in node.body) or is_quiet(node.body[0]):
        return all(is_quiet(each) for each in node.body)
    rewriting = Piecewise(lambda hint: hint, function)
    rewriting.outside = rewriting.names_outside(node.body)
    return not rewriting.unit(node.body)[1]


def reraises(block: Block) -> bool:
    """True if a handler's block has a bare ``raise`` of its own."""
    for node in block:
        if isinstance(node, gast.Raise) and node.exc is None:
            return True
        inner = (
            [getattr(node, key, []) for key in ("body", "orelse", "finalbody")] if isinstance(node, gast.stmt) else []
        )
        if not isinstance(node, (gast.FunctionDef, gast.ClassDef)) and any(reraises(b) for b in inner):
            return True
    return False


def raising(node: Any, caught: str) -> Any:
    """A handler's statement whose bare ``raise`` names what it raises."""
    if not reraises([node]):
        return node
    if isinstance(node, gast.Raise):
        return gast.copy_location(gast.Raise(at(node, load(caught)), None), node)
    fields: dict[str, Any] = {key: getattr(node, key, None) for key in node._fields}
    for key in ("body", "orelse", "finalbody"):
        if key in fields:
            fields[key] = [raising(each, caught) for each in fields[key]]
    return gast.copy_location(type(node)(**fields), node)
