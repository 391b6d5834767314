"""Native programs kept on disk: another process compiles nothing, and takes none that has become another."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("numba")

import autodiff_sct as ad
from autodiff_sct.compiler.driver.cache import entry
from autodiff_sct.compiler.numba import NativeWarning
from autodiff_sct.compiler.numba.bailout import Native, NativeFunction, kinds_from, kinds_told
from tests.compiler.driver.test_kept import compilations, only, place, user  # noqa: F401

TEXT = """
import numpy as np

SCALE = 2.0


def f(x, n, flag):
    total = 0.0
    for i in range(n):
        total = total + x[i] * SCALE * x[0] if flag else total - x[i]
    return total


def outside(x):
    return np.sum(np.sort(x) * 2.0)
"""
TEXT_OTHER = TEXT.replace("* x[0]", "* x[1]")
X = np.array([0.3, -0.2, 0.5])


@pytest.fixture
def anew(user):  # noqa: F811
    """The module of a text, anew each time: what another process would do."""
    return lambda text=TEXT: user(text)


def value_and_gradient(fn, *args, backend="numba"):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return ad.value_and_grad(fn, backend=backend)(*args)


@pytest.mark.parametrize("backend", ["numba", "auto"])
def test_another_process_compiles_nothing(place, compilations, anew, backend):  # noqa: F811
    first = value_and_gradient(anew().f, X, 3, True, backend=backend)
    assert compilations == ["f"]
    again = value_and_gradient(anew().f, X, 3, True, backend=backend)
    assert compilations == ["f"]
    assert first[0] == again[0] and type(first[0]) is type(again[0])
    assert np.array_equal(first[1], again[1])


def test_what_comes_back_is_native(place, anew):  # noqa: F811
    texts = []
    for _ in range(2):
        gradient = ad.grad(anew().f, backend="numba")
        gradient(X, 3, True)
        (variant,) = [v for found in gradient.prepared().variants.by_kinds.values() for v in found]
        assert isinstance(variant.function, NativeFunction)
        texts.append(gradient.source_for(X, 3, True))
    assert texts[0] == texts[1] and "@njit" in texts[0]


def test_it_falls_back_on_its_numpy_program(place, anew):  # noqa: F811
    value_and_gradient(anew().f, X, 3, True)
    gradient = ad.grad(anew().f, backend="numba")
    with pytest.raises(IndexError) as caught:
        gradient(X, 4, True)
    assert caught.traceback[-1].path.name == "kept_user.py"


def test_what_has_changed_is_compiled_anew(place, compilations, anew):  # noqa: F811
    value_and_gradient(anew().f, X, 3, True)
    changed = anew(TEXT_OTHER).f
    value, _ = value_and_gradient(changed, X, 3, True)
    assert value == changed(X, 3, True)
    assert compilations == ["f", "f"]


def test_each_back_end_has_its_own(place, anew):  # noqa: F811
    for backend in ("numpy", "numba", "auto", "numpy"):
        gradient = ad.grad(anew().f, backend=backend)
        gradient(X, 3, True)
        assert ("@njit" in gradient.source_for(X, 3, True)) == (backend != "numpy")


def test_globals_are_read_at_each_call(place, anew):  # noqa: F811
    value_and_gradient(anew().f, X, 3, True)
    module = anew()
    module.SCALE = 5.0
    assert value_and_gradient(module.f, X, 3, True)[0] == pytest.approx(module.f(X, 3, True))


def test_each_process_is_told_what_stays_numpy(place, anew):  # noqa: F811
    for _ in range(2):
        with pytest.warns(NativeWarning, match="sort"):
            ad.grad(anew().outside, backend="numba")(X)
    assert not place.exists() or not list(place.iterdir())


def test_damage_is_compiled_anew(place, anew):  # noqa: F811
    expected = value_and_gradient(anew().f, X, 3, True)
    path = only(place)
    path.write_bytes(path.read_bytes().replace(b"@njit", b"@jit!"))
    assert value_and_gradient(anew().f, X, 3, True)[0] == expected[0]


@pytest.mark.parametrize(
    "kinds", [None, float, np.float64, (float, None, (np.float32, np.int64, np.bool_)), (int, bool, np.int64)]
)
def test_kinds_of_results(kinds):
    assert kinds_from(kinds_told(kinds)) == kinds
    native = Native("f", "text", kinds, True)
    told = entry.native_as_json(NativeFunction(native, value_and_gradient, "f", {}))
    assert entry.natively(told, value_and_gradient, {}).native == native
