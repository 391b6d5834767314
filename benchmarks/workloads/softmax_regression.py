"""Softmax regression, one sample at a time: small vectors in a loop, a label as an index."""

import math

import numpy as np

KIND = "loop"
WRT = (0, 1)


def inputs(quick):
    rng = np.random.default_rng(0)
    samples, features, classes = (5, 4, 3) if quick else (200, 20, 10)
    weights = 0.1 * rng.normal(size=(classes, features))
    return weights, np.zeros(classes), rng.normal(size=(samples, features)), rng.integers(classes, size=samples)


def primal(w, b, x, labels):
    loss = 0.0
    for i in range(len(x)):
        z = w @ x[i] + b
        z = z - np.max(z)
        loss = loss + np.log(np.sum(np.exp(z))) - z[labels[i]]
    return loss / len(x)


def hand(w, b, x, labels):
    d_z = np.empty((len(x), len(b)))
    for i in range(len(x)):
        z = np.matmul(w, x[i], out=d_z[i])
        z += b
        z -= z.max()
        np.exp(z, out=z)
        z /= z.sum()
        z[labels[i]] -= 1
    d_z /= len(x)
    return d_z.T @ x, d_z.sum(axis=0)


def hand_numba(w, b, x, labels):
    classes, features = w.shape
    d_w, d_b = np.zeros_like(w), np.zeros_like(b)
    z = np.empty(classes)
    for i in range(len(x)):
        top = -np.inf
        for c in range(classes):
            z[c] = b[c]
            for f in range(features):
                z[c] += w[c, f] * x[i, f]
            top = max(top, z[c])
        total = 0.0
        for c in range(classes):
            z[c] = math.exp(z[c] - top)
            total += z[c]
        for c in range(classes):
            d = (z[c] / total - (c == labels[i])) / len(x)
            d_b[c] += d
            for f in range(features):
                d_w[c, f] += d * x[i, f]
    return d_w, d_b


def torch_primal(w, b, x, labels):
    loss = 0.0
    for i in range(len(x)):
        loss = loss - np.log_softmax(w @ x[i] + b, dim=0)[labels[i]]
    return loss / len(x)


def jax_primal(w, b, x, labels):
    import jax

    def loss(row, label):
        return -jax.nn.log_softmax(w @ row + b)[label]

    return np.mean(jax.vmap(loss)(x, labels))
