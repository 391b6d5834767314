"""Log-likelihood of a mixture of Gaussians with diagonal scales: broadcasting over samples, components, axes."""

import numpy as np

KIND = "dense"
WRT = (0, 1, 2)


def inputs(quick):
    rng = np.random.default_rng(0)
    samples, components, axes = (7, 3, 2) if quick else (2000, 8, 4)
    means = rng.normal(size=(components, axes))
    return (
        rng.normal(size=components),
        means,
        0.1 * rng.normal(size=(components, axes)),
        rng.normal(size=(samples, axes)),
    )


def logsumexp(a):
    top = np.max(a, axis=-1, keepdims=True)
    return top[..., 0] + np.log(np.sum(np.exp(a - top), axis=-1))


def primal(logits, means, log_scales, x):
    log_weights = logits - logsumexp(logits)
    z = (x[:, None, :] - means) * np.exp(-log_scales)
    log_p = log_weights - np.sum(log_scales, axis=1) - 0.5 * np.sum(z * z, axis=2)
    return np.sum(logsumexp(log_p))


def hand(logits, means, log_scales, x):
    weights = np.exp(logits - np.max(logits))
    weights /= weights.sum()
    inverse = np.exp(-log_scales)
    z = x[:, None, :] - means
    z *= inverse
    square = z * z
    r = square.sum(axis=2)
    r *= -0.5
    r += np.log(weights) - log_scales.sum(axis=1)
    r -= np.max(r, axis=1, keepdims=True)
    np.exp(r, out=r)
    r /= r.sum(axis=1, keepdims=True)
    count = r.sum(axis=0)
    square *= r[:, :, None]
    z *= r[:, :, None]
    return count - len(x) * weights, z.sum(axis=0) * inverse, square.sum(axis=0) - count[:, None]


def torch_primal(logits, means, log_scales, x):
    log_weights = np.log_softmax(logits, dim=0)
    z = (x[:, None, :] - means) * np.exp(-log_scales)
    log_p = log_weights - np.sum(log_scales, dim=1) - 0.5 * np.sum(z * z, dim=2)
    return np.sum(np.logsumexp(log_p, dim=1))


def jax_primal(logits, means, log_scales, x):
    from jax.nn import log_softmax
    from jax.scipy.special import logsumexp

    z = (x[:, None, :] - means) * np.exp(-log_scales)
    log_p = log_softmax(logits) - np.sum(log_scales, axis=1) - 0.5 * np.sum(z * z, axis=2)
    return np.sum(logsumexp(log_p, axis=1))
