"""Extremes that cancel leave no trace in the adjoint; all others stay, and every gradient is right."""

import math

import numpy as np
import pytest

import autodiff_sct as ad

pytestmark = pytest.mark.once

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(3, 4))
LABELS = np.array([2, 0, 3])


def softmax(z):
    e = np.exp(z - np.max(z, axis=1, keepdims=True))
    return np.sum((e / np.sum(e, axis=1, keepdims=True)) ** 2)


def softmax_of_methods(z):
    e = np.exp(z - z.max(-1)[:, None])
    return np.sum((e / e.sum(-1)[:, None]) ** 2)


def log_softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    return np.sum((z - np.log(np.sum(np.exp(z), axis=-1, keepdims=True)))[np.arange(3), LABELS] ** 3)


def logsumexp(z):
    top = np.max(z, axis=1, keepdims=True)
    return np.sum((top[:, 0] + np.log(np.sum(np.exp(z - top), axis=1))) ** 2)


def logsumexp_squeezed(z):
    top = np.max(z, axis=0, keepdims=True)
    return np.sum((np.squeeze(top, 0) + np.log(np.sum(np.exp(z - top), axis=0))) ** 2)


def logsumexp_squeezed_method(z):
    top = z.max(axis=1, keepdims=True)
    return np.sum((top.squeeze(-1) + np.log(np.exp(z - top).sum(axis=1))) ** 2)


def logsumexp_of_all(z):
    top = np.max(z)
    return (top + np.log(np.sum(np.exp(z - top)))) ** 2


def one_sample(z):
    loss = 0.0
    for i in range(len(z)):
        row = z[i] - np.max(z[i])
        loss = loss + np.log(np.sum(np.exp(row))) - row[LABELS[i]]
    return loss**2


def with_a_zero(z):
    top = np.max(z)
    return top + np.log(np.exp(-top) + np.sum(np.exp(z - top)))


def shifted_by_the_least(z):
    e = np.exp(z - np.min(z, axis=0, keepdims=True))
    return np.sum(np.sqrt(e / np.mean(e, axis=0, keepdims=True)))


def at_a_temperature(z):
    t = 0.5 + z[0, 0] ** 2
    top = np.max(z, axis=1, keepdims=True)
    return np.sum(top + t * np.log(np.sum(np.exp((z - top) / t), axis=1, keepdims=True)))


def softmax_at_a_temperature(z):
    t = 0.5 + z[0, 0] ** 2
    e = np.exp((z - np.max(z)) / t)
    return np.sum((e / np.sum(e)) ** 2) * t


def least_of_neighbours(z):
    total, t = 0.0, 0.3 + z[0, 0] ** 2
    for i in range(1, 3):
        for j in range(1, 4):
            p, q, r = z[i - 1, j], z[i, j - 1], z[i - 1, j - 1]
            low = min(p, q, r)
            s = math.exp(-(p - low) / t) + math.exp(-(q - low) / t) + math.exp((low - r) / t)
            total = total + (low - t * math.log(s)) ** 2
    return total


def larger_of_two(z):
    a, b = z[0, 1], z[1, 2]
    m = np.maximum(a, b)
    return (m + np.log(np.exp(a - m) + np.exp(b - m))) ** 2


CANCELLED = [
    softmax, softmax_of_methods, log_softmax, logsumexp, logsumexp_squeezed, logsumexp_squeezed_method,
    logsumexp_of_all, one_sample, with_a_zero,
    shifted_by_the_least, at_a_temperature, softmax_at_a_temperature, least_of_neighbours, larger_of_two,
]  # fmt: skip


def another_axis_squeezed(z):
    top = np.max(z[None], axis=1, keepdims=True)
    return np.sum(np.squeeze(top, 0) + np.log(np.sum(np.exp(z[None] - top), axis=2)[0, 0]))


def unnormalised(z):
    return np.sum(np.exp(z - np.max(z, axis=1, keepdims=True)))


def other_axis(z):
    e = np.exp(z - np.max(z, axis=1, keepdims=True))
    return np.sum((e / np.sum(e, axis=0, keepdims=True)) ** 2)


