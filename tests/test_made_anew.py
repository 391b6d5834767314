"""Gradient functions that are made anew for each call share what was compiled, and nothing else."""

from __future__ import annotations

import gc
import inspect
import threading
import types
import weakref
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.api import entry
from autodiff_sct.compiler.domain import pass_registry
from autodiff_sct.compiler.driver import dispatch
from autodiff_sct.rules.table import TABLE

X = np.linspace(0.1, 0.9, 5)
SCALE = 2.0


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is compiled meanwhile."""
    found: list[Any] = []
    plain = dispatch.Compiled.compile

    def noted(self: Any, *args: Any) -> Any:
        found.append(self)
        return plain(self, *args)

    monkeypatch.setattr(dispatch.Compiled, "compile", noted)
    monkeypatch.setattr(entry, "PRODUCTS", {})
    monkeypatch.setattr(entry, "CAPTURED", {})
    return found


def cubes(x: Any) -> Any:
    return SCALE * np.sum(x**3)


def test_a_function_is_compiled_once(compiled: list[Any]) -> None:
    for _ in range(3):
        np.testing.assert_allclose(ad.grad(cubes)(X), 6.0 * X**2)
        np.testing.assert_allclose(ad.value_and_grad(cubes)(X)[1], 6.0 * X**2)
        np.testing.assert_allclose(ad.vjp(cubes, X)[1](1.0)[0], 6.0 * X**2)
    assert len(compiled) == 3
    ad.grad(cubes)(X.astype(np.float32))
    assert len(compiled) == 4


def test_a_lambda_is_known_by_its_code(compiled: list[Any]) -> None:
    for _ in range(3):
        np.testing.assert_allclose(ad.grad(lambda x: np.sum(np.sin(x)))(X), np.cos(X))
    assert len(compiled) == 1


@pytest.mark.parametrize(
    "settings", [{"memory": 10**6}, {"has_aux": True}, {"grad_position": (0, 1)}, {"grad_position": 1}]
)
def test_other_settings_are_compiled_apart(compiled: list[Any], settings: dict[str, Any]) -> None:
    def fn(x: Any, y: Any) -> Any:
        return np.sum(x * y), x

    plain = ad.grad(lambda x, y: fn(x, y)[0], has_aux=False) if "has_aux" not in settings else ad.grad(fn, has_aux=True)
    plain(X, 2.0 * X)
    again = ad.grad(lambda x, y: (np.sum(x * y), x) if "has_aux" in settings else np.sum(x * y), **settings)
    result = again(X, 2.0 * X)
    assert len(compiled) == 2
    first = result[0] if isinstance(result, tuple) else result
    np.testing.assert_allclose(first, X if settings.get("grad_position") == 1 else 2.0 * X)


def test_what_a_function_captures_is_its_own() -> None:
    def step(data: Any) -> Any:
        return ad.grad(lambda x: np.sum(x * data))(X)

    for k in range(3):
        np.testing.assert_array_equal(step(k * X), k * X)


def test_defaults_and_attributes_are_its_own() -> None:
    for k in (1.0, 2.0):
        np.testing.assert_array_equal(ad.grad(lambda x, k=k: np.sum(x * k))(X), np.full(5, k))

    def scaled(x: Any) -> Any:
        return np.sum(x) * scaled_by.factor

    for k in (1.0, 2.0):
        scaled_by = types.FunctionType(scaled.__code__, globals(), closure=scaled.__closure__)
        scaled_by.factor = k
        np.testing.assert_array_equal(ad.grad(scaled_by)(X), np.full(5, k))


def test_the_world_is_read_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    for k in (2.0, 3.0, -1.0):
        monkeypatch.setitem(globals(), "SCALE", k)
        np.testing.assert_allclose(ad.grad(cubes)(X), 3.0 * k * X**2)


def test_code_that_is_replaced() -> None:
    first = types.FunctionType((lambda x: np.sum(x**2)).__code__, globals())
    twin = types.FunctionType(first.__code__, globals())
    np.testing.assert_allclose(ad.grad(first)(X), 2.0 * X)
    first.__code__ = (lambda x: np.sum(x**3)).__code__
    np.testing.assert_allclose(ad.grad(twin)(X), 2.0 * X)
    np.testing.assert_allclose(ad.grad(first)(X), 3.0 * X**2)


def sine(x: Any) -> Any:
    return np.sin(x)


def of_sine(x: Any) -> Any:
    return np.sum(sine(x))


def test_rules_that_are_registered_later() -> None:
    np.testing.assert_allclose(ad.grad(of_sine)(X), np.cos(X))
    np.testing.assert_allclose(ad.vjp(of_sine, X)[1](1.0)[0], np.cos(X))
    try:
        ad.rule(sine)(lambda y, d, x: 100.0 * d)
        np.testing.assert_allclose(ad.grad(of_sine)(X), np.full(5, 100.0))
        np.testing.assert_allclose(ad.vjp(of_sine, X)[1](1.0)[0], np.full(5, 100.0))
    finally:
        del TABLE[sine]


def test_passes_that_are_off() -> None:
    plain = ad.grad(cubes)
    plain(X)
    with pass_registry.without(*pass_registry.PASSES):
        other = ad.grad(cubes)
        np.testing.assert_allclose(other(X), plain(X))
    assert other.source_for(X) != plain.source_for(X)


def test_the_text_is_that_of_its_own_calls() -> None:
    gradient = ad.grad(cubes)
    gradient(X)
    assert gradient.source == gradient.source_for(X)
    assert ad.grad(cubes).source == ad.adjoint_source(cubes)


def test_closures_are_freed() -> None:
    class Large:
        pass

    def step() -> Any:
        held = Large()
        ad.grad(lambda x: np.sum(x) if held is not None else x[0])(X)
        return weakref.ref(held)

    found = [step() for _ in range(3)]
    gc.collect()
    assert not any(ref() for ref in found)


class Model:
    """A function with state, as a method."""

    def __init__(self, scale: float) -> None:
        self.weights = scale * X

    def loss(self, x: Any, power: int = 2) -> Any:
        return np.sum(self.weights * x**power)


def scaled_by(scale: Any) -> Any:
    def scaled(x: Any) -> Any:
        return np.sum(scale * x)

    return scaled


def test_closures_share_by_their_cells(compiled: list[Any]) -> None:
    data = X.copy()
    for k in range(4):
        data = data * 2.0  # another array in the same cell
        np.testing.assert_array_equal(ad.grad(lambda x: np.sum(x * data))(X), data)
    assert len(compiled) == 1
    kept = [scaled_by(X), scaled_by(2.0 * X)]
    for _ in range(3):
        for k, fn in enumerate(kept):
            np.testing.assert_array_equal(ad.grad(fn)(X), (k + 1) * X)
            np.testing.assert_array_equal(ad.value_and_grad(fn)(X)[1], (k + 1) * X)
            np.testing.assert_array_equal(ad.vjp(fn, X)[1](1.0)[0], (k + 1) * X)
            np.testing.assert_allclose(ad.jvp(fn, (X,), (X,))[1], (k + 1) * np.sum(X * X))
    assert len(compiled) == 1 + 2 * 4


def test_a_cell_that_comes_to_hold_another_kind(compiled: list[Any]) -> None:
    factor: Any
    for factor in (2.0, X, np.sin, 3.0):
        found = ad.grad(lambda x: np.sum(factor(x) if callable(factor) else factor * x))(X)
        np.testing.assert_allclose(found, np.cos(X) if factor is np.sin else factor * np.ones(5))
    assert len(compiled) == 3


def test_functions_with_defaults_share(compiled: list[Any]) -> None:
    def power(x: Any, n: int = 2, *, scale: Any = 3.0) -> Any:
        return np.sum(scale * x**n)

    for _ in range(3):
        np.testing.assert_allclose(ad.grad(power)(X), 6.0 * X)
    assert len(compiled) == 1
    power.__defaults__ = (3,)
    np.testing.assert_allclose(ad.grad(power)(X), 9.0 * X**2)
    power.__kwdefaults__["scale"] = X  # type: ignore[index]
    np.testing.assert_allclose(ad.grad(power)(X), 3.0 * X**3)
    for array in (X, 2.0 * X):
        np.testing.assert_allclose(ad.grad(lambda x, a=array: np.sum(a * x))(X), array)


def test_methods_share_by_their_instance(compiled: list[Any]) -> None:
    models = [Model(1.0), Model(2.0)]
    for _ in range(3):
        for k, model in enumerate(models):
            np.testing.assert_allclose(ad.grad(model.loss)(X), (k + 1) * 2.0 * X**2)
    assert len(compiled) == 2
    models[0].weights = np.float32(3.0)  # type: ignore[assignment]
    np.testing.assert_allclose(ad.grad(models[0].loss)(X), 6.0 * X)
    plain = Model.loss
    try:
        Model.loss = lambda self, x: np.sum(x)  # type: ignore[method-assign,assignment]
        np.testing.assert_allclose(ad.grad(models[1].loss)(X), np.ones(5))
    finally:
        Model.loss = plain  # type: ignore[method-assign]
    np.testing.assert_allclose(ad.grad(models[1].loss)(X), 4.0 * X**2)


def test_code_and_defaults_of_a_closure_that_are_replaced() -> None:
    fn, other = scaled_by(X), scaled_by(2.0 * X)
    np.testing.assert_array_equal(ad.grad(fn)(X), X)

    def source(scale: Any) -> Any:
        return lambda x: np.sum(scale * x**2)

    fn.__code__ = source(X).__code__
    np.testing.assert_array_equal(ad.grad(fn)(X), 2.0 * X * X)
    np.testing.assert_array_equal(ad.grad(other)(X), 2.0 * X)


def test_a_rule_for_a_closure_that_is_registered_later() -> None:
    fn = scaled_by(X)
    np.testing.assert_array_equal(ad.grad(fn)(X), X)
    try:
        ad.rule(fn)(lambda y, d, x: 100.0 * d)
        np.testing.assert_allclose(ad.grad(fn)(X), 100.0)
    finally:
        del TABLE[fn]


def test_what_is_captured_is_not_heaped_up() -> None:
    """Of closures of one text that are gone, the last one stays, and goes with the next collection."""
    gc.collect()
    gc.disable()
    try:
        arrays, refs = [], []
        for _ in range(10):
            model = Model(1.0)
            arrays.append(weakref.ref(model.weights))
            ad.grad(scaled_by(model.weights))(X)
            refs.append(weakref.ref(model))
            ad.grad(model.loss)(X)
        del model
        assert sum(ref() is not None for ref in refs) <= entry.METHODS
        assert sum(ref() is not None for ref in arrays) <= entry.METHODS + 1
    finally:
        gc.enable()
    gc.collect()
    assert not any(ref() for ref in refs)
    assert all(ref() is None for ref in arrays)


def test_a_closure_that_holds_itself_is_freed() -> None:
    def step() -> Any:
        def halved(x: Any) -> Any:
            return np.sum(x) if x[0] < 1.0 else halved(x * 0.5)

        ad.grad(halved)(X)
        return weakref.ref(halved)

    found = [step() for _ in range(3)]
    gc.collect()
    gc.collect()
    assert not any(ref() for ref in found)


def test_threads_share_one_program(compiled: list[Any]) -> None:
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(ad.grad(cubes)(X))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    for result in results:
        np.testing.assert_allclose(result, 6.0 * X**2)
    assert len({id(each) for each in compiled}) == 1


def test_the_signature_is_told_when_it_is_asked_for() -> None:
    gradient = ad.grad(cubes)
    assert "__signature__" not in vars(gradient)
    assert str(inspect.signature(gradient)) == "(x: Any) -> Any".replace("Any", "'Any'")
    assert inspect.signature(ad.grad(np.sin)) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        gradient.no_such_name


def test_a_kept_gradient_follows_the_code_and_the_defaults_of_its_function() -> None:
    for scale in (np.ones(2), 3.0):

        def fn(x: Any, w: Any = scale, *, k: float = 1.0) -> Any:
            return np.sum(x * w) * k

        def other(x: Any, w: Any = scale, *, k: float = 1.0) -> Any:
            return np.sum(x * x * w) * k

        gradient = ad.grad(fn)
        x = np.array([2.0, 3.0])
        for again in range(2):
            np.testing.assert_array_equal(gradient(x), scale * np.ones(2))
        fn.__defaults__ = (5.0 * np.ones(2),)
        np.testing.assert_array_equal(gradient(x), [5.0, 5.0])
        fn.__kwdefaults__ = {"k": 2.0}
        np.testing.assert_array_equal(gradient(x), [10.0, 10.0])
        fn.__code__ = other.__code__
        np.testing.assert_array_equal(gradient(x), [40.0, 60.0])
        fn.__defaults__ = (scale,)
        np.testing.assert_array_equal(gradient(x), 4.0 * scale * x)


def test_a_kept_gradient_of_a_closure_follows_its_code() -> None:
    factor = 2.0

    def fn(x: Any) -> Any:
        return factor * x

    def other(x: Any) -> Any:
        return factor * x * x

    gradient = ad.grad(fn)
    assert (gradient(3.0), gradient(3.0)) == (2.0, 2.0)
    fn.__code__ = other.__code__
    assert (gradient(3.0), gradient(3.0)) == (12.0, 12.0)
