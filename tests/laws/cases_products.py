"""Calls on which the rows of ``rules/products.py`` are checked."""

from __future__ import annotations

import operator

import numpy as np

from autodiff_sct.runtime.products import cross
from tests.laws.checker import Case, case

RNG = np.random.default_rng(3)


def real(*shape: int) -> np.ndarray:
    return RNG.uniform(-1, 1, shape)


def complex_(*shape: int) -> np.ndarray:
    return real(*shape) + 1j * real(*shape)


S = np.float64(0.8)
V, W, M, N, T = real(3), real(4), real(2, 3), real(3, 4), real(2, 4, 3)
Z, ZV = complex_(3, 3), complex_(3)
E = np.zeros((0, 3))

PAIRS = [
    (V, V), (V, N), (M, V), (M, N), (T, N), (T, V), (V, real(2, 3, 5)), (T, real(2, 3, 5)), (T, real(1, 3, 5)),
    (N.T, real(2, 3, 5)),
    (real(5, 1, 2, 3), T.swapaxes(1, 2)), (Z, ZV), (Z, N), (ZV, Z), (E, N), (N, np.zeros((4, 0))), (V[:1], V[:1]),
]  # fmt: skip
MATMULS = [case(fn, a, b) for fn in (np.matmul, operator.matmul, np.linalg.matmul) for a, b in PAIRS]

DOTS = [
    *(case(fn, a, b) for fn in (np.dot, np.ndarray.dot) for a, b in [
        (V, V), (V, N), (M, V), (M, N), (Z, ZV), (E, N), (T, N), (T, V), (V, real(2, 3, 5)), (T, real(2, 3, 5)), (M, S),
        (M, 0.5), (V, real(2, 4, 3, 5)),
    ]),
    case(np.dot, S, M), case(np.dot, 0.5, 0.7), case(np.dot, S, S),
    *(case(np.inner, a, b) for a, b in [(V, V), (M, V), (V, M), (M, N.T), (T, M), (S, M), (M, 0.5), (Z, ZV)]),
    *(case(np.vdot, a, b) for a, b in [(V, V), (M, real(2, 3)), (Z, Z.T), (ZV, V), (V, ZV), (M, real(3, 2))]),
    *(case(fn, a, b) for fn in (np.outer, np.linalg.outer) for a, b in [(V, W), (ZV, V), (V, np.zeros(0))]),
    case(np.outer, M, W), case(np.outer, S, V), case(np.outer, V, 0.5),
]  # fmt: skip

STACKED = [
    *(case(getattr(np, name), a, b) for name, a, b in [
        ("vecdot", V, V), ("vecdot", M, V), ("vecdot", Z, ZV), ("vecdot", T, T[:, :1]), ("vecdot", V, ZV),
        ("matvec", M, V), ("matvec", T, V), ("matvec", M, real(5, 3)), ("matvec", Z, ZV),
        ("vecmat", V, N), ("vecmat", real(2, 3), N), ("vecmat", ZV, Z), ("vecmat", V, real(2, 3, 5)), ("vecmat", V, Z),
    ] if hasattr(np, name)),
    *([case(np.linalg.vecdot, V, M), case(np.linalg.vecdot, M, M, axis=0), case(np.linalg.vecdot, ZV, Z)] if hasattr(np,
    "vecdot") else []),
]  # fmt: skip

TENSORS = [
    *(case(fn, a, b, axes=axes) for fn in (np.tensordot, np.linalg.tensordot) for a, b, axes in [
        (M, N, 1), (T, real(4, 3, 5), 2), (V, W, 0), (T, real(3, 4, 2), ([1, 2], [1, 0])),
        (T, real(5, 2), ((0,), (1,))), (T, real(3, 2), (-1, 0)),
        (T, real(3, 2, 4), ([0, 1, 2], [1, 2, 0])), (complex_(2, 3), real(3, 2), 1),
    ]),
    case(np.tensordot, T, real(4, 3)), case(np.tensordot, M, M, 2),
    *(case(np.kron, a, b) for a, b in [(V, W), (M, N), (M, V), (V, M), (T, M), (S, V), (Z, ZV), (V, 0.5)]),
    *(case(np.cross, a, b) for a, b in [(V, V[::-1]), (N.T, V), (V, real(2, 4, 3)), (real(5, 1, 3), real(4, 3)),
    (ZV, V)]),
    case(np.cross, N, real(3, 4), axis=0), case(np.cross, real(3), real(4, 3), 0, 1, 0),
    case(np.cross, N, real(2, 4, 3), axisa=0),
    case(cross, V, real(2, 4, 3)),
    case(np.cross, real(2, 3, 4), N, axisa=1, axisb=0), case(np.cross, real(2, 3, 4), real(2, 4, 3), 1, 2, 0),
    case(np.linalg.cross, N, real(3, 4), axis=0), case(np.linalg.cross, V, V[::-1]),
]  # fmt: skip

SQUARE = real(3, 3)
EINSUMS = [
    *(case(np.einsum, *operands) for operands in [
        ("ij,jk->ik", M, N), ("ij,jk", M, N), ("ij->ji", M), ("ji", M), ("ii->i", SQUARE), ("ii", SQUARE),
        ("ii->", SQUARE), ("i,i", V, V), ("i,j->ij", V, W),
        ("ij->", M), ("ij->j", M), ("i->", V), ("ij,jk,kl->il", M, N, real(4, 2)), ("i,ij,j->", V, SQUARE, V),
        ("bij,bjk->bik", T, real(2, 3, 2)),
        ("...ij,...jk->...ik", T, real(2, 3, 2)), ("...ij,jk->...ik", T, N), ("...i,...i->...", T, V),
        ("...,...->...", T, V), ("i...->...", T), ("...ij,...j", T, V),
        ("...ii->...i", real(2, 3, 3)), ("iij->j", real(3, 3, 2)), ("ij,k->k", M, W), ("iji,j->i", real(2, 3, 2), V),
        ("aii,i->a", real(2, 3, 3), V),
        (" i j , j k -> k i ", M, N), ("ij,j->ij", Z, ZV), ("ij,jk->ik", E, N), ("i,i,i->i", V, V, V), ("i,->i", V, S),
        ("ba,ba->b", M, M), ("ij,ij->ij", M, M[:1]),
        ("ij,ij->i", M[:, :1], M), ("i...,j...->ij...", M, real(4, 3)), ("...i->i...", T), ("...,i->...i", S, V),
    ]),
    case(np.einsum, "ij,jk,kl->il", M, N, real(4, 2)),
]  # fmt: skip

CHAINS = [
    case(np.linalg.multi_dot, [M, N]), case(np.linalg.multi_dot, [M, N, real(4, 2)]),
    case(np.linalg.multi_dot, [V, N, real(4, 2), real(2)]),
    case(np.linalg.multi_dot, [M, N, W]), case(np.linalg.multi_dot, [V, N, real(4, 2)]),
    case(np.linalg.multi_dot, (M, V)),
    *(case(np.linalg.matrix_power, SQUARE + np.eye(3), n) for n in (0, 1, 2, 3, 5, -1, -3)),
    case(np.linalg.matrix_power, real(2, 3, 3), 3), case(np.linalg.matrix_power, Z, 3),
]  # fmt: skip

CASES: list[Case] = [*MATMULS, *DOTS, *STACKED, *TENSORS, *EINSUMS, *CHAINS]
