"""Distributions of ``scipy.stats``, kernel density estimates, statistics of samples and results of tests."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from ....rules.scipy import samples
from ....rules.scipy import stats as continuous
from ....runtime.scipy import densities, standard
from ....runtime.scipy import statistics as texts
from ....runtime.scipy.densities import Kernels
from ....runtime.scipy.distributions import Frozen, interval, median, several_points
from ... import ir
from ...domain.dependencies import ItemRead
from ...domain.facts import Num
from ...domain.values import Const, Leaf, Obj, TupleV, Value
from ...interp.arrays import emit_op
from ...interp.arrays.emit_op import array_of_list
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import attribute_of, call_python, opaque_call
from ...interp.kernel.specialiser import Specialiser
from ...interp.library.validation import follows, takes_floats
from ...interp.objects.objects import construct
from ...interp.objects.tables import class_of_row
from ...interp.world.captures import import_external
from .functions import arguments_of, bound, by_text, computed, constant_result, known, row

CONTINUOUS = "logpdf pdf cdf logcdf sf logsf ppf isf".split()
DISCRETE = "logpmf pmf cdf logcdf sf logsf".split()
RULES = {*continuous.SLOPES, *samples.SLOPES, "multivariate_normal"}
FORMS = ((stats.norm, CONTINUOUS, continuous), (stats.poisson, DISCRETE, samples))


def register() -> None:
    """Say what calls of distributions and of their methods become."""
    for dist, names, rules in FORMS:
        for name in names:
            handles(getattr(type(dist).__mro__[1], name))(partial(method, getattr(rules, name), rules))
            handles(getattr(type(dist(*DUMMY[: dist.numargs])), name))(partial(method_of_frozen, name))
    for name, text in standard.MOMENTS.items():
        handles(getattr(stats.rv_continuous, name))(partial(moment, text))
        handles(getattr(type(stats.norm()), name))(partial(method_of_frozen, name))
    for name, by_quantiles in (("median", median), ("interval", interval)):
        handles(getattr(stats.rv_continuous, name))(partial(quantile, by_quantiles))
        handles(getattr(type(stats.norm()), name))(partial(method_of_frozen, name))
    for dist in [*vars(stats).values()]:
        if isinstance(dist, (stats.rv_continuous, stats.rv_discrete, type(stats.multivariate_normal))):
            handles(dist)(made := partial(frozen, dist))
            made.follows = getattr(dist, "name", "multivariate_normal") not in RULES  # type: ignore[attr-defined]
    normal = type(stats.multivariate_normal)
    handles(normal.logpdf)(partial(normal_method, samples.normal_logpdf))
    handles(normal.pdf)(partial(normal_method, samples.normal_pdf))
    handles(normal.entropy)(normal_entropy)


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


def moment(text: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``dist.mean(*shapes, loc=0, scale=1)`` and the like: SciPy's value with the derivative of its formula."""
    dist, given = distribution(s, args[0]), args[1:]
    kwargs = {k: v for k, v in kwargs.items() if v != Const(None)}
    names = [*shapes_of(dist), "loc", *(["scale"] if isinstance(dist, stats.rv_continuous) else [])]
    named = dict(zip(names, given)) | kwargs
    callee = ir.attribute(ir.attribute(s.bind("stats", stats), dist.name), text.__name__)
    if set(named) - set(names) or not set(shapes_of(dist)) <= set(named) or not takes_floats(s, given, kwargs):
        return opaque_call(s, callee, getattr(dist, text.__name__), given, kwargs)
    own = [name for name in ("_stats", "_munp", "_entropy") if is_own(dist, name)]
    if "_entropy" not in own if text is standard.entropy else not {"_stats", "_munp"} & set(own):
        raise s.refuse(
            "setting",
            f"scipy.stats.{dist.name}.{text.__name__} has no formula that could be differentiated",
            "write the formula",
        )
    expr = ir.call(callee, *map(s.expr, given), **{k: s.expr(v) for k, v in kwargs.items()})
    values = [named.get("loc", Const(0.0)), named.get("scale", Const(1.0)), *(named[n] for n in shapes_of(dist))]
    return by_text(s, text, expr, [Const(dist), Const(tuple(own)), *(as_array(s, v) for v in values)])


def is_own(dist: Any, name: str) -> bool:
    """True if a distribution has a formula of its own in the place of the integral that SciPy has for all."""
    base = stats.rv_continuous if isinstance(dist, stats.rv_continuous) else stats.rv_discrete
    return getattr(type(dist), name) is not getattr(base, name)


