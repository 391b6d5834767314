"""The engine: what is recorded and kept, in which order it is gone back over, and what that costs."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import autodiff_sct as ad
from autodiff_sct import AutodiffError, tape
from autodiff_sct.errors import NoRule
from autodiff_sct.rules.elementwise import power
from autodiff_sct.rules.products import matmul
from autodiff_sct.rules.table import TABLE
from autodiff_sct.tape import backward, grad, no_grad, tensor
from autodiff_sct.tape.pullbacks import pullback


def leaf(*shape: int, seed: int = 0) -> tape.Tensor:
    """Random numbers that require their gradient."""
    return tensor(np.random.default_rng(seed).normal(size=shape), requires_grad=True)


def by_differences(function: Callable[[np.ndarray], Any], x: np.ndarray) -> np.ndarray:
    steps = 1e-6 * np.eye(x.size).reshape(-1, *x.shape)
    return np.array([(function(x + h) - function(x - h)) / 2e-6 for h in steps]).reshape(x.shape)


# What is computed


def test_a_diamond_is_passed_once_in_order():
    x = leaf(3)
    a = np.sin(x)
    b, c = a * a, np.exp(a)
    d = b * c + a
    got = grad(np.sum(d), x)[0].numpy()
    expected = by_differences(lambda v: np.sum(np.sin(v) ** 2 * np.exp(np.sin(v)) + np.sin(v)), x.detach().numpy())
    np.testing.assert_allclose(got, expected, rtol=1e-7)


@pytest.mark.parametrize("order", range(1, 6))
def test_derivatives_of_any_order(order):
    x = tensor(0.7, requires_grad=True)
    y = np.sin(x) * x
    for _ in range(order):
        (y,) = grad(y, x, create_graph=True)
    # The n-th derivative of sin(x) * x by Leibniz' formula.
    expected = np.sin(0.7 + order * np.pi / 2) * 0.7 + order * np.sin(0.7 + (order - 1) * np.pi / 2)
    assert y.item() == pytest.approx(expected, rel=1e-12)


def test_a_hessian_row_by_row():
    x = leaf(4)
    (first,) = grad(np.sum(x[1:] * x[:-1] ** 3), x, create_graph=True)
    hessian = np.array([grad(first[k], x, retain_graph=True)[0].numpy() for k in range(4)])
    v = x.detach().numpy()
    expected = np.diag([*(6 * v[1:] * v[:-1]), 0.0])
    expected += np.diag(3 * v[:-1] ** 2, 1) + np.diag(3 * v[:-1] ** 2, -1)
    np.testing.assert_allclose(hessian, expected, rtol=1e-12)


def test_the_second_derivative_of_something_linear_is_no_derivative():
    x = leaf(3)
    (first,) = grad(np.sum(3 * x[1:]), x, create_graph=True)
    assert not first.requires_grad and first.numpy().tolist() == [0.0, 3.0, 3.0]


def test_several_results_of_which_some_are_used():
    a = leaf(3, 3)
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    expected = np.linalg.svd(a.detach().numpy())
    np.testing.assert_allclose(grad(s[0], a)[0].numpy(), np.outer(expected[0][:, 0], expected[2][0]), rtol=1e-12)
    first, _, last = np.split(leaf(6), 3)
    assert first.shape == (2,) and last.requires_grad
    assert type(np.linalg.eigh(a + a.T)).__name__ == "EighResult"


def test_only_the_wanted_entries_are_computed():
    entries, text = pullback(matmul, (1,))
    assert "products_product_adjoints_1" in entries.__code__.co_names
    entries, text = pullback(power, (0,))
    assert "log_of_base" not in entries.__code__.co_names
    y, d, base, exp = 9.0, 1.0, 3.0, 2.0
    assert entries(y, d, base, exp) == (6.0,)
    assert len(pullback(power, (0, 1))[0](y, d, base, exp)) == 2


def test_rules_of_users(monkeypatch):
    import autodiff_sct.rules.scipy.integrals  # noqa: F401  (fills the table)

    function = scipy.special.eval_chebyc  # x**2 - 2 for n = 2
    monkeypatch.delitem(TABLE, function)  # and back afterwards

    @ad.rule(function)
    def chebyc(y, d, n, x):
        return None, d * (y + 2) * 2 / x

    x = leaf(3)
    (first,) = grad(np.sum(function(2, x)), x, create_graph=True)
    np.testing.assert_allclose(first.detach().numpy(), 2 * x.detach().numpy(), rtol=1e-12)
    (second,) = grad(np.sum(first), x)
    np.testing.assert_allclose(second.numpy(), np.full(3, 2.0), rtol=1e-12)
    del TABLE[function]
    with pytest.raises(NoRule, match="eval_chebyc"):
        function(2, x)


def test_a_setting_that_a_rule_does_not_know():
    with pytest.raises(NoRule, match="correction"):
        np.var(leaf(2, 2), correction=1)
    assert np.asarray(np.var(leaf(2, 2).detach(), correction=1)).size


def test_what_a_rule_refuses_names_the_function():
    padded = np.pad(leaf(3), 1, "mean")
    with pytest.raises(NoRule, match=r"np\.pad.*modes"):
        backward(np.sum(padded))


def test_constants_come_out_of_functions_without_derivative():
    x = leaf(3)
    assert type(x > 0) is np.ndarray and type(np.argmax(x)) is np.int64
    assert not np.floor(x).requires_grad and not np.zeros_like(x).requires_grad
    y = np.floor(x) * x
    np.testing.assert_array_equal(grad(np.sum(y), x)[0].numpy(), np.floor(x.detach().numpy()))


# What a gradient is


def test_float32_stays_float32():
    x = tensor(np.ones((2, 3), np.float32), requires_grad=True)
    y = np.mean(np.tanh(x @ np.ones((3, 2), np.float32) * 0.5 + 1.0) ** 2 / 3)
    assert y.dtype == np.float32
    (first,) = grad(y, x, create_graph=True)
    (second,) = grad(np.sum(first**2), x)
    assert first.dtype == second.dtype == np.float32


def test_gradients_share_no_memory():
    x, y = leaf(3), leaf(3, seed=1)
    seed = tensor(np.ones(3))
    by_x, by_y = grad(x + y, [x, y], seed)
    for a, b in [(by_x, by_y), (by_x, seed), (by_y, seed), (by_x, x)]:
        assert not np.shares_memory(a.numpy(), b.detach().numpy())
    (x + y).backward(seed)
    x.grad.value[...] = 7
    assert y.grad.numpy().tolist() == seed.numpy().tolist() == [1.0] * 3
    spread = leaf(2, 2)
    backward(np.sum(spread))
    spread.grad[0, 0] = 5.0
    assert spread.grad.numpy().tolist() == [[5.0, 1.0], [1.0, 1.0]]


def test_what_is_kept_of_a_result_is_not_written_to_on_the_way_on():
    x = leaf(3)
    y = x * 1.0
    y.retain_grad()
    y[0] = 2.0
    y.retain_grad()
    kept = y * 1.0
    kept.retain_grad()
    z = kept * 1.0
    z[1] = 5.0
    backward(np.sum(z))
    assert kept.grad.numpy().tolist() == [1.0, 0.0, 1.0]
    assert x.grad.numpy().tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("number", [1.5, np.array([1.5, 2.0])], ids=["scalar", "array"])
def test_recorded_gradients_are_tensors_where_they_are_constants(number):
    x, y = tensor(number, requires_grad=True), tensor(number, requires_grad=True)
    z = np.sum(np.copysign(x, y) + np.floor(x) * x)
    for found in (*grad(z, [x, y], create_graph=True), *tape.gradients(z, [x, y])):
        assert isinstance(found, tape.Tensor) and found.shape == x.shape
    z.backward(create_graph=True)
    assert isinstance(x.grad, tape.Tensor) and isinstance(y.grad, tape.Tensor)


def test_complex_gradients_follow_the_table():
    z = tensor(np.array([1.0 + 2.0j]), requires_grad=True)
    (found,) = grad(np.sum(np.abs(z) ** 2), z)
    assert found.numpy()[0] == pytest.approx(2 * (1.0 - 2.0j))


# What is kept


def count_of_objects() -> int:
    return sum(type(o).__module__.startswith("autodiff_sct.tape") for o in gc.get_objects() if not isinstance(o, type))


@pytest.mark.parametrize("create_graph", [False, True])
def test_graphs_are_freed_without_the_garbage_collector(create_graph):
    def work():
        x = leaf(6)
        y = np.sin(x) * x
        y[0] = x[1] * 2
        part = y[1:3]
        part *= 2
        u, s, vh = np.linalg.svd(y.reshape(2, 3), full_matrices=False)
        (first,) = grad(np.sum(s) + np.sum(part), x, create_graph=create_graph)
        if create_graph:
            grad(np.sum(first), x)

    work()
    gc.collect()
    gc.disable()
    try:
        before = count_of_objects()
        work()
        assert count_of_objects() == before
    finally:
        gc.enable()


def test_values_that_are_not_read_are_not_kept():
    x = leaf(1000)
    y = x + 1.0
    alive = weakref.ref(y.value)
    z = np.concatenate([y + 2.0, y[::2]]).reshape(2, -1)
    z = np.sum(z, axis=1)
    del y
    assert alive() is None
    backward(np.sum(z))
    assert x.grad.numpy()[:2].tolist() == [2.0, 1.0]


def test_a_pass_back_frees_what_was_saved():
    x = leaf(1000)
    y = np.sin(x) * 2.0
    z = np.exp(y)
    saved = weakref.ref(z.value)
    total = np.sum(z)
    del z
    assert saved() is not None
    backward(total)
    assert saved() is None


def test_a_leaf_that_is_gone_gets_nothing():
    x, gone = leaf(2), leaf(2, seed=1)
    y = np.sum(x * gone)
    del gone
    backward(y)
    assert x.grad is not None


# What it costs


def test_a_chain_of_many_operations():
    x = tensor(1.0, requires_grad=True)
    y = x
    for _ in range(60_000):
        y = y * x
    assert sys.getrecursionlimit() < 10_000
    assert grad(y, x, retain_graph=True)[0].item() == 60_001.0
    del y  # nor does taking it apart recurse


def test_reading_every_element_adds_into_one_buffer():
    n = 4000
    x = tensor(np.ones(n), requires_grad=True)
    total = 0.0
    for k in range(n):
        total = total + x[k] * x[k]
    tracemalloc.start()
    try:
        backward(total)
        assert tracemalloc.get_traced_memory()[1] < 60 * n * 8
    finally:
        tracemalloc.stop()
    assert x.grad.numpy().tolist() == [2.0] * n


def test_writing_every_element_clears_one_buffer():
    n = 4000
    x = tensor(np.ones(n), requires_grad=True)
    y = np.zeros_like(x)
    for k in range(n):
        y[k] = x[k] * 3.0
    total = np.sum(y)
    tracemalloc.start()
    try:
        backward(total)
        assert tracemalloc.get_traced_memory()[1] < 60 * n * 8
    finally:
        tracemalloc.stop()
    assert x.grad.numpy().tolist() == [3.0] * n


def test_the_way_to_other_leaves_is_not_gone():
    x, w = leaf(3), leaf(3, seed=1)
    side = np.exp(w)
    y = np.sum(x * side)
    grad(y, x, retain_graph=False)
    # The values of `side` were not needed for x alone, so they are still there.
    assert grad(np.sum(side), w)[0].shape == (3,)


# Threads


def test_threads_record_and_switch_by_themselves():
    x, found, ready, done = leaf(3), {}, threading.Event(), threading.Event()

    def other():
        ready.wait(10)
        found["requires_grad"] = (x * 2).requires_grad
        (g,) = grad(np.sum(np.sin(x) * x), x)
        found["gradient"] = g.numpy()
        done.set()

    thread = threading.Thread(target=other)
    thread.start()
    with no_grad():
        ready.set()
        assert done.wait(10)
        assert not (x * 2).requires_grad
    thread.join()
    v = x.detach().numpy()
    assert found["requires_grad"]
    np.testing.assert_allclose(found["gradient"], np.cos(v) * v + np.sin(v))


def test_two_passes_over_one_graph_at_once():
    x = leaf(200)
    y = np.sum(np.sin(x) * x)
    found: list[Any] = []

    def go() -> None:
        for _ in range(20):
            found.append(grad(y, x, retain_graph=True)[0].numpy())

    threads = [threading.Thread(target=go) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 80 and all(np.array_equal(g, found[0]) for g in found)


# Beside the compiler


def test_no_compiled_gradient_inside_no_grad():
    for make in (ad.grad, ad.value_and_grad):
        with no_grad(), pytest.raises(RuntimeError, match="no_grad"):
            make(lambda x: x)
        with no_grad(), tape.enable_grad():
            make(lambda x: x)


@pytest.mark.parametrize(
    "use",
    [
        lambda t: ad.grad(lambda x: np.sum(x * x))(t),
        lambda t: ad.grad(lambda x: np.sum(x * t))(np.ones(3)),
        lambda t: ad.grad(lambda p: np.sum(p[0] * p[1]))((t, t)),
        lambda t: ad.vjp(lambda x: x * x, t),
        lambda t: ad.jvp(lambda x: x * x, t, t),
        lambda t: ad.jacrev(lambda x: x * x)(t),
        lambda t: ad.grad(lambda x: tape.grad(np.sum(tensor(x, True) ** 2), x)[0])(np.ones(3)),
    ],
)
def test_compiled_gradients_refuse_tensors_of_the_tape(use):
    with pytest.raises(AutodiffError):
        use(leaf(3))


def test_the_compiler_takes_what_has_left_the_tape():
    x = leaf(3)
    found = ad.grad(lambda v: np.sum(v * v))(x.detach().numpy())
    np.testing.assert_array_equal(found, grad(np.sum(x * x), x)[0].numpy())


def test_stop_gradient_detaches():
    x = leaf(3)
    (found,) = grad(np.sum(x * ad.stop_gradient(x)), x)
    np.testing.assert_array_equal(found.numpy(), x.detach().numpy())
    first, second = ad.stop_gradient((x, 2.0))
    assert not first.requires_grad and second == 2.0


def test_the_package_does_not_read_the_tape_before_it_is_used():
    text = "import sys, autodiff_sct as ad; assert 'autodiff_sct.tape' not in sys.modules; ad.tape.tensor(1.0)"
    subprocess.run([sys.executable, "-c", text], check=True, timeout=120)


def test_gradients_that_are_tensors_share_no_memory():
    x, y = (tape.tensor(np.ones(3), requires_grad=True) for _ in range(2))
    for a, b in (tape.grad((x + y).sum(), [x, y], create_graph=True), tape.gradients(x + y, [x, y])):
        a *= 2
        np.testing.assert_array_equal(b.value, np.ones(3))
