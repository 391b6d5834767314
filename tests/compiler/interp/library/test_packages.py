"""Calls in installed packages that cannot be followed, and through which no derivative passes, are carried out."""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import values

X = np.linspace(0.1, 0.9, 5)
TEXT = """
import functools
import numpy as np

CALLS = []


class Registry:
    def __init__(self, table):
        self.table = table

    def names(self):
        for name in self.table:
            yield name.lower()

    def __iter__(self):
        yield from self.table

    def __getitem__(self, name):
        try:
            return self.table[name]
        except KeyError:
            return self.table[dict(zip(self.names(), self.table, strict=True))[str(name).lower()]]


MATRICES = Registry({"Plain": np.eye(5), "Twice": 2.0 * np.eye(5)})
FUNCTIONS = Registry({"Sine": np.sin, "Cosine": np.cos})


@functools.lru_cache(maxsize=None)
def checked(name, names):
    CALLS.append(name)
    lowered = {each.lower(): each for each in names}
    return [*sorted(zip(lowered, lowered.values()))][sorted(lowered).index(name.lower())][0]


def transformed(x, kind="plain"):
    return MATRICES[checked(kind, tuple(MATRICES))] @ x


def applied(x, kind="sine"):
    return FUNCTIONS[kind](x)


class Mode:
    def __init__(self, name):
        self.name = name


MODE = Mode("strict")


def in_another_mode(x, left):
    kept = MODE.name
    MODE.name = "quiet"
    y = 2.0 * x if MODE.name == "quiet" else x
    MODE.name = left or kept
    return MATRICES["twice"] @ y


def letters():
    yield "a"


def drawn():
    return dict(zip(letters(), [np.random.normal()], strict=True))["a"]


def noisy(x):
    return x * drawn()


def settings(names):
    return {"scale": [*dict(zip(letters(), [2.0], strict=True)).values()][0], "names": [*names]}


def scaled(x):
    found = settings(("a", "b"))
    return x * found["scale"] * len(found["names"])


def looked_up_on_the_way(x):
    total = 0.0
    for k in range(3):
        if x[k] > 0.3:
            total = total + np.sum(FUNCTIONS["sine"](x)) * FUNCTIONS["cosine"](x[k])
        else:
            total = total + x[k] * (3.0 if checked("sine", ("Sine", "Cosine")) == "sine" else 5.0)
    return total


class Constants:
    def __init__(self, text="length = 3.0"):
        self.units = 1.0
        for name, number in zip(*[[part] for part in self.parts(text)]):
            setattr(self, name, float(number) * self.units)

    def parts(self, text):
        yield from text.split(" = ")

    def use(self, units):
        for name in [*vars(self)]:
            if name != "units":
                setattr(self, name, getattr(self, name) * units / self.units)
        self.units = units


@functools.lru_cache
def announce(name):
    CALLS.append(name)
    return name


def announced(x):
    announce("measured")
    return measured(x)


def measured(x):
    constants = Constants()
    constants.use(10.0)
    return x**2 * constants.length


sine = None


def imported_late(x):
    global sine
    if sine is None:
        from numpy import sin as sine
    return np.sum(sine(x))


class Version:
    __slots__ = ("parts",)

    def __init__(self, text):
        self.parts = tuple(int(part) for part, _ in zip(text.split("."), self.endless()))

    def endless(self):
        while True:
            yield None

    def __le__(self, other):
        return self.parts <= other.parts


def parse(text):
    return Version(text)


CURRENT = ["1.5.0"]


def by_version(x):
    return x**2 if parse("1.0") <= parse(CURRENT[0]) else x**3


def overwritten(x):
    found = parse("3.7")
    found.parts = (2,)
    return x * found.parts[0]


def careful(x):
    if x[0] > 10.0:
        return MATRICES["plain"] @ x * drawn()
    return MATRICES["plain"] @ x
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    (tmp_path / "some_installed_package.py").write_text(TEXT)
    monkeypatch.setattr(values, "PACKAGES", (str(tmp_path),))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("some_installed_package")
    del sys.modules["some_installed_package"]


def test_a_registry_is_asked(package: Any) -> None:
    derivative = ad.grad(lambda x: np.sum(package.transformed(x, "twice") ** 2))
    for _ in range(2):
        np.testing.assert_allclose(derivative(X), 8.0 * X)
    tangent = ad.jvp(lambda x: package.transformed(x, "TWICE"), (X,), (np.ones(5),))[1]
    np.testing.assert_allclose(tangent, np.full(5, 2.0))
    second = ad.grad(lambda x: np.sum(ad.grad(lambda y: np.sum(package.transformed(y, "twice") ** 3))(x)))
    np.testing.assert_allclose(second(X), 48.0 * X)


def test_a_registry_of_functions_is_asked(package: Any) -> None:
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(package.applied(x)))(X), np.cos(X))
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(package.applied(x, "cosine")))(X), -np.sin(X))


def test_what_is_found_later_decides_later(package: Any) -> None:
    derivative = ad.grad(lambda x: np.sum(package.transformed(x) ** 2))
    np.testing.assert_allclose(derivative(X), 2.0 * X)
    package.MATRICES.table["Plain"][...] = 3.0 * np.eye(5)
    np.testing.assert_allclose(derivative(X), 18.0 * X)
    package.MATRICES.table["Plain"] = 5.0
    package.MATRICES.table["Plain"] = np.eye(5)[:2]
    np.testing.assert_allclose(derivative(X), 2.0 * X * (np.arange(5) < 2))
    functions = ad.grad(lambda x: np.sum(package.applied(x)))
    np.testing.assert_allclose(functions(X), np.cos(X))
    package.FUNCTIONS.table["Sine"] = np.exp
    np.testing.assert_allclose(functions(X), np.exp(X))


def test_what_is_another_each_time_is_not_asked(package: Any) -> None:
    with pytest.raises(ad.errors.Refused):
        ad.grad(lambda x: np.sum(package.noisy(x)))(X)


def test_an_object_of_settings_is_made_as_packages_make_it(package: Any) -> None:
    derivative = ad.grad(lambda x: np.sum(package.by_version(x)))
    np.testing.assert_allclose(derivative(X), 2 * X)
    package.CURRENT[0] = "0.9"
    np.testing.assert_allclose(derivative(X), 3 * X**2)
    package.CURRENT[0] = "1.2"
    np.testing.assert_allclose(derivative(X), 2 * X)
    with pytest.raises(ad.errors.Refused, match="assigned"):
        ad.grad(lambda x: np.sum(package.overwritten(x)))(X)


def test_nothing_is_carried_out_on_a_path_that_may_not_be_taken(package: Any) -> None:
    state = np.random.get_state()[1].copy()
    derivative = ad.grad(lambda x: np.sum(package.careful(x)))
    plain = derivative(X)
    np.testing.assert_allclose(plain, ad.grad(lambda x: np.sum(package.MATRICES["plain"] @ x))(X))
    with pytest.raises(ad.errors.Refused):
        derivative(20.0 + X)
    assert np.array_equal(np.random.get_state()[1], state)


def test_nothing_is_asked_of_what_the_program_has_changed(package: Any) -> None:
    def fn(x: Any) -> Any:
        package.MATRICES.table = {"Plain": 7.0 * np.eye(5)}
        return np.sum(package.transformed(x) ** 2)

    table = package.MATRICES.table
    try:
        np.testing.assert_allclose(ad.grad(fn)(X), 98.0 * X)
    except ad.errors.Refused:
        package.MATRICES.table = table
        np.testing.assert_allclose(ad.grad(lambda x: np.sum(package.transformed(x) ** 2))(X), 2.0 * X)


def test_a_package_that_can_be_followed_is_followed(package: Any) -> None:
    ad.grad(lambda x: np.sum(package.FUNCTIONS.table["Sine"](x)))(X)
    assert not package.CALLS
    ad.grad(lambda x: np.sum(package.transformed(x)))(X)
    assert package.CALLS == ["plain"]  # the memo answers from then on


def test_a_registry_is_asked_where_a_setting_was_put_back(package: Any) -> None:
    derivative = ad.grad(lambda x: np.sum(package.in_another_mode(x, "")))
    np.testing.assert_allclose(derivative(X), np.full(5, 4.0))
    package.MODE.name = "loose"
    np.testing.assert_allclose(derivative(X), np.full(5, 4.0))
    assert package.MODE.name == "loose"
    with pytest.raises(ad.errors.Refused):
        ad.grad(lambda x: np.sum(package.in_another_mode(x, "other")))(X)


@pytest.mark.parametrize("folder", ["site-packages", "dist-packages"])
def test_packages_of_a_user_and_of_the_system_are_installed_ones(folder: str) -> None:
    assert values.is_packaged(os.path.join(os.sep, "home", "ada", ".local", "lib", folder, "library", "parts.py"))
    assert not values.is_packaged(os.path.join(os.sep, "home", "ada", f"{folder}.py"))


def test_the_users_own_functions_are_not_carried_out(package: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "PACKAGES", ("/nowhere/at/all",))
    with pytest.raises(ad.errors.Refused):
        ad.grad(lambda x: np.sum(package.transformed(x)))(X)
    assert not package.CALLS


def test_lookups_and_memos_are_asked_wherever_they_stand(package: Any) -> None:
    def written_out(x: Any) -> Any:
        return sum(np.sum(np.sin(x)) * np.cos(x[k]) if x[k] > 0.3 else 3.0 * x[k] for k in range(3))

    assert ad.value_and_grad(package.looked_up_on_the_way)(X)[0] == package.looked_up_on_the_way(X)
    np.testing.assert_allclose(ad.grad(package.looked_up_on_the_way)(X), ad.grad(written_out)(X))


def test_a_container_that_is_made_of_settings_each_time_is_made_in_the_program(package: Any) -> None:
    derivative = ad.grad(lambda x: np.sum(package.scaled(x)))
    np.testing.assert_allclose(derivative(X), np.full(5, 4.0))
    package.letters = lambda: iter("b")
    np.testing.assert_allclose(derivative(X), np.full(5, 4.0))
    package.settings = lambda names: {"scale": 7.0, "names": [*names]}
    np.testing.assert_allclose(derivative(X), np.full(5, 14.0))


def test_an_object_made_of_settings_is_made_as_python_makes_it(package: Any) -> None:
    derivative = ad.value_and_grad(lambda x: np.sum(package.measured(x)))
    for _ in range(2):
        value, gradient = derivative(X)
        assert value == np.sum(package.measured(X))
        np.testing.assert_allclose(gradient, 60.0 * X)
    tangent = ad.jvp(package.measured, (X,), (np.ones(5),))[1]
    np.testing.assert_allclose(tangent, 60.0 * X)


def test_a_global_that_is_imported_when_it_is_needed(package: Any) -> None:
    derivative = ad.grad(package.imported_late)
    for _ in range(2):
        np.testing.assert_allclose(derivative(X), np.cos(X))
        assert package.sine is np.sin
    package.sine = np.exp
    np.testing.assert_allclose(derivative(X), np.exp(X))
    np.testing.assert_allclose(ad.jvp(package.imported_late, (X,), (np.ones(5),))[1], np.sum(np.exp(X)))


def test_a_statement_by_itself_is_not_carried_out_while_compiling(package: Any) -> None:
    ad.adjoint_source(lambda x: np.sum(package.announced(x)), X)
    assert not package.CALLS
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(package.announced(x)))(X), 60.0 * X)
    assert package.CALLS == ["measured"]


def test_memos_of_the_users_own_are_called_when_the_program_runs() -> None:
    scale, calls = [2.0], []

    @functools.cache
    def scaled(name: str) -> float:
        calls.append(name)
        return scale[0]

    def fn(x: Any) -> Any:
        scale[0] = 5.0
        return np.sum(x) * scaled("twice")

    ad.adjoint_source(fn, X)
    assert not calls
    try:
        np.testing.assert_array_equal(ad.grad(fn)(X), np.full(5, 5.0))
    except ad.errors.Refused:
        assert not calls