def all_axes(z):
    e = np.exp(z - np.max(z, axis=1, keepdims=True))
    return np.sum((e / np.sum(e)) ** 2)


def rows_and_columns(z):
    square = z[:, :3]
    top = np.max(square, axis=1)
    return np.sum((top + np.log(np.sum(np.exp(square - top), axis=1))) ** 2)


def twice_the_top(z):
    top = np.max(z, axis=1, keepdims=True)
    return np.sum(2 * top + np.log(np.sum(np.exp(z - top), axis=1, keepdims=True)))


def top_is_kept(z):
    top = np.max(z, axis=1, keepdims=True)
    e = np.exp(z - top)
    return np.sum(e / np.sum(e, axis=1, keepdims=True) * top)


def carried(z):
    top = 0.0
    total = 0.0
    for i in range(len(z)):
        row = np.exp(z[i] - top)
        total = total + row[0] / np.sum(row) + top
        top = np.max(z[i])
    return total


def on_one_path(z):
    top = np.max(z)
    if z[0, 0] > 0.0:
        shift = top
    else:
        shift = 0.0
    return np.log(np.sum(np.exp(z - top))) + shift


def changed_in_place(z):
    s = z - np.max(z, axis=1, keepdims=True)
    s[0, 0] = 1.0
    e = np.exp(s)
    return np.sum((e / np.sum(e, axis=1, keepdims=True)) ** 2)


def two_temperatures(z):
    t, u = 0.5 + z[0, 0] ** 2, 0.7 + z[0, 1] ** 2
    top = np.max(z)
    return top + t * np.log(np.sum(np.exp((z - top) / u)))


def number_over_the_difference(z):
    top = np.max(z) + 5.0
    return np.log(np.sum(np.exp(1.5 / (z - top)))) + top


def of_other_numbers(z):
    low = min(z[0, 0], z[0, 1])
    return low - 0.3 * math.log(math.exp(-(z[0, 0] - low) / 0.3) + math.exp(-(z[0, 1] - low) / 0.4))


def a_power_of_the_temperature(z):
    t, top = 0.5 + z[0, 0] ** 2, np.max(z)
    return top + t * np.log(np.sum(np.exp((z - top) / t / t)))


KEPT = [
    another_axis_squeezed,
    unnormalised, other_axis, all_axes, rows_and_columns, twice_the_top, top_is_kept, carried, on_one_path,
    changed_in_place, two_temperatures, number_over_the_difference, of_other_numbers, a_power_of_the_temperature,
]  # fmt: skip


def differences(f, z, step=1e-6):
    result = np.zeros_like(z)
    for index in np.ndindex(z.shape):
        move = np.zeros_like(z)
        move[index] = step
        result[index] = (f(z + move) - f(z - move)) / (2 * step)
    return result


@pytest.mark.parametrize("f", CANCELLED + KEPT)
def test_the_gradient_is_right(f):
    np.testing.assert_allclose(ad.grad(f)(Z), differences(f, Z), rtol=1e-6, atol=1e-8)
    direction = RNG.normal(size=Z.shape)
    _, tangent = ad.jvp(f, (Z,), (direction,))
    np.testing.assert_allclose(tangent, np.sum(differences(f, Z) * direction), rtol=1e-6)


@pytest.mark.parametrize("f", CANCELLED)
def test_nothing_passes_through_an_extreme_that_cancels(f):
    assert "==" not in ad.adjoint_source(f, Z)


@pytest.mark.parametrize("f", KEPT)
def test_what_does_not_cancel_is_kept(f):
    assert "==" in ad.adjoint_source(f, Z)


@pytest.mark.parametrize("f", [softmax, logsumexp])
def test_second_derivatives(f):
    v = RNG.normal(size=Z.shape)

    def slope(z):
        return np.sum(ad.grad(f)(z) * v)

    np.testing.assert_allclose(ad.grad(slope)(Z), differences(slope, Z), rtol=1e-5, atol=1e-7)
