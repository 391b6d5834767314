"""What the forward sweep has computed is read by the reverse sweep, where it is still there and nothing else."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import check_gradient, differences, names, registrar

pytestmark = pytest.mark.once

CASES = []
case = registrar(CASES)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(5, 4))
V = np.array([0.3, -0.8, 1.2, 0.5])


@case((X, V))
def batch_norm(x, gain):
    return np.sum((gain * (x - np.mean(x, axis=0)) / np.sqrt(np.var(x, axis=0) + 0.1)) ** 3)


@case((X, V))
def layer_norm(x, gain):
    mean, var = np.mean(x, axis=-1, keepdims=True), np.var(x, axis=-1, keepdims=True)
    return np.sum((gain * (x - mean) / np.sqrt(var + 0.1)) ** 3)


@case((X, V))
def batch_norm_by_methods(x, gain):
    return np.sum((gain * (x - x.mean(axis=0)) / np.sqrt(x.var(0) + 0.1)) ** 3)


@case(X)
def standard_deviation(x):
    return np.sum(np.tanh(x - np.mean(x, axis=0)) / np.std(x, axis=0))


@case(V)
def another_centre(x):
    return np.sum((x - np.mean(x)) ** 3) * np.var(x) + np.sum((x - np.max(x)) * x)


@case(V)
def twice(x):
    return np.sum(np.sin(x) * np.cos(x)) * np.sum(np.cos(x) + np.exp(np.sin(x)))


@case(V)
def negated(x):
    return np.sum(np.exp(np.sin(x) * np.cos(x) - 0.5 * x * x))


@case(V)
def written_after(x):
    a = x * x
    s = np.sin(a)
    a[1] = 2.0 * x[0]
    return np.sum(s * np.cos(a) + np.sin(a) * x)


@case(V)
def written_value(x):
    s = np.cos(x)
    t = np.sin(x) * s
    s[0] = 3.0
    return np.sum(t * s)


@case(V)
def augmented_value(x):
    s = np.cos(x)
    t = np.sin(x) * s
    s *= x
    s += t
    return np.sum(t * s * s)


@case(V)
def of_a_view(x):
    s = np.cos(x)
    first = s[:2]
    t = np.sum(np.sin(x) * s)
    first *= 2.0
    return t * np.sum(s * s)


@case((V, 1.0))
@case((V, -1.0))
def in_a_branch(x, c):
    if c > 0:
        y = np.cos(x) * x
    else:
        y = np.exp(x)
    return np.sum(np.sin(x) * y)


@case((V, 0))
@case((V, 3))
def in_a_loop(x, n):
    y = x
    for _ in range(n):
        y = np.sin(y) * np.cos(x) + np.cos(y)
    return np.sum(np.sin(x) * y)


@case(V)
def before_a_loop(x):
    c, y = np.cos(x), x
    for _ in range(3):
        y = np.sin(x) * y + c
    return np.sum(y * c)


@case(V)
def stopped_early(x):
    c = np.cos(x)
    for k in range(4):
        if k == 2:
            return np.sum(np.sin(x) * c * k)
        x = x * c
    return np.sum(x)


@case((V, V[:1].copy()))
def broadcast(x, y):
    return np.sum(np.sin(x * y) * np.cos(x * y) + np.cos(y) * np.sin(y))


@case(V)
def tried(x):
    try:
        c = np.cos(x)
        if x[0] > 0:
            raise ValueError
    except ValueError:
        c = x * x
    return np.sum(np.sin(x) * c)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradient(fn, args):
    check_gradient(fn, args)
    wrt = tuple(k for k, arg in enumerate(args) if isinstance(arg, np.ndarray))
    found = ad.grad(fn, wrt)(*args)
    with pass_registry.without("gvn"):
        expected = ad.grad(lambda *a: fn(*a), wrt)(*args)
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_second_derivative(fn, args):
    def slope(x):
        return np.sum(ad.grad(fn)(x, *args[1:]) * np.cos(x))

    check_gradient(slope, (args[0],))


@pytest.mark.parametrize("fn", [batch_norm, layer_norm])
def test_single_precision(fn):
    x, gain = X.astype(np.float32), V.astype(np.float32)
    for a, b in zip(ad.grad(fn, (0, 1))(x, gain), ad.grad(fn, (0, 1))(X, V)):
        assert a.dtype == np.float32
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=1e-4)


def test_results_share_nothing():
    def both(x):
        t = np.sin(x)
        return np.sum(t * t), t

    (_, aux), gradient = ad.value_and_grad(both, has_aux=True)(V)
    assert not np.shares_memory(aux, gradient)

    def inner(x):
        return ad.grad(lambda a, b: np.sum(a * np.sin(b)), (0, 1))(x, x)

    first, second = inner(V)
    assert not np.shares_memory(first, second)
    np.testing.assert_array_equal(first, np.sin(V))


def code(fn, *args):
    """The emitted text without the user's lines."""
    lines = ad.adjoint_source(fn, *args).splitlines()
    return "\n".join(line for line in lines if not line.strip().startswith("#"))


