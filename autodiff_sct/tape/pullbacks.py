"""Rules made ready: for each shape of a call one function that computes the entries that are wanted, and no others.

``multiply(y, d, a, b)`` returns ``d * b, d * a``; where only ``b`` is differentiated, its text is compiled to return
``(d * a,)``.  The text also tells of which arguments it reads the numbers, and of which no more than shape and dtype:
those need not be kept, and may change.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from ..errors import NoRule
from ..rules.elementwise import compiled_as_negative
from ..rules.table import STATIC, TABLE, Rule
from ..runtime import gather_adjoint, ones_like, unbroadcast, zeros_like
from .modes import is_ours, scope_of

__all__ = ["Plan", "name_of", "no_rule", "plan_of"]


class Plan:
    """The plan for recording and pulling back one shape of call.

    Attributes
    ----------
    fn : callable
        The function that is called.
    rule : callable
        The rule that `pull` was made from.
    pull : callable
        ``pull(y, d, *args)``: the entries, in the order of `positions`.
    positions : tuple of int
        The arguments that are differentiated, by their place in a node's `args`.
    read, unread : tuple of int
        The arguments whose numbers `pull` reads, and those of which it reads no more than shape and dtype.
    result : str
        ``"numbers"``, ``"shape"`` or ``"nothing"``: what `pull` reads of `y`.
    saves : bool
        Whether there are numbers that must be kept, and must not change.
    """

    __slots__ = ("call", "fn", "positions", "pull", "read", "result", "rule", "saves", "unread")

    def __init__(self, fn: Any, rule: Any, pull: Callable[..., tuple[Any, ...]], positions: tuple[int, ...]) -> None:
        self.fn, self.rule, self.pull, self.positions = fn, rule, pull, positions
        self.read: tuple[int, ...] = ()
        self.unread: tuple[int, ...] = ()
        self.result, self.saves = "nothing", False
        self.call: Any = None

    def only(self, positions: tuple[int, ...]) -> Plan:
        """The plan of the same call, differentiated at fewer positions."""
        rule, count, names = self.call
        return plan_of(self.fn, rule, count, names, positions)


PLANS: dict[Any, Plan] = {}


def plan_of(fn: Any, rule: Rule, count: int, names: tuple[str, ...], positions: tuple[int, ...]) -> Plan:
    """The plan of a call of `fn` with `count` positional and the named arguments, differentiated at `positions`."""
    key = (fn, rule.reverse, count, names, positions)
    found = PLANS.get(key)
    return found if found is not None else PLANS.setdefault(key, made(fn, rule, count, names, positions))


def made(fn: Any, rule: Rule, count: int, names: tuple[str, ...], positions: tuple[int, ...]) -> Plan:
    places = entry_places(fn, rule, count, names)
    pull, text = pullback(rule.reverse, tuple([places[p] for p in positions]))
    plan = Plan(fn, rule.reverse, with_names(pull, count, names) if names else pull, positions)
    parameters = parameters_at(rule, count, names)
    used = set(parameters) | {"y"} if text is None else numbers_read(text, rule.reverse)
    mentioned = used if text is None else loaded(text)
    plan.read = tuple([k for k, name in enumerate(parameters) if name in used])
    plan.unread = tuple([k for k, name in enumerate(parameters) if name not in used])
    plan.result = "numbers" if "y" in used else "shape" if "y" in mentioned else "nothing"
    plan.call = (rule, count, names)
    plan.saves = "y" in used or any(places[k] < entry_count(rule.reverse) for k in plan.read)
    return plan


def with_names(pull: Callable[..., Any], count: int, names: tuple[str, ...]) -> Callable[..., Any]:
    """`pull` with its last arguments passed by name."""
    return lambda y, d, *args: pull(y, d, *args[:count], **dict(zip(names, args[count:])))


def entry_places(fn: Any, rule: Rule, count: int, names: tuple[str, ...]) -> list[int]:
    """The place of each argument's entry among those that the rule returns.

    Raises
    ------
    NoRule
        If the rule does not know one of the arguments.
    """
    try:
        rule.signature.bind(*range(count), **dict.fromkeys(names))
    except TypeError as error:
        raise NoRule(
            f"{name_of(fn)} called in this form has no derivative rule: {error}", "leave this setting out"
        ) from None
    order = list(rule.signature.parameters)
    beyond = count if starred(rule) is not None else 0
    return [*range(count), *(order.index(name) + beyond for name in names)]


def starred(rule: Rule) -> str | None:
    """The rule's ``*args`` parameter."""
    return next((p.name for p in rule.signature.parameters.values() if p.kind is p.VAR_POSITIONAL), None)


