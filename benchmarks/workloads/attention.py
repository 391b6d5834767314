"""Self-attention with several heads: batched products, a softmax, reshapes and transposes."""

import numpy as np

KIND = "dense"
WRT = (0, 1, 2, 3)
HEADS = 4


def inputs(quick):
    rng = np.random.default_rng(0)
    length, width = (5, 8) if quick else (128, 64)
    weights = [rng.normal(size=(width, width)) / width**0.5 for _ in range(4)]
    return *weights, rng.normal(size=(length, width))


def split(a):
    return a.reshape(len(a), HEADS, -1).transpose((1, 0, 2))


def primal(wq, wk, wv, wo, x):
    q, k, v = split(x @ wq), split(x @ wk), split(x @ wv)
    scores = q @ k.transpose((0, 2, 1)) / np.sqrt(q.shape[-1])
    p = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    p = p / np.sum(p, axis=-1, keepdims=True)
    mixed = (p @ v).transpose((1, 0, 2)).reshape(x.shape)
    y = mixed @ wo
    return np.mean(y * y)


def hand(wq, wk, wv, wo, x):
    q, k, v = split(x @ wq), split(x @ wk), split(x @ wv)
    scale = 1 / np.sqrt(q.shape[-1])
    p = q @ k.transpose((0, 2, 1))
    p *= scale
    p -= np.max(p, axis=-1, keepdims=True)
    np.exp(p, out=p)
    p /= p.sum(axis=-1, keepdims=True)
    mixed = (p @ v).transpose((1, 0, 2)).reshape(x.shape)
    d_y = mixed @ wo
    d_y *= 2 / d_y.size
    d_mixed = split(d_y @ wo.T)
    d_scores = d_mixed @ v.transpose((0, 2, 1))
    d_scores -= np.einsum("hij,hij->hi", d_scores, p)[:, :, None]
    d_scores *= p
    d_scores *= scale
    d_q, d_k, d_v = d_scores @ k, d_scores.transpose((0, 2, 1)) @ q, p.transpose((0, 2, 1)) @ d_mixed
    d_wq, d_wk, d_wv = (x.T @ d.transpose((1, 0, 2)).reshape(x.shape) for d in (d_q, d_k, d_v))
    return d_wq, d_wk, d_wv, mixed.T @ d_y


def torch_primal(wq, wk, wv, wo, x):
    def heads(a):
        return a.reshape(len(a), HEADS, -1).permute(1, 0, 2)

    mixed = np.nn.functional.scaled_dot_product_attention(heads(x @ wq), heads(x @ wk), heads(x @ wv))
    y = mixed.permute(1, 0, 2).reshape(x.shape) @ wo
    return np.mean(y * y)


def jax_primal(wq, wk, wv, wo, x):
    from jax.nn import softmax

    q, k, v = split(x @ wq), split(x @ wk), split(x @ wv)
    p = softmax(q @ k.transpose((0, 2, 1)) / np.sqrt(q.shape[-1]))
    y = (p @ v).transpose((1, 0, 2)).reshape(x.shape) @ wo
    return np.mean(y * y)
