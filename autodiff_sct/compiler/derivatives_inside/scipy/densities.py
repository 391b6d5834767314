"""Kernel density estimates and multivariate distributions of ``scipy.stats``."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from ....runtime.scipy import densities as texts
from ....runtime.scipy.densities import Kernels
from ... import ir
from ...domain.facts import Num
from ...domain.values import Const, Obj, Value
from ...interp.arrays.emit_op import array_of_list
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import attribute_of, call_python
from ...interp.objects.objects import construct
from ...interp.objects.tables import class_of_row
from ...ir.builder import Specialiser
from .by_text import by_text, constant_result
from .functions import bound


@handles(stats.gaussian_kde)
def kde(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``gaussian_kde(dataset, bw_method)``."""
    given = bound("dataset bw_method weights", args, kwargs)
    bandwidth = given.get("bw_method", Const(None))
    if given.pop("weights", Const(None)) != Const(None) or not s.is_static(bandwidth):
        raise s.refuse(
            "setting",
            "scipy.stats.gaussian_kde with these settings has no derivative",
            "use no weights, and a constant bw_method",
        )
    data = array_of_list(s, given["dataset"])
    callee = ir.attribute(s.bind("stats", stats), "gaussian_kde")
    settings = {"bw_method": s.expr(bandwidth)} if "bw_method" in given else {}
    made = constant_result(s, ir.call(callee, s.expr(data), **settings), [data], "kde")
    return construct(s, Kernels, [made, data, bandwidth], {})


def from_outside(name: str, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A method of an estimate that exists outside: its data and its bandwidth are read from there."""
    outside = s.objects[args[0].id][0] if isinstance(args[0], Obj) and args[0].id in s.objects else None
    if outside is None or np.ptp(outside.weights) > 1e-12:
        raise s.refuse("setting", "this gaussian_kde cannot be followed", "make it without weights")
    made = constant_result(s, s.expr(args[0]), [], "kde")
    facts = Num("array", np.dtype(np.float64), outside.dataset.shape)
    data = s.let(ir.attribute(s.expr(made), "dataset"), facts, None, "dataset")
    factor = s.let(ir.attribute(s.expr(made), "factor"), Num("npscalar", np.dtype(np.float64), ()), None, "factor")
    return call_python(s, getattr(Kernels, name), [construct(s, Kernels, [made, data, factor], {}), *args[1:]], kwargs)


for _name in ("evaluate", "pdf", "logpdf", "__call__"):
    handles(getattr(stats.gaussian_kde, _name))(partial(from_outside, _name))


def evaluated(text: Any, name: str, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The density at points."""
    made, *rest, points = args
    known = class_of_row(s, made) is Kernels or isinstance(made, Obj) and made.cls is Kernels
    made = attribute_of(s, made, "made") if known else made
    points = array_of_list(s, points)
    expr = ir.call(ir.attribute(s.expr(made), name), s.expr(points))
    return by_text(s, text, expr, [made, *rest, points])


handles(texts.evaluate)(partial(evaluated, texts.evaluate, "evaluate"))
handles(texts.kernels_logpdf)(partial(evaluated, texts.kernels_logpdf, "logpdf"))


def density(text: Any, owner: Any, name: str, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A density of a multivariate distribution."""
    callee = ir.attribute(ir.attribute(s.bind("stats", stats), owner), name)
    expr = ir.call(callee, *(s.expr(a) for a in args[1:]), **{k: s.expr(v) for k, v in kwargs.items()})
    given = [a if isinstance(a, Const) else array_of_list(s, a) for a in args[1:]]
    named = {k: v if isinstance(v, Const) else array_of_list(s, v) for k, v in kwargs.items()}
    return by_text(s, text, expr, given, named)


for _owner, _name in (("wishart", "logpdf"), ("invwishart", "logpdf"), ("multinomial", "logpmf")):
    _fn = getattr(type(getattr(stats, _owner)), _name)
    handles(_fn)(partial(density, getattr(texts, f"{_owner}_{_name}"), _owner, _name))