def quantile(text: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``dist.median(...)`` and ``dist.interval(confidence, ...)``, by quantiles as SciPy has them."""
    return call_python(s, text, [Const(distribution(s, args[0])), *args[1:]], kwargs)


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
    if s.static(inputs[3]) and matrix is not None and matrix.ndim == 2:
        require_points(s, inputs[0])
        kept = call_python(s, densities.kept_values, [inputs[2]], {})
        return by_text(s, getattr(densities, f"singular_{fn.__name__}"), expr, [*inputs[:3], kept])
    if matrix is None or matrix.ndim != 2 or inputs[1] == Const(None):
        require_points(s, inputs[0])
        cov = Const(1.0) if inputs[2] == Const(None) else inputs[2]
        return by_text(s, getattr(densities, fn.__name__), expr, [*inputs[:2], cov])
    require_points(s, inputs[0])
    return emit_op.apply(s, fn, expr, inputs, {}, one_for_each)


def normal_entropy(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``multivariate_normal.entropy(mean, cov)`` of a matrix."""
    callee = ir.attribute(ir.attribute(s.bind("stats", stats), "multivariate_normal"), "entropy")
    cov = as_array(s, bound("mean cov", args[1:], kwargs).get("cov", Const(None)))
    facts = s.num(cov)
    if facts is None or facts.ndim != 2:
        return call_python(s, type(stats.multivariate_normal).entropy, args, kwargs)
    expr = ir.call(callee, *map(s.expr, args[1:]), **{k: s.expr(v) for k, v in kwargs.items()})
    return by_text(s, densities.normal_entropy, expr, [cov])


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


handles(densities.evaluate)(partial(evaluated, densities.evaluate, "evaluate"))
handles(densities.kernels_logpdf)(partial(evaluated, densities.kernels_logpdf, "logpdf"))


def density(text: Any, owner: Any, name: str, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A density of a multivariate distribution."""
    callee = ir.attribute(ir.attribute(s.bind("stats", stats), owner), name)
    expr = ir.call(callee, *(s.expr(a) for a in args[1:]), **{k: s.expr(v) for k, v in kwargs.items()})
    given = [a if isinstance(a, Const) else array_of_list(s, a) for a in args[1:]]
    named = {k: v if isinstance(v, Const) else array_of_list(s, v) for k, v in kwargs.items()}
    return by_text(s, text, expr, given, named)


for _owner, _name in (("wishart", "logpdf"), ("invwishart", "logpdf"), ("multinomial", "logpmf")):
    _fn = getattr(type(getattr(stats, _owner)), _name)
    handles(_fn)(partial(density, getattr(densities, f"{_owner}_{_name}"), _owner, _name))


IGNORED = ("sum_check",)  # settings that decide only whether SciPy raises


def statistic(text: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A function of samples: SciPy computes it, and its derivative is that of a text along the last axis.

    A call that SciPy does not take is made in the run, which raises.
    """
    fn = getattr(stats, text.__name__)
    callee = ir.attribute(s.bind("stats", stats), text.__name__)
    given = arguments_of(fn, args, kwargs)
    if given is None or not set(inspect.signature(text).parameters) <= set(given) or not takes_floats(s, args, kwargs):
        return opaque_call(s, callee, fn, args, kwargs)
    axis = axes(s, given.pop("axis", Const(None)))
    keepdims = static(s, text, "keepdims", given.pop("keepdims", Const(False)))
    policy = static(s, text, "nan_policy", given.pop("nan_policy", Const("propagate")))
    samples, settings = parts_of(s, text, fn, given)
    ranks = [None if f is None or f.dims is None else len(f.dims) for f in map(s.num, samples)]
    if len({*ranks}) > 1 and axis != Const(None):
        raise refusal(s, text, "samples of several ranks", "give it arrays of one rank")
    if None in ranks and keepdims:
        raise refusal(s, text, "keepdims=True for a rank known at run time only", "give it an array of known rank")
    axes_of = [Const(None) if k == 0 else axis for k in ranks]  # a number is a sample of one
    along = [a if k == 1 else call_python(s, last_axis, [a, by], {}) for a, k, by in zip(samples, ranks, axes_of)]
    if policy == "omit" and (len(samples) > 1 or (ranks[0] != 1 and axis != Const(None))):
        raise refusal(s, text, "nan_policy='omit' for several samples", "leave the NaNs out yourself")
    if policy == "omit":
        along = [call_python(s, without_nans, along, {})]
    value = call_python(s, text, along, settings)
    expr = ir.call(callee, *map(s.expr, args), **{k: s.expr(v) for k, v in kwargs.items()})
    kept = partial(with_axes, s, axis, max(k or 0 for k in ranks) if keepdims else 0)
    if not isinstance(value, TupleV):
        return of_text(s, text, expr, kept(value))
    return of_parts(s, text, s.expr(constant_result(s, expr, [*args, *kwargs.values()], "found")), value, kept)


def of_parts(s: Specialiser, text: Any, found: Any, value: TupleV, kept: Any) -> Value:
    """The parts of a result, which may be tuples, with the derivatives of those of a text."""
    items: list[Value] = []
    for k, item in enumerate(value.items):
        part = ir.subscript(found, ir.constant(k))
        if isinstance(item, TupleV):
            items.append(of_parts(s, text, part, item, kept))
        else:
            items.append(item if isinstance(item, Const) else of_text(s, text, part, kept(item)))
    return TupleV(tuple(items), value.cls)


def parts_of(s: Specialiser, text: Any, fn: Any, given: dict[str, Any]) -> tuple[list[Value], dict[str, Value]]:
    """The samples and the settings of a text, from the arguments of SciPy's function by name."""
    defaults = inspect.signature(fn).parameters
    samples: list[Value] = []
    settings: dict[str, Value] = {}
    parameters = inspect.signature(text).parameters
    for name, value in given.items():
        kind = parameters[name].kind if name in parameters else None
        if kind is inspect.Parameter.VAR_POSITIONAL:
            if len(value) < 2:
                raise refusal(s, text, "fewer than two samples", "give it two samples or more")
            samples += [array_of_list(s, item) for item in value]
        elif kind is inspect.Parameter.KEYWORD_ONLY:
            settings[name] = value
        elif kind is not None and value != Const(None):
            samples.append(array_of_list(s, value))
        elif kind is None and name not in IGNORED and static(s, text, name, value) != defaults[name].default:
            raise refusal(s, text, f"another {name} than {defaults[name].default!r}", f"leave {name} out")
    return samples, settings


def axes(s: Specialiser, value: Value) -> Value:
    """The axis or axes that are reduced, as constants where they are known while compiling."""
    if isinstance(value, TupleV):
        return TupleV(tuple(known(s, item) or item for item in value.items))
    return (known(s, value) if isinstance(value, Leaf) else None) or value


def static(s: Specialiser, text: Any, name: str, value: Value) -> Any:
    """A setting that is known while compiling."""
    constant = known(s, value) if isinstance(value, (Leaf, Const)) else None
    if constant is None:
        raise refusal(s, text, f"{name} known at run time only", f"write {name} as a constant")
    return constant.value


def refusal(s: Specialiser, text: Any, what: str, instead: str) -> Exception:
    return s.refuse("setting", f"scipy.stats.{text.__name__} with {what} has no derivative", instead)


def of_text(s: Specialiser, text: Any, expr: Any, value: Value) -> Value:
    facts = s.num(value)
    if facts is None:
        raise refusal(s, text, "these arguments", "give it arrays of known rank")
    return row(s, computed, expr, facts, [value], text.__name__)


def with_axes(s: Specialiser, axis: Value, rank: int, value: Value) -> Value:
    """A result with the axes of length one that ``keepdims`` keeps of samples of a rank."""
    return call_python(s, spread_out, [value, axis, Const(rank)], {}) if rank else value


def without_nans(a: Any) -> Any:
    return a[~np.isnan(a)]


def spread_out(value: Any, axis: Any, rank: Any) -> Any:
    return np.expand_dims(value, tuple(range(rank)) if axis is None else axis)


def last_axis(a: Any, axis: Any) -> Any:
    """A sample with the axes that a statistic reduces as its last one."""
    if axis is None:
        return np.ravel(a)
    if isinstance(axis, tuple):
        first = [k for k in range(a.ndim) if k not in axis and k - a.ndim not in axis]
        moved = np.transpose(a, (*first, *axis))
        return np.reshape(moved, (*[a.shape[k] for k in first], -1))
    return np.moveaxis(a, axis, -1)


@handles(stats.zmap)
def zmap(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``zmap(scores, compare, axis, ddof)``: scores by the mean and the deviation of others."""
    given = arguments_of(stats.zmap, args, kwargs)
    callee = ir.attribute(s.bind("stats", stats), "zmap")
    if given is None:
        return opaque_call(s, callee, stats.zmap, args, kwargs)
    if static(s, stats.zmap, "nan_policy", given["nan_policy"]) != "propagate":
        raise refusal(s, stats.zmap, "another nan_policy than 'propagate'", "leave nan_policy out")
    values = [array_of_list(s, given["scores"]), array_of_list(s, given["compare"]), given["axis"], given["ddof"]]
    expr = ir.call(callee, *map(s.expr, args), **{k: s.expr(v) for k, v in kwargs.items()})
    return by_text(s, texts.zmap, expr, values)


for _text in texts.SAMPLES:
    if hasattr(stats, _text.__name__):
        handles(getattr(stats, _text.__name__))(partial(statistic, _text))
