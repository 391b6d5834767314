"""A network of two layers with a cross entropy: two large products, exponentials between them."""

import numpy as np

KIND = "dense"
WRT = (0, 1, 2, 3)


def inputs(quick):
    rng = np.random.default_rng(0)
    batch, features, hidden, classes = (8, 5, 6, 3) if quick else (128, 64, 128, 10)
    weights = [rng.normal(size=(features, hidden)) / features**0.5, np.zeros(hidden)]
    weights += [rng.normal(size=(hidden, classes)) / hidden**0.5, np.zeros(classes)]
    targets = np.eye(classes)[rng.integers(classes, size=batch)]
    return *weights, rng.normal(size=(batch, features)), targets


def primal(w1, b1, w2, b2, x, targets):
    h = np.tanh(x @ w1 + b1)
    z = h @ w2 + b2
    z = z - np.max(z, axis=1, keepdims=True)
    log_p = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(np.sum(targets * log_p, axis=1))


def hand(w1, b1, w2, b2, x, targets):
    h = x @ w1
    h += b1
    np.tanh(h, out=h)
    z = h @ w2
    z += b2
    z -= np.max(z, axis=1, keepdims=True)
    np.exp(z, out=z)
    # Each row of targets sums to one, but the adjoint at the primal's granularity does not know that.
    d_z = z * (np.sum(targets, axis=1, keepdims=True) / np.sum(z, axis=1, keepdims=True))
    d_z -= targets
    d_z /= len(x)
    d_h = d_z @ w2.T
    d_w2, d_b2 = h.T @ d_z, d_z.sum(axis=0)
    h *= h
    np.subtract(1, h, out=h)
    d_h *= h
    return x.T @ d_h, d_h.sum(axis=0), d_w2, d_b2


def torch_primal(w1, b1, w2, b2, x, targets):
    h = np.tanh(np.addmm(b1, x, w1))
    log_p = np.log_softmax(np.addmm(b2, h, w2), dim=1)
    return -np.sum(targets * log_p) / len(x)


def jax_primal(w1, b1, w2, b2, x, targets):
    import jax

    h = np.tanh(x @ w1 + b1)
    return -np.mean(np.sum(targets * jax.nn.log_softmax(h @ w2 + b2), axis=1))
