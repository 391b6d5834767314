"""Names that come from data, at every place where a name can come from: none of them becomes code."""

from __future__ import annotations

import collections
import dataclasses
import enum
import types

import gast
import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import nn
from autodiff_sct.compiler.domain import pytree
from autodiff_sct.compiler.domain.identifiers import identifier, is_identifier
from autodiff_sct.compiler.text.unparse import unparse

X = np.array([1.0, 2.0])
RAN: list[str] = []
HOSTILE = [
    "a b", "class", "None", "True", "1", "1x", "²x", "a-b", "", "a\0b", "\ud800", "ﬁ", "ª", "a.b", "a\nb", "*", "**k",
    "__debug__", "lr: int", "def", "print", "range", "len", "np", "d_out", "d_x", "loss", "self", "obj", "cls",
    "q=RAN.append('x')", "q=RAN.append('x'), zz", '"); RAN.append("x") #',
]  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_ran():
    RAN.clear()
    yield
    assert not RAN


def named(kind, name):
    """`kind` under a name; Python takes neither a NUL nor half a surrogate pair for that of a class."""
    if not isinstance(kind, type) or not {"\0", "\ud800"} & set(name):
        kind.__name__ = kind.__qualname__ = name
    return kind


class Fields:
    pass


each = pytest.mark.parametrize("name", HOSTILE, ids=[f"name{k}" for k in range(len(HOSTILE))])


@each
def test_identifier(name):
    assert is_identifier(identifier(name))
    assert is_identifier(name) is (identifier(name) == name)


@each
def test_keyword(name):
    def loss(x, **settings):
        return np.sum(x * x) * settings[name] + np.sum(settings["other"] * x)

    gradient = ad.grad(loss)(X, **{name: 2.0, "other": X})
    np.testing.assert_allclose(gradient, 5 * X)


def test_keywords_that_are_one_identifier():
    def loss(x, **settings):
        return np.sum(x * x) * settings["ﬁ"] * settings["fi"]

    np.testing.assert_allclose(ad.grad(loss)(X, **{"ﬁ": 2.0, "fi": 3.0}), 12 * X)


@each
def test_keyword_that_is_differentiated(name):
    def loss(**settings):
        return np.sum(settings[name] ** 2)

    np.testing.assert_allclose(ad.grad(loss)(**{name: X}), 2 * X)


@each
def test_field_of_an_object(name):
    def loss(p):
        return np.sum(p.weight**2) + 3 * np.sum(getattr(p, name))

    p = Fields()
    vars(p).update({"weight": X, name: X * 2})
    gradient = vars(ad.grad(loss)(p))
    np.testing.assert_allclose(gradient["weight"], 2 * X)
    np.testing.assert_allclose(gradient[name], [3.0, 3.0])


@each
def test_attribute_that_is_set(name):
    def loss(x):
        p = Fields()
        setattr(p, name, x * x)
        return np.sum(getattr(p, name) * x)

    np.testing.assert_allclose(ad.grad(loss)(X), 3 * X**2)


@each
def test_attribute_of_an_object_outside_that_is_set(name):
    outside = Fields()

    def loss(x):
        setattr(outside, name, 3.0)
        return np.sum(x * x)

    np.testing.assert_allclose(ad.grad(loss)(X), 2 * X)
    assert getattr(outside, name) == 3.0


@each
def test_name_of_a_class_or_a_function(name):
    pair = named(collections.namedtuple("Pair", ["u", "v"]), name)
    record = named(dataclasses.make_dataclass("Record", ["u", "v"]), name)
    plain = named(type("Plain", (), {}), name)

    def of_both(p):
        return np.sum(p.u * p.v)

    def inside(x):
        p, q, r = pair(x, 2 * x), record(x, x), plain()
        r.u = x
        total = 0.0
        for k in range(len(x)):
            total = total + p.u[k] * p.v[k] + q.u[k] * r.u[k]
        return total

    np.testing.assert_allclose(ad.grad(named(inside, name))(X), 6 * X)
    for cls in (pair, record):
        gradient = ad.grad(of_both)(cls(X, 2 * X))
        assert type(gradient) is cls
        np.testing.assert_allclose(gradient.u, 2 * X)
    value, _ = ad.value_and_grad(lambda x: pair(x * x, np.sum(x)))(X)
    assert type(value) is pair
    assert "RAN.append('x'))" not in ad.adjoint_source(of_both, pair(X, X))


