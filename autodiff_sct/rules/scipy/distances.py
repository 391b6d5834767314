"""Distances between points in ``scipy.spatial.distance``: euclidean ones, their squares, and sums of differences."""

import numpy as np
from scipy.spatial import distance

from ...errors import NoRule
from ..table import forward, reverse


@reverse(distance.cdist)
def cdist(y, d, XA, XB, metric="euclidean", *, out=None):
    check_metric(metric)
    if metric == "cityblock":
        signs = np.sign(XA[:, None, :] - XB) * d[:, :, None]
        return np.sum(signs, 1), -np.sum(signs, 0)
    w = weights(y, d, metric)
    return np.sum(w, 1)[:, None] * XA - w @ XB, np.sum(w, 0)[:, None] * XB - w.T @ XA


@forward(distance.cdist)
def push_cdist(y, d, XA, XB, metric="euclidean", *, out=None):
    check_metric(metric)
    if metric == "cityblock":
        signs = np.sign(XA[:, None, :] - XB)
        return np.sum(signs * d[:, None, :], 2), -np.sum(signs * d, 2)
    return (
        weights(y, np.sum(XA * d, 1)[:, None] - d @ XB.T, metric),
        weights(y, np.sum(XB * d, 1) - XA @ d.T, metric),
    )


@reverse(distance.pdist)
def pdist(y, d, X, metric="euclidean", *, out=None):
    check_metric(metric)
    if metric == "cityblock":
        signs = np.sign(X[:, None, :] - X) * distance.squareform(d)[:, :, None]
        return np.sum(signs, 1)
    w = distance.squareform(weights(y, d, metric))
    return np.sum(w, 1)[:, None] * X - w @ X


@forward(distance.pdist)
def push_pdist(y, d, X, metric="euclidean", *, out=None):
    check_metric(metric)
    rows, columns = np.triu_indices(X.shape[0], 1)
    apart, moved = X[rows] - X[columns], d[rows] - d[columns]
    if metric == "cityblock":
        return np.sum(np.sign(apart) * moved, 1)
    return weights(y, np.sum(apart * moved, 1), metric)


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


def check_metric(metric):
    """Refuse a metric that has no rule here."""
    if metric not in ("euclidean", "sqeuclidean", "cityblock"):
        raise NoRule("distances are differentiable for the metrics euclidean, sqeuclidean and cityblock")
