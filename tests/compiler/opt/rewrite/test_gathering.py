"""Products that a loop adds up are one product for many steps: gradients, and the sums that stay as they are."""

import tracemalloc

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import differences

pytestmark = pytest.mark.once

RNG = np.random.default_rng(0)
W, U, B = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 2)), RNG.normal(size=3)
V = RNG.normal(size=2)
XS = RNG.normal(size=(5, 2))
BATCHES = RNG.normal(size=(5, 4, 2))


def cell(w, u, b, xs):
    h = np.zeros(3)
    for i in range(len(xs)):
        h = np.tanh(w @ h + u @ xs[i] + b)
    return np.sum(h * h)


def batched_cell(w, u, b, xs):
    h = np.zeros((4, 3))
    for x in xs:
        h = np.tanh(h @ w.T + x @ u.T + b)
    return np.sum(h * h)


def weights_on_the_right(w, u, b, xs):
    h = np.ones((4, 3))
    for i in range(len(xs)):
        h = np.sin(h @ w + (u @ xs[i].T).T) * 0.5
    return np.sum(h) + np.sum(b)


def every_second_sample(w, u, b, xs):
    h = np.zeros(3)
    for i in range(0, len(xs), 2):
        h = np.tanh(w @ h + u @ xs[i] + b)
    return np.sum(h * h)


def until_small(w, u, b, xs):
    h, k = np.ones(3), 0
    while np.sum(h * h) > 0.01 and k < 4:
        h = np.tanh(0.3 * (w @ h) + u @ xs[k] + b)
        k += 1
    return np.sum(h * h)


def twice_in_a_step(w, u, b, xs):
    h = np.zeros(3)
    for x in xs:
        h = np.tanh(w @ np.tanh(w @ h + u @ x) + b)
    return np.sum(h)


def epochs(w, u, b, xs):
    total = 0.0
    for _ in range(2):
        h = np.ones(3)
        for x in xs:
            h = np.tanh(w @ h + u @ x + b)
        total = total + np.sum(h) * np.sum(w)
    return total


def in_a_branch(w, u, b, xs):
    h = np.ones(3)
    for i in range(len(xs)):
        if i % 2 == 0:
            h = np.tanh(w @ h + b)
        else:
            h = np.tanh(u @ xs[i] * h)
    return np.sum(h)


def decaying(w, u, b, xs):
    h, total = np.ones(3), 0.0
    for x in xs:
        h = h * 0.9 + u @ x
        h = np.tanh(h * b) * 0.5 + w @ h
        total = total + np.sum(h**3)
    return total


def states_in_an_array(w, u, b, xs):
    h = np.zeros((len(xs) + 1, 3))
    for i in range(len(xs)):
        h[i + 1] = np.tanh(w @ h[i] + u @ xs[i] + b)
    return np.sum(h**2)


def samples_overwritten(w, u, b, xs):
    xs = xs.copy()
    h = np.zeros(3)
    for i in range(len(xs)):
        h = np.tanh(w @ h + u @ xs[i] + b)
        xs[i] = 0.5 * xs[i] ** 2
    return np.sum(h) + np.sum(xs)


def one_buffer(w, u, b, xs):
    h, z = np.zeros(3), np.empty(3)
    for x in xs:
        z[:] = w @ h + u @ x
        z += b
        h = np.tanh(z)
    return np.sum(h * z)


def ragged(w, u, b, xs):
    total = 0.0
    for i in range(len(xs)):
        z = np.tanh(xs[: i + 1] @ u.T + b)
        total = total + np.sum(z @ w)
    return total


def weights_change(w, u, b, xs):
    h = np.ones(3)
    for x in xs:
        h = np.tanh(w @ h + u @ x + b)
        w = w * 0.9
    return np.sum(h)


def sums_of_rows(w, u, b, xs):
    h = np.ones((4, 3))
    for x in xs:
        h = np.tanh(h * b + x @ u.T) @ w
    return np.sum(h)


def residuals(w, u, b, xs):
    loss = 0.0
    for i in range(len(xs)):
        r = np.dot(w[0, :2], xs[i]) - b[0] * np.sum(xs[i] ** 2)
        loss += r**2 * np.exp(-r) + np.sum(u) - np.sum(w * b)
    return loss


def residuals_of_overwritten_rows(w, u, b, xs):
    loss, row, weights = 0.0, xs[0].copy(), u[0] * 1.0
    for i in range(len(xs)):
        row[:] = xs[i] * b[0]
        r = np.dot(weights, row) - b[1]
        loss += r**3
        weights = weights + 0.1 * r * np.sin(row)
    return loss + np.sum(w)


