"""`match` statements as `if` and `elif`.

A pattern becomes a *test* of the subject, which changes nothing, and *bindings* that run once the test has held. The
subject is evaluated once. What it is tested for is what Python tests for: a sequence pattern takes any
`collections.abc.Sequence` but strings, a class pattern asks `isinstance` and then for the attributes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from autodiff_sct.compiler.frontend.builders import (
    Block,
    Expression,
    Names,
    Statement,
    again,
    assign,
    at,
    blocks_of,
    call,
    constant,
    every,
    load,
    negated,
    rebuilt,
    some,
    store,
)

# Classes whose one positional sub-pattern is matched with the subject itself.
SELF_MATCHING = frozenset(
    ("bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple")
)
# What the tests call; `fence` refuses a function in which these names mean something else.
BUILTINS_NEEDED = frozenset(("bytearray", "bytes", "dict", "getattr", "hasattr", "isinstance", "len", "list", "str"))


def without_match(tree: gast.FunctionDef, names: Names) -> gast.FunctionDef:
    """Return `tree` with every `match` of its own written as `if` statements."""
    matching = Matching(names)
    body = matching.block(tree.body)
    if body is tree.body:
        return tree
    start = 1 if gast.get_docstring(tree, clean=False) is not None else 0
    return rebuilt(tree, body=body[:start] + matching.imports(tree) + body[start:])


class Matching:
    """The rewriting of the `match` statements of one function."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self._abstract: dict[str, str] = {}

    def imports(self, origin: Any) -> Block:
        """Return the import of the abstract classes that the tests name."""
        if not self._abstract:
            return []
        aliases = [gast.alias(name, None if name == used else used) for name, used in self._abstract.items()]
        return [at(origin, gast.ImportFrom("collections.abc", aliases, 0))]

    def block(self, statements: Block) -> Block:
        """Return a block without `match`: the same list where there is none."""
        new = [each for statement in statements for each in self._statement(statement)]
        return statements if new == statements else new

    def _statement(self, statement: Statement) -> Block:
        if isinstance(statement, gast.Match):
            return self._match(statement)
        if not any(blocks_of(statement)):
            return [statement]
        fields = {field: getattr(statement, field, None) for field in ("body", "orelse", "finalbody")}
        new = {field: self.block(block) for field, block in fields.items() if isinstance(block, list)}
        handlers = getattr(statement, "handlers", [])
        new_handlers = [self._handler(each) for each in handlers]
        if new_handlers != handlers:
            new["handlers"] = new_handlers
        if all(value is fields.get(field) for field, value in new.items()):
            return [statement]
        return [rebuilt(statement, **new)]

    def _handler(self, handler: Any) -> Any:
        body = self.block(handler.body)
        return handler if body is handler.body else rebuilt(handler, body=body)

    def _match(self, statement: Statement) -> Block:
        subject = statement.subject
        start: Block = []
        if not isinstance(subject, gast.Name) or subject.id in set(_bound_names(statement)):
            name = self.names.fresh("subject")
            start = [at(subject, assign(name, subject))]
            subject = at(subject, load(name))
        return start + self._cases(subject, statement.cases)

    def _cases(self, subject: Expression, cases: list[Any]) -> Block:
        done: Block = []
        for case in reversed(cases):
            done = self._case(subject, case, done)
        return done

    def _case(self, subject: Expression, case: Any, otherwise: Block) -> Block:
        pattern = case.pattern
        tests = [at(pattern, test) for test in self.tests(pattern, subject)]
        bindings = [at(pattern, binding) for binding in self.bindings(pattern, subject)]
        body = self.block(case.body)
        if case.guard is None:
            return _if(pattern, tests, bindings + body, otherwise)
        if not bindings:
            return _if(pattern, [*tests, case.guard], body, otherwise)
        if not tests or not otherwise:
            return _if(pattern, tests, bindings + _if(case.guard, [case.guard], body, otherwise), [])
        # The guard reads what the pattern has bound, and the next pattern is tried where the guard fails.
        matched = self.names.fresh("matched")
        chosen = [at(case.guard, assign(matched, constant(True))), *body]
        return [
            at(pattern, assign(matched, constant(False))),
            *_if(pattern, tests, bindings + _if(case.guard, [case.guard], chosen, []), []),
            *_if(pattern, [at(pattern, negated(load(matched)))], otherwise, []),
        ]

    # Tests: what has to hold for the pattern to match

    def tests(self, pattern: Any, subject: Expression) -> list[Expression]:
        """Return the tests of `subject` that decide whether `pattern` matches; none if it always does."""
        if isinstance(pattern, gast.MatchValue):
            return [gast.Compare(again(subject), [gast.Eq()], [again(pattern.value)])]
        if isinstance(pattern, gast.MatchSingleton):
            return [gast.Compare(again(subject), [gast.Is()], [constant(pattern.value)])]
        if isinstance(pattern, gast.MatchAs):
            return [] if pattern.pattern is None else self.tests(pattern.pattern, subject)
        if isinstance(pattern, gast.MatchOr):
            options = [self.tests(each, subject) for each in pattern.patterns]
            return [some([every(option) for option in options])] if all(options) else []
        if isinstance(pattern, gast.MatchSequence):
            return self._sequence_tests(pattern, subject)
        if isinstance(pattern, gast.MatchMapping):
            return self._mapping_tests(pattern, subject)
        return self._class_tests(pattern, subject)

    def _sequence_tests(self, pattern: Any, subject: Expression) -> list[Expression]:
        strings = gast.Tuple([load("str"), load("bytes"), load("bytearray")], gast.Load())
        starred = _star(pattern)
        count = constant(len(pattern.patterns) - (starred is not None))
        operator = gast.Eq() if starred is None else gast.GtE()
        tests = [
            call("isinstance", again(subject), load(self._class_name("Sequence"))),
            negated(call("isinstance", again(subject), strings)),
        ]
        if starred is None or count.value:
            tests.append(gast.Compare(call("len", again(subject)), [operator], [count]))
        for part, item in _items(pattern, subject):
            tests += self.tests(part, item)
        return tests

    def _mapping_tests(self, pattern: Any, subject: Expression) -> list[Expression]:
        tests = [call("isinstance", again(subject), load(self._class_name("Mapping")))]
        for key, part in zip(pattern.keys, pattern.patterns, strict=True):
            tests.append(gast.Compare(again(key), [gast.In()], [again(subject)]))
            tests += self.tests(part, _item(subject, again(key)))
        return tests

    def _class_tests(self, pattern: Any, subject: Expression) -> list[Expression]:
        tests = [call("isinstance", again(subject), again(pattern.cls))]
        for part, attribute, presence in _attributes(pattern, subject):
            tests += [presence] if presence is not None else []
            tests += self.tests(part, attribute)
        return tests

    def _class_name(self, name: str) -> str:
        if name not in self._abstract:
            self._abstract[name] = self.names.fresh(name)
        return self._abstract[name]

    # Bindings: what the pattern gives names to

    def bindings(self, pattern: Any, subject: Expression) -> Block:
        """Return the statements that bind the names of `pattern`, which has matched."""
        if isinstance(pattern, gast.MatchAs):
            inner = [] if pattern.pattern is None else self.bindings(pattern.pattern, subject)
            return inner + ([assign(pattern.name, again(subject))] if pattern.name else [])
        if isinstance(pattern, gast.MatchOr):
            return self._bindings_of_options(pattern.patterns, subject)
        if isinstance(pattern, gast.MatchSequence):
            return self._sequence_bindings(pattern, subject)
        parts: list[tuple[Any, Expression]] = []
        if isinstance(pattern, gast.MatchMapping):
            keys = zip(pattern.patterns, pattern.keys, strict=True)
            parts = [(part, _item(subject, again(key))) for part, key in keys]
        elif isinstance(pattern, gast.MatchClass):
            parts = [(part, attribute) for part, attribute, _ in _attributes(pattern, subject)]
        done = [each for part, item in parts for each in self.bindings(part, item)]
        return done + self._rest_of_mapping(pattern, subject)

    def _rest_of_mapping(self, pattern: Any, subject: Expression) -> Block:
        if not isinstance(pattern, gast.MatchMapping) or not pattern.rest:
            return []
        removals = [
            gast.Expr(call(gast.Attribute(load(pattern.rest), "pop", gast.Load()), again(key))) for key in pattern.keys
        ]
        return [assign(pattern.rest, call("dict", again(subject))), *removals]

    def _bindings_of_options(self, options: list[Any], subject: Expression) -> Block:
        """Return bindings that depend on which alternative matched; all alternatives bind the same names."""
        *others, last = options
        done = self.bindings(last, subject)
        for option in reversed(others):
            bindings = self.bindings(option, subject)
            if bindings:
                done = [gast.If(every(self.tests(option, subject) or [constant(True)]), bindings, done)]
        return done

    def _sequence_bindings(self, pattern: Any, subject: Expression) -> Block:
        starred = _star(pattern)
        names = [_capture(part) for part in pattern.patterns]
        if starred is not None and pattern.patterns[starred].name:
            return self._unpacking(pattern, subject, names)
        if starred is None and len(names) > 1 and all(names):
            targets = gast.Tuple([store(name) for name in names], gast.Store())
            return [gast.Assign([targets], again(subject), None)]
        return [each for part, item in _items(pattern, subject) for each in self.bindings(part, item)]

    def _unpacking(self, pattern: Any, subject: Expression, names: list[str]) -> Block:
        """Return ``first, *rest = subject``, with new names for the items that the pattern gives none."""
        targets: list[Any] = []
        inner: Block = []
        for part, name in zip(pattern.patterns, names, strict=True):
            target = name or self.names.fresh("item")
            is_star = isinstance(part, gast.MatchStar)
            targets.append(gast.Starred(store(target), gast.Store()) if is_star else store(target))
            inner += [] if name else self.bindings(part, load(target))
        return [gast.Assign([gast.Tuple(targets, gast.Store())], again(subject), None), *inner]


