"""Settings of functions by the names of their parameters, and the calls of a case with some of them."""

from __future__ import annotations

import inspect
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from autodiff_sct.rules.table import Rule
from tests.laws.checker import Case, is_inexact

AXES = [None, 0, 1, -1, -2, (0,), (0, 1), (-1, 0), ()]
FLAGS = [True, False]
SMALL = [0, 1, -1, 2]
MODES = (
    "full same valid reflect constant nearest mirror wrap interp economic r complete reduced raise clip edge "
    "linear_ramp symmetric grid-wrap grid-constant periodic"
).split()
METHODS = (
    "linear lower higher nearest midpoint hazen weibull median_unbiased closest_observation inverted_cdf "
    "interpolated_inverted_cdf direct fft pad gust auto"
).split()
METRICS = (
    "euclidean sqeuclidean cityblock chebyshev cosine correlation canberra braycurtis minkowski seuclidean mahalanobis "
    "jensenshannon"
).split()
MATRICES = ["gen", "sym", "her", "pos", "banded", "diagonal", "tridiagonal", "upper triangular", "lower triangular"]
SETTINGS: dict[str, list[Any]] = {
    "axis": [*AXES, 2],
    "axes": [None, 0, 1, (0,), (1, 0), (0, 1), (-1,), (-2, 0), (2, 0), (0, 0), (2, 0, 1), (-1, -2), ([0, 1], [0, 1])],
    "axis1": SMALL, "axis2": SMALL, "axisa": [0, -1, 1], "axisb": [0, -1, 1], "axisc": [0, -1, 1],
    "norm": [None, "ortho", "forward", "backward"], "orthogonalize": [None, *FLAGS],
    "mode": MODES, "method": METHODS, "metric": METRICS, "assume_a": MATRICES,
    "n": [None, 1, 2, 3, 5, 8, 130], "N": [None, 2, 4, 6], "m": [None, 1, 2], "num": [1, 2, 3, 7],
    "s": [None, (6,), (2,), (3, 6), (-1, 3), [5, 2], 6, (2, 3, 4)], "shape": [None, (6,), (3, 6), (2, 2)],
    "type": [1, 2, 3, 4, "constant", "linear"], "kind": ["linear"], "order": [0, 1, 2, 3, 5, None, "C", "F"],
    "ord": [None, 1, 2, 3, 0, -1, -2, np.inf, -np.inf, "fro", "nuc", 0.5, 1.5], "p": [1, 2, 3, 0.5, np.inf],
    "dtype": [None, np.float64, np.float32, complex, int], "casting": ["same_kind"],
    "keepdims": FLAGS, "where": [True, np.array([True, False, True, True, False]), np.array([[True], [False]])],
    "initial": [0.0, 1.5, -3.0], "include_initial": FLAGS, "ddof": [0, 1, 2, 0.5], "dx": [1.0, 0.5, 2],
    "overwrite_x": [True], "overwrite_a": [True], "overwrite_b": [True], "check_finite": FLAGS,
    "lower": FLAGS, "UPLO": ["L", "U"], "trans": [0, 1, 2, "N", "T", "C"], "unit_diagonal": FLAGS,
    "transposed": FLAGS, "full_matrices": FLAGS, "compute_uv": FLAGS, "pivoting": FLAGS, "permute_l": FLAGS,
    "p_indices": FLAGS, "eigvals_only": FLAGS, "subset_by_index": [None, [0, 1]], "driver": [None, "ev", "evd", "evr"],
    "homogeneous_eigvals": FLAGS, "lapack_driver": ["gesdd", "gesvd", "gelsd", "gelsy"], "rcond": [None, 1e-10],
    "side": ["left", "right"], "derivative": FLAGS, "offset": SMALL, "k": [0, 1, -1, 2, -2],
    "endpoint": FLAGS, "base": [2.0, 10.0], "left": [None, 0.3], "right": [None, -0.7], "start": [1, 0],
    "bins": [3, 5], "range": [None, (-1, 1)], "density": FLAGS, "rowvar": FLAGS, "bias": FLAGS,
    "copy": [True, False, None], "subok": [True], "edge_order": [1, 2], "indexing": ["xy", "ij"], "sparse": FLAGS,
    "size": [1, 2, 3, 5, (1, 2)], "truncate": [1.0, 2.0, 4.0], "radius": [None, 1, 3], "origin": [0, 1, -1],
    "cval": [0.0, 1.5, -2], "prefilter": FLAGS, "reshape": FLAGS, "grid_mode": FLAGS, "kernel_size": [1, 3, (1, 3)],
    "padtype": ["odd", "even", "constant", None], "padlen": [0, 2, 3], "boundary": ["fill", "wrap", "symm"],
    "fillvalue": [0, 0.7], "bp": [0, [0, 2]], "deriv": [0, 1, 2], "delta": [1.0, 0.3], "up": [1, 2, 3],
    "down": [1, 2, 3], "balanced": FLAGS, "prepend": [0.5, np.zeros((1,)), np.ones((2, 1))],
    "append": [0.5, np.ones((2, 1))], "period": [None, 2.0, 6.28], "discont": [None, 1.0, 4.0],
    "nan": [0.0, 1.5], "posinf": [None, 3.0], "neginf": [None, -3.0], "optimize": [True, False, "greedy"],
    "ind": [1, 2], "upper": FLAGS, "increasing": FLAGS, "full": FLAGS, "return_sign": FLAGS, "minlength": [0, 10],
    "a_min": [None, -0.2], "a_max": [None, 0.3], "min": [None, -0.2], "max": [None, 0.3], "deg": FLAGS,
    "constant_values": [0, (1, 2)], "fill": [0.0], "default": [0.0], "stop": [2.0], "step": [0.5], "q": [1, 2],
}  # fmt: skip
# Functions that take one axis, and a tuple of one or, of a vector, None by accident.
OF_ONE_AXIS = ("accumulate", "reduceat", "cumulative_sum", "cumulative_prod", "unstack")
# Functions with places along the last axis, which broadcast by accident along another.
OF_LAST_AXIS = ("trapezoid",)
MIXED = 40  # calls with two or three settings at once


