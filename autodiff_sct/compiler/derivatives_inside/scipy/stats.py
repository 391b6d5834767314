"""Distributions of ``scipy.stats``: their methods, and distributions with their parameters fixed."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from ....rules.scipy import discrete, samples
from ....rules.scipy import stats as continuous
from ....runtime.scipy import densities, standard
from ....runtime.scipy.distributions import Frozen, several_points
from ... import ir
from ...domain.dependencies import ItemRead
from ...domain.values import Const, Obj, TupleV, Value
from ...interp.arrays import emit_op
from ...interp.arrays.emit_op import array_of_list
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import call_python, opaque_call
from ...interp.library.validation import follows
from ...interp.objects.objects import construct
from ...interp.world.captures import import_external
from ...ir.builder import Specialiser
from .by_text import by_text

CONTINUOUS = "logpdf pdf cdf logcdf sf logsf ppf isf".split()
DISCRETE = "logpmf pmf cdf logcdf sf logsf".split()
RULES = {*continuous.SLOPES, *discrete.SLOPES, "multivariate_normal"}
FORMS = ((stats.norm, CONTINUOUS, continuous), (stats.poisson, DISCRETE, discrete))


def register() -> None:
    """Say what calls of distributions and of their methods become."""
    for dist, names, rules in FORMS:
        for name in names:
            handles(getattr(type(dist).__mro__[1], name))(partial(method, getattr(rules, name), rules))
            handles(getattr(type(dist(*DUMMY[: dist.numargs])), name))(partial(method_of_frozen, name))
    for dist in [*vars(stats).values()]:
        if isinstance(dist, (stats.rv_continuous, stats.rv_discrete, type(stats.multivariate_normal))):
            handles(dist)(made := partial(frozen, dist))
            made.follows = getattr(dist, "name", "multivariate_normal") not in RULES  # type: ignore[attr-defined]
    normal = type(stats.multivariate_normal)
    handles(normal.logpdf)(partial(normal_method, samples.normal_logpdf))
    handles(normal.pdf)(partial(normal_method, samples.normal_pdf))


DUMMY = (1.0,)


def method(fn: Any, rules: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A method of a distribution, as one of the functions of which the table has rules."""
    dist = distribution(s, args[0])
    args, kwargs = args[1:], {k: v for k, v in kwargs.items() if v != Const(None)}
    shapes = shapes_of(dist)
    names = [*shapes, "loc", *(["scale"] if fn.__code__.co_varnames[3] == "scale" else [])]
    given = dict(zip(names, args[1:])) | {k: v for k, v in kwargs.items() if k in names}
    callee = ir.attribute(ir.attribute(s.bind("stats", stats), dist.name), fn.__name__)
    complete = set(kwargs) <= set(names) and len(args) <= 1 + len(names) and set(shapes) <= set(given)
    text = standard.TEXTS[fn.__name__]
    if not complete or (dist.name not in rules.SLOPES and not follows(s, args, kwargs)):
        return opaque_call(s, callee, getattr(dist, fn.__name__), args, kwargs)
    expr = ir.call(callee, *(s.expr(a) for a in args), **{k: s.expr(v) for k, v in kwargs.items()})
    if dist.name not in rules.SLOPES:
        values = [args[0], given.get("loc", Const(0.0)), given.get("scale", Const(1.0)), *(given[n] for n in shapes)]
        return by_text(s, text, expr, [Const(dist), *(as_array(s, v) for v in values)])
    moved = [given.get(name, Const(None)) for name in names[len(shapes) :]]
    fixed = rules.settings_of(fn, dist)
    values = [given[name] for name in shapes]
    inputs = [Const(dist), args[0], *moved, TupleV(tuple(values[:fixed])), *values[fixed:]]
    return emit_op.apply(s, fn, expr, inputs, {})


def distribution(s: Specialiser, value: Value) -> Any:
    """The distribution of SciPy that a value is."""
    found = value.value if isinstance(value, Const) else None
    if isinstance(value, Obj) and value.id in s.objects:
        found = s.objects[value.id][0]
    named = getattr(stats, getattr(found, "name", ""), None)
    if type(named) is not type(found):
        raise s.refuse("setting", "this distribution is none of SciPy's", "use one of scipy.stats by its name")
    return named


def shapes_of(dist: Any) -> list[str]:
    """The names of the shapes of a distribution."""
    return [name.strip() for name in dist.shapes.split(",")] if dist.shapes else []


# Fixed parameters


def frozen(dist: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A distribution with its parameters, made inside the program."""
    return construct(s, Frozen, [Const(dist), *args], kwargs)


def method_of_frozen(name: str, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A method of a distribution whose parameters were fixed outside: they are read from there."""
    obj = args[0]
    if not isinstance(obj, Obj) or obj.id not in s.objects:
        raise s.refuse(
            "setting", "this distribution cannot be followed", "make it inside the function that is differentiated"
        )
    outside = s.objects[obj.id][0]
    given = [
        import_external(s, ItemRead(lambda: outside.args, k), f"parameter_{k}", ("frozen", id(outside), k))
        for k in range(len(outside.args))
    ]
    named = {
        k: import_external(s, ItemRead(lambda: outside.kwds, k), k, ("frozen", id(outside), k)) for k in outside.kwds
    }
    return call_python(s, called_by_name, [Const(name), Const(outside.dist), *args[1:], *given], {**kwargs, **named})


def called_by_name(name: Any, dist: Any, *args: Any, **kwds: Any) -> Any:
    return getattr(dist, name)(*args, **kwds)


# Functions of several forms


def normal_method(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A density of the multivariate normal distribution."""
    args = args[1:]
    name = fn.__name__.removeprefix("normal_")
    callee = ir.attribute(ir.attribute(s.bind("stats", stats), "multivariate_normal"), name)
    expr = ir.call(callee, *(s.expr(a) for a in args), **{k: s.expr(v) for k, v in kwargs.items()})
    names = ["x", "mean", "cov", "allow_singular"]
    given = dict(zip(names, args)) | kwargs
    inputs = [given.get(n, Const(False if n == "allow_singular" else None)) for n in names]
    inputs = [as_array(s, v) for v in inputs]
    matrix = s.num(inputs[2])
    if matrix is None or matrix.ndim != 2 or inputs[1] == Const(None):
        require_points(s, inputs[0])
        cov = Const(1.0) if inputs[2] == Const(None) else inputs[2]
        return by_text(s, getattr(densities, fn.__name__), expr, [*inputs[:2], cov])
    require_points(s, inputs[0])
    return emit_op.apply(s, fn, expr, inputs, {}, one_for_each)


def one_for_each(x: Any, mean: Any, cov: Any, allow_singular: Any) -> Any:
    """A number for each point, as SciPy returns of several points; of one in a matrix, it returns a number."""
    return np.sum(x, -1, dtype=np.float64)


def require_points(s: Specialiser, x: Value) -> None:
    """Emit a check that `x` is a vector of several numbers, or several points."""
    s.block.append(ir.Effect(ir.call(s.bind(several_points.__name__, several_points), s.expr(x)), s.where()))


def as_array(s: Specialiser, value: Value) -> Value:
    """A list of numbers as the array that SciPy makes of it."""
    return array_of_list(s, value) if not isinstance(value, Const) else value


register()
