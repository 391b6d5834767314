"""Burgers' equation by finite volumes with a limiter, cell by cell: branches inside loops over items of arrays."""

import numpy as np

KIND = "loop"
WRT = (0,)


def inputs(quick):
    cells, steps = (10, 2) if quick else (100, 10)
    angle = 2 * np.pi * np.arange(cells) / cells
    return 1.0 + 0.5 * np.sin(angle) + 0.2 * np.cos(3 * angle + 1.0), steps, 0.3


def primal(u, steps, ratio):
    u = u.copy()
    n = len(u)
    slope, flux = np.zeros(n), np.zeros(n)
    for _ in range(steps):
        for i in range(1, n - 1):
            left = u[i] - u[i - 1]
            right = u[i + 1] - u[i]
            if left * right <= 0.0:
                slope[i] = 0.0
            elif abs(left) < abs(right):
                slope[i] = left
            else:
                slope[i] = right
        for i in range(1, n - 1):
            face = u[i] + 0.5 * (1.0 - ratio * u[i]) * slope[i]
            flux[i] = 0.5 * face * face
        for i in range(2, n - 1):
            u[i] = u[i] - ratio * (flux[i] - flux[i - 1])
    return np.sum(u * u)


def hand(u, steps, ratio):
    u = u.tolist()
    n = len(u)
    slope, flux = [0.0] * n, [0.0] * n
    saved_u, saved_slope, saved_side = [], [], []
    for _ in range(steps):
        side = [0] * n
        for i in range(1, n - 1):
            left = u[i] - u[i - 1]
            right = u[i + 1] - u[i]
            if left * right <= 0.0:
                slope[i] = 0.0
            elif abs(left) < abs(right):
                slope[i] = left
                side[i] = -1
            else:
                slope[i] = right
                side[i] = 1
        saved_u.append(u.copy())
        saved_slope.append(slope.copy())
        saved_side.append(side)
        for i in range(1, n - 1):
            face = u[i] + 0.5 * (1.0 - ratio * u[i]) * slope[i]
            flux[i] = 0.5 * face * face
        for i in range(2, n - 1):
            u[i] = u[i] - ratio * (flux[i] - flux[i - 1])
    d_u = [2 * value for value in u]
    for _ in range(steps):
        u, slope, side = saved_u.pop(), saved_slope.pop(), saved_side.pop()
        d_old = d_u.copy()
        for i in range(1, n - 1):
            d_flux = 0.0
            if i >= 2:
                d_flux -= ratio * d_u[i]
            if i < n - 2:
                d_flux += ratio * d_u[i + 1]
            rest = 0.5 * (1.0 - ratio * u[i])
            d_face = d_flux * (u[i] + rest * slope[i])
            d_old[i] += d_face * (1.0 - 0.5 * ratio * slope[i])
            if side[i] == -1:
                d_slope = d_face * rest
                d_old[i] += d_slope
                d_old[i - 1] -= d_slope
            elif side[i] == 1:
                d_slope = d_face * rest
                d_old[i + 1] += d_slope
                d_old[i] -= d_slope
        d_u = d_old
    return np.array(d_u)


def hand_numba(u, steps, ratio):
    n = len(u)
    us = np.empty((steps + 1, n))
    slopes = np.zeros((steps, n))
    sides = np.zeros((steps, n), np.int8)
    us[0] = u
    for t in range(steps):
        u, new, slope, side = us[t], us[t + 1], slopes[t], sides[t]
        new[:] = u
        before = 0.0
        for i in range(1, n - 1):
            left = u[i] - u[i - 1]
            right = u[i + 1] - u[i]
            if left * right > 0.0:
                if abs(left) < abs(right):
                    slope[i] = left
                    side[i] = -1
                else:
                    slope[i] = right
                    side[i] = 1
            face = u[i] + 0.5 * (1.0 - ratio * u[i]) * slope[i]
            flux = 0.5 * face * face
            if i >= 2:
                new[i] = u[i] - ratio * (flux - before)
            before = flux
    d_u = 2 * us[steps]
    d_old = np.empty(n)
    for t in range(steps - 1, -1, -1):
        u, slope, side = us[t], slopes[t], sides[t]
        d_old[:] = d_u
        for i in range(1, n - 1):
            d_flux = 0.0
            if i >= 2:
                d_flux -= ratio * d_u[i]
            if i < n - 2:
                d_flux += ratio * d_u[i + 1]
            rest = 0.5 * (1.0 - ratio * u[i])
            d_face = d_flux * (u[i] + rest * slope[i])
            d_slope = d_face * rest
            d_old[i] += d_face * (1.0 - 0.5 * ratio * slope[i])
            if side[i] == -1:
                d_old[i] += d_slope
                d_old[i - 1] -= d_slope
            elif side[i] == 1:
                d_old[i + 1] += d_slope
                d_old[i] -= d_slope
        d_u, d_old = d_old, d_u
    return d_u


def hips_primal(u, steps, ratio):
    u = [u[i] for i in range(len(u))]
    n = len(u)
    for _ in range(steps):
        flux = [0.0] * n
        for i in range(1, n - 1):
            left = u[i] - u[i - 1]
            right = u[i + 1] - u[i]
            if left * right <= 0.0:
                slope = 0.0
            elif abs(left) < abs(right):
                slope = left
            else:
                slope = right
            face = u[i] + 0.5 * (1.0 - ratio * u[i]) * slope
            flux[i] = 0.5 * face * face
        u = u[:2] + [u[i] - ratio * (flux[i] - flux[i - 1]) for i in range(2, n - 1)] + u[n - 1 :]
    return sum(value * value for value in u)


tape_primal = torch_primal = hips_primal


def jax_primal(u, steps, ratio):
    from jax import lax

    def step(u, _):
        left, right = u[1:-1] - u[:-2], u[2:] - u[1:-1]
        slope = np.where(left * right > 0.0, np.where(abs(left) < abs(right), left, right), 0.0)
        face = u[1:-1] + 0.5 * (1.0 - ratio * u[1:-1]) * slope
        flux = 0.5 * face * face
        return u.at[2:-1].add(-ratio * (flux[1:] - flux[:-1])), None

    u, _ = lax.scan(step, u, length=steps)
    return np.sum(u * u)
