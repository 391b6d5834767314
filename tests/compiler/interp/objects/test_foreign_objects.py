"""Objects whose attributes are not read are passed on: loggers, connections, frames, dicts of the user's own class."""

import array
import logging
import pathlib
import sqlite3
import threading
import types
from collections import OrderedDict

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import values as foreign
from autodiff_sct.compiler.domain.pytree import key
from autodiff_sct.errors import Refused
from tests.compiler.checked import check_gradient, check_tangent, differences, names, registrar

V = np.array([0.4, 1.3, -0.7, 0.9])
CASES: list = []
case = registrar(CASES)

DATABASE = sqlite3.connect(":memory:", check_same_thread=False)
DATABASE.execute("create table readings (x real)")
DATABASE.executemany("insert into readings values (?)", [(1.5,), (2.5,)])
LOG = logging.getLogger(__name__)


class Config(dict):
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]


class Layer:
    def __init__(self, weights):
        self.weights = weights
        self.trainer = None


class Trainer:
    def __init__(self, layer, rate):
        self.layer, self.rate = layer, rate
        layer.trainer = self


LAYER = Layer(np.arange(4.0))
TRAINER = Trainer(LAYER, 0.25)


@case((V, LOG), (V, DATABASE), (V, pathlib.Path("/")), (V, array.array("d", [1.0])), (V, threading.Lock()))
def unused(x, other):
    return np.sum(x**2)


@case((V, LOG))
def logged(x, log):
    log.debug("norm %s", np.sum(x))
    if log.isEnabledFor(logging.DEBUG):
        log.debug("more")
    return np.sum(x**3)


@case((V, DATABASE))
def queried(x, database):
    total = 0.0
    for (reading,) in database.execute("select x from readings order by x"):
        total += np.sum(x * reading) ** 2
    return total


@case((V, array.array("d", [1.0, 2.0, 3.0, 4.0])))
def from_a_buffer(x, buffer):
    return np.sum(x * np.asarray(buffer)) ** 2 * len(buffer)


@case((V, pathlib.Path("/a")))
def decided_by_a_path(x, path):
    return np.sum(x**2) if (path / "b").name == "b" else np.sum(x)


@case((V, Config(rate=0.5, steps=3, weights=np.arange(4.0), name="x")))
def configured(x, config):
    for _ in range(config.steps):
        x = x * config["rate"] + config.weights
    return np.sum(x**2) if config.name == "x" and "rate" in config else np.sum(x)


@case((V, LAYER), (V, TRAINER))
def circular(x, start):
    trainer = start.trainer if isinstance(start, Layer) else start
    return np.sum(x * trainer.layer.weights) ** 2 * trainer.layer.trainer.rate


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn, args):
    check_gradient(fn, args)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_tangents(fn, args):
    check_tangent(fn, args)


@pytest.fixture
def frame(monkeypatch):
    """A frame as an installed package may define one: its data are in a compiled object."""
    library = types.ModuleType("framelib")
    library.__file__ = f"{foreign.PACKAGES[0]}/framelib/__init__.py"
    monkeypatch.setitem(__import__("sys").modules, "framelib", library)

    class Series:
        __module__ = "framelib"

        def __init__(self, data):
            self.data = data

        def to_numpy(self):
            return np.array(self.data)

        def __array__(self, dtype=None, copy=None):
            return np.array(self.data, dtype)

        def __rmul__(self, other):
            return Series(array.array("d", np.asarray(self) * other))

        __array_ufunc__ = None

        def sum(self):
            return float(np.sum(self.data))

    class Frame:
        __module__ = "framelib"

        def __init__(self, **columns):
            self.columns = {name: array.array("d", column) for name, column in columns.items()}
            self.first = array.array("d", next(iter(columns.values())))

        def __getitem__(self, name):
            return Series(self.columns[name])

        def __setitem__(self, name, column):
            self.columns[name] = column

        def __len__(self):
            return len(self.first)

    return Frame(a=[1.0, 2.0, 3.0, 4.0], b=[0.5, 0.25, 2.0, 1.0])


def test_columns_of_a_frame(frame):
    def used(x, frame):
        return np.sum(x * frame["a"].to_numpy()) ** 2 / len(frame) + np.sum(np.asarray(frame["b"]) * x**2)

    def captured(x):
        return np.sum(x * frame["a"].to_numpy()) ** 2

    np.testing.assert_allclose(ad.grad(used)(V, frame), differences(used, (V, frame)), atol=1e-6)
    np.testing.assert_allclose(ad.grad(captured)(V), differences(captured, (V,)), atol=1e-6)


def test_another_frame_is_of_the_same_kind(frame):
    gradient = ad.grad(lambda x, frame: np.sum(x * frame["a"].to_numpy()))
    other = type(frame)(a=[9.0, 8.0, 7.0, 6.0])
    assert gradient(V, frame).tolist() == [1.0, 2.0, 3.0, 4.0]
    assert gradient(V, other).tolist() == [9.0, 8.0, 7.0, 6.0]
    assert key(other) == key(frame)


def test_an_object_that_computes_in_its_own_way_is_no_array(frame):
    with pytest.raises(TypeError, match="a Series stands where"):
        ad.grad(lambda x, frame: (x * frame["a"]).sum())(V, frame)


def test_what_carries_a_derivative_is_not_put_into_one(frame):
    def put(x, frame):
        frame["c"] = x * 2
        return np.sum(frame["c"].to_numpy())

    with pytest.raises(Refused, match="stored in an object of unknown class"):
        ad.grad(put)(V, frame)


@pytest.mark.parametrize("other", [LOG, DATABASE, Config(w=V)], ids=["logger", "connection", "dict"])
def test_nothing_is_differentiated_with_respect_to_one(other):
    with pytest.raises(Refused, match="is not made of numbers"):
        ad.grad(lambda x, other: np.sum(x), 1)(V, other)


def added_in_place(x, held):
    w = held["w"]
    w += 1.0
    return np.sum(held["w"] * x)


def of_a_view(x, held):
    w = np.asarray(held["w"])
    w *= 3.0
    return np.sum(held["w"] * x)


def after_it_was_used(x, held):
    w = held["w"]
    y = np.sum(w * x)
    w[0] = 100.0
    return y * x[0]


def filled_after_it_was_used(x, held):
    w = held["w"]
    y = np.sum(w * x)
    w.fill(3.0)
    return y * x[0]


@pytest.mark.parametrize("kind", [Config, OrderedDict])
@pytest.mark.parametrize("fn", [added_in_place, of_a_view, after_it_was_used, filled_after_it_was_used])
def test_memory_that_one_may_hold_is_not_written(fn, kind):
    with pytest.raises(Refused, match="may be an array that an object of unknown class holds"):
        ad.grad(fn)(V, kind(w=np.arange(4.0)))


def test_a_copy_of_what_one_holds_is_written():
    def changed(x, held):
        w = np.array(held["w"])
        w = w + 1.0
        return np.sum(w * x) + np.sum(held["w"] * x)

    check_gradient(changed, (V, Config(w=np.arange(4.0))))
