"""The step of `finite_volume` on whole arrays: the limiter as `np.where`, the update through slices in place."""

import numpy as np

KIND = "dense"
WRT = (0,)


def inputs(quick):
    cells, steps = (10, 2) if quick else (5000, 20)
    angle = 2 * np.pi * np.arange(cells) / cells
    return 1.0 + 0.5 * np.sin(angle) + 0.2 * np.cos(3 * angle + 1.0), steps, 0.3


def primal(u, steps, ratio):
    u = u.copy()
    for _ in range(steps):
        left = u[1:-1] - u[:-2]
        right = u[2:] - u[1:-1]
        slope = np.where(left * right > 0.0, np.where(np.abs(left) < np.abs(right), left, right), 0.0)
        face = u[1:-1] + 0.5 * (1.0 - ratio * u[1:-1]) * slope
        flux = 0.5 * face * face
        u[2:-1] -= ratio * (flux[1:] - flux[:-1])
    return np.sum(u * u)


def hand(u, steps, ratio):
    u = u.copy()
    saved = []
    for _ in range(steps):
        difference = u[1:] - u[:-1]
        left, right = difference[:-1], difference[1:]
        same_sign = left * right > 0.0
        use_left = np.abs(left) < np.abs(right)
        slope = np.where(use_left, left, right)
        slope *= same_sign
        rest = 0.5 - 0.5 * ratio * u[1:-1]
        face = rest * slope
        face += u[1:-1]
        saved.append((slope, rest, face, use_left, same_sign))
        flux = face * face
        flux *= 0.5
        u[2:-1] -= ratio * (flux[1:] - flux[:-1])
    d_u = 2 * u
    while saved:
        slope, rest, face, use_left, same_sign = saved.pop()
        d_face = np.empty_like(face)
        d_flux = d_u[2:-1] * ratio
        d_face[0] = 0.0
        np.negative(d_flux, out=d_face[1:])
        d_face[:-1] += d_flux
        d_face *= face
        rest *= d_face
        rest *= same_sign
        d_left = rest * use_left
        rest -= d_left
        slope *= d_face
        slope *= -0.5 * ratio
        d_face += slope
        d_u[2:] += rest
        d_face -= rest
        d_face += d_left
        d_u[1:-1] += d_face
        d_u[:-2] -= d_left
    return d_u


def hips_primal(u, steps, ratio):
    for _ in range(steps):
        left = u[1:-1] - u[:-2]
        right = u[2:] - u[1:-1]
        slope = np.where(left * right > 0.0, np.where(np.abs(left) < np.abs(right), left, right), 0.0)
        face = u[1:-1] + 0.5 * (1.0 - ratio * u[1:-1]) * slope
        flux = 0.5 * face * face
        u = np.concatenate((u[:2], u[2:-1] - ratio * (flux[1:] - flux[:-1]), u[-1:]))
    return np.sum(u * u)


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