@each
def test_keys_of_dicts(name):
    def loss(table):
        return np.sum(table[name] ** 2)

    np.testing.assert_allclose(ad.grad(loss)({name: X})[name], 2 * X)
    value, _ = ad.value_and_grad(lambda x: {name: x * x})(X)
    np.testing.assert_allclose(value[name], X * X)


@each
def test_names_of_members_globals_and_modules(name):
    settings = enum.Enum("settings", {"first": 1.0, name: 2.0}) if name not in ("", "__debug__") else {name: 2.0}
    space = {"np": np, "E": settings, "key": name, **({name: 3.0} if name != "np" else {})}
    code = "def loss(x):\n    return np.sum(x * x)\n"
    module = types.ModuleType("plain")
    vars(module).update(space, __name__=name if "\0" not in name else "plain")
    loss = ad.from_source(code, module.__dict__) if hasattr(ad, "from_source") else None
    if loss is not None:
        np.testing.assert_allclose(ad.grad(loss)(X), 2 * X)
    member = settings[name]
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(x * x) * getattr(member, "value", member))(X), 4 * X)


@pytest.mark.parametrize("name", ["a b", "class", "q=RAN.append('x')"])
def test_cells(name):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.weight = ad.Parameter(ad.Tensor(X), name=name)
            setattr(self, name, ad.Parameter(ad.Tensor(X), name=f"{name}2"))

        def construct(self, x):
            return (x * self.weight * getattr(self, name)).sum()

    net = Net()
    np.testing.assert_allclose(ad.grad(net)(ad.Tensor(X)).asnumpy(), X * X)
    by_weights = ad.grad(net, None, weights=list(net.trainable_params()))(ad.Tensor(X))
    assert len(by_weights) == 2


@pytest.mark.parametrize("name", ["a b", "class", "q=f()", "ﬁ"])
def test_printer_refuses_what_is_no_identifier(name):
    for node in (
        gast.Name(name, gast.Load(), None, None),
        gast.Call(gast.Name("f", gast.Load(), None, None), [], [gast.keyword(name, gast.Constant(1, None))]),
    ):
        with pytest.raises(ValueError, match="printed as a name"):
            unparse(node)


# -- keys of variants: what `describe` takes as static is in `key`


class Text(str):
    pass


VALUES = [
    "a", "b", b"a", b"b", np.str_("a"), np.str_("b"), np.bytes_(b"a"), np.bytes_(b"b"), Text("a"), Text("b"), True,
    False, None, 1, 1.0, np.float64(1.0), ..., np.sin, np.cos, len, int, float, X, (1.0, "a"), (1.0, "b"),
]  # fmt: skip


def test_static_values_are_in_the_key():
    for a in VALUES:
        for b in VALUES:
            if pytree.key(a) == pytree.key(b):
                assert pytree.describe(a, "x", True) == pytree.describe(b, "x", True)
            for wrap in (lambda v: {"m": v}, lambda v: (v,), lambda v: [v], lambda v: {"m": ("k", v)}):
                if pytree.key(wrap(a)) == pytree.key(wrap(b)):
                    assert pytree.describe(wrap(a), "x", True) == pytree.describe(wrap(b), "x", True)


def test_keys_of_dicts_are_told_apart():
    keys = [1, True, 1.0, "1", Text("1"), (1,), (True,), ("1",), (Text("1"),)]
    found = [pytree.key({k: X}) for k in keys]
    assert all(a != b for k, a in enumerate(found) for b in found[:k])


@pytest.mark.parametrize("a, b", [(b"a", b"b"), (np.str_("a"), np.str_("b")), (Text("a"), Text("b"))])
def test_arguments_are_told_apart_by_value(a, b):
    def f(x, mode):
        return np.sum(np.sin(x)) if mode == a else np.sum(np.exp(x))

    def of_table(x, table):
        return f(x, table["mode"])

    g, h = ad.grad(f), ad.grad(of_table)
    for _ in range(2):
        np.testing.assert_allclose(g(X, a), np.cos(X))
        np.testing.assert_allclose(g(X, b), np.exp(X))
        np.testing.assert_allclose(h(X, {"mode": a}), np.cos(X))
        np.testing.assert_allclose(h(X, {"mode": b}), np.exp(X))
