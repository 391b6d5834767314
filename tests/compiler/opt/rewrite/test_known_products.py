"""Products and quotients that the forward sweep has, and softmaxes."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import differences

pytestmark = pytest.mark.once

RNG = np.random.default_rng(5)
A, B = RNG.uniform(0.5, 1.5, size=(3, 4)), RNG.normal(size=(3, 4))


def paths(rate, noise):
    price, total = np.ones(noise.shape[1]), np.zeros(noise.shape[1])
    for t in range(len(noise)):
        price = price * np.exp(rate[0] + rate[1] * noise[t])
        total = total + price**2
    return np.sum(total)


def scaled_exponential(x, w):
    return np.sum(np.sin(w * np.exp(-(x**2))) + w * np.exp(-(x**2)))


def scaled_powers(x, w):
    return np.sum(w * x**-1.5) + np.sum(w * (x**-2 + x**-1) * x)


def power_of_zero(x, w):
    return np.sum(np.where(x > 10, 0.0, x * w) ** -2)


def quotient(x, w):
    e = np.exp(x)
    return np.sum(np.sin(e / w)) + np.sum(w / e)


def narrow_factor(x, w):
    return np.sum(np.cos(w[:1] * np.exp(x[:, :1]) * w)) + np.sum(x[:, :1] * np.exp(w))


def overwritten(x, w):
    e = np.exp(x)
    y = w * e
    y[0] = x[-1]
    e *= 2.0
    return np.sum(y * y) + np.sum(e * w)


def overwritten_factor(x, w):
    u = x * 1.0
    y = u * np.exp(x)
    u[0] = 0.0
    return np.sum(y * u)


def either_way(x, w):
    total = 0.0
    for k in range(len(x)):
        row = w[k] * np.exp(x[k])
        if k % 2:
            row = row * np.exp(row * 0.1)
        total = total + np.sum(row * x[0])
    return total


def none_at_all(x, w):
    y = x
    for _ in range(len(x) - len(w)):
        y = y * np.exp(x)
    return np.sum(y)


def softmax_rows(x, w):
    p = np.exp(x - np.max(x, axis=-1, keepdims=True))
    p = p / np.sum(p, axis=-1, keepdims=True)
    return np.sum(p * w * p)


def softmax_columns(x, w):
    e = np.exp(x)
    return np.sum(e / np.sum(e, axis=0) * w)


def softmax_of_all(x, w):
    e = np.exp(x * w)
    return np.sum((e / np.sum(e)) ** 2)


def softmax_read_again(x, w):
    e = np.exp(x)
    p = e / np.sum(e, axis=1, keepdims=True)
    return np.sum(p * w) + np.sum(e * p)


def other_sum(x, w):
    e = np.exp(x)
    return np.sum(e / np.sum(w * e, axis=1, keepdims=True) * w) + np.sum(e / np.sum(e, axis=0, keepdims=True) * w)


def softmax_in_a_loop(x, w):
    state = x[0]
    for k in range(len(w)):
        e = np.exp(state * w[k])
        state = e / np.sum(e) + x[k]
    return np.sum(state**2)


def normalised_then_overwritten(x, w):
    e = np.exp(x)
    p = e / np.sum(e, axis=1, keepdims=True)
    y = np.sum(p * w)
    e[:] = 0.0
    return y + np.sum(e)


PROGRAMS = [
    scaled_exponential, scaled_powers, power_of_zero, quotient, narrow_factor, overwritten, overwritten_factor,
    either_way, none_at_all, softmax_rows, softmax_columns, softmax_of_all, softmax_read_again, other_sum,
    softmax_in_a_loop, normalised_then_overwritten,
]  # fmt: skip
OTHERS = [(A, B), (A[:1], B[:1]), (A[:, :1], B[:, :1])]


@pytest.mark.parametrize("args", OTHERS, ids=["matrices", "row", "column"])
@pytest.mark.parametrize("fn", PROGRAMS)
def test_gradient(fn, args):
    found = ad.grad(fn, grad_position=(0, 1))(*args)
    value, again = ad.value_and_grad(fn, grad_position=(0, 1))(*args)
    assert value == fn(*args)
    with pass_registry.without("reuse_products", "softmax_vjp"):
        plain = ad.grad(fn, grad_position=(0, 1))(*args)
    for k in (0, 1):
        assert found[k].shape == args[k].shape
        np.testing.assert_allclose(found[k], plain[k], rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(found[k], again[k], rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(found[k], differences(fn, args, k), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("fn", PROGRAMS)
def test_single_precision(fn):
    single = A.astype(np.float32), B.astype(np.float32)
    found, wide = ad.grad(fn)(*single), ad.grad(fn)(A, B)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wide, rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("fn", PROGRAMS)
def test_differentiated_again(fn):
    def slope(x):
        return np.sum(ad.grad(fn)(x, B) * np.cos(x))

    np.testing.assert_allclose(ad.grad(slope)(A), differences(slope, (A,)), rtol=2e-4, atol=1e-4)


def code(fn, *args, **options):
    lines = ad.adjoint_source(fn, *args, **options).splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("#"))


def test_only_the_product_is_saved():
    text = code(paths, np.array([0.1, 0.2]), B)
    assert text.count("saved_price[t] =") == 1 and "exp_t" in text
    assert "price = saved_price[t] = price *" in text
    rate = np.array([0.1, 0.2])
    np.testing.assert_allclose(ad.grad(paths)(rate, B), differences(paths, (rate, B)), rtol=1e-5)


def test_negative_power_is_not_computed_again():
    assert "** -2.5" not in code(scaled_powers, A, B) and "1.5" in code(scaled_powers, A, B)
    with np.errstate(divide="ignore"):
        found = ad.grad(lambda x: np.sum(x**-1.5))(np.array([0.0, 1.0, np.inf]))
    np.testing.assert_array_equal(found, [-np.inf, -1.5, 0.0])


def test_softmax_is_recognised():
    text = code(softmax_columns, A, B)
    assert text.count("/") == 1 and 'np.einsum("ij,ij->j", d_e, t)' in text
    assert code(softmax_of_all, A, B).count("/") == 1
    assert code(softmax_read_again, A, B).count("/") > 1


def product_of_one_branch(x, w, c):
    a, b, s = np.exp(x), np.cos(x), 0.0
    if c > 0:
        s = np.sum((q := a * b) * q * w)
    return s + np.sum((w * a * b) ** 2)


def product_of_a_loop(x, w, n):
    a, b, s = np.exp(x), np.cos(x), 0.0
    for _ in range(n):
        q = a * b
        s = s + np.sum(q * q * w)
    return s + np.sum((w * a * b) ** 2)


def product_of_one_step(x, w, step):
    s = 0.0
    for i in range(3):
        a, b = np.exp(x * i), np.cos(x + i)
        if i == step:
            q = a * b
            s = s + np.sum(q * q * w)
        s = s + np.sum((w * a * b) ** 2)
    return s


@pytest.mark.parametrize("choice", [-1, 0, 1, 2])
@pytest.mark.parametrize("fn", [product_of_one_branch, product_of_a_loop, product_of_one_step])
def test_a_product_is_known_on_its_own_path(fn, choice):
    n = max(choice, 0) if fn is product_of_a_loop else choice
    found = ad.grad(fn, 1)(A, B, n)
    np.testing.assert_allclose(found, differences(fn, (A, B, n), 1), rtol=1e-5, atol=1e-6)
