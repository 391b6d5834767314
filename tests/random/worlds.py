"""A world that changes between two calls: what a function reads, where it reads it, and what becomes of it.

A program is a module's text.  `SITES` say where a value is (a name, a cell, a default, an attribute, an item, a class,
a partial), `USES` what the function does with it and which values it may be, `CHANGES` what becomes of one object while
it stays where it is.  A gradient function that was called before a change has to return what the function itself and a
gradient function that is made afterwards return.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from types import ModuleType
from typing import Any

import numpy as np

import autodiff_sct as ad

COMMON = '''
import abc, collections, dataclasses, enum, functools, sys, types, typing
import numpy as np
from autodiff_sct import nn

P = collections.namedtuple("P", "a b")
Q = collections.namedtuple("Q", "a b")

class Colour(enum.Enum):
    red = 1
    blue = 2

class Text(str):
    pass

def plus(x, k=1.0): return x + k
def twice(x, k=1.0): return 2.0 * x * k
def flagged(x): return x * (2.0 if flagged.training else 3.0)
flagged.training = True
def made_by(k):
    def made(x): return k * x * x
    return made

class Base:
    k = 2.0
    act = np.sin
    def __init__(self, w=1.5): self.w = w
    def call(self, x): return self.w * x
    def __call__(self, x): return self.w * x * x

class A(Base):
    """First."""

class B(Base):
    k = 3.0
    act = np.exp
    extra = 4.0
    def call(self, x): return 3.0 * x

class Other:
    k = 5.0
    w = 2.5
    def call(self, x): return 7.0 * x

class Marked(abc.ABC): pass

@typing.runtime_checkable
class Scaling(typing.Protocol):
    def scale(self, x): ...

class N(typing.NamedTuple):
    a: float
    b: float = 2.0

@dataclasses.dataclass
class D:
    a: float
    b: float = 2.0

def module(name, k, act):
    found = types.ModuleType(name)
    found.k, found.act, found.__name__ = k, act, name
    sys.modules[name] = found
    return found

m1 = module(__name__ + "_one", 2.0, np.sin)
m2 = module(__name__ + "_two", 3.0, np.exp)
'''

# Where a value V0 is: text of the module, how the function reads it, and the statement that puts another there.
SITES = {
    "global": ("V = {0}", "V", "V = new"),
    "helper": ("V = {0}\ndef get(): return V", "get()", "V = new"),
    "cell": (
        "def hold():\n    v = {0}\n    def get(): return v\n    def put(w):\n        nonlocal v\n        v = w\n"
        "    return get, put\nget, put = hold()",
        "get()",
        "put(new)",
    ),
    "default": ("def get(v={0}): return v", "get()", "get.__defaults__ = (new,)"),
    "keyword": ("def get(*, v={0}): return v", "get()", "get.__kwdefaults__ = {'v': new}"),
    "attribute": ("o = Base()\no.v = {0}", "o.v", "o.v = new"),
    "class": ("class K: v = staticmethod({0}) if isinstance({0}, types.FunctionType) else {0}", "K.v", "K.v = new"),
    "of instance": ("class K: v = None\nK.v = {0}\no = K()", "o.v", "K.v = new"),
    "dict": ("T = dict(v={0})", "T['v']", "T['v'] = new"),
    "list": ("T = [{0}, None]", "T[0]", "T[0] = new"),
    "tuple": ("T = ({0}, None)", "T[0]", "T = (new, None)"),
    "named tuple": ("T = P({0}, 1.0)", "T.a", "T = P(new, 1.0)"),
    "module": ("m1.v = {0}", "m1.v", "m1.v = new"),
    "partial": ("h = functools.partial(lambda v: v, {0})", "h()", "h = functools.partial(lambda v: v, new)"),
    "function": ("def h(x): return x\nh.v = {0}", "h.v", "h.v = new"),
    "getattr": ("o = Base()\no.v = {0}", "getattr(o, 'v', None)", "o.v = new"),
    "imported": ("sys.modules['{m}_in'] = types.ModuleType('{m}_in')\nsys.modules['{m}_in'].v = {0}",
                 "imported()", "sys.modules['{m}_in'].v = new"),
}  # fmt: skip

# What the function does with it, and what it may be.
USES: dict[str, tuple[str, list[str]]] = {
    "number": (
        "s = np.sum(x * x) * V.real * (2.0 if type(V) is float else 1.0) * (3.0 if isinstance(V, int) else 1.0)",
        ["2.0", "3.0", "2", "True", "np.float64(2.0)", "np.float32(2.0)", "np.int64(2)", "np.array(2.0)"],
    ),
    "sequence": (
        "s = np.sum(x)\nfor w in V: s = s + w * np.sum(x * x)\nif isinstance(V, tuple): s = 2.0 * s\n"
        "if type(V) is P: s = 3.0 * s",
        ["(1., 2.)", "(1., 2., 3.)", "(1.,)", "()", "[1., 2.]", "[1., 2., 3.]", "P(1., 2.)", "Q(1., 2.)",
         "np.array([1., 2.])", "np.array([1., 2., 3.])", "(1, 2)", "(True, 2.)"],
    ),
    "length": ("s = np.sum(x * x) * (1 + len(V))", ["(1., 2.)", "(1.,)", "()", "[1.]", "[1., 2.]", "{}", "{'a': 1.}",
               "'ab'", "b'a'", "np.ones(3)", "P(1., 2.)", "(None,)", "(None, 'a', 3.)"]),
    "nested": (
        "s = np.sum(x)\nfor row in V:\n    for w in row: s = s + w * np.sum(x * x)",
        ["((1., 2.), (3.,))", "((1.,), (3.,))", "((1., 2.), (3., 4.))", "([1., 2.], (3.,))", "[[1.], [2., 3.]]"],
    ),
    "module": ("s = np.sum(V.act(x)) * V.k", ["m1", "m2", "A", "B", "module(__name__ + 'x', 4.0, np.cos)"]),
    "dict": (
        "s = np.sum(x)\nfor n, w in V.items(): s = s * (2.0 if n == 'a' else 0.7) + w * np.sum(x * x)",
        ["{'a': 1.}", "{'a': 1., 'b': 2.}", "{'b': 2., 'a': 1.}", "{'a': np.ones(())}", "{}", "{'a': 3, 'c': 1.}"],
    ),
    "function": (
        "s = np.sum(V(x))",
        ["np.sin", "np.exp", "plus", "twice", "flagged", "made_by(2.0)", "made_by(3.0)", "Base(2.0)", "Base(3.0)",
         "functools.partial(plus, k=2.0)", "functools.partial(twice, k=2.0)", "Base(2.0).call", "B(2.0).call"],
    ),
    "flag": (
        "s = np.sum(x * x)\nif V == 'relu': s = 2.0 * s\nif V is None: s = 3.0 * s\nif V: s = s + np.sum(x)\n"
        "if isinstance(V, bytes): s = s * 5.0\nif V is Colour.red: s = s * 7.0",
        ["None", "True", "False", "'relu'", "'tanh'", "b'relu'", "b'tanh'", "np.str_('relu')", "np.str_('tanh')",
         "Colour.red", "Colour.blue", "Text('relu')", "Text('tanh')", "np.bytes_(b'a')", "np.True_", "0", "1"],
    ),
    "object": (
        "s = np.sum(V.call(x)) * V.w\nif hasattr(V, 'extra'): s = s * 2.0\ns = s * getattr(V, 'extra', 1.5)\n"
        "if isinstance(V, A): s = s * 3.0\nif type(V).__name__ == 'B': s = s * 5.0",
        ["A(2.0)", "A(3.0)", "B(2.0)", "Other()", "A(np.array(2.0))", "A(2)"],
    ),
    "class": (
        "s = np.sum(x * x) * V.k\nif issubclass(V, A): s = s * 3.0\nif V.__name__ == 'B': s = s * 5.0\n"
        "if hasattr(V, 'extra'): s = s * 7.0\ns = s * getattr(V, 'extra', 1.5)",
        ["A", "B", "Base", "Other"],
    ),
    "array": (
        "s = np.sum(x * x) * np.sum(V) * (1 + V.ndim) * V.shape[0]\nif V.dtype == np.float32: s = s * 2.0",
        ["np.ones(3)", "np.ones(1)", "np.ones((3, 2))", "np.ones(3, np.float32)", "np.ones(3, int)",
         "np.ones((2, 3), order='F')", "np.ones(5)"],
    ),
    "made": ("s = np.sum(x * x) * V(2.0).a * V(2.0).b", ["N", "D", "functools.partial(P, b=3.0)"]),
}  # fmt: skip

# One object that stays where it is: text of the module, of the function, and what is done to the object, in turn.
CHANGES: dict[str, tuple[str, str, list[str]]] = {
    "list in a tuple": ("T = ([1.0], 2.0)", "s = np.sum(x) * sum(T[0]) * len(T[0])", ["T[0].append(3.0)"]),
    "attribute that comes and goes": (
        "o = A()",
        "s = np.sum(x * x) * (o.cache if hasattr(o, 'cache') else 1.0) * getattr(o, 'more', 2.0)",
        ["o.cache = 3.0", "o.more = 5.0", "del o.cache", "del o.more", "A.more = 7.0", "del A.more"],
    ),
    "attribute of a class that comes": (
        "",
        "s = np.sum(x * x) * (3.0 if hasattr(A, 'more') else 1.0) * getattr(A, 'other', 2.0)",
        ["A.more = 1", "A.other = 3.0", "Base.other = 4.0", "del A.other", "del A.more"],
    ),
    "attribute of a module that comes": (
        "",
        "s = np.sum(x * x) * (3.0 if hasattr(m1, 'more') else 1.0) * getattr(m1, 'other', 2.0)",
        ["m1.more = 1", "m1.other = 3.0", "del m1.more", "m1.other = 4.0"],
    ),
    "attribute of a function that comes": (
        "",
        "s = np.sum(plus(x)) * (3.0 if hasattr(plus, 'more') else 1.0) * getattr(plus, 'other', 2.0)",
        ["plus.more = 1", "plus.other = 3.0", "del plus.more", "plus.other = 4.0"],
    ),
    "attributes of functions": (
        "plus.flag = None",
        "s = np.sum(flagged(x)) if plus.flag is None else np.sum(x) * plus.flag[0]",
        ["flagged.training = False", "plus.flag = (2.0,)", "plus.flag = [4.0]"],
    ),
    "import inside": (
        "",
        "import {m}_one as m\nfrom {m}_two import k\ns = np.sum(m.act(x)) * m.k * k",
        [
            "m1.k = 4.0",
            "m2.k = 7.0",
            "m1.act = np.cos",
            "sys.modules['{m}_one'] = m2",
            "sys.modules['{m}_two'] = module('{m}_two', 9.0, np.sin)",
        ],
    ),
    "import of a function inside": (
        "",
        "from {m}_one import act\ns = np.sum(act(x))",
        ["m1.act = plus", "m1.act = np.exp"],
    ),
    "callable in a class": (
        "",
        "s = np.sum(A.act(x))",
        ["A.act = np.exp", "A.act = plus", "Base.act = twice", "del A.act"],
    ),
    "callable in a class, of an object": (
        "o = A()",
        "s = np.sum(o.act(x))",
        ["A.act = np.exp", "Base.act = np.cos", "del A.act"],
    ),
    "code under a gradient": (
        "import autodiff_sct as ad\ndef inner(x): return np.sum(x ** 3)\ngh = ad.grad(inner)",
        "s = np.sum(gh(x) * x)",
        ["inner.__code__ = (lambda x: np.sum(x ** 2)).__code__", "gh = ad.grad(lambda x: np.sum(x))"],
    ),
    "code under a gradient, deeper": (
        "import autodiff_sct as ad\ndef deep(x): return x ** 3\n"
        "def inner(x): return np.sum(deep(x))\ngh = ad.grad(inner)",
        "s = np.sum(gh(x) * x)",
        [
            "deep.__code__ = (lambda x: x ** 2).__code__",
            "deep = np.sin",
            "inner.__code__ = (lambda x: np.sum(x)).__code__",
        ],
    ),
    "code": (
        "def h(x): return plus(x)",
        "s = np.sum(h(x) ** 2)",
        ["plus.__code__ = twice.__code__", "h.__code__ = (lambda x: x * 3.0).__code__", "plus.__defaults__ = (4.0,)"],
    ),
    "bases": (
        "class C(A): pass\no = C(2.0)",
        "s = np.sum(o.call(x)) * (2.0 if isinstance(o, A) else 3.0)",
        ["C.__bases__ = (B,)", "C.__bases__ = (A,)"],
    ),
    "bases, by issubclass": (
        "class C(A): pass",
        "s = np.sum(x * x) * (2.0 if issubclass(C, A) else 3.0)",
        ["C.__bases__ = (B,)", "C.__bases__ = (A,)"],
    ),
    "class of an object": (
        "o = A(2.0)",
        "s = np.sum(o.call(x)) * (2.0 if isinstance(o, A) else 3.0)",
        ["o.__class__ = B", "o.__class__ = A"],
    ),
    "registered": ("o = A(2.0)", "s = np.sum(x * x) * (2.0 if isinstance(o, Marked) else 3.0)", ["Marked.register(A)"]),
    "registered, by issubclass": (
        "",
        "s = np.sum(x * x) * (2.0 if issubclass(A, Marked) else 3.0)",
        ["Marked.register(A)"],
    ),
    "protocol": (
        "o = A(2.0)",
        "s = np.sum(x * x) * (2.0 if isinstance(o, Scaling) else 3.0)",
        ["A.scale = plus", "del A.scale"],
    ),
    "defaults of a named tuple": ("", "s = np.sum(x * x) * N(3.0).b", ["N.__new__.__defaults__ = (5.0,)"]),
    "defaults of a dataclass": ("", "s = np.sum(x * x) * D(3.0).b", ["D.__init__.__defaults__ = (5.0,)"]),
    "partial": (
        "h = functools.partial(plus)",
        "s = np.sum(h(x) ** 2)",
        ["h.keywords['k'] = 4.0", "h.keywords['k'] = 5.0"],
    ),
    "partial with less": ("h = functools.partial(plus, k=3.0)", "s = np.sum(h(x) ** 2)", ["h.keywords.clear()"]),
    "documentation": (
        "",
        "s = np.sum(x * x) * (2.0 if A.__doc__ == 'First.' else 3.0) * len(plus.__doc__ or '')",
        ["plus.__doc__ = 'ab'", "A.__doc__ = 'Second.'", "plus.__doc__ = 'abc'"],
    ),
    "names": (
        "",
        "s = np.sum(x * x) * len(plus.__name__) * len(A.__name__) * len(A.__qualname__) * len(m1.__name__)",
        ["plus.__name__ = 'longer'", "A.__name__ = 'Long'", "m1.__name__ = 'm'", "A.__qualname__ = 'A.b'"],
    ),
    "names of what is called": (
        "def h(g, x): return g(x) if g.__name__ == 'plus' else 3.0 * x",
        "s = np.sum(h(plus, x) ** 2)",
        ["plus.__name__ = 'longer'", "plus.__name__ = 'plus'"],
    ),
    "cells": (
        "net = nn.SequentialCell([nn.ReLU()])",
        "s = np.sum(net(x) * x)",
        ["net.append(nn.Tanh())", "net.append(nn.Sigmoid())"],
    ),
    "list of cells": (
        "net = nn.CellList([nn.ReLU()])",
        "s = np.sum(x)\nfor cell in net: s = s + np.sum(cell(x) * x)",
        ["net.append(nn.Tanh())", "net.extend([nn.Sigmoid(), nn.ReLU()])"],
    ),
    "dict that grows": (
        "T = dict(a=1.0)",
        "s = np.sum(x * x) * T.get('b', 2.0) * (3.0 if 'c' in T else 1.0) * len(T)",
        ["T['b'] = 5.0", "T['c'] = None", "del T['b']", "T['a'] = 2"],
    ),
    "set that grows": (
        "T = {1.0}",
        "s = np.sum(x * x) * (3.0 if 2.0 in T else 1.0) * len(T)",
        ["T.add(2.0)", "T.remove(1.0)"],
    ),
    "property": (
        "class C:\n    @property\n    def v(self): return 2.0\no = C()",
        "s = np.sum(x * x) * o.v",
        ["C.v = property(lambda self: 3.0)", "C.v = 5.0", "o.v = 7.0"],
    ),
    "method of one object": (
        "o = A()",
        "s = np.sum(o.call(x))",
        ["o.call = plus", "del o.call", "A.call = lambda self, x: x * 3.0"],
    ),
    "vars": ("o = A()", "s = np.sum(x * x)\nfor n in vars(o): s = s * 2.0", ["o.more = 1.0", "o.other = 1.0"]),
    "slots": (
        "class C: __slots__ = ('w', 'v')\no = C()\no.w = 2.0",
        "s = np.sum(x * x) * o.w * (2.0 if hasattr(o, 'v') else 3.0)",
        ["o.v = 1.0", "del o.v", "o.w = np.float64(4.0)"],
    ),
    "builtin that is hidden": ("", "s = abs(np.sum(x))", ["abs = np.exp"]),
    "name that comes": (
        "def get():\n    try:\n        return late\n    except NameError:\n        return 1.0",
        "s = np.sum(x * x) * get()",
        ["late = 2.0", "del late"],
    ),
    "one object or two": (
        "u = np.ones(3)\nv = u",
        "s = np.sum(x * x) * (2.0 if u is v else 3.0)",
        ["v = np.ones(3)", "v = u"],
    ),
    "dispatch": (
        "@functools.singledispatch\ndef h(v, x): return x\no = A()",
        "s = np.sum(h(o, x) ** 2)",
        ["h.register(A, lambda v, x: 2.0 * x)", "h.register(Base, lambda v, x: 3.0 * x)"],
    ),
    "iteration over an object": (
        "class C:\n    items = [1.0]\n    def __len__(self): return len(self.items)\n"
        "    def __getitem__(self, k): return self.items[k]\no = C()",
        "s = np.sum(x)\nfor k in range(len(o)): s = s + o[k] * np.sum(x * x)",
        ["C.items = [1.0, 2.0]"],
    ),
    "truth of an object": (
        "class C: pass\no = C()",
        "s = np.sum(x * x) * (2.0 if o else 3.0)",
        ["C.__bool__ = lambda self: False", "del C.__bool__", "C.__len__ = lambda self: 0"],
    ),
    "equality of objects": (
        "class C: pass\no = C()\nq = C()",
        "s = np.sum(x * x) * (2.0 if o == q else 3.0)",
        ["C.__eq__ = lambda self, other: True"],
    ),
    "callable": (
        "class C: pass\no = C()",
        "s = np.sum(x * x) * (2.0 if callable(o) else 3.0)",
        ["C.__call__ = lambda self: 1.0"],
    ),
}


@dataclass
class World:
    """A module made of text, and the function in it."""

    text: str
    names: dict[str, Any] = field(default_factory=dict)

    numbers = count()

    def __post_init__(self) -> None:
        name = f"changing_world_{next(self.numbers)}"
        self.text = self.text.replace("{m}", name)
        module = sys.modules[name] = ModuleType(name)
        self.names, self.name = module.__dict__, name
        run(self.text, f"<{name}>", self.names)

    def change(self, statement: str) -> None:
        run(statement.replace("{m}", self.name), f"<{self.name}, change {next(self.numbers)}>", self.names)

    def value(self, text: str) -> Any:
        return eval(text, self.names)


def run(text: str, file: str, names: dict[str, Any]) -> None:
    """Run a text whose lines are found."""
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), names)


def program(top: str, body: str) -> str:
    """The text of a module with a function `f`."""
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return f"{COMMON}\n{top}\ndef f(x):\n{lines}\n    return s\n"


def at_site(site: str, use: str, first: str) -> tuple[str, str]:
    """A program that reads a value where it is, and the statement that puts `new` there."""
    top, read, put = SITES[site]
    body = f"V = {read}\n{USES[use][0]}"
    if site == "imported":
        body = "from {m}_in import v as V\n" + USES[use][0]
    if site == "global":
        body = USES[use][0]
    return program(top.replace("{0}", f"({first})"), body), put


def outcome(run: Callable[[], Any]) -> Any:
    """What a call returns, or the class of what it raises."""
    try:
        return run()
    except Exception as error:
        return type(error)


def alike(a: Any, b: Any) -> bool:
    if isinstance(a, type) or isinstance(b, type):
        return a is b
    return all(np.asarray(p).tobytes() == np.asarray(q).tobytes() for p, q in zip(a, b))


def stale(world: World, gradient: Any, x: Any) -> str | None:
    """What is wrong with a gradient function that was called before the world changed; None where nothing is."""
    f = world.names["f"]
    got, fresh = outcome(lambda: gradient(x)), outcome(lambda: ad.value_and_grad(f)(x))
    if not alike(got, fresh):
        return f"{got} instead of {fresh}"
    value = outcome(lambda: f(x))
    if not isinstance(got, type) and (isinstance(value, type) or np.asarray(got[0]) != value):
        return f"the value {got[0]} instead of {value}"
    return None


def judge_site(site: str, use: str, values: list[str]) -> list[str]:
    """What is stale when one value after the other is put into one place."""
    text, put = at_site(site, use, values[0])
    world, x, wrong = World(text), np.array([0.5, 1.0, 2.0]), []
    gradient = ad.value_and_grad(world.names["f"])
    outcome(lambda: gradient(x))
    for before, after in zip(values, values[1:]):
        world.names["new"] = world.value(after)
        world.change(put)
        if reason := stale(world, gradient, x):
            wrong.append(f"{site}, {use}: {before} -> {after}: {reason}")
            gradient = ad.value_and_grad(world.names["f"])
            outcome(lambda: gradient(x))
    return wrong


def judge_change(name: str) -> list[str]:
    """What is stale when one object changes."""
    top, body, changes = CHANGES[name]
    world, x, wrong = World(program(top, body)), np.array([0.5, 1.0, 2.0]), []
    gradient = ad.value_and_grad(world.names["f"])
    outcome(lambda: gradient(x))
    for change in changes:
        world.change(change)
        if reason := stale(world, gradient, x):
            wrong.append(f"{name}: {change}: {reason}")
            gradient = ad.value_and_grad(world.names["f"])
            outcome(lambda: gradient(x))
    return wrong
