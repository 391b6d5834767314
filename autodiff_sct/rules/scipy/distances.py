"""Distances between points in ``scipy.spatial.distance``.

Each metric is symmetric, so that one function has the derivatives by both points: `slopes`, by the first of them.
Those of euclidean distances are along the vector between the points, which products of matrices sum up.
"""

import numpy as np
from scipy.spatial import distance

from ...errors import NoRule
from ..elementwise import nonzero
from ..table import forward, reverse, static


@reverse(distance.cdist)
def cdist(y, d, XA, XB, metric="euclidean", *, out=None, p=2, V=None, VI=None, w=None):
    check_metric(metric, p, V, VI, w)
    if is_euclidean(metric):
        along = weights(y, d, metric)
        return np.sum(along, 1)[:, None] * XA - along @ XB, np.sum(along, 0)[:, None] * XB - along.T @ XA
    return (
        np.sum(d[:, :, None] * slopes(metric, XA[:, None, :], XB, y, p, V, VI), 1),
        np.sum(d[:, :, None] * slopes(metric, XB, XA[:, None, :], y, p, V, VI), 0),
    )


@forward(distance.cdist)
def push_cdist(y, d, XA, XB, metric="euclidean", *, out=None, p=2, V=None, VI=None, w=None):
    check_metric(metric, p, V, VI, w)
    if is_euclidean(metric):
        return (
            weights(y, np.sum(XA * d, 1)[:, None] - d @ XB.T, metric),
            weights(y, np.sum(XB * d, 1) - XA @ d.T, metric),
        )
    return (
        np.sum(slopes(metric, XA[:, None, :], XB, y, p, V, VI) * d[:, None, :], 2),
        np.sum(slopes(metric, XB, XA[:, None, :], y, p, V, VI) * d, 2),
    )


@reverse(distance.pdist)
def pdist(y, d, X, metric="euclidean", *, out=None, p=2, V=None, VI=None, w=None):
    check_metric(metric, p, V, VI, w)
    if is_euclidean(metric):
        along = distance.squareform(weights(y, d, metric))
        return np.sum(along, 1)[:, None] * X - along @ X
    both = slopes(metric, X[:, None, :], X, distance.squareform(y), p, V, VI)
    return np.sum(distance.squareform(d)[:, :, None] * both, 1)


@forward(distance.pdist)
def push_pdist(y, d, X, metric="euclidean", *, out=None, p=2, V=None, VI=None, w=None):
    check_metric(metric, p, V, VI, w)
    rows, columns = np.triu_indices(X.shape[0], 1)
    if is_euclidean(metric):
        return weights(y, np.sum((X[rows] - X[columns]) * (d[rows] - d[columns]), 1), metric)
    by_first = slopes(metric, X[rows], X[columns], y, p, V, VI)
    by_second = slopes(metric, X[columns], X[rows], y, p, V, VI)
    return np.sum(by_first * d[rows] + by_second * d[columns], 1)


@reverse(distance.squareform)
def squareform(y, d, X, force="no", checks=True):
    if X.ndim < 2:
        rows, columns = np.triu_indices(d.shape[0], 1)
        return d[rows, columns] + d[columns, rows]
    return np.triu(distance.squareform(d), 1)


@forward(distance.squareform)
def push_squareform(y, d, X, force="no", checks=True):
    return distance.squareform(d, force, False)


def weights(y, d, metric):
    """The derivative by the vector between two points, over that vector: 0 where the points are one."""
    if metric == "sqeuclidean":
        return 2 * d
    return d / (y + (y == 0)) * (y != 0)


def slopes(metric, u, v, y, p, V, VI):
    """The derivatives of distances `y` by the points `u`: 0 where they are those of `v`."""
    apart, y = u - v, y[..., None]
    if metric == "cityblock":
        return np.sign(apart)
    if metric == "chebyshev":
        largest = np.abs(apart) == y
        return np.sign(apart) * (largest & (np.cumsum(largest, -1) == 1))
    if metric == "minkowski":
        return np.sign(apart) * np.abs(nonzero(apart)) ** (p - 1) / nonzero(y) ** (p - 1)
    if metric == "seuclidean":
        return apart / (np.asarray(V) * nonzero(y))
    if metric == "mahalanobis":
        return apart @ (np.add(VI, np.transpose(VI)) / 2) / nonzero(y)
    if metric == "canberra":
        both = nonzero(np.abs(u) + np.abs(v))
        return np.sign(apart) / both - np.abs(apart) * np.sign(u) / both**2
    if metric == "braycurtis":
        return (np.sign(apart) - y * np.sign(u + v)) / np.sum(np.abs(u + v), -1, keepdims=True)
    if metric == "correlation":
        u, v = u - np.mean(u, -1, keepdims=True), v - np.mean(v, -1, keepdims=True)
    size = np.linalg.norm(u, axis=-1, keepdims=True)
    return ((1 - y) * u / size - v / np.linalg.norm(v, axis=-1, keepdims=True)) / size


@static
def is_euclidean(metric):
    """True if the derivative is along the vector between two points."""
    return metric in ("euclidean", "sqeuclidean")


def check_metric(metric, p, V, VI, w):
    """Refuse a metric that has no rule here."""
    check_name(metric, p)
    if w is not None:
        raise NoRule("distances are differentiable without w: multiply the points by its root")
    if (metric == "seuclidean" and V is None) or (metric == "mahalanobis" and VI is None):
        raise NoRule(f"distances are differentiable for the metric {metric!r} with V or VI, which SciPy else estimates")


@static
def check_name(metric, p):
    if (metric == "minkowski" and p == np.inf) or metric not in (
        "euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "seuclidean", "mahalanobis", "canberra",
        "braycurtis", "cosine", "correlation",
    ):  # fmt: skip
        raise NoRule(f"distances are not differentiable for the metric {metric!r}")