def test_what_the_text_says():
    for fn in (batch_norm, layer_norm):
        text = code(fn, X, V)
        assert text.count("np.mean") == 1 and text.count("x - ") == 1
    assert code(twice, V).count("np.cos(x)") == 1
    with pass_registry.without("gvn"):
        assert code(lambda x: twice(x), V).count("np.cos(x)") > 1


def soft_threshold(x, gain):
    """A proximal gradient step: the sign is that of the magnitude's derivative, too."""
    a = x.T @ x
    w = gain
    for _ in range(3):
        w = w - 0.1 * (a @ w - gain)
        w = np.sign(w) * np.maximum(np.abs(w) - 0.05, 0.0)
    return np.sum(w**2)


@pytest.mark.parametrize("steps", [0, 1, 4])
def test_in_a_loop(steps):
    """A step of the reverse sweep reads what is saved of the same step, and nothing more is saved for that."""
    check_gradient(soft_threshold, (X, V))
    assert code(soft_threshold, X, V).count("np.sign(") == 1
    check_gradient(in_one_path, (V, steps))
    assert code(in_one_path, V, 4).count("np.cos(") == 3


def in_one_path(x, steps):
    """The cosine of a branch is not there for the sine outside it."""
    total = 0.0
    for k in range(steps):
        if x[k] > 0.4:
            total = total + np.sum(np.cos(x) * x)
        x = np.sin(x) * np.cos(x * k)
    return total + np.sum(x)


def likelihood(f, r, z):
    """One inverse a step: for the gain, the distance and the derivative of the determinant."""
    p, total = np.eye(3), 0.0
    for row in z:
        s = f @ p @ f.T + r
        gain = p @ np.linalg.inv(s)
        total = total + np.log(np.linalg.det(s)) + row @ np.linalg.inv(s) @ row
        p = p - 0.3 * gain @ p
    return total


def in_one_branch(f, r, z):
    s = f @ f.T + r
    if z[0, 0] > 0:
        return np.log(np.linalg.det(s)) + np.sum(np.linalg.inv(s) ** 2)
    return np.log(np.linalg.det(s)) * 2


def overwritten_matrix(f, r, z):
    s = f @ f.T + r
    a = np.linalg.inv(s)
    s[0, 0] = s[0, 0] + 1.0
    return np.sum(a * a) + np.log(np.linalg.det(s)) + np.sum(np.linalg.inv(s))


MATRIX = np.eye(3) * 0.8 + np.arange(9.0).reshape(3, 3) / 40
ARGS = (MATRIX, np.eye(3) * 0.7, np.array([[0.3, -0.2, 0.9], [1.1, 0.4, -0.6]]))


@pytest.mark.parametrize("fn", [likelihood, in_one_branch, overwritten_matrix])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_inverses(fn, sign):
    args = (*ARGS[:2], sign * ARGS[2])
    for k in range(2):
        np.testing.assert_allclose(ad.grad(fn, k)(*args), differences(fn, args, k), rtol=1e-6, atol=1e-8)
        assert ad.value_and_grad(fn, k)(*args)[0] == fn(*args)
