"""The supported syntax: a list of the node kinds that the compiler knows, and nothing else.

Whatever is not on the list is refused here, before anything is rewritten, with the user's line and what to write
instead. So is what stands on the list but may not mean what it seems to: a deleted global, `exec`, a `finally` block
that is left early.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NoReturn

import gast

from autodiff_sct.compiler import ir
from autodiff_sct.compiler.frontend.builders import Names, blocks_of
from autodiff_sct.compiler.frontend.early_exits import Exits
from autodiff_sct.compiler.frontend.normalize import variables_at_calls
from autodiff_sct.compiler.frontend.parse import Parsed
from autodiff_sct.compiler.frontend.pattern_matching import BUILTINS_NEEDED, SELF_MATCHING
from autodiff_sct.errors import UnsupportedSyntax

STATEMENTS = (
    "AnnAssign Assert Assign AugAssign Break ClassDef Continue Delete Expr For FunctionDef Global If Import ImportFrom "
    "Match Nonlocal Pass Raise Return Try TypeAlias While With"
)
EXPRESSIONS = (
    "Attribute BinOp BoolOp Call Compare Constant Dict DictComp FormattedValue GeneratorExp IfExp JoinedStr Lambda "
    "List ListComp Name NamedExpr Set SetComp Slice Starred Subscript Tuple UnaryOp"
)
PARTS = (
    "ExceptHandler alias arguments comprehension keyword withitem match_case MatchAs MatchClass MatchMapping MatchOr "
    "MatchSequence MatchSingleton MatchStar MatchValue ParamSpec TypeVar TypeVarTuple"
)
ALLOWED = frozenset(f"{STATEMENTS} {EXPRESSIONS} {PARTS} Yield YieldFrom".split())
YIELDS = (gast.Yield, gast.YieldFrom)

_ASYNC = ("asynchronous code is not differentiated.", "call it from outside, and differentiate a plain function.")
_GENERATOR = ("generators are not differentiated.", "collect the values in a list and return that.")
REFUSED = {
    "AsyncFor": _ASYNC,
    "AsyncFunctionDef": _ASYNC,
    "AsyncWith": _ASYNC,
    "Await": _ASYNC,
    "TryStar": ("`except*` is not understood.", "use `except`."),
    "Yield": _GENERATOR,
    "YieldFrom": _GENERATOR,
}
# Calls that read or write variables by name, out of sight of any analysis.
HIDDEN = {
    "eval": "write the expression itself.",
    "exec": "write the statements themselves.",
    "globals": "name the variables.",
    "locals": "name the variables.",
    "vars": "name the variables, or pass the object whose attributes are meant.",
}


def fence(parsed: Parsed, namespace: Mapping[str, Any] | None = None, generator: bool = False) -> None:
    """Refuse a function that has anything in it that the compiler does not know.

    Parameters
    ----------
    parsed : Parsed
        The function.
    namespace : mapping, optional
        Its globals, to tell builtins from the user's own functions of the same name.
    generator : bool
        Whether it may yield itself; functions inside it always may.

    Raises
    ------
    UnsupportedSyntax
        With the place, the reason and what to write instead.
    """
    _Fence(parsed, namespace or {}, generator).check()


class _Fence:
    def __init__(self, parsed: Parsed, namespace: Mapping[str, Any], generator: bool) -> None:
        self.parsed = parsed
        self.namespace = namespace
        self.nodes = ir.nodes(parsed.tree)
        self.kinds = {type(node) for node in self.nodes}
        yields = not generator and not self.kinds.isdisjoint(YIELDS)
        self.yields = [n for n in own_nodes(parsed.tree) if isinstance(n, YIELDS)] if yields else []
        self.own = {name for node in self.nodes[1:] for name in _bound_by(node)}.union(parsed.free_names)

    @cached_property
    def variables(self) -> dict[int, list[str]]:
        """The variables at calls of ``locals``, where these are known and none belong to functions around this one."""
        return {} if self.parsed.free_names else variables_at_calls(self.parsed.tree)

    def refuse(self, node: Any, reason: str, remedy: str, code: str = "unsupported-syntax") -> NoReturn:
        raise UnsupportedSyntax(reason, remedy, self.parsed.origin(node), code)

    def check(self) -> None:
        checks = {kind: getattr(self, f"_check_{kind.__name__}", None) for kind in self.kinds}
        for node in self.nodes:
            kind = type(node)
            if kind.__name__ not in ALLOWED or any(node is other for other in self.yields):
                unknown = (
                    f"`{kind.__name__}` is not part of the Python that is understood.",
                    "write it in another way.",
                )
                self.refuse(node, *REFUSED.get(kind.__name__, unknown))
            check = checks[kind]
            if check is not None:
                check(node)
        for node in self.nodes:
            if isinstance(node, gast.FunctionDef):
                self._check_unreachable(node)

    def is_builtin(self, name: str) -> bool:
        """Tell whether `name` means the builtin here."""
        return name not in self.own and self.namespace.get(name, _MISSING) in (_MISSING, getattr(builtins, name))

    def _check_comprehension(self, node: Any) -> None:
        if node.is_async:
            self.refuse(node.target, *_ASYNC)

    def _check_Call(self, node: Any) -> None:
        name = getattr(node.func, "id", None)
        if name not in HIDDEN or not self.is_builtin(name):
            return
        if not ((name == "vars" and node.args) or id(node) in self.variables):
            self.refuse(
                node,
                f"`{name}()` reaches variables in a way that cannot be followed.",
                HIDDEN[name],
                code="hidden-variables",
            )

    def _check_Delete(self, node: Any) -> None:
        for target in node.targets:
            if isinstance(target, gast.Attribute):
                self.refuse(target, "attributes cannot be deleted.", "set the attribute to None.")

    def _check_FunctionDef(self, node: Any) -> None:
        if gast.Global not in self.kinds:
            return
        shared = {name for each in own_nodes(node) if isinstance(each, gast.Global) for name in each.names}
        for each in own_nodes(node) if shared else ():
            stores = isinstance(each, gast.alias) or (isinstance(each, gast.Name) and isinstance(each.ctx, gast.Store))
            for name in _bound_by(each) if not stores else ():
                if name in shared:
                    reason = f"the global variable `{name}` is deleted or defined in a function."
                    self.refuse(each, reason, "assign it, or do that at the top level of the module.")

    def _check_unreachable(self, function: Any) -> None:
        """Refuse a function whose scopes depend on statements that never run, since those are left out."""
        unreachable = list(Exits(function, Names(function)).unreachable(function.body))
        if not unreachable:
            return
        dead = {id(node) for statement in unreachable for node in own_nodes(statement)}
        dead.update(map(id, unreachable))
        own = list(own_nodes(function))
        bound = {name for node in own if id(node) not in dead for name in _bound_by(node)}
        only_there = {name for node in own if id(node) in dead for name in _bound_by(node)} - bound
        for node in own:
            declares = isinstance(node, (gast.Global, gast.Nonlocal)) and id(node) in dead
            reads = isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load) and node.id in only_there
            if declares or (reads and id(node) not in dead):
                reason = "what this name means is decided by a statement that never runs."
                self.refuse(node, reason, "remove the statements that cannot be reached.")

    def _check_Try(self, node: Any) -> None:
        for statement in _leaving(node.finalbody, in_loop=False):
            reason = "leaving a `finally` block by `return`, `break` or `continue` drops exceptions."
            self.refuse(statement, reason, "leave after the `try` statement.", code="exceptions")

    def _check_Match(self, node: Any) -> None:
        for name in sorted(BUILTINS_NEEDED):
            if not self.is_builtin(name):
                reason = f"`match` is understood only where `{name}` is the builtin."
                self.refuse(node.subject, reason, f"rename your own `{name}`, or write `if` and `elif`.")

    def _check_MatchClass(self, node: Any) -> None:
        name = getattr(node.cls, "id", None)
        if name in SELF_MATCHING and node.patterns and not self.is_builtin(name):
            reason = f"`{name}` is not the builtin here, and what its positional pattern means is not known."
            self.refuse(node, reason, "name the attributes in the pattern: `Class(attribute=pattern)`.")


_MISSING = object()


def own_nodes(root: Any) -> Iterator[Any]:
    """Yield the nodes inside a function or statement that belong to the same scope as its first ones."""
    pending = list(root.body) if isinstance(root, gast.FunctionDef) else ir.children(root)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Lambda)):
            pending += ir.children(node)


def _bound_by(node: Any) -> Iterator[str]:
    """Yield the names that a node itself binds."""
    if isinstance(node, gast.Name):
        if not isinstance(node.ctx, gast.Load):
            yield node.id
    elif isinstance(node, (gast.FunctionDef, gast.ClassDef, gast.alias, gast.MatchAs, gast.MatchStar)):
        name = getattr(node, "asname", None) or node.name
        yield from [name.partition(".")[0]] if name else []
    elif isinstance(node, gast.MatchMapping) and node.rest:
        yield node.rest


def _leaving(block: list[Any], in_loop: bool) -> Iterator[Any]:
    """Yield the statements that leave a block early."""
    for statement in block:
        if isinstance(statement, gast.Return) or (isinstance(statement, (gast.Break, gast.Continue)) and not in_loop):
            yield statement
        is_loop = isinstance(statement, (gast.For, gast.While))
        for inner in blocks_of(statement):
            yield from _leaving(inner, in_loop or (is_loop and inner is statement.body))