def variants(item: Case, row: Rule) -> Iterator[Case]:
    """The calls of a case with each setting of each optional parameter, and with some of them together."""
    parameters = row.signature.parameters
    given = row.signature.bind(*item.args, **item.kwargs).arguments
    free = [
        name
        for name, p in parameters.items()
        if p.default is not p.empty and name in SETTINGS and not is_inexact(given.get(name))
    ]
    if not free:
        return
    draw = random.Random(str(item))
    for name in free:
        for setting in settings_of(item, name):
            yield with_settings(item, row, {name: setting})
    for _ in range(MIXED):
        names = draw.sample(free, min(len(free), draw.choice((2, 2, 3))))
        yield with_settings(item, row, {name: draw.choice(settings_of(item, name)) for name in names})


def settings_of(item: Case, name: str) -> list[Any]:
    if name == "axis" and item.fn.__name__ in OF_ONE_AXIS:
        return [axis for axis in SETTINGS[name] if isinstance(axis, int)]
    if name == "axis" and item.fn.__name__ in OF_LAST_AXIS:
        return [-1]
    return SETTINGS[name]


def with_settings(item: Case, row: Rule, settings: dict[str, Any]) -> Case:
    """A case with other settings, each by position where the case gives it so."""
    args, kwargs = list(item.args), dict(item.kwargs)
    kinds = [p.kind for p in row.signature.parameters.values()]
    places = {} if inspect.Parameter.VAR_POSITIONAL in kinds else {n: k for k, n in enumerate(row.signature.parameters)}
    for name, setting in settings.items():
        if places.get(name, len(args)) < len(args):
            args[places[name]] = setting
        else:
            kwargs[name] = setting
    return Case(item.fn, tuple(args), kwargs)