def parameters_at(rule: Rule, count: int, names: tuple[str, ...]) -> list[str]:
    """The name of the rule's parameter for each argument of a call."""
    order, rest = list(rule.signature.parameters), starred(rule)
    first = order[: order.index(rest)] if rest is not None else order
    return [*(first[k] if k < len(first) else rest or "" for k in range(count)), *names]


def name_of(fn: Any) -> str:
    """`fn` as one would write it."""
    owner = getattr(fn, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"np.{owner.__name__}.{fn.__name__}"
    module = (getattr(fn, "__module__", None) or "numpy").replace("numpy", "np")
    return f"{module}.{getattr(fn, '__qualname__', getattr(fn, '__name__', fn))}"


def no_rule(fn: Callable[..., Any]) -> NoRule:
    return NoRule(
        f"{name_of(fn)} has no derivative rule",
        "register one with autodiff_sct.rule, write it by functions that have one, or give it `t.detach()`",
    )


# Compiling the wanted entries


def pullback(rule: Any, wanted: tuple[int, ...]) -> tuple[Callable[..., Any], ast.FunctionDef | None]:
    """A function of the rule's parameters that returns the wanted entries as a tuple, and its text if that is known."""
    if not is_ours(rule):
        return lambda y, d, *args, **kwargs: chosen(rule(y, d, *args, **kwargs), wanted), None
    tree = pruned(rule, wanted)
    module = ast.Module([tree], [])
    scope: dict[str, Any] = {}
    exec(
        compile(ast.fix_missing_locations(module), rule.__code__.co_filename, "exec"), scope_of(rule.__globals__), scope
    )
    made_function = scope[tree.name]
    made_function.__defaults__, made_function.__kwdefaults__ = rule.__defaults__, rule.__kwdefaults__
    return made_function, tree


# Helpers of which only some entries are wanted: the module and the name that they are called by, and their text.
PRUNED: dict[tuple[str, str], Any] = {}


def chosen(entries: Any, wanted: tuple[int, ...]) -> tuple[Any, ...]:
    """The wanted ones of a rule's entries; a bare one is the first parameter's."""
    several = entries if type(entries) is tuple else (entries,)
    return tuple([several[k] if k < len(several) else None for k in wanted])


@cache
def source_of(fn: Any) -> str:
    return textwrap.dedent(inspect.getsource(fn))


def text_of(fn: Any) -> ast.FunctionDef:
    """A fresh tree of a function's text, without decorators and defaults."""
    tree = ast.parse(source_of(fn)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    ast.increment_lineno(tree, fn.__code__.co_firstlineno - 1)
    tree.decorator_list, tree.args.defaults = [], []
    tree.args.kw_defaults = [None for _ in tree.args.kwonlyargs]
    return tree


def pruned(fn: Any, wanted: tuple[int, ...]) -> ast.FunctionDef:
    """The text of `fn`, returning the wanted entries and computing nothing that these do not need."""
    tree = text_of(fn)
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and node.value is not None:
            node.value = selected(node.value, wanted, fn)
    split_assignments(tree)
    drop_unused(tree)
    return tree


def selected(value: ast.expr, wanted: tuple[int, ...], fn: Any) -> ast.expr:
    """The wanted entries of a returned expression, as a tuple."""
    if isinstance(value, ast.IfExp):
        return ast.IfExp(value.test, selected(value.body, wanted, fn), selected(value.orelse, wanted, fn))
    if isinstance(value, ast.Tuple):
        return from_tuple(value, wanted)
    helper: Any = resolve(value.func, fn) if isinstance(value, ast.Call) else None
    if isinstance(value, ast.Call) and is_ours(helper) and helper not in TABLE and entry_count(helper) > 1:
        name = "_".join([helper.__module__.rpartition(".")[2], helper.__name__, *map(str, wanted)])
        made_function, tree = pullback(helper, wanted)
        scope_of(fn.__globals__).setdefault(name, made_function)
        PRUNED[fn.__module__, name] = helper, tree
        return ast.Call(ast.Name(name, ast.Load()), value.args, value.keywords)
    if isinstance(value, (ast.BinOp, ast.UnaryOp, ast.Constant, ast.List, ast.ListComp)):
        return from_tuple(ast.Tuple([value], ast.Load()), wanted)
    scope_of(fn.__globals__)["__chosen__"] = chosen
    return ast.Call(ast.Name("__chosen__", ast.Load()), [value, literal(wanted)], [])


def literal(value: Any) -> ast.expr:
    return ast.parse(repr(value), mode="eval").body


def from_tuple(value: ast.Tuple, wanted: tuple[int, ...]) -> ast.expr:
    """The wanted elements; of a starred list at the end, only the items that are wanted."""
    last = value.elts[-1]
    before = len(value.elts) - isinstance(last, ast.Starred)
    found: list[ast.expr] = [value.elts[k] if k < before else ast.Constant(None) for k in wanted if k < before]
    rounds = tuple([k - before for k in wanted if k >= before])
    if not isinstance(last, ast.Starred):
        return ast.Tuple([*found, *(ast.Constant(None) for _ in rounds)], ast.Load())
    comprehension = last.value
    if isinstance(comprehension, ast.ListComp) and rounds:
        generator = comprehension.generators[0]
        generator.iter = ast.parse(f"[list({ast.unparse(generator.iter)})[i] for i in {rounds!r}]", mode="eval").body
        found.append(ast.Starred(comprehension, ast.Load()))
    elif rounds:
        items = ast.parse(f"[list({ast.unparse(comprehension)})[i] for i in {rounds!r}]", mode="eval").body
        found.append(ast.Starred(items, ast.Load()))
    return ast.Tuple(found, ast.Load())


def split_assignments(tree: ast.AST) -> None:
    """``a, b = x, y`` as two statements, where `x` and `y` do not read `a`."""
    for node in ast.walk(tree):
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                setattr(node, field, [part for stmt in block for part in parts(stmt)])


def parts(stmt: ast.stmt) -> Iterator[ast.stmt]:
    targets = stmt.targets[0].elts if isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Tuple) else []
    values = stmt.value.elts if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Tuple) else []
    assigned = {t.id for t in targets if isinstance(t, ast.Name)}
    if targets and len(targets) == len(values) == len(assigned) and not any(loaded(v) & assigned for v in values):
        for target, value in zip(targets, values):
            yield ast.copy_location(ast.Assign([target], value), stmt)
    else:
        yield stmt