def solved(w, u, b, xs):
    left = np.eye(3) * 4 + w
    h = b
    for _ in range(len(xs)):
        h = np.linalg.solve(left, h - u @ xs[0])
    return np.sum(h * h)


def quadratic_cost(w, u, b, xs):
    h, cost = b, 0.0
    for i in range(len(xs)):
        cost += h @ w @ h + xs[i] @ xs[i]
        h = w @ h + u @ xs[i]
    return cost + h @ h


def partly_kept(w, u, b, xs):
    h, total = b, 0.0
    for x in xs:
        h = 0.9 * (w @ h) + 0.1 * h + u @ x
        total += np.sum(h * h)
    return total


def small_steps(w, u, b, xs):
    h = b * 1.0
    for x in xs:
        h = h + 0.1 * (w @ h + u @ x)
    return np.sum(h**3)


def two_states(w, u, b, xs):
    p, q, total = b, b * b, 0.0
    for x in xs:
        p, q = q - 0.1 * (w @ p), p + 0.1 * (w @ q) + u @ x
        total += p @ q
    return total + np.sum(p) * np.sum(q)


def in_place(w, u, b, xs):
    h, total = b.copy(), 0.0
    for x in xs:
        h[:] = w @ h + u @ x
        h *= b
        total += h @ h
    return total


ONE = [cell, quadratic_cost, partly_kept, small_steps, two_states, in_place, every_second_sample, until_small,
       twice_in_a_step, epochs, in_a_branch, decaying, states_in_an_array, samples_overwritten, one_buffer, ragged,
       weights_change, residuals, residuals_of_overwritten_rows, solved]  # fmt: skip
MANY = [batched_cell, weights_on_the_right, sums_of_rows]
CASES = [pytest.param(f, (W, U, B, xs), id=f.__name__) for fs, xs in ((ONE, XS), (MANY, BATCHES)) for f in fs]


@pytest.mark.parametrize(("fn", "args"), CASES)
def test_gradient(fn, args):
    value, found = ad.value_and_grad(fn, grad_position=(0, 1, 2, 3))(*args)
    assert value == fn(*args)
    with pass_registry.without("batch_rank1_updates"):
        plain = ad.grad(fn, grad_position=(0, 1, 2, 3))(*args)
    for k, (one, other) in enumerate(zip(found, plain)):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(one, differences(fn, args, k), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("fn", "args"), CASES)
def test_single_precision(fn, args):
    single = [a.astype(np.float32) for a in args]
    found = ad.grad(fn, grad_position=(0, 1, 2))(*single)
    assert [d.dtype for d in found] == [np.float32] * 3
    for one, other in zip(found, ad.grad(fn, grad_position=(0, 1, 2))(*args)):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("fn", [cell, every_second_sample, twice_in_a_step, samples_overwritten])
def test_no_step(fn):
    found = ad.grad(fn, grad_position=(0, 1, 2))(W, U, B, XS[:0])
    assert [d.shape for d in found] == [W.shape, U.shape, B.shape] and not any(d.any() for d in found)


