"""Results of functions that return several, which the program writes into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import Cases, check_gradient, check_tangent, names, registrar

CASES: Cases = []
case = registrar(CASES)
SYMMETRIC = np.array([[2.0, 0.5], [0.5, 1.0]])
MATRIX = np.array([[2.0, 0.3, -1.0], [0.5, 1.0, 0.2], [0.1, -0.4, 3.0]])
LINE = np.array([1.3, 2.6, -0.7, 0.2])


@case(SYMMETRIC)
def eigenvectors(x: Any) -> Any:
    w, u = np.linalg.eigh(x)
    u[:, 0] *= np.sign(u[0, 0])
    return u[1, 0] ** 2 + w[1]


@case(SYMMETRIC)
def eigenvalues(x: Any) -> Any:
    w, u = np.linalg.eigh(x)
    w *= 2.0
    w[0] = w[1] * u[0, 0] ** 2
    return np.sum(w**2)


@case(MATRIX)
def factors(x: Any) -> Any:
    q, r = np.linalg.qr(x)
    r[0] *= 2.0
    q += r
    return r[0, 1] ** 2 + np.sum(q**2)


@case(MATRIX)
def singular(x: Any) -> Any:
    u, s, v = np.linalg.svd(x)
    s *= 2.0
    s[2:] = 0.0
    return np.sum((u * s) @ v) + s[0]


@case(MATRIX)
def differences_along_axes(x: Any) -> Any:
    a, b = np.gradient(x)
    a *= b
    b[0] = a[1]
    return np.sum(a * x) + np.sum(b**2)


@case(LINE)
def parts_of_numbers(x: Any) -> Any:
    fraction, whole = np.modf(x)
    fraction *= 3.0
    whole += fraction
    return np.sum(fraction * whole)


@case(LINE)
def grids(x: Any) -> Any:
    a, b = np.meshgrid(x, x[:2])
    a *= b
    b[0] = a[1] * 2
    return np.sum(a * b)


@case(LINE)
def halves(x: Any) -> Any:
    y = x * 1.0
    a, b = np.split(y, 2)
    a *= b
    b[0] = a[1]
    return np.sum(y**2) + a @ b


@case(LINE)
def quotients(x: Any) -> Any:
    whole, rest = np.divmod(x, 0.8)
    rest *= x
    whole[1:] = rest[:-1]
    return np.sum(rest**2) + np.sum(whole * x)


@case(LINE)
def in_a_loop(x: Any) -> Any:
    total = 0.0
    a = np.outer(x, x) + np.diag([1.0, 2.0, 3.0, 4.0])
    for _ in range(2):
        w, u = np.linalg.eigh(a)
        u *= np.sign(u[0])
        w[0] *= 2
        a = (u * w) @ u.T
        total = total + u[1, 0] * w[1]
    return total


@case(LINE)
def by_branch(x: Any) -> Any:
    w, u = np.linalg.eigh(np.outer(x, x) + np.diag([1.0, 2.0, 3.0, 4.0]))
    if u[0, 0] < 0:
        u *= -1.0
    else:
        w *= 2.0
    kept = u[:, 0]
    kept[1] *= w[0]
    return np.sum(kept**2) + u[1, 0] * w[2]


@pytest.mark.parametrize("fn, args", CASES, ids=names(CASES))
def test_gradient(fn: Callable[..., Any], args: Any) -> None:
    check_gradient(fn, args)


@pytest.mark.parametrize("fn, args", CASES, ids=names(CASES))
def test_tangent(fn: Callable[..., Any], args: Any) -> None:
    check_tangent(fn, args)


def transformed_into(x: Any) -> Any:
    found = np.zeros(4, complex)
    np.fft.fft(x, out=found)
    again = np.fft.ifft(found * [1.0, 2.0, 3.0, 4.0], out=found)
    return np.abs(again[1]) + again[2].real


def first_of_two_into(x: Any) -> Any:
    np.frexp(x * 1.0, x)
    return np.sum(x**2)


def test_transforms_into_an_array() -> None:
    check_gradient(transformed_into, (LINE,))
    check_tangent(transformed_into, (LINE,))


def test_one_of_two_results_into_an_array() -> None:
    for derivative in (ad.grad, ad.value_and_grad):
        with pytest.raises(ad.AutodiffError, match="something that is not an array is written into"):
            derivative(first_of_two_into)(LINE)
