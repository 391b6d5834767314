"""An LSTM over a sequence: small products in a loop, weights shared by all steps."""

import numpy as np

KIND = "dense"
WRT = (0, 1, 2)


def inputs(quick):
    rng = np.random.default_rng(0)
    steps, batch, features, hidden = (4, 2, 3, 4) if quick else (50, 16, 16, 32)
    weights = (
        rng.normal(size=(features, 4 * hidden)) / features**0.5,
        rng.normal(size=(hidden, 4 * hidden)) / hidden**0.5,
    )
    return *weights, np.zeros(4 * hidden), rng.normal(size=(steps, batch, features))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def primal(wx, wh, b, x):
    n = len(wh)
    h = c = np.zeros((x.shape[1], n))
    for t in range(len(x)):
        z = x[t] @ wx + h @ wh + b
        i, f, o = sigmoid(z[:, :n]), sigmoid(z[:, n : 2 * n]), sigmoid(z[:, 2 * n : 3 * n])
        c = f * c + i * np.tanh(z[:, 3 * n :])
        h = o * np.tanh(c)
    return np.mean(h * h)


def hand(wx, wh, b, x):
    steps, batch, features = x.shape
    n = len(wh)
    hs, cs = np.zeros((steps + 1, batch, n)), np.zeros((steps + 1, batch, n))
    gates, tanh_c = np.empty((steps, batch, 4 * n)), np.empty((steps, batch, n))
    from_x = x @ wx
    from_x += b
    for t in range(steps):
        z = gates[t]
        np.matmul(hs[t], wh, out=z)
        z += from_x[t]
        s, g = z[:, : 3 * n], z[:, 3 * n :]
        np.negative(s, out=s)
        np.exp(s, out=s)
        s += 1
        np.reciprocal(s, out=s)
        np.tanh(g, out=g)
        c = np.multiply(z[:, n : 2 * n], cs[t], out=cs[t + 1])
        c += z[:, :n] * g
        np.tanh(c, out=tanh_c[t])
        np.multiply(z[:, 2 * n : 3 * n], tanh_c[t], out=hs[t + 1])
    # What each gate's adjoint is multiplied by, for all steps at once.
    slopes = gates * gates
    slopes[:, :, : 3 * n] -= gates[:, :, : 3 * n]
    slopes[:, :, 3 * n :] -= 1
    np.negative(slopes, out=slopes)
    d_zs = np.empty_like(gates)
    d_h, d_c = hs[-1] * (2 / hs[-1].size), np.zeros((batch, n))
    for t in range(steps - 1, -1, -1):
        z, d_z = gates[t], d_zs[t]
        np.multiply(d_h, tanh_c[t], out=d_z[:, 2 * n : 3 * n])
        d_h *= z[:, 2 * n : 3 * n]
        d_h *= 1 - tanh_c[t] * tanh_c[t]
        d_c += d_h
        np.multiply(d_c, z[:, 3 * n :], out=d_z[:, :n])
        np.multiply(d_c, cs[t], out=d_z[:, n : 2 * n])
        np.multiply(d_c, z[:, :n], out=d_z[:, 3 * n :])
        d_z *= slopes[t]
        d_c *= z[:, n : 2 * n]
        d_h = d_z @ wh.T
    d_zs = d_zs.reshape(-1, 4 * n)
    return x.reshape(-1, features).T @ d_zs, hs[:-1].reshape(-1, n).T @ d_zs, d_zs.sum(axis=0)


def torch_primal(wx, wh, b, x):
    n = len(wh)
    h = c = x.new_zeros((x.shape[1], n))
    from_x = x @ wx + b
    for t in range(len(x)):
        z = np.addmm(from_x[t], h, wh)
        i, f, o = np.sigmoid(z[:, : 3 * n]).chunk(3, dim=1)
        c = f * c + i * np.tanh(z[:, 3 * n :])
        h = o * np.tanh(c)
    return np.mean(h * h)


def jax_primal(wx, wh, b, x):
    import jax
    from jax import lax

    n = len(wh)

    def step(state, from_x):
        h, c = state
        z = from_x + h @ wh
        i, f, o = np.split(jax.nn.sigmoid(z[:, : 3 * n]), 3, axis=1)
        c = f * c + i * np.tanh(z[:, 3 * n :])
        return (o * np.tanh(c), c), None

    zero = np.zeros((x.shape[1], n))
    (h, _), _ = lax.scan(step, (zero, zero), x @ wx + b)
    return np.mean(h * h)
