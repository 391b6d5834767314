"""Gradients of functions of dask arrays: graphs made without computing anything, of the same numbers as NumPy's."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import ArgumentTypeError, NotDifferentiable, Refused

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.once
X = np.random.default_rng(0).uniform(0.2, 1.0, size=(7, 4))
W = np.linspace(-1, 1, 4)
CHUNKS = ((3, 2), (7, 4), (1, 4), ((1, 4, 2), (3, 1)))


def elementwise(x):
    return np.sum(np.exp(-(x**2)) * np.tanh(x) / (1 + np.abs(x)) + np.where(x > 0.5, x, x**3))


def reductions(x):
    c = x - x.mean(axis=0)
    return np.sum(c.sum(axis=1) ** 2) + np.var(x) + np.max(x) + np.prod(x[0]) + np.linalg.norm(x)


def products(x):
    return np.sum((x.T @ x) ** 2) + np.sum(np.sin(x @ W)) + np.vdot(x, x) + np.sum(np.outer(x[:, 0], x[1]) ** 2)


def moved(x):
    y = np.moveaxis(x.T.reshape(2, 2, 7), 0, 1)
    return np.sum(np.swapaxes(y, 0, 2)[::2] ** 3) + np.sum(x[:, None] * x[None, ::-1]) + x[2, 1] * x[-1, 0]


def joined(x):
    return np.sum(np.concatenate([x, x**2]) ** 2) + np.sum(np.stack([x[0], x[1]]) * W) + np.sum(np.diff(x, axis=0) ** 3)


def rolled(u):
    for _ in range(4):
        u = u + 0.1 * (np.roll(u, 1, axis=0) - 2 * u + np.roll(u, -1, axis=0)) * np.sin(u)
    return np.mean(u**2)


def stencil(u):
    u = u.copy()
    for _ in range(3):
        u[1:-1] += 0.1 * (u[:-2] - 2 * u[1:-1] + u[2:])
        u[0] = u[1] * u[0]
    return np.sum(u**2)


def through_views(x):
    """What is written through a view, or through what it is a view of, is seen by the other."""
    y = x.copy()
    turned, first = y.T, y[0]
    turned[1] *= turned[0]
    y[0] = y[1] ** 2
    first *= 3.0
    flat = y.reshape(-1)
    flat[2:5] = flat[3:6] * flat[2:5]
    total = 0.0
    for k in range(3):
        kept = total
        total += turned[k, 0] * first[k] + kept * 0.5
    return total + np.sum(y**2)


def filled(x):
    out = np.zeros((7, 4))
    out[1:] = x[:-1] * x[1:]
    out[0] = np.full(4, 2.0) * x[0]
    return np.sum(out**2)


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return -np.mean(np.log((e / e.sum(axis=1, keepdims=True))[:, 0]))


def singular(x):
    """The slope of the logarithm is infinite where the branch is not taken."""
    z = x - x[0, 0]
    return np.sum(np.where(z != 0, z * np.log(np.maximum(np.abs(z), 1e-3)), 0.0)) + np.sum(
        np.sqrt(np.maximum(z, 0)) ** 2
    )


FUNCTIONS = (
    *(elementwise, reductions, products, moved, joined, rolled, stencil, through_views, filled, softmax, singular),
)


@pytest.fixture
def nothing_is_computed():
    def scheduler(*args, **kwargs):
        raise AssertionError("something is computed")

    with dask.config.set(scheduler=scheduler):
        yield


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradient(f, nothing_is_computed):
    expected = ad.value_and_grad(f)(X)
    g = ad.value_and_grad(f)
    for chunks in CHUNKS:
        x = da.from_array(X, chunks=chunks)
        value, gradient = g(x)
        assert isinstance(gradient, da.Array) and gradient.chunks == x.chunks and gradient.dtype == x.dtype
        with dask.config.set(scheduler="synchronous"):
            np.testing.assert_allclose(value.compute(), expected[0], rtol=1e-13)
            np.testing.assert_allclose(gradient.compute(), expected[1], rtol=1e-12, atol=1e-14)
            assert np.array_equal(x.compute(), X)


def loss(w, x, y=0.0):
    return np.mean((np.tanh(x @ w["slope"]) + w["offset"] - y) ** 2)


def test_containers_keywords_and_plain_arrays(nothing_is_computed):
    w = {"slope": W.copy(), "offset": 0.5}
    expected = ad.grad(loss, (0, 1))(w, X, y=X[:, 0])
    x = da.from_array(X, chunks=(3, 4))
    found = ad.grad(loss, (0, 1))(w, x, y=x[:, 0])
    w["slope"] += 1.0  # the graph has what it was
    with dask.config.set(scheduler="synchronous"):
        found, *_ = dask.compute(found)
    np.testing.assert_allclose(found[0]["slope"], expected[0]["slope"], rtol=1e-13)
    np.testing.assert_allclose(found[0]["offset"], expected[0]["offset"], rtol=1e-13)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-13)


def test_float32_and_complex():
    for dtype in (np.float32, np.complex128):
        x = da.from_array(X.astype(dtype), chunks=(2, 2))
        value, gradient = ad.value_and_grad(lambda x: np.sum(np.abs(x * (1 + x)) ** 2))(x)
        expected = ad.value_and_grad(lambda x: np.sum(np.abs(x * (1 + x)) ** 2))(x.compute())
        assert (value.dtype, gradient.dtype) == (expected[0].dtype, dtype)
        np.testing.assert_allclose(gradient.compute(), expected[1], rtol=1e-5)


@pytest.mark.parametrize("settings", [{"memory": "1 MB"}, {"backend": "numba"}], ids=["memory", "numba"])
def test_settings_of_programs(settings):
    if "backend" in settings:
        pytest.importorskip("numba")
    g, expected = ad.grad(stencil, **settings), ad.grad(stencil)(X)
    np.testing.assert_allclose(g(da.from_array(X, chunks=(2, 2))).compute(), expected, rtol=1e-12)
    np.testing.assert_allclose(g(X), expected, rtol=1e-12)


def test_other_settings():
    x = da.from_array(X, chunks=(2, 2))
    gradient, (aux,) = ad.grad(lambda x: (np.sum(x**2), x * 2), has_aux=True)(x)
    assert np.array_equal(gradient.compute(), 2 * X) and np.array_equal(aux.compute(), 2 * X)
    twice = ad.grad(lambda x: np.sum(ad.grad(lambda z: np.sum(z**3))(x) ** 2))(x)
    np.testing.assert_allclose(twice.compute(), 36 * X**3, rtol=1e-13)


def test_rows_that_are_only_read_have_their_own_graph(nothing_is_computed):
    """Memory does not grow with the array: the gradient of a chunk reads that chunk."""
    x = da.zeros((10**12, 4), chunks=(10**10, 4))
    value, gradient = ad.value_and_grad(lambda x: np.sum(np.sin(x)))(x)
    assert gradient.shape == x.shape and gradient.chunks == x.chunks


# -- refused


def changes_its_argument(x):
    x[0] = 1.0
    return np.sum(x)


def prints(x):
    print("here")
    return np.sum(x)


REFUSED = {
    "a branch or a loop": lambda x: np.sum(x) if np.sum(x) > 0 else 0.0,
    "an index or a mask": lambda x: np.sum(x[x > 0.5]),
    "np.sort has no lazy form": lambda x: np.sum(np.sort(x, axis=0)[0]),
    "np.det has no lazy form": lambda x: np.linalg.det(x[:4]),
    "may only compute(.|\n)*x.copy": changes_its_argument,
    "it prints": prints,
}


@pytest.mark.parametrize("said", REFUSED)
def test_refused(said, nothing_is_computed):
    with pytest.raises(ArgumentTypeError, match=said):
        ad.grad(REFUSED[said])(da.from_array(X, chunks=(2, 2)))


GLOBAL = da.from_array(X, chunks=(2, 2))


@pytest.mark.parametrize(
    "call",
    [
        lambda: ad.vjp(elementwise, GLOBAL),
        lambda: ad.jacfwd(elementwise)(GLOBAL),
        lambda: ad.hessian(elementwise)(GLOBAL),
        lambda: ad.grad(lambda w: np.sum(GLOBAL @ w))(W),
        lambda: ad.grad(np.sum)(da.from_array(X.astype(int))),
    ],
)
def test_not_differentiable(call, nothing_is_computed):
    with pytest.raises(NotDifferentiable):
        call()


def test_functions_of_dask_have_no_rules(nothing_is_computed):
    with pytest.raises(Refused, match="sum"):
        ad.grad(lambda x: da.sum(x**2))(GLOBAL)


def test_unknown_shape(nothing_is_computed):
    with pytest.raises(ArgumentTypeError, match="compute_chunk_sizes"):
        ad.grad(elementwise)(GLOBAL[GLOBAL[:, 0] > 0.5])


def test_dask_is_not_imported():
    program = (
        "import sys, numpy as np, autodiff_sct as ad; ad.grad(np.sum)(np.ones(3)); assert 'dask' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