def loaded(tree: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def drop_unused(tree: ast.FunctionDef) -> None:
    """Remove assignments to names that nothing reads: rules have no side effects."""
    before = -1
    while before != (size := sum(1 for _ in ast.walk(tree))):
        before, used = size, loaded(tree)
        for node in ast.walk(tree):
            for field in ("body", "orelse"):
                block = getattr(node, field, None)
                if isinstance(block, list):
                    kept = [stmt for stmt in block if not is_unused(stmt, used)]
                    setattr(node, field, kept or ([ast.Pass()] if field == "body" else []))


def is_unused(stmt: ast.stmt, used: set[str]) -> bool:
    if not isinstance(stmt, ast.Assign):
        return False
    names = [n for target in stmt.targets for n in ast.walk(target) if isinstance(n, (ast.Name, ast.Subscript))]
    return all(isinstance(n, ast.Name) and n.id not in used for n in names)


# What the text reads

DESCRIPTION = {"shape", "ndim", "size", "dtype"}
# Functions that ask one of their arguments for no more than its description.
DESCRIBING: dict[Any, int] = dict.fromkeys(
    [np.shape, np.ndim, np.size, len, isinstance, np.iscomplexobj]
    + [np.zeros_like, np.ones_like, np.empty_like, np.full_like, zeros_like, ones_like],
    0,
) | {gather_adjoint: 1, unbroadcast: 1}

REARRANGING = frozenset([np.ravel, np.reshape, np.moveaxis, np.expand_dims])


def resolve(node: ast.expr, fn: Any) -> Any:
    """The object that a name or a dotted name in the text of `fn` stands for, None where that is open."""
    if isinstance(node, ast.Name) and (fn.__module__, node.id) in PRUNED:
        return PRUNED[fn.__module__, node.id]
    if isinstance(node, ast.Name):
        return fn.__globals__.get(node.id, getattr(builtins, node.id, None))
    if isinstance(node, ast.Attribute):
        return getattr(resolve(node.value, fn), node.attr, None)
    return None


@cache
def entry_count(fn: Any) -> int:
    """The largest number of entries that a rule returns, 1 where its text does not show more."""
    if not is_ours(fn):
        return len(inspect.signature(fn).parameters)
    returned = [n.value for n in ast.walk(text_of(fn)) if isinstance(n, ast.Return) and n.value is not None]
    return max((entries_in(value, fn) for value in returned), default=1)


def entries_in(value: ast.expr, fn: Any) -> int:
    if isinstance(value, ast.IfExp):
        return max(entries_in(value.body, fn), entries_in(value.orelse, fn))
    if isinstance(value, ast.Tuple):
        return 99 if any(isinstance(e, ast.Starred) for e in value.elts) else len(value.elts)
    if isinstance(value, ast.Call):
        helper = resolve(value.func, fn)
        return entry_count(helper) if is_ours(helper) and helper not in TABLE and helper is not fn else 1
    return 1


@cache
def helper_reads(fn: Any) -> frozenset[str]:
    """The parameters of a helper of rules whose numbers it reads."""
    return frozenset(numbers_read(text_of(fn), fn))


def numbers_read(tree: ast.FunctionDef, fn: Any) -> set[str]:
    """The names in the text of `fn` of which more than shape and dtype is read."""
    reader = Reader(fn)
    for stmt in tree.body:
        reader.visit(stmt)
    for target, source in reversed(reader.items):
        if target in reader.found:
            reader.found.add(source)
    return reader.found


class Reader(ast.NodeVisitor):
    """Finds the names whose numbers a text reads."""

    def __init__(self, fn: Any) -> None:
        self.fn = fn
        self.found: set[str] = set()
        self.items: list[tuple[str, str]] = []

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.found.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr not in DESCRIPTION or not isinstance(node.value, (ast.Name, ast.Subscript)):
            self.visit(node.value)
        elif isinstance(node.value, ast.Subscript):
            self.visit(node.value.slice)

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Call) and resolve(node.test.func, self.fn) is compiled_as_negative:
            node = ast.If(node.test, [], node.orelse)  # the tape never runs the body
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        called = resolve(node.func, self.fn)
        for k, argument in enumerate(node.args):
            if self.describes(called, k):
                self.visit_described(argument)
            else:
                self.visit(argument)
        for keyword in node.keywords:
            self.visit(keyword.value)
        if isinstance(node.func, ast.Attribute) and called is None:
            self.visit(node.func)

    def visit_described(self, node: ast.expr) -> None:
        """An expression that is asked for its description: that of other axes of an array is read off that array."""
        if isinstance(node, ast.Subscript):
            self.visit(node.slice)
        elif isinstance(node, ast.Call) and node.args and resolve(node.func, self.fn) in REARRANGING:
            self.visit_described(node.args[0])
            for argument in node.args[1:]:
                self.visit(argument)
        elif not isinstance(node, ast.Name):
            self.visit(node)

    def describes(self, called: Any, k: int) -> bool:
        """True if a function asks its argument at `k` for no more than a description."""
        if called in DESCRIBING:
            return DESCRIBING[called] == k
        if isinstance(called, tuple):
            helper, tree = called
            names = list(inspect.signature(helper).parameters)
            return k < len(names) and names[k] not in numbers_read(tree, helper)
        if not is_ours(called) or called in TABLE or called in STATIC or called is self.fn:
            return False
        names = list(inspect.signature(called).parameters)
        return k < len(names) and names[k] not in helper_reads(called)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        """The items of ``for a in arrays`` are read where `a` is."""
        targets, sources = [node.target], [node.iter]
        if isinstance(node.target, ast.Tuple) and isinstance(node.iter, ast.Call) and self.is_zip(node.iter):
            targets, sources = node.target.elts, node.iter.args
        for target, source in zip(targets, sources):
            if isinstance(target, ast.Name) and isinstance(source, ast.Name):
                self.items.append((target.id, source.id))
            else:
                self.visit(source)
        for test in node.ifs:
            self.visit(test)

    def is_zip(self, node: ast.Call) -> bool:
        return resolve(node.func, self.fn) is zip