def _if(origin: Any, tests: list[Expression], body: Block, orelse: Block) -> Block:
    """Return ``if tests: body else: orelse``, or `body` alone where there is nothing to test."""
    return [at(origin, gast.If(at(origin, every(tests)), body, orelse))] if tests else body


def _bound_names(statement: Statement) -> Iterator[str]:
    """Yield the names that the patterns and guards of a `match` bind."""
    for case in statement.cases:
        for root in (case.pattern, case.guard):
            for node in gast.walk(root) if root is not None else ():
                name = getattr(node, "name", None) or getattr(node, "rest", None)
                if isinstance(name, str):
                    yield name
                elif isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
                    yield node.id


def _capture(part: Any) -> str:
    """Return the name that a part of a sequence pattern gives to the whole item, or an empty string."""
    plain = isinstance(part, gast.MatchStar) or (isinstance(part, gast.MatchAs) and part.pattern is None)
    return part.name or "" if plain else ""


def _star(pattern: Any) -> int | None:
    """Return the position of the starred part of a sequence pattern."""
    return next((i for i, part in enumerate(pattern.patterns) if isinstance(part, gast.MatchStar)), None)


def _items(pattern: Any, subject: Expression) -> Iterator[tuple[Any, Expression]]:
    """Yield the parts of a sequence pattern but the starred one, each with the item that it matches."""
    starred = _star(pattern)
    for position, part in enumerate(pattern.patterns):
        if starred is None or position < starred:
            yield part, _item(subject, constant(position))
        elif position > starred:
            behind = gast.UnaryOp(gast.USub(), constant(len(pattern.patterns) - position))
            yield part, _item(subject, behind)


def _item(subject: Expression, index: Expression) -> Expression:
    return gast.Subscript(again(subject), index, gast.Load())


def _attributes(pattern: Any, subject: Expression) -> Iterator[tuple[Any, Expression, Expression | None]]:
    """Yield the parts of a class pattern, each with the value that it matches and the test that there is one."""
    if len(pattern.patterns) == 1 and isinstance(pattern.cls, gast.Name) and pattern.cls.id in SELF_MATCHING:
        yield pattern.patterns[0], subject, None
    else:
        for position, part in enumerate(pattern.patterns):
            names = gast.Attribute(again(pattern.cls), "__match_args__", gast.Load())
            name = _item(names, constant(position))
            yield part, call("getattr", again(subject), name), call("hasattr", again(subject), again(name))
    for attribute, part in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        value = gast.Attribute(again(subject), attribute, gast.Load())
        yield part, value, call("hasattr", again(subject), constant(attribute))
