"""Heat on a rod: an in-place stencil in a loop.  It is linear, so the reverse sweep needs no temperature."""

import numpy as np

KIND = "loop"
WRT = (0,)


def inputs(quick):
    return np.random.default_rng(0).normal(size=200 if quick else 10_000), 5 if quick else 100


def primal(rod, steps):
    rod = rod.copy()
    for _ in range(steps):
        rod[1:-1] = 0.25 * (rod[:-2] + 2 * rod[1:-1] + rod[2:])
    return np.sum(rod * rod)


def hand(rod, steps):
    rod = rod.copy()
    for _ in range(steps):
        rod[1:-1] = 0.25 * (rod[:-2] + 2 * rod[1:-1] + rod[2:])
    d_rod = 2 * rod
    inner = d_rod[1:-1]
    for _ in range(steps):
        d_new = 0.25 * inner
        np.multiply(d_new, 2, out=inner)
        d_rod[:-2] += d_new
        d_rod[2:] += d_new
    return d_rod


def hand_numba(rod, steps):
    n = len(rod)
    now, new = rod.copy(), rod.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            new[i] = 0.25 * (now[i - 1] + 2 * now[i] + now[i + 1])
        now, new = new, now
    # Adjoint of the stencil as a gather: the ends are never written, so they only collect.
    d = 2 * now
    e = np.empty_like(d)
    for _ in range(steps):
        for i in range(2, n - 2):
            e[i] = 0.25 * (d[i - 1] + 2 * d[i] + d[i + 1])
        e[0] = d[0] + 0.25 * d[1]
        e[1] = 0.25 * (2 * d[1] + d[2])
        e[n - 2] = 0.25 * (d[n - 3] + 2 * d[n - 2])
        e[n - 1] = d[n - 1] + 0.25 * d[n - 2]
        d, e = e, d
    return d


def hips_primal(rod, steps):
    for _ in range(steps):
        rod = np.concatenate((rod[:1], 0.25 * (rod[:-2] + 2 * rod[1:-1] + rod[2:]), rod[-1:]))
    return np.sum(rod * rod)


tape_primal = hips_primal


def torch_primal(rod, steps):
    for _ in range(steps):
        rod = np.cat((rod[:1], 0.25 * (rod[:-2] + 2 * rod[1:-1] + rod[2:]), rod[-1:]))
    return np.sum(rod * rod)


def jax_primal(rod, steps):
    from jax import lax

    def step(_, rod):
        return rod.at[1:-1].set(0.25 * (rod[:-2] + 2 * rod[1:-1] + rod[2:]))

    rod = lax.fori_loop(0, steps, step, rod)
    return np.sum(rod * rod)
