"""Factorisations with derivatives of others, functions that are followed for one matrix, and rotations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import linalg
from scipy.spatial.transform import Rotation

import autodiff_sct as ad
from autodiff_sct.errors import AutodiffError
from tests.scipy.checked import check_program

RNG = np.random.default_rng(41)
A = RNG.normal(size=(4, 4))
S = A @ A.T + np.diag(np.arange(1.0, 5.0))
B = RNG.normal(size=(4, 4))
WEIGHTS = np.arange(16.0).reshape(4, 4)


@pytest.mark.parametrize("ends", [[0, 1], [2, 3], [1, 1], (0, 3)])
@pytest.mark.parametrize("lower", [True, False])
def test_parts_of_spectra(ends: Any, lower: bool) -> None:
    def fn(a: Any) -> Any:
        values, vectors = linalg.eigh(a, subset_by_index=ends, lower=lower)
        return np.sum(values**2) + np.sum(vectors**4) + np.sum((vectors * values) @ vectors.T * WEIGHTS)

    check_program(fn, S, second=lower)
    check_program(lambda a: np.sum(linalg.eigvalsh(a, subset_by_index=ends, lower=lower) ** 2), S, second=False)
    only = lambda a: np.sum(linalg.eigh(a, lower=lower, eigvals_only=True, subset_by_index=ends) ** 2)
    check_program(only, S, second=False)


@pytest.mark.parametrize("n", [1, 3, 20])
def test_rq(n: int) -> None:
    def fn(a: Any) -> Any:
        r, q = linalg.rq(a, mode="economic")
        return np.sum(r**3) + np.sum(q**3)

    check_program(fn, RNG.normal(size=(n, n)), second=False)
    check_program(fn, np.asfortranarray(RNG.normal(size=(n, n + 2))), second=n == 3)
    check_program(lambda a: np.sum(linalg.rq(a)[0] ** 3), RNG.normal(size=(n, n)), second=False)


@pytest.mark.parametrize(("n", "seed"), [(1, 1), (2, 1), (2, 2), (3, 1), (5, 1), (5, 3)])
def test_schur_of_real_and_complex_pairs(n: int, seed: int) -> None:
    a = np.random.default_rng(seed).normal(size=(n, n))

    def fn(a: Any) -> Any:
        t, z = linalg.schur(a)
        return np.sum(t**3) + np.sum(z**3) + np.sum(np.triu(t, 1) ** 2) + np.sum(np.sin(z @ t))

    check_program(fn, np.asfortranarray(a), second=n == 3)


STACK = RNG.normal(size=(2, 1, 3, 3)) + 3 * np.eye(3)
BATCHES = {
    "inv": linalg.inv,
    "det": linalg.det,
    "expm": lambda a: linalg.expm(a / 4),
    "solve": lambda a: linalg.solve(a, np.ones((4, 3, 2)), lower=True, assume_a="sym"),
    "vector": lambda a: linalg.solve(a, np.arange(3.0)),
    "triangle": lambda a: linalg.solve_triangular(a, np.ones((3, 1)), lower=True, trans=1),
    "lstsq": lambda a: linalg.lstsq(a[..., :2], np.ones((3, 1)))[0],
    "pinv": linalg.pinv,
    "cholesky": lambda a: linalg.cholesky(a @ np.swapaxes(a, -2, -1), lower=True),
    "svd": lambda a: linalg.svd(a, full_matrices=False)[1],
    "svdvals": linalg.svdvals,
    "qr": lambda a: linalg.qr(a, mode="economic")[1],
    "lu": lambda a: linalg.lu(a)[2],
    "eigh": lambda a: linalg.eigh(a + np.swapaxes(a, -2, -1))[0],
    "eigvals": lambda a: np.abs(linalg.eigvals(a)),
    "polar": lambda a: linalg.polar(a)[1],
    "sylvester": lambda a: linalg.solve_sylvester(a, np.eye(3), np.ones((3, 3))),
    "sqrtm": lambda a: linalg.sqrtm(a @ np.swapaxes(a, -2, -1) + np.eye(3)),
    "coshm": lambda a: linalg.coshm(a / 4),
}


@pytest.mark.parametrize("name", BATCHES)
def test_batches(name: str) -> None:
    fn = BATCHES[name]
    check_program(lambda a: np.sum(np.sin(fn(a))), STACK, second=name in ("inv", "solve", "lu", "svd"))


def test_batches_of_several_arguments_and_types() -> None:
    def fn(a: Any, b: Any) -> Any:
        return np.sum(linalg.solve(a, b) ** 2) + np.sum(linalg.solve(list(a[:, 0]), b[:2], overwrite_a=False) ** 3)

    check_program(fn, STACK, RNG.normal(size=(4, 3, 2)))
    single = ad.grad(lambda a: np.sum(linalg.inv(a)))(STACK.astype(np.float32))
    assert single.dtype == np.float32 and single.shape == STACK.shape


@pytest.mark.parametrize("a", [np.eye(3), np.array([[0.3, -0.8], [0.8, 0.3]]), np.array([[1.0, 1.0], [0.0, 1.0]])])
def test_a_basis_that_is_not_unique_is_refused(a: Any) -> None:
    with pytest.raises(AutodiffError, match="not unique"):
        ad.grad(lambda a: np.sum(linalg.schur(a)[1]))(a)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_hessenberg(n: int) -> None:
    def fn(a: Any) -> Any:
        h, q = linalg.hessenberg(a, calc_q=True)
        return np.sum(h**3) + np.sum(np.sin(q)) + np.sum(linalg.hessenberg(a) ** 2)

    for sign in (1, -1):
        check_program(fn, sign * RNG.normal(size=(n, n)), second=False)
    check_program(lambda a: np.sum(linalg.hessenberg(a) ** 3), RNG.normal(size=(n, n)))


def test_a_hessenberg_matrix_is_refused_as_an_argument_of_hessenberg() -> None:
    with pytest.raises(AutodiffError, match="already"):
        ad.grad(lambda a: np.sum(linalg.hessenberg(a)))(np.triu(A, -1))


@pytest.mark.parametrize("n", [2, 3, 9])
def test_spectra_of_tridiagonal_and_banded_matrices(n: int) -> None:
    d, e = np.arange(n) + RNG.normal(size=n) / 4, RNG.normal(size=n - 1)

    def fn(d: Any, e: Any) -> Any:
        w, v = linalg.eigh_tridiagonal(d, e)
        few = linalg.eigh_tridiagonal(d, e, select="i", select_range=(0, 1))
        alone = linalg.eigvalsh_tridiagonal(d, e, select="i", select_range=(1, n - 1))
        return np.sum(w**2 * v[0] ** 4) + np.sum(few[1] ** 3) + np.sum(few[0]) + np.sum(alone**3)

    check_program(fn, d, e, second=n < 9)

    def banded(bands: Any) -> Any:
        upper, lower = linalg.eig_banded(bands), linalg.eig_banded(bands, lower=True)
        return np.sum(upper[1] ** 4 * upper[0]) + np.sum(lower[0] ** 2) + np.sum(linalg.eigvals_banded(bands) ** 3)

    check_program(banded, RNG.normal(size=(2, n)) + np.arange(n), second=n < 9)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize(("count", "n"), [(1, 3), (2, 2), (3, 7)])
def test_banded_cholesky_factors(lower: bool, count: int, n: int) -> None:
    bands = 0.4 * RNG.normal(size=(count, n))
    bands[0 if lower else -1] += 3.0
    weights = RNG.normal(size=(count, n))

    def fn(bands: Any, b: Any) -> Any:
        factor = linalg.cholesky_banded(bands, lower=lower)
        return np.sum(weights * factor**2) + np.sum(linalg.cho_solve_banded((factor, lower), b) ** 3)

    check_program(fn, bands, RNG.normal(size=n), second=n < 7)
    check_program(lambda ab, b: np.sum(linalg.cho_solve_banded((ab, lower), b) ** 2), bands, RNG.normal(size=(n, 2)))


def test_pairs_of_matrices_and_functions_of_one() -> None:
    check_program(lambda a, b: np.sum(np.abs(linalg.eigvals(a, b)) ** 2), A, S)
    part = lambda a, b: np.sum(linalg.eigh(a, b, subset_by_index=[1, 2])[1] ** 4)
    check_program(part, S, np.diag(np.arange(1.0, 5.0)) + 0.2)
    check_program(lambda a: np.sum(linalg.funm(a, np.cos) ** 2), S / 4)
    check_program(lambda a: np.sum(linalg.signm(a) ** 3), A + 0.4, step=1e-5, rtol=1e-4)


def test_ldl() -> None:
    def fn(a: Any) -> Any:
        lower, middle, order = linalg.ldl(a)
        return np.sum(np.log(np.diag(middle))) + np.sum(lower**3 * WEIGHTS)

    check_program(fn, S)
    check_program(lambda a: np.sum(np.diag(linalg.ldl(a)[1]) ** 2), np.diag([3.0, -2.0, 1.5]) + 0.1)
    with pytest.raises(AutodiffError, match="middle factor"):
        ad.grad(lambda a: np.sum(linalg.ldl(a)[0]))(np.array([[0.0, 1.0], [1.0, 0.0]]))


FOLLOWED = [
    lambda a: np.sum(linalg.orthogonal_procrustes(a, B)[0] * WEIGHTS) + linalg.orthogonal_procrustes(a, B)[1],
    lambda a: np.sum(linalg.pinvh(a + a.T) ** 2),
    lambda a: np.sum(linalg.subspace_angles(a[:, :2], B[:, :2]) ** 2),
    lambda a: np.sum(linalg.expm_frechet(a, B, compute_expm=False) ** 2),
    lambda a: np.sum(linalg.matmul_toeplitz(a[0], a[1]) ** 3),
    lambda a: np.sum(linalg.orth(a[:, :2]) @ linalg.orth(a[:, :2]).T * WEIGHTS),
]


@pytest.mark.parametrize("fn", FOLLOWED)
def test_functions_that_are_followed_for_one_matrix(fn: Any) -> None:
    check_program(fn, A, second=False)


def test_what_is_refused() -> None:
    stack = np.stack([S, S])
    for fn in (
        lambda a: np.sum(linalg.null_space(a[0, :2]) ** 3),
        lambda a: np.sum(linalg.cho_solve(linalg.cho_factor(a), np.ones((3, 1)))),
        lambda a: np.sum(linalg.lu_solve(linalg.lu_factor(a), np.ones((3, 1)))),
        lambda a: np.sum(np.abs(linalg.schur(a[0], output="complex")[0])),
        lambda a: np.sum(linalg.rq(a[0, :, :2], mode="full")[0]),
        lambda a: np.sum(linalg.eigh(a[0], subset_by_value=[0, 3])[0]),
        lambda a: np.sum(np.abs(linalg.eigh(a[0] * 1j, subset_by_index=[0, 1])[1])),
    ):
        with pytest.raises(AutodiffError):
            ad.grad(fn)(stack)


VECTORS = np.array([[0.3, -0.5, 0.9], [1.0, 2.0, 0.1], [-2.0, 0.3, 0.4]])


@pytest.mark.parametrize("v", [VECTORS[0], VECTORS])
def test_rotations_from_and_as(v: np.ndarray) -> None:
    there = lambda v: np.sum(Rotation.from_matrix(Rotation.from_rotvec(v).as_matrix()).as_rotvec() ** 3)
    check_program(there, v)
    check_program(lambda m: np.sum(Rotation.from_mrp(m).as_mrp() ** 3) + np.sum(Rotation.from_mrp(m).as_rotvec()), v)
    for seq in ("zyx", "XYZ", "xzx", "ZYZ"):
        check_program(lambda v: np.sum(Rotation.from_rotvec(v).as_euler(seq) ** 3), v, second=seq == "zyx")
    check_program(lambda v: np.sum(Rotation.from_rotvec(v).as_euler("zyx", degrees=True)), v)


def test_matrices_near_rotations() -> None:
    near = Rotation.from_rotvec(VECTORS[0]).as_matrix()
    for matrix in (near, near + 0.05 * RNG.normal(size=(3, 3)), np.eye(3), np.diag([1.0, -1.0, -1.0])):
        check_program(lambda m: np.sum(Rotation.from_matrix(m).as_quat() * np.array([1.0, 2, 3, 4])), matrix)
