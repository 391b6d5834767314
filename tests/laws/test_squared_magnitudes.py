"""Squares of magnitudes have derivatives of every order at zero, where the magnitudes themselves have kinks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

pytestmark = pytest.mark.once

ZERO, WAY = np.zeros(4), np.array([1.0, -2.0, 0.5, 3.0])
MEAN_FREE = np.array([1.0, -2.0, 0.0, 1.0])  # its first Fourier coefficient is exactly zero
EYE = np.eye(4)


def ridge(x: Any) -> Any:
    return 0.5 * np.linalg.norm(x) ** 2


def of_differences(x: Any) -> Any:
    apart = np.sqrt(np.sum((x[:, None, None] - x[None, :, None]) ** 2, axis=-1))
    return np.sum(np.exp(-0.5 * apart**2))


def of_coordinates(x: Any) -> Any:
    r = np.sqrt(x[0] ** 2 + x[1] * x[1])
    return r**2 + 0.1 * r**4 + np.hypot(x[2], x[3]) ** 2


def spectrum(x: Any) -> Any:
    power = np.abs(np.fft.fft(x)) ** 2
    return np.sum(power * np.array([1.0, 2.0, 3.0, 2.0]))


def numbers(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        y = float(x[i])
        total += abs(y) ** 2 + math.fabs(y) * math.fabs(y) + math.sqrt(y * y) ** 2
        total += math.hypot(y, 2 * y) ** 2 + abs(x[i]) ** 2.0
    return total


def wave(x: Any) -> Any:
    psi = x[:2] + 1j * x[2:]
    return np.sum(np.abs(psi) ** 2 * np.array([1.0, 2.0])) + np.linalg.norm(psi) ** 2


def rows(x: Any) -> Any:
    a = np.reshape(x, (2, 2))
    return np.sum(np.linalg.norm(a, axis=1) ** 2) + np.sum(np.linalg.norm(a, axis=0, keepdims=True) ** 2 * a)


def outside_a_loop(x: Any) -> Any:
    r, total = np.linalg.norm(x), 0.0
    for k in range(3):
        if r < k + 5:
            total += r**2 * k
    return total


def in_place(x: Any) -> Any:
    y = np.abs(x)
    y **= 2
    z = np.abs(x)
    z *= z
    return np.sum(y) + np.sum(z)


def written_between(x: Any) -> Any:
    y = x * 1.0
    r = np.abs(y)
    y[0] = 7.0
    return np.sum(r**2 * y) + np.sum(y)


def deviations(x: Any) -> Any:
    a = np.reshape(x - np.array([0.0, 1.0, 2.0, 1.0]), (2, 2))
    return np.std(x - x[:1] + 1.0, ddof=1) ** 2 + np.sum(np.std(a, axis=1) ** 2)


def made_twice(x: Any) -> Any:
    n = np.linalg.norm(x)
    return n * np.linalg.norm(x) + np.sqrt(np.sum(x * x)) * np.sqrt(np.sum(x * x))


def inside_branches(x: Any) -> Any:
    n, total = np.linalg.norm(x[:2]), 0.0
    if x[0] < 5:
        total += n**2
    for k in range(x.shape[0]):
        if k > 0:
            total += n * n * k
    return total


def inside_a_while_loop(x: Any) -> Any:
    n, total, k = np.sqrt(x @ x), 0.0, 0
    while k < len(x):
        q = n / (0.5 + k)
        total += np.exp(-q * q)
        k += 1
    return total


def multiples(x: Any) -> Any:
    n, a = np.linalg.norm(x), np.abs(x)
    return np.exp(-n * n / 2) + (n / 2.0) ** 2 + np.square(3 * n) + np.sum(-a * 2.0 * a + (3 * a) * (a / 2))


def kernel(x: Any, h: float = 2.5) -> Any:
    apart = x[:, None] - x[None, :]
    q = np.sqrt(apart**2) / h
    return np.sum(np.where(q < 3, 1 - q**2, 0.0))


def pairs(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            q = np.abs(x[i] - x[j]) / 1.7
            if q < 20:
                total += q**2 * (i + 1) * (j + 1)
    return total


PROGRAMS = [made_twice, inside_branches, inside_a_while_loop, multiples, kernel, pairs]
PROGRAMS += [deviations, ridge, of_differences, of_coordinates, spectrum, numbers, wave, rows]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("x", [ZERO, MEAN_FREE])
def test_second_order(program: Any, x: np.ndarray) -> None:
    gradient, h = ad.grad(program), 1e-4
    expected = (gradient(x + h * WAY) - gradient(x - h * WAY)) / (2 * h)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(ad.jvp(gradient, x, WAY)[1], expected, 1e-6, 1e-6)
        np.testing.assert_allclose(ad.grad(lambda x: ad.jvp(program, x, WAY)[1])(x), expected, 1e-6, 1e-6)
        np.testing.assert_allclose(ad.grad(lambda x: np.sum(gradient(x) * WAY))(x), expected, 1e-6, 1e-6)
        twice = ad.jvp(lambda x: ad.jvp(program, x, WAY)[1], x, WAY)[1]
    assert twice == pytest.approx(np.sum(expected * WAY), 1e-6, 1e-6)


@pytest.mark.parametrize("program", [*PROGRAMS, outside_a_loop, in_place, written_between])
@pytest.mark.parametrize("x", [WAY, np.array([0.3, 0.0, -2.0, 0.7])])
def test_first_order(program: Any, x: np.ndarray) -> None:
    h = 1e-6
    expected = [(program(x + h * e) - program(x - h * e)) / (2 * h) for e in EYE]
    value, gradient = ad.value_and_grad(program)(x)
    assert value == program(x)
    np.testing.assert_allclose(gradient, expected, 1e-6, 1e-6)
    tangents = [ad.jvp(program, x, e)[1] for e in EYE]
    np.testing.assert_allclose(tangents, expected, 1e-6, 1e-6)


def test_a_root_of_what_may_be_negative_is_none_of_squares() -> None:
    with np.errstate(invalid="ignore"):
        assert np.isnan(ad.grad(lambda x: np.sqrt(x) ** 2)(-1.0))


def test_distances_between_all_points() -> None:
    """The distance of a point to itself is zero whatever the point: in reverse mode, too."""

    def total(x: Any) -> Any:
        apart = x[:, None, :] - x[None, :, :]
        return np.sum(np.sqrt(np.sum(apart**2, axis=-1)))

    def inverse(x: Any) -> Any:
        apart = x[:, None, 0] - x[None, :, 0]
        return np.sum(1 / (np.sqrt(apart * apart) + np.eye(len(x))))

    x, h = np.array([[0.1, 0.2], [1.0, 0.3], [-0.4, 2.0]]), 1e-6
    way = np.array([[1.0, -2.0], [0.5, 3.0], [0.2, 1.0]])
    for program in (total, inverse):
        f = ad.grad(program)
        slope = (program(x + h * way) - program(x - h * way)) / (2 * h)
        assert np.sum(f(x) * way) == pytest.approx(slope, 1e-7)
        assert ad.jvp(program, x, way)[1] == pytest.approx(slope, 1e-7)
        expected = (f(x + h * way) - f(x - h * way)) / (2 * h)
        np.testing.assert_allclose(ad.jvp(f, x, way)[1], expected, 1e-6, 1e-6)
        np.testing.assert_allclose(ad.grad(lambda x: ad.jvp(program, x, way)[1])(x), expected, 1e-6, 1e-6)


def between_rows(p: Any) -> Any:
    total = 0.0
    for i in range(len(p)):
        for j in range(i):
            d = p[i] - p[j]
            total += 1 / (1 + np.sqrt(d @ d))
    return total


def between_numbers(p: Any) -> Any:
    total = 0.0
    for i in range(len(p)):
        for j in range(i):
            dx, dy = p[i, 0] - p[j, 0], p[i, 1] - p[j, 1]
            total += 1 / (1 + math.sqrt(dx * dx + dy * dy))
    return total


def between_all(p: Any) -> Any:
    d = p[:, None] - p[None]
    return 0.5 * np.sum(1 / (1 + np.sqrt(np.sum(d**2, -1)))) - 0.5 * len(p)


@pytest.mark.parametrize("program", [between_rows, between_numbers, between_all])
@pytest.mark.parametrize("size", [3, 150])
def test_points_that_coincide(program: Any, size: int) -> None:
    """They attract each other with no force, as a norm of zero does; nothing warns, and nothing is run twice."""
    points = np.random.default_rng(2).normal(size=(size, 2))
    points[1] = points[0]
    apart = points[:, None] - points[None]
    r = np.linalg.norm(apart, axis=-1)
    expected = -np.sum(apart * (1 / ((1 + r) ** 2 * (r + (r == 0))))[:, :, None], axis=1)
    gradient = ad.grad(program)
    np.testing.assert_allclose(gradient(points), expected, 1e-10, 1e-10)
    way = np.random.default_rng(3).normal(size=points.shape)
    assert ad.jvp(program, points, way)[1] == pytest.approx(np.sum(expected * way), 1e-10)


def test_a_root_that_has_no_kink_or_no_value_at_zero_is_not_guarded() -> None:
    def smooth(x: Any) -> Any:
        return np.sqrt(np.sum(x**2) + 1e-6)

    def direction(x: Any) -> Any:
        return np.sum(x**3 / np.sqrt(np.sum(x**2)))

    for program in (smooth, direction):
        assert "== 0" not in ad.adjoint_source(program, WAY)
    assert "== 0" in ad.adjoint_source(lambda x: np.sqrt(np.sum(x**2)), WAY)


def test_roots_that_are_no_norms_keep_their_slopes() -> None:
    with np.errstate(all="ignore"):
        for program in (
            lambda x: np.sum(np.sqrt(x)),
            lambda x: np.sum(np.sqrt(np.abs(x))),
            lambda x: np.sqrt(x @ x[::-1]),
        ):
            assert not np.all(np.isfinite(ad.grad(program)(np.zeros(2))))


def test_single_precision() -> None:
    x = WAY.astype(np.float32)
    for program in (ridge, spectrum, rows):
        assert ad.grad(program)(x).dtype == np.float32


def test_a_scale_with_a_derivative() -> None:
    """The width of a kernel is a number, too: a square over it is no multiple where that is differentiated."""

    def program(x: Any, h: Any) -> Any:
        return np.exp(-((np.linalg.norm(x) / h) ** 2) / 2)

    x, h, e = WAY, 2.5, 1e-6
    d_x, d_h = ad.grad(program, (0, 1))(x, h)
    assert d_h == pytest.approx((program(x, h + e) - program(x, h - e)) / (2 * e), 1e-6)
    np.testing.assert_allclose(d_x, -x / h**2 * program(x, h), 1e-12)


def lines_of(program: Any, *args: Any) -> list[str]:
    """The lines of an adjoint, without comments."""
    return [line for line in ad.adjoint_source(program, *args).splitlines() if line and "#" not in line]


def test_the_text() -> None:
    def square_of_norm(x: Any) -> Any:
        return np.linalg.norm(x) ** 2

    def square_of_absolute(x: Any) -> Any:
        return np.sum(np.abs(x) ** 2)

    for program in (square_of_norm, square_of_absolute):
        assert lines_of(program, ZERO)[1:] == ["    return 2 * d_out * x"]


def test_halves_of_a_root_and_twos_of_its_squares_cancel() -> None:
    def shell(x: Any, y: Any) -> Any:
        return np.sum(np.sin(np.sqrt(x**2 + y**2))) + np.sum(x)

    def normalised(x: Any) -> Any:
        return np.sum(np.arange(len(x)) * x / np.sqrt(np.sum(x**2)))

    assert not any(two in ad.adjoint_source(normalised, WAY) for two in (" 2 * ", "(2 * "))
    text = ad.grad(shell, (0, 1)).source_for(WAY, WAY)
    assert "/ (2 *" not in text and "d_t * x" in text and "d_t * y" in text
