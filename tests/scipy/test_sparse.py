"""Sparse matrices whose elements have derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import sparse
from scipy.sparse import linalg

import autodiff_sct as ad
from autodiff_sct.errors import AutodiffError
from tests.scipy.checked import check_program

RNG = np.random.default_rng(23)
ROWS, COLS = np.array([0, 1, 2, 0, 2, 3, 0]), np.array([0, 1, 2, 2, 0, 3, 2])  # the last place is there twice
DATA, X = RNG.uniform(1.0, 2.0, 7), RNG.normal(size=4)
LINE = sparse.diags([-1.0, 3.1, -1.0], [-1, 0, 1], shape=(4, 4), format="csc")
FACTORS = linalg.splu(LINE)


@pytest.mark.parametrize("form", ["csr_array", "csc_array", "coo_array", "csr_matrix", "csc_matrix", "coo_matrix"])
def test_products(form: str) -> None:
    make = getattr(sparse, form)

    def fn(data: Any, x: Any) -> Any:
        matrix = make((data, (ROWS, COLS)), shape=(4, 4))
        return np.sum((matrix @ x) ** 2) + np.sum(matrix.T.dot(x) ** 3) + np.sum((matrix @ np.ones((4, 2))) ** 2)

    check_program(fn, DATA, X)


def test_arithmetic() -> None:
    def fn(data: Any, a: Any, x: Any) -> Any:
        matrix = sparse.csr_array((data, (ROWS, COLS)), shape=(4, 4))
        other = a * matrix + matrix.T - matrix / 3 + LINE - a * sparse.eye(4)
        return x @ (other @ x) + (2 * other).sum() + np.sum((-other).sum(axis=0) ** 2) + np.sum(other.sum(axis=1) ** 3)

    check_program(fn, DATA, 0.7, X)
    check_program(lambda a, x: np.sum(((LINE * a + LINE) @ x) ** 2), 0.7, X)


def test_elements() -> None:
    def fn(data: Any, x: Any) -> Any:
        matrix = sparse.csr_array((data, (ROWS, COLS)), shape=(4, 4))
        weighted = matrix.multiply(x).tocsr()
        return np.sum(weighted.toarray() ** 3) + np.sum((weighted.multiply(np.outer(x, x)) @ x) ** 2)

    check_program(fn, DATA, X)
    check_program(lambda x: LINE.multiply(x).sum() * np.sum(x), X)


def test_diagonals_and_products_of_kronecker() -> None:
    def fn(d: Any, e: Any, x: Any) -> Any:
        line = sparse.diags([e, d, e], [-1, 0, 1], format="csr")
        plane = sparse.kron(line, sparse.eye(3)) + sparse.kron(sparse.eye(3), line)
        return np.sum((plane @ x) ** 2) + np.sum((sparse.diags(d) @ x[:3]) ** 3)

    check_program(fn, RNG.normal(size=3), RNG.normal(size=2), RNG.normal(size=9))


@pytest.mark.parametrize("n", [1, 3, 130])
def test_systems(n: int) -> None:
    def of_line(d: Any, b: Any) -> Any:
        matrix = sparse.csc_array((d, (np.arange(n), np.arange(n)[::-1])), shape=(n, n))
        return np.sum(linalg.spsolve(matrix, b) ** 2) + np.sum(linalg.splu(matrix).solve(b) ** 3)

    check_program(of_line, RNG.uniform(1.0, 2.0, n), RNG.normal(size=n))


def test_factors() -> None:
    check_program(lambda b: np.sum(FACTORS.solve(b) ** 3), X)
    check_program(lambda b: np.sum(FACTORS.solve(b, "T") ** 3), X)
    check_program(lambda b: np.sum(linalg.factorized(LINE)(b) ** 3), X)

    def fn(data: Any, b: Any) -> Any:
        factors = linalg.splu(LINE + sparse.csc_matrix((data, (ROWS, COLS)), shape=(4, 4)))
        return np.sum(factors.solve(factors.solve(b)) ** 2) + np.sum(factors.solve(b, trans="T"))

    check_program(fn, DATA, X)


@pytest.mark.parametrize("method", ["cg", "gmres", "bicgstab"])
def test_iterations(method: str) -> None:
    solve = getattr(linalg, method)

    def fn(a: Any, b: Any) -> Any:
        x, info = solve(LINE + a * sparse.eye(4), b, rtol=1e-13)
        return np.sum(x**3)

    check_program(fn, 0.4, X)


@pytest.mark.filterwarnings("ignore:spsolve")
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("method", ["cg", "gmres", "bicgstab", "spsolve"])
def test_systems_with_arrays(make: Any, method: str) -> None:
    solve = getattr(linalg, method)

    def fn(a: Any, b: Any) -> Any:
        if method == "spsolve":
            return np.sum(solve(make(a.T + a), b) ** 3)
        return np.sum(solve(make(a.T + a), b, rtol=1e-13)[0] ** 3)

    check_program(fn, np.eye(4) + np.outer(X, X), X)
    np.testing.assert_allclose(ad.grad(lambda b: fn(np.eye(4), b))(X), 3 * X**2 / 8, 1e-8)


def test_products_with_arrays() -> None:
    check_program(lambda a, x: np.sum((sparse.csr_array(a) @ x) ** 3), np.outer(X, X) + 0.1, X)


def test_in_a_loop_and_behind_a_branch() -> None:
    def fn(d: Any, x: Any) -> Any:
        step = sparse.eye(4, format="csr") - 0.1 * sparse.csr_array((d, (ROWS, COLS)), shape=(4, 4))
        for k in range(3):
            x = step @ x if k % 2 == 0 else np.sin(step.T @ x)
        return np.sum(x**2)

    check_program(fn, DATA, X)


def test_single_precision() -> None:
    data, x = DATA.astype(np.float32), X.astype(np.float32)
    fn = lambda data, x: np.sum((sparse.csr_array((data, (ROWS, COLS)), shape=(4, 4)) @ x) ** 2)
    gradients = ad.grad(fn, (0, 1))(data, x)
    assert all(g.dtype == np.float32 for g in gradients)
    np.testing.assert_allclose(gradients[0], ad.grad(fn)(DATA, X), 1e-5)


def test_what_is_refused() -> None:
    def changed(data: Any, x: Any) -> Any:
        data = data * 1.0
        matrix = sparse.coo_array((data, (ROWS, COLS)), shape=(4, 4))
        data[0] = 0.0
        return np.sum((matrix @ x) ** 2)

    def asked(data: Any, x: Any) -> Any:
        return np.sum(sparse.csr_array((data, (ROWS, COLS)), shape=(4, 4)).maximum(2) @ x)

    for fn in (changed, asked):
        with pytest.raises(AutodiffError):
            ad.grad(fn)(DATA, X)


def test_matrices_given_to_functions_without_a_rule_are_refused() -> None:
    made = lambda d: sparse.csc_array((d, ([0, 1, 2], [0, 1, 2])), shape=(3, 3))
    for fn in (
        lambda d: linalg.norm(made(d), 1),
        lambda d: linalg.onenormest(made(d)),
        lambda d: np.sum(linalg.spsolve(made(d), np.ones((3, 1)))),
        lambda d: np.sum(linalg.cg(made(d), np.ones(3), callback=print)[0]),
        lambda d: np.sum(linalg.cg(linalg.LinearOperator((3, 3), matvec=lambda v: d * v), np.ones(3))[0]),
    ):
        with pytest.raises(AutodiffError):
            ad.grad(fn)(np.array([1.0, 2.0, 3.0]))


def lines(d: Any, e: Any) -> Any:
    return sparse.diags([e, d, e / 2], [-1, 0, 1], format="csc")


D, E = np.array([4.0, 5.0, 3.5, 4.4]), np.array([0.5, -0.4, 0.9])


def test_systems_with_several_right_sides_and_settings() -> None:
    def fn(d: Any, e: Any, b: Any) -> Any:
        a = lines(d, e)
        x = linalg.spsolve(a.tocsr(), b) + linalg.spsolve(a, b, permc_spec="NATURAL", use_umfpack=False)
        y = linalg.splu(a, permc_spec="MMD_ATA", options={"SymmetricMode": True}).solve(b)
        return np.sum(x**3) + np.sum(y**2)

    check_program(fn, D, E, RNG.normal(size=(4, 2)))


def test_iterations_with_a_guess_and_a_preconditioner() -> None:
    """No derivative passes through what only hastens the iteration."""
    near = linalg.LinearOperator((4, 4), matvec=lambda v: v / 4)

    def fn(d: Any, e: Any, b: Any) -> Any:
        a = lines(d, e)
        x, info = linalg.bicgstab(a, b, M=near, rtol=1e-14)
        y, _ = linalg.gmres(a, b, x0=b / d, rtol=1e-14)
        return np.sum(x**3) + np.sum(y**2) + info

    check_program(fn, D, E, RNG.normal(size=4))


def test_matrices_with_all_elements() -> None:
    def fn(d: Any, e: Any) -> Any:
        a = lines(d, e)
        whole = linalg.inv(a).toarray() + linalg.expm(a / 9).toarray() + linalg.matrix_power(a, 3).toarray()
        lengths = np.sum(linalg.norm(a, axis=0)) + np.sum(linalg.norm(a, axis=1) ** 3)
        return np.sum(whole**2) + lengths + np.sum(a.getrow(1).toarray() ** 3) + np.sum(a.getcol(0).toarray() ** 2)

    check_program(fn, D, E)


def test_least_squares_of_sparse_matrices() -> None:
    def fn(data: Any, b: Any) -> Any:
        a = sparse.csr_array((data, ([0, 1, 2, 3, 3, 4], [0, 1, 2, 0, 2, 1])), shape=(5, 3))
        x = linalg.lsqr(a, b, atol=1e-15, btol=1e-15)[0]
        damped, *report = linalg.lsmr(a, b, damp=0.3, atol=1e-15, btol=1e-15)
        return np.sum(x**3) + np.sum(damped**2)

    check_program(fn, np.array([2.0, 1.5, 3.0, -0.4, 0.7, 0.2]), np.array([0.3, -0.5, 0.9, 1.2, 0.1]), rtol=1e-4)
    with pytest.raises(AutodiffError, match="fewer rows"):
        ad.grad(lambda d: np.sum(linalg.lsqr(sparse.csr_array((d, ([0, 1], [0, 2])), shape=(2, 3)), np.ones(2))[0]))(
            np.ones(2)
        )


def test_singular_values_of_sparse_matrices() -> None:
    def fn(data: Any) -> Any:
        a = sparse.csr_array((data, ([0, 1, 2, 3, 3, 4], [0, 1, 2, 0, 2, 1])), shape=(5, 4))
        u, s, rows = linalg.svds(a, k=2, v0=np.ones(4))
        only = linalg.svds(a, k=1, v0=np.ones(4), return_singular_vectors=False)
        return np.sum(s**2) + np.sum(np.sin((u * s) @ rows)) + np.sum(u**4) + np.sum(only**3)

    check_program(fn, np.array([2.0, 1.5, 3.0, -0.4, 0.7, 0.2]))
