"""Sparse matrices as arguments: the gradient is a matrix of the same class with elements at the same places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import sparse
from scipy.sparse import linalg

import autodiff_sct as ad
from autodiff_sct.errors import AutodiffError

RNG = np.random.default_rng(29)
DENSE = np.array([[3.0, 0.0, 1.5, 0.0], [0.0, 2.5, 0.0, 0.0], [1.2, 0.0, 3.5, 0.7], [0.4, 0.0, 0.0, 2.0]])
X = RNG.normal(size=4)
FORMATS = [f"{form}_{kind}" for form in ("csr", "csc", "coo", "bsr", "dia") for kind in ("array", "matrix")]
SYMMETRIC = sparse.csr_array(DENSE + DENSE.T)


def elements(matrix: Any) -> Any:
    """The elements of a matrix, however it stores them."""
    return matrix.toarray()


def like(matrix: Any, data: Any) -> Any:
    found = matrix.copy()
    found.data = data
    return found


def check_matrix(fn: Any, matrix: Any, *args: Any, step: float = 1e-6, rtol: float = 1e-5, second: bool = True) -> None:
    """Assert both modes, second derivatives and the value, along a direction of the elements of a matrix."""
    before = matrix.copy()
    value, gradient = ad.value_and_grad(fn)(matrix, *args)
    np.testing.assert_array_equal(value, fn(matrix, *args))
    assert type(gradient) is type(matrix) and gradient.shape == matrix.shape and gradient.dtype == matrix.dtype
    assert gradient.data.shape == matrix.data.shape and not np.shares_memory(gradient.data, matrix.data)
    way = like(matrix, RNG.normal(size=matrix.data.shape).astype(matrix.dtype))
    ahead, behind = (like(matrix, matrix.data + h * way.data) for h in (step, -step))
    slope = (fn(ahead, *args) - fn(behind, *args)) / (2 * step)
    scale = max(1.0, abs(slope))
    np.testing.assert_allclose(gradient.multiply(way).sum(), slope, rtol, rtol * scale)
    still = tuple(np.zeros_like(a) for a in args)
    tangent = ad.jvp(fn, (matrix, *args), (way, *still))[1]
    np.testing.assert_allclose(tangent, gradient.multiply(way).sum(), 1e-8, 1e-8 * scale)
    if second:
        gradients = ad.grad(fn)
        curved = elements(gradients(ahead, *args) - gradients(behind, *args)) / (2 * step)
        found = ad.grad(lambda m: ad.grad(fn)(m, *args).multiply(way).sum())(matrix)
        moved = ad.hvp(lambda m: fn(m, *args), matrix, way)
        for each in (found, moved):
            np.testing.assert_allclose(elements(each), curved, 10 * rtol, 10 * rtol * max(1.0, np.max(np.abs(curved))))
    np.testing.assert_array_equal(matrix.data, before.data)


@pytest.mark.parametrize("form", FORMATS)
def test_products(form: str) -> None:
    matrix = getattr(sparse, form)(DENSE)
    check_matrix(lambda m, x: np.sum((m @ x) ** 3) + x @ (m.T @ x) + m.sum(), matrix, X)
    check_matrix(lambda m, x: np.sum((x @ m) ** 3), matrix, X)
    check_matrix(lambda m, x: np.sum((m @ x) ** 3), matrix, RNG.normal(size=(4, 2)))
    gradient = ad.grad(lambda m, x: np.sum((m @ x) ** 2), 1)(matrix, X)
    np.testing.assert_allclose(gradient, 2 * DENSE.T @ (DENSE @ X))


PROGRAMS = {
    "products of matrices": lambda m, x: np.sum(((m @ m.T) @ x) ** 2),
    "products of elements": lambda m, x: m.multiply(m.T).sum() ** 2 + m.multiply(x).power(3).sum(),
    "arithmetic": lambda m, x: np.sum(((2 * m - m.T / 3 + sparse.eye_array(4)) @ x) ** 2),
    "with another": lambda m, x: np.sum((SYMMETRIC @ (m @ x)) ** 2) + np.sum(((SYMMETRIC @ m) @ x) ** 2),
    "parts": lambda m, x: m[1:3].sum() ** 2 + m[0, 2] ** 3 + np.sum(m[:, [0, 2]].toarray() ** 3) + m[-1:, :2].sum(),
    "diagonal": lambda m, x: np.sum(m.diagonal() ** 3) + m.trace() ** 2,
    "triangles": lambda m, x: np.sum((sparse.tril(m) @ x) ** 3) + sparse.triu(m, 1).sum() ** 2,
    "blocks": lambda m, x: np.sum((sparse.block_array([[m, None], [m.T, m]]) @ np.append(x, x)) ** 2),
    "rows of blocks": lambda m, x: np.sum((sparse.hstack([m, m.T]) @ np.append(x, x)) ** 3),
    "stacked": lambda m, x: np.sum((sparse.vstack([m, 2 * m, SYMMETRIC]) @ x) ** 3),
    "diagonal of blocks": lambda m, x: np.sum((sparse.block_diag([m, SYMMETRIC]) @ np.append(x, x)) ** 3),
    "elementwise": lambda m, x: abs(m).sqrt().sum() + (m**3).sum() + m.mean() + np.sum(m.mean(axis=0) ** 2),
    "systems": lambda m, x: np.sum(linalg.spsolve(m.tocsc(), x) ** 3),
    "factors": lambda m, x: np.sum(linalg.splu(m.tocsc()).solve(x) ** 3),
    "exponential": lambda m, x: np.sum(linalg.expm_multiply(-m, x) ** 3),
    "norm": lambda m, x: linalg.norm(m) ** 3 + linalg.norm(m.T @ m, "fro"),
    "elements": lambda m, x: np.sum(m.data**3) + m.nnz * np.sum((m @ x) ** 2) / m.shape[0],
    "loop": lambda m, x: np.sum(stepped(m, x)),
}


def stepped(m: Any, x: Any) -> Any:
    for k in range(3):
        x = np.tanh(m @ x) if k % 2 == 0 else m.T @ x
    return x


def test_offsets_of_diagonals_under_a_name() -> None:
    def product(x: Any, offsets: Any) -> Any:
        known = [-1, 0, 1]
        whole = sparse.diags([x[:3], x, x[1:]], known, format="csr")
        return np.sum((whole @ x) ** 2) + np.sum((sparse.diags([x], [0]) @ x) ** 2), offsets

    x = np.array([0.4, 0.9, 1.3, 0.7])
    ends = [product(x + step, None)[0] for step in (1e-6 * np.eye(4)[1], -1e-6 * np.eye(4)[1])]
    assert ad.grad(product, has_aux=True)(x, None)[0][1] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)

    def at_run_time(x: Any, offsets: Any) -> Any:
        return np.sum((sparse.diags_array([x, x], offsets=offsets, shape=(9, 9)) @ np.ones(9)) ** 2)

    with pytest.raises(ad.AutodiffError, match="only the run tells the offsets"):
        ad.grad(at_run_time)(x, np.array([0, 1]))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("form", ["csr_array", "csc_array"])
def test_programs(name: str, form: str) -> None:
    check_matrix(PROGRAMS[name], getattr(sparse, form)(DENSE), X, second=name != "elements")


def test_eigenvalues() -> None:
    start = np.arange(1.0, 10.0)
    line = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(9, 9), format="csr")

    def fn(potential: Any, what: int, **settings: Any) -> Any:
        found = linalg.eigsh(line + sparse.diags_array(potential), k=3, v0=start, **settings)
        return np.sum(found[what] ** 4)

    well = np.linspace(-1.0, 1.0, 9) ** 2
    way = RNG.normal(size=9)
    for what in (0, 1):
        for settings in ({"which": "SA"}, {"sigma": 0.1}):
            found = ad.grad(lambda v: fn(v, what, **settings))
            slope = (fn(well + 1e-5 * way, what, **settings) - fn(well - 1e-5 * way, what, **settings)) / 2e-5
            np.testing.assert_allclose(found(well) @ way, slope, 1e-6)
            np.testing.assert_allclose(ad.jvp(lambda v: fn(v, what, **settings), well, way)[1], slope, 1e-6)
            curved = (found(well + 1e-5 * way) - found(well - 1e-5 * way)) / 2e-5
            second = ad.grad(lambda v: ad.grad(lambda u: fn(u, what, **settings))(v) @ way)(well)
            np.testing.assert_allclose(second, curved, 1e-5, 1e-6)
    only = lambda v: np.sum(linalg.eigsh(line + sparse.diags_array(v), k=2, return_eigenvectors=False) ** 2)
    slope = (only(well + 1e-5 * way) - only(well - 1e-5 * way)) / 2e-5
    np.testing.assert_allclose(ad.grad(only)(well) @ way, slope, 1e-6)


@pytest.mark.parametrize("n", [1, 3, 130])
def test_sizes_and_single_precision(n: int) -> None:
    matrix = sparse.random_array((n, n), density=min(1.0, 4 / n), rng=RNG, format="csr") + sparse.eye_array(n)
    matrix, x = sparse.csr_array(matrix), RNG.normal(size=n)
    check_matrix(lambda m, x: np.sum((m @ x) ** 3) + m.multiply(m).sum(), matrix, x)
    narrow = ad.grad(lambda m, x: np.sum((m @ x) ** 3))(matrix.astype(np.float32), x.astype(np.float32))
    assert narrow.dtype == np.float32
    wide = ad.grad(lambda m, x: np.sum((m @ x) ** 3))(matrix, x)
    np.testing.assert_allclose(narrow.data, wide.data, 1e-3, 1e-4)


def test_elements_that_are_there_twice_and_none() -> None:
    places = (np.array([0, 2, 0, 1]), np.array([1, 2, 1, 0]))
    twice = sparse.coo_array((np.array([1.0, 2.0, 3.0, 4.0]), places), shape=(4, 4))
    gradient = ad.grad(lambda m, x: np.sum((m @ x) ** 3))(twice, X)
    np.testing.assert_allclose(gradient.data, (3 * (twice @ X) ** 2)[places[0]] * X[places[1]])
    gradient = ad.grad(lambda m: m.power(3).sum())(twice)
    np.testing.assert_allclose(gradient.data, 3 * np.array([4.0, 2, 4, 4]) ** 2)
    empty = ad.grad(lambda m, x: np.sum((m @ x) ** 2) + m.multiply(m).sum())(sparse.csr_array((4, 4)), X)
    assert empty.nnz == 0


def test_in_containers_and_beside_constants() -> None:
    matrix = sparse.csr_array(DENSE)
    found = ad.grad(lambda p: np.sum((p["A"] @ p["x"]) ** 2))({"A": matrix, "x": X})
    np.testing.assert_allclose(found["x"], 2 * DENSE.T @ (DENSE @ X))
    assert type(found["A"]) is sparse.csr_array
    found = ad.grad(lambda layers, x: np.sum(np.tanh(layers[1] @ np.tanh(layers[0] @ x))))([matrix, SYMMETRIC], X)
    assert [type(m) for m in found] == [sparse.csr_array] * 2
    whole = matrix.astype(int)
    np.testing.assert_allclose(ad.grad(lambda m, x: np.sum((m @ x) ** 2), 1)(whole, X), 2 * whole.T @ (whole @ X))


def test_compressed_elements() -> None:
    matrix = sparse.csr_array(DENSE)

    def fn(data: Any) -> Any:
        return np.sum((sparse.csr_array((data, matrix.indices, matrix.indptr), shape=(4, 4)) @ X) ** 3)

    np.testing.assert_allclose(ad.grad(fn)(matrix.data), ad.grad(lambda m: np.sum((m @ X) ** 3))(matrix).data)
    assert ad.jacrev(lambda d: sparse.csc_array((d, matrix.indices, matrix.indptr)) @ X)(matrix.data).shape == (4, 8)


def data_changed(m: Any) -> Any:
    m.data *= 2.0
    return np.sum((m @ X) ** 2)


def data_assigned(m: Any) -> Any:
    m.data = 2 * m.data
    return np.sum((m @ X) ** 2)


def element_assigned(m: Any) -> Any:
    m[0, 0] = 7.0
    return np.sum((m @ X) ** 2)


REFUSED = [
    data_changed, data_assigned, element_assigned,
    lambda m: m.sum() if isinstance(m, sparse.csr_array) else 0.0,
    lambda m: np.sum((2 * m).data ** 2), lambda m: m.max(), lambda m: np.sum(m[0].toarray()),
    lambda m: np.sum(sparse.csr_matrix((m.data, (m.nonzero()))).sum(axis=0)),
    lambda m: linalg.norm(m, 1),
]  # fmt: skip


@pytest.mark.parametrize("fn", REFUSED)
def test_what_is_refused(fn: Any) -> None:
    with pytest.raises(AutodiffError):
        ad.grad(fn)(sparse.csr_array(DENSE))


def test_arguments_that_are_refused() -> None:
    total = lambda m: np.sum((m @ X) ** 2)
    matrix = sparse.csr_array(DENSE)
    for form in (sparse.lil_array, sparse.dok_array):
        with pytest.raises(AutodiffError, match=r"S\.tocsr\(\)"):
            ad.grad(total)(form(DENSE))
    with pytest.raises(AutodiffError, match="complex"):
        ad.grad(lambda m: np.sum(np.abs(m @ X)))(matrix * 1j)
    with pytest.raises(AutodiffError, match="two axes"):
        ad.grad(total)(sparse.coo_array(X))
    with pytest.raises(AutodiffError, match="integers"):
        ad.grad(total)(matrix.astype(int))
    other = sparse.csr_array(DENSE.T)
    for product in (ad.jvp, ad.hvp):
        with pytest.raises(AutodiffError, match="other places"):
            product(total, matrix, other)
    with pytest.raises(AutodiffError, match="its elements"):
        ad.jacrev(lambda m: m @ X)(matrix)
    with pytest.raises(AutodiffError, match="None in in_axes"):
        ad.vmap(lambda m, x: np.sum(m @ x))(matrix, np.ones((3, 4)))
