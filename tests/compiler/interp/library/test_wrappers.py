"""Wrappers in installed packages that hand their arguments on are run around the function that they wrap."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import values
from tests.compiler.checked import check_gradient

X = np.linspace(0.1, 0.9, 5)
TEXT = """
import contextlib
import functools
import inspect
import numpy as np

SETTINGS = {"checks": True, "scale": 2.0}
SEEN = []


class Invalid(ValueError):
    pass


@contextlib.contextmanager
def settings(**new):
    before = dict(SETTINGS)
    SETTINGS.update(new)
    try:
        yield
    finally:
        SETTINGS.update(before)


def get_settings():
    return dict(SETTINGS)


def checked(kinds):
    def decorator(fn):
        @functools.wraps(fn)
        def wrapper(*args, **kwargs):
            if not SETTINGS["checks"]:
                return fn(*args, **kwargs)
            given = inspect.signature(fn).bind(*args, **kwargs).arguments
            SEEN.append(sorted(given))
            for name, value in given.items():
                if not any(isinstance(value, kind) for kind in kinds.get(name, ())):
                    raise Invalid(f"{name} is {type(value).__name__}")
            try:
                with settings(scale=3.0):
                    return fn(*args, **kwargs)
            except Invalid as error:
                raise Invalid(f"{fn.__name__}: {error}") from error

        return wrapper

    return decorator


def spoils(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        args[0][0] = 7.0
        names = [type(a) for a in args if type(a).__name__ in dir(np)]
        return fn(*args, **kwargs)

    return wrapper


@checked({"x": [np.ndarray], "power": [int]})
def moment(x, power=2):
    return np.mean(x**power)


@checked({"x": [np.ndarray]})
def scaled(x):
    return np.sum(x**2) * get_settings()["scale"]


@checked({"x": [np.ndarray]})
def positive(x):
    if x.min() < 0.0:
        raise Invalid("negative")
    return np.sum(np.sqrt(x))


@spoils
def spoilt(x):
    return np.sum(x**2)


def is_plain(x):
    kinds = [kind for kind in type(x).__mro__ if kind.__name__ == "ndarray"]
    return len(kinds) == 1 and kinds[0].__module__ == "numpy"


def is_small(x):
    return bool(sorted(dir(x))) and bool(np.all(np.abs(x) < 100.0))


def either(x):
    return np.sum(np.sin(x)) if is_plain(x) else x.frame.lookup.values()


def parts_of(x):
    if x.min() < 0.0:
        raise KeyError("negative")
    return x, "plain"


def recovering(x):
    try:
        kinds = [kind for kind in type(x).__mro__ if kind.__name__ == "ndarray"]
        parts = parts_of(x)
    except KeyError:
        parts = None
    return np.sum(np.sin(parts[0])) if is_plain(x) else x.frame.lookup.values()


def namespace_of(*arrays):
    kinds = {type(a).__module__ for a in arrays}
    return __import__(sorted(kinds)[0])


def by_namespace(x):
    xp = namespace_of(x)
    return xp.sum(xp.sin(x))


def guarded(x):
    return np.sum(x**3) if is_small(x) else np.sum(x)
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    (tmp_path / "some_wrapped_package.py").write_text(TEXT)
    monkeypatch.setattr(values, "PACKAGES", (str(tmp_path),))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("some_wrapped_package")
    del sys.modules["some_wrapped_package"]


def test_the_wrapped_function_is_differentiated(package: Any) -> None:
    check_gradient(package.moment, (X,))
    check_gradient(lambda x: package.moment(x, power=3) * package.moment(2.0 * x), (X,))


def test_the_wrapper_is_run_once_in_each_call(package: Any) -> None:
    derivative = ad.grad(package.moment)
    derivative(X)
    package.SEEN.clear()
    derivative(X)
    assert package.SEEN == [["x"]]
    package.SETTINGS["checks"] = False
    derivative(X)
    assert package.SEEN == [["x"]]


def test_what_the_wrapper_raises_is_raised(package: Any) -> None:
    with pytest.raises(package.Invalid, match="power is float"):
        ad.grad(lambda x: package.moment(x, power=2.5))(X)
    derivative = ad.grad(package.positive)
    np.testing.assert_allclose(derivative(X), 0.5 / np.sqrt(X))
    with pytest.raises(package.Invalid, match="positive: negative"):
        derivative(-X)


def test_settings_of_the_wrapper_hold_inside(package: Any) -> None:
    value, gradient = ad.value_and_grad(package.scaled)(X)
    assert value == package.scaled(X)
    np.testing.assert_allclose(gradient, 6.0 * X)
    assert package.SETTINGS["scale"] == 2.0


def test_a_wrapper_that_writes_raises(package: Any) -> None:
    x = X.copy()
    with pytest.raises((ValueError, ad.AutodiffError), match="read-only|write|outside"):
        ad.grad(lambda x: package.spoilt(x) + sum({1: x}.get(1)))(x)
    np.testing.assert_array_equal(x, X)


def test_questions_of_kinds_are_settled(package: Any) -> None:
    check_gradient(package.either, (X,))


def test_questions_of_numbers_are_asked_in_the_run(package: Any) -> None:
    derivative = ad.grad(package.guarded)
    np.testing.assert_allclose(derivative(X), 3.0 * X**2)
    try:
        np.testing.assert_allclose(derivative(1e3 * X), np.ones(5))
    except NotImplementedError as error:
        assert "is_small" in str(error)


def test_handlers_that_leave_other_things_are_refused_where_the_run_comes_to_them(package: Any) -> None:
    check_gradient(package.recovering, (X,))
    with pytest.raises(ad.AutodiffError, match="handler"):
        ad.grad(package.recovering)(-X)


def test_modules_are_known_that_are_the_same_for_all_arrays(package: Any) -> None:
    check_gradient(package.by_namespace, (X,))
