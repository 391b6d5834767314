"""Kepler's equation by damped fixed-point steps for many planets: a scalar loop whose length depends on the data."""

import math

import numpy as np

KIND = "loop"
WRT = (0, 1)


def inputs(quick):
    return 0.8, 1.3, 3 if quick else 40


def primal(eccentricity, anomaly, planets):
    total = 0.0
    for k in range(planets):
        mean = anomaly + 0.05 * k
        position, change = mean, 1.0
        while abs(change) > 1e-10:
            change = 0.5 * (mean + eccentricity * math.sin(position) - position)
            position = position + change
        total = total + position * position
    return total


def hand(eccentricity, anomaly, planets):
    saved_position, trips, last = [], [], []
    for k in range(planets):
        mean = anomaly + 0.05 * k
        position, change, count = mean, 1.0, 0
        while abs(change) > 1e-10:
            saved_position.append(position)
            change = 0.5 * (mean + eccentricity * math.sin(position) - position)
            position = position + change
            count += 1
        trips.append(count)
        last.append(position)
    d_eccentricity = d_anomaly = 0.0
    for k in range(planets - 1, -1, -1):
        d_position = 2 * last[k]
        for _ in range(trips[k]):
            position = saved_position.pop()
            d_step = 0.5 * d_position
            d_anomaly += d_step
            d_eccentricity += d_step * math.sin(position)
            d_position += d_step * (eccentricity * math.cos(position) - 1.0)
        d_anomaly += d_position
    return d_eccentricity, d_anomaly


def hand_numba(eccentricity, anomaly, planets):
    saved = [0.0]
    d_eccentricity = d_anomaly = 0.0
    for k in range(planets):
        mean = anomaly + 0.05 * k
        position, change, count = mean, 1.0, 0
        while abs(change) > 1e-10:
            if count == len(saved):
                saved.append(position)
            else:
                saved[count] = position
            change = 0.5 * (mean + eccentricity * math.sin(position) - position)
            position = position + change
            count += 1
        d_position = 2 * position
        for i in range(count - 1, -1, -1):
            position = saved[i]
            d_step = 0.5 * d_position
            d_anomaly += d_step
            d_eccentricity += d_step * math.sin(position)
            d_position += d_step * (eccentricity * math.cos(position) - 1.0)
        d_anomaly += d_position
    return d_eccentricity, d_anomaly


def hips_primal(eccentricity, anomaly, planets):
    total = 0.0
    for k in range(planets):
        mean = anomaly + 0.05 * k
        position, change = mean, 1.0
        while abs(change) > 1e-10:
            change = 0.5 * (mean + eccentricity * np.sin(position) - position)
            position = position + change
        total = total + position * position
    return total


tape_primal = torch_primal = hips_primal


def jax_primal(eccentricity, anomaly, planets):
    """Reverse mode has no `while_loop`: the fixed point is found without derivatives, its steps repeated as a scan.

    A scan needs a length; the longest loop has 120 steps, and finished planets stand still.  `vmap` takes all planets.
    """
    import jax
    from jax import lax

    def settle(mean):
        def step(state, _):
            position, busy = state
            change = 0.5 * (mean + eccentricity * np.sin(position) - position)
            position = np.where(busy, position + change, position)
            return (position, busy & (abs(change) > 1e-10)), None

        (position, _), _ = lax.scan(step, (mean, True), length=120)
        return position

    position = jax.vmap(settle)(anomaly + 0.05 * np.arange(planets))
    return np.sum(position * position)
