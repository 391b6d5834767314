"""Gravity between many bodies by leapfrog steps: an array of all pairs in each step."""

import numpy as np

KIND = "dense"
WRT = (0, 1)


def inputs(quick):
    rng = np.random.default_rng(0)
    bodies, steps = (5, 2) if quick else (64, 10)
    return rng.normal(size=(bodies, 3)), 0.1 * rng.normal(size=(bodies, 3)), rng.random(bodies), steps, 0.01


def acceleration(position, mass):
    apart = position[None, :, :] - position[:, None, :]
    distance2 = np.sum(apart**2, axis=2) + 0.01
    return np.sum(apart * (mass * distance2**-1.5)[:, :, None], axis=1)


def primal(position, velocity, mass, steps, dt):
    for _ in range(steps):
        velocity = velocity + 0.5 * dt * acceleration(position, mass)
        position = position + dt * velocity
        velocity = velocity + 0.5 * dt * acceleration(position, mass)
    return np.sum(position**2) + np.sum(mass[:, None] * velocity**2)


def pull(position, mass):
    """The acceleration, with what its adjoint reads."""
    apart = position[None, :, :] - position[:, None, :]
    distance2 = np.einsum("ijk,ijk->ij", apart, apart)
    distance2 += 0.01
    weight = distance2**-1.5
    weight *= mass
    return np.einsum("ijk,ij->ik", apart, weight), (apart, distance2, weight)


def d_acceleration(d, saved):
    apart, distance2, weight = saved
    d_distance2 = np.einsum("ijk,ik->ij", apart, d)
    d_distance2 *= weight
    d_distance2 /= distance2
    d_distance2 *= -3
    d_apart = apart * d_distance2[:, :, None]
    d_apart += weight[:, :, None] * d[:, None, :]
    return d_apart.sum(axis=0) - d_apart.sum(axis=1)


def hand(position, velocity, mass, steps, dt):
    saved = []
    for _ in range(steps):
        first, kept_first = pull(position, mass)
        velocity = velocity + 0.5 * dt * first
        position = position + dt * velocity
        second, kept_second = pull(position, mass)
        velocity = velocity + 0.5 * dt * second
        saved.append((kept_first, kept_second))
    d_position, d_velocity = 2 * position, 2 * mass[:, None] * velocity
    while saved:
        kept_first, kept_second = saved.pop()
        d_position += d_acceleration(0.5 * dt * d_velocity, kept_second)
        d_velocity += dt * d_position
        d_position += d_acceleration(0.5 * dt * d_velocity, kept_first)
    return d_position, d_velocity


def hand_numba(position, velocity, mass, steps, dt):
    n = len(mass)
    at = np.empty((2 * steps, n, 3))
    position, velocity = position.copy(), velocity.copy()
    for t in range(2 * steps):
        at[t] = position
        for i in range(n):
            ax = ay = az = 0.0
            for j in range(n):
                x = position[j, 0] - position[i, 0]
                y = position[j, 1] - position[i, 1]
                z = position[j, 2] - position[i, 2]
                r2 = x * x + y * y + z * z + 0.01
                w = mass[j] / (r2 * np.sqrt(r2))
                ax += x * w
                ay += y * w
                az += z * w
            velocity[i, 0] += 0.5 * dt * ax
            velocity[i, 1] += 0.5 * dt * ay
            velocity[i, 2] += 0.5 * dt * az
        if t % 2 == 0:
            for i in range(n):
                for k in range(3):
                    position[i, k] += dt * velocity[i, k]
    d_position, d_velocity = 2 * position, np.empty_like(velocity)
    for i in range(n):
        for k in range(3):
            d_velocity[i, k] = 2 * mass[i] * velocity[i, k]
    for t in range(2 * steps - 1, -1, -1):
        if t % 2 == 0:
            for i in range(n):
                for k in range(3):
                    d_velocity[i, k] += dt * d_position[i, k]
        p = at[t]
        for i in range(n):
            dx = dy = dz = 0.0
            for j in range(n):
                # The pull of j on i and that of i on j, gathered for i.
                x, y, z = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
                r2 = x * x + y * y + z * z + 0.01
                w = 0.5 * dt / (r2 * np.sqrt(r2))
                ux = mass[j] * d_velocity[i, 0] - mass[i] * d_velocity[j, 0]
                uy = mass[j] * d_velocity[i, 1] - mass[i] * d_velocity[j, 1]
                uz = mass[j] * d_velocity[i, 2] - mass[i] * d_velocity[j, 2]
                along = 3.0 * (x * ux + y * uy + z * uz) / r2
                dx += w * (along * x - ux)
                dy += w * (along * y - uy)
                dz += w * (along * z - uz)
            d_position[i, 0] += dx
            d_position[i, 1] += dy
            d_position[i, 2] += dz
    return d_position, d_velocity


def jax_primal(position, velocity, mass, steps, dt):
    from jax import lax

    def step(state, _):
        position, velocity = state
        velocity = velocity + 0.5 * dt * acceleration(position, mass)
        position = position + dt * velocity
        return (position, velocity + 0.5 * dt * acceleration(position, mass)), None

    (position, velocity), _ = lax.scan(step, (position, velocity), length=steps)
    return np.sum(position**2) + np.sum(mass[:, None] * velocity**2)
