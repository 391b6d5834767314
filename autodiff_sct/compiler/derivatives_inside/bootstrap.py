"""The whole compiler: every rule registered, every kind of call known, the package's own functions among them.

It is read when something has to be compiled, which a program that was kept on disk has not.
"""

from __future__ import annotations

import functools

from ... import api
from ... import rules as _rules  # noqa: F401  (fills the table)
from ...api import batching, linear, stop_gradient
from ...api.linear import linear_map
from ...ops import erf_rule as _erf_rule  # noqa: F401
from ...ops.composite import GradOperation
from ...rules.table import TABLE
from .. import ir
from ..domain.values import Leaf, ListV, Obj, TupleV, Value
from ..driver.forward_pipeline import tangent
from ..driver.pipeline import adjoint
from ..interp.calls import dispatch as _dispatch  # noqa: F401
from ..interp.containers import items as containers
from ..interp.containers import iterators as _iterators  # noqa: F401
from ..interp.control import loop_joins as _loop_joins  # noqa: F401
from ..interp.kernel.handlers import handles
from ..interp.kernel.operations import call_python
from ..interp.kernel.specialiser import Specialiser
from ..interp.language import comparisons as _comparisons  # noqa: F401
from ..interp.language import generators as _generators  # noqa: F401
from ..interp.language import statements as _statements  # noqa: F401
from ..interp.library import builtins as _builtins  # noqa: F401
from ..interp.library import combinatorics as _combinatorics  # noqa: F401
from ..interp.library import copying as _copying  # noqa: F401
from ..interp.library import introspection as _introspection  # noqa: F401
from ..interp.library import runtime_helpers as _runtime_helpers  # noqa: F401
from ..interp.library import standard_library as _standard_library  # noqa: F401
from ..interp.library import wrappers as _wrappers  # noqa: F401
from ..interp.numpy import calls as _calls  # noqa: F401
from ..interp.numpy import keywords as _keywords  # noqa: F401
from ..interp.numpy import masked as _masked  # noqa: F401
from ..interp.numpy import records as _records  # noqa: F401
from ..interp.numpy import vectorize as _vectorize  # noqa: F401
from ..interp.objects import local_classes as _local_classes  # noqa: F401
from ..interp.world import names as _names  # noqa: F401
from . import custom_vjp as _custom_vjp  # noqa: F401
from .custom_vjp import vmap
from .grad import found_gradient, gradient_of, own
from .products import hessian_of, hvp, jacobian_of, jvp, operation_of, vjp

__all__ = ["TABLE", "adjoint", "tangent"]


def register_api() -> None:
    """Say what calls of them become, once they are defined."""
    for kind in ("grad", "value_and_grad"):
        handles(getattr(api, kind))(functools.partial(gradient_of, kind=kind))
    for kind in ("jacrev", "jacfwd"):
        handles(getattr(api, kind))(functools.partial(jacobian_of, kind=kind))
    handles(api.hessian)(hessian_of)
    handles(api.hvp)(hvp)
    handles(api.get_grad)(found_gradient)
    handles(api.vjp)(vjp)
    handles(api.jvp)(jvp)
    handles(GradOperation)(operation_of)
    handles(batching.vmap)(vmap)
    handles(linear.linearize)(linearized)
    handles(api.stop_gradient)(stopped)


def linearized(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``linearize(fn, *args)``."""
    fn, *given = args
    return call_python(s, linear_map, [fn, TupleV(tuple(own(s, a) for a in given))], kwargs)


def stopped(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``stop_gradient(x)``: the value itself, through which no derivative passes.

    A derivative that is part of another program says so in its text: that is read again when it is differentiated.
    """
    value = args[0]
    if isinstance(value, (TupleV, ListV)):
        items = tuple(stopped(s, [item], {}) for item in value.items)
        return TupleV(items, value.cls) if isinstance(value, TupleV) else ListV(items, value.site)
    if isinstance(value, Obj) and value.id not in s.objects:
        return stopped_object(s, value)
    if not isinstance(value, Leaf):
        return value
    expr = s.expr(value)
    if s.read_again:
        expr = ir.call(s.bind("stop_gradient", stop_gradient), expr)
    leaf = s.let(expr, s.facts[value.name], hint=s.hints[value.name], may_raise=False)
    s.stopped.add(leaf.name)
    return leaf


def stopped_object(s: Specialiser, value: Obj) -> Value:
    """An object with stopped fields; it is another than the one that was given, so neither may be written any more."""
    result = Obj(("stopped", s.site()), value.cls)
    fields = {key: stopped(s, [containers.field(s, value, key)], {}) for key in s.fields(value)}
    s.env |= {(result.id, key): field for key, field in fields.items()}
    s.frozen |= {value.id, result.id}
    return result


register_api()
