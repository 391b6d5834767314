"""Logistic regression with a penalty on a full batch: two products with the data and a stable log of a sigmoid."""

import numpy as np

KIND = "dense"
WRT = (0, 1)


def inputs(quick):
    rng = np.random.default_rng(0)
    samples, features = (12, 3) if quick else (4000, 50)
    labels = np.sign(rng.normal(size=samples))
    return rng.normal(size=features) / 10, 0.1, rng.normal(size=(samples, features)), labels, 1e-3


def primal(w, b, x, labels, penalty):
    margin = labels * (x @ w + b)
    return np.mean(np.logaddexp(0.0, -margin)) + penalty * np.sum(w * w)


def hand(w, b, x, labels, penalty):
    margin = x @ w
    margin += b
    margin *= labels
    # sigmoid(-margin) without an overflow, from exp(-abs(margin)).
    small = np.abs(margin)
    np.exp(np.negative(small, out=small), out=small)
    d_score = np.where(margin > 0, small, 1.0)
    small += 1
    d_score /= small
    d_score *= labels
    d_score *= -1 / len(labels)
    return d_score @ x + 2 * penalty * w, float(d_score.sum())


def torch_primal(w, b, x, labels, penalty):
    margin = labels * (x @ w + b)
    return np.mean(np.nn.functional.softplus(-margin)) + penalty * np.sum(w * w)