@pytest.mark.parametrize(("fn", "args"), CASES[:3] + CASES[-3:])
def test_differentiated_again(fn, args):
    def slope(w):
        return np.sum(ad.grad(fn)(w, *args[1:]) * np.cos(w))

    np.testing.assert_allclose(ad.grad(slope)(W), differences(slope, (W,)), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("fn", [cell, twice_in_a_step, one_buffer])
def test_gathered(fn):
    text = ad.adjoint_source(fn, W, U, B, XS, grad_position=(0, 1, 2))
    loop, added = text.split("for ")[2].split("if len(all_")
    assert "d_w +=" not in loop and "d_w +=" in added


def regression(v, xs):
    loss = 0.0
    for i in range(len(xs)):
        r = np.dot(v, xs[i]) - np.sum(xs[i])
        loss += r**2
    return loss


def test_numbers_are_gathered():
    for rows, position in ((XS, 0), (XS[:1], 0), (XS[:0], 0)):
        found = ad.grad(regression)(V, rows)
        np.testing.assert_allclose(found, differences(regression, (V, rows), position), rtol=1e-5, atol=1e-8)
    assert "@ xs[i:i + len(all_d_r)][::-1]" in ad.adjoint_source(regression, V, XS)
    assert "np.outer" not in ad.adjoint_source(solved, W, U, B, XS)


def from_the_third(w, u, b, xs):
    h = np.zeros(3)
    for i in range(2, len(xs)):
        h = np.tanh(w @ h + u @ xs[i] + b)
    return np.sum(h * h)


def from_the_end(w, u, b, xs):
    h = np.zeros(3)
    for i in range(len(xs) - 1, -1, -1):
        h = np.tanh(w @ h + u @ xs[i] + b)
    return np.sum(h * h)


def to_the_end_of_the_first_half(w, u, b, xs):
    h = np.zeros(3)
    for i, x in enumerate(xs):
        if 2 * i > len(xs):
            break
        h = np.tanh(w @ h + u @ x + b)
    return np.sum(h * h)


def shorter_and_shorter(w, u, b, xs):
    total = 0.0
    for first in range(0, len(xs), 20):
        h = np.ones(3)
        for i in range(first, len(xs)):
            h = np.tanh(w @ h + u @ xs[i] + b)
        total = total + np.sum(h)
    return total


def half_of_it_gathered(w, u, b, xs):
    h = np.zeros(3)
    for x in xs:
        h = np.tanh(w @ h + u @ x + b + w[0] * h[1])
    return np.sum(h * h)


SEVERAL = [f for f in ONE if f is not ragged]
SEVERAL += [from_the_third, from_the_end, to_the_end_of_the_first_half, shorter_and_shorter, half_of_it_gathered]


@pytest.mark.parametrize("steps", [1, 3, 31, 32, 33, 65])
@pytest.mark.parametrize("fn", SEVERAL)
def test_many_steps(fn, steps):
    args = (W, U, B, np.random.default_rng(1).normal(size=(steps, 2)))
    found = ad.grad(fn, grad_position=(0, 1, 2, 3))(*args) if steps > 3 or fn is not until_small else ()
    with pass_registry.without("batch_rank1_updates"):
        plain = ad.grad(fn, grad_position=(0, 1, 2, 3))(*args) if found else ()
    for one, other in zip(found, plain):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("fn", MANY)
def test_products_of_matrices_are_added_one_by_one(fn):
    assert ".append(d_" not in ad.adjoint_source(fn, W, U, B, BATCHES, grad_position=(0, 1, 2))


@pytest.mark.parametrize("steps", [15, 40])
@pytest.mark.parametrize("fn", MANY)
def test_many_steps_of_matrices(fn, steps):
    args = (W, U, B, np.random.default_rng(1).normal(size=(steps, 4, 2)))
    with pass_registry.without("batch_rank1_updates"):
        plain = ad.grad(fn, grad_position=(0, 1, 2))(*args)
    for one, other in zip(ad.grad(fn, grad_position=(0, 1, 2))(*args), plain):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)


def wide_cell(w, u, b, xs):
    h = np.zeros(len(b))
    for i in range(len(xs)):
        h = np.tanh(w @ h + u @ xs[i] + b)
    return np.sum(h * h)


def test_memory_of_many_steps():
    gradient, peaks = ad.grad(wide_cell, grad_position=(0, 1, 2)), []
    for steps in (50, 500, 1000):
        args = (np.eye(200), np.ones((200, 2)), np.ones(200), np.ones((steps, 2)))
        gradient(*args)
        tracemalloc.start()
        gradient(*args)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] - peaks[1] < 1.2 * 500 * (200 * 8 + 130)  # a state a step


def nothing_is_kept(w, x):
    total = 0.0
    for i in range(len(x)):
        total = total + V @ (w @ x[i])
    return total


def reads_its_sum(w, x):
    h = x[0]
    for i in range(len(x)):
        w = w + np.outer(h, x[i])
        h = np.tanh(w @ x[i])
    return np.sum(h)


@pytest.mark.parametrize("fn", [nothing_is_kept, reads_its_sum])
def test_left_as_it_is(fn):
    w, x = W[:2, :2], XS
    assert "all_" not in ad.adjoint_source(fn, w, x)
    np.testing.assert_allclose(ad.grad(fn)(w, x), differences(fn, (w, x)), rtol=1e-5, atol=1e-7)


def test_pullback_may_be_called_again():
    _, pull = ad.vjp(cell, W, U, B, XS)
    for one, other in zip(pull(1.0), pull(1.0)):
        np.testing.assert_array_equal(one, other)


def test_factor_in_a_list_whose_memory_is_put_back():
    """What is kept for a product is not what the step before it had."""

    def program(x):
        p, q = np.exp(-x), x * x
        kept = [q]
        b = p * 0.5
        for _ in range(2):
            q += b.mean(axis=1, keepdims=True)
            p = 0.5 * ((kept[0] @ x.T) @ x * 0.1 * b)
        return np.sum(p * q)

    x = np.cos(np.arange(12.0)).reshape(3, 4)
    np.testing.assert_allclose(ad.grad(program)(x), differences(program, (x,)), rtol=1e-5, atol=1e-8)
