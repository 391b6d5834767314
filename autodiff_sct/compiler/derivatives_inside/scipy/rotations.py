"""Rotations of ``scipy.spatial.transform``: those that exist outside, and those that a program makes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gast
import numpy as np
from scipy.spatial.transform import Rotation

from ....runtime.scipy import rotations as texts
from ....runtime.scipy.rotations import Turn
from ... import ir
from ...domain.facts import Dim, Num
from ...domain.values import Const, Obj, Value
from ...interp.arrays.emit_op import array_of_list
from ...interp.kernel.handlers import handles
from ...interp.kernel.operations import attribute_of, call_python, call_value
from ...interp.kernel.specialiser import Specialiser
from ...interp.objects.objects import construct
from ...interp.objects.tables import class_of_row
from .functions import by_text, constant_result, without_derivative

NAMES = ("from_quat", "from_rotvec", "from_euler", "from_matrix", "from_mrp")
MAKERS = {name: getattr(texts, name) for name in NAMES}
METHODS = ("apply", "as_matrix", "as_quat", "as_rotvec", "as_mrp", "as_euler", "magnitude", "inv")


def maker(name: str, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``Rotation.from_rotvec(v)`` and its like."""
    args = [a if isinstance(a, Const) else array_of_list(s, a) for a in args]
    callee = ir.attribute(s.bind("Rotation", Rotation), name)
    expr = ir.call(callee, *(s.expr(a) for a in args), **{k: s.expr(v) for k, v in kwargs.items()})
    made = constant_result(s, expr, [*args, *kwargs.values()], "rotation")
    quat = call_python(s, MAKERS[name], args, kwargs)
    return construct(s, Turn, [made, call_value(s, Const(texts.quaternion), [made, quat], {})], {})


for _name in MAKERS:
    handles(getattr(Rotation, _name))(partial(maker, _name))


def turn_of(s: Specialiser, value: Value) -> Value:
    """A rotation with its quaternions: one that the program has made, or one from outside."""
    if class_of_row(s, value) is Turn or isinstance(value, Obj) and value.cls is Turn:
        return value
    if not isinstance(value, Obj) or value.id not in s.objects:
        raise s.refuse("setting", "this rotation cannot be followed", "make it by from_quat, from_rotvec or from_euler")
    made = constant_result(s, s.expr(value), [], "rotation")
    count = [Dim((s.new_symbol("axis"), 0))] if np.ndim(s.objects[value.id][0].as_quat()) > 1 else []
    facts = Num("array", np.dtype(np.float64), (*count, 4))
    quat = s.let(ir.call(ir.attribute(s.expr(made), "as_quat")), facts, None, "quat")
    return construct(s, Turn, [made, quat], {})


def method_from_outside(name: str, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A method of a rotation from outside."""
    return call_python(s, getattr(Turn, name), [turn_of(s, args[0]), *args[1:]], kwargs)


for _name in (*METHODS, "__mul__"):
    handles(getattr(Rotation, _name))(partial(method_from_outside, _name))


@handles(texts.as_turn)
def as_turn(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return turn_of(s, args[0])


# What SciPy returns


def of_scipy(s: Specialiser, value: Value) -> Value:
    """SciPy's rotation behind one that the program has made."""
    known = class_of_row(s, value) is Turn or isinstance(value, Obj) and value.cls is Turn
    return attribute_of(s, value, "made") if known else value


def made_by(write: Callable[..., Any], s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    args = [of_scipy(s, a) for a in args]
    return constant_result(s, write(*(s.expr(a) for a in args)), args, "rotation")


handles(texts.inverted)(partial(made_by, lambda a: ir.call(ir.attribute(a, "inv"))))
handles(texts.composed)(partial(made_by, lambda a, b: ir.binop(a, gast.Mult, b)))


@handles(texts.reference)
def reference(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made = of_scipy(s, args[0])
    expr = ir.call(ir.attribute(s.expr(made), "as_quat"))
    return s.let(expr, s.facts_of(args[1]), ir.Op(without_derivative, {"argument 0": made}), "reference")


def returned(text: Any, name: str, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A method of SciPy's rotation with the derivative of its text."""
    made, *rest = of_scipy(s, args[0]), *args[1:]
    return by_text(s, text, ir.call(ir.attribute(s.expr(made), name)), [made, *rest])


for _text, _name in (
    (texts.quaternion, "as_quat"),
    (texts.matrix, "as_matrix"),
    (texts.rotvec, "as_rotvec"),
    (texts.mrp, "as_mrp"),
    (texts.magnitude, "magnitude"),
):
    handles(_text)(partial(returned, _text, _name))


@handles(texts.euler)
def euler(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made, quat, seq, degrees = of_scipy(s, args[0]), *args[1:]
    if not s.is_static(seq) or len(s.static(seq)) != 3:
        raise s.refuse("setting", "the axes of Euler angles are not known", "write them as a text of three letters")
    flag = {} if degrees == Const(False) else {"degrees": s.expr(degrees)}
    expr = ir.call(ir.attribute(s.expr(made), "as_euler"), s.expr(seq), **flag)
    return by_text(s, texts.euler, expr, [made, quat, seq, degrees])


@handles(texts.applied)
def applied(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made, quat, vectors, inverse = of_scipy(s, args[0]), args[1], array_of_list(s, args[2]), args[3]
    flag = {} if inverse == Const(False) else {"inverse": s.expr(inverse)}
    expr = ir.call(ir.attribute(s.expr(made), "apply"), s.expr(vectors), **flag)
    return by_text(s, texts.applied, expr, [made, quat, vectors, inverse])
