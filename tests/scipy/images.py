"""Calls on which the rows of ``rules/scipy/images.py``, ``resampled.py`` and ``ranked.py`` are checked."""

from __future__ import annotations

import numpy as np
from scipy import ndimage, signal

import autodiff_sct.rules.scipy.images  # noqa: F401  (fills the table)
from autodiff_sct.rules.scipy.ranked import given_back
from autodiff_sct.rules.scipy.resampled import sampled, scattered
from tests.laws.cases_linalg import real
from tests.laws.checker import Case, case

WAVE, IMAGE, KERNEL = real(8), real(4, 6), real(3, 2)
VOLUME = np.random.default_rng(23).uniform(-1, 1, (5, 4, 2))
MODES = ("reflect", "mirror", "nearest", "wrap", "constant")
PLACES = np.array([[0.31, 2.2, 1.7, -0.8, 3.9], [0.7, 3.1, 4.6, 2.3, 6.2]])
CASES: list[Case] = [
    *(case(fn, IMAGE, KERNEL, mode=mode) for fn in (ndimage.correlate, ndimage.convolve) for mode in MODES),
    *(case(fn, IMAGE, KERNEL, origin=-1) for fn in (ndimage.correlate, ndimage.convolve)),
    *(case(fn, IMAGE, real(4), axis, mode=mode) for fn in (ndimage.correlate1d, ndimage.convolve1d)
      for axis, mode in ((0, "reflect"), (-1, "mirror"))),
    case(ndimage.correlate, real(3, 4, 5), real(2, 3, 2)), case(ndimage.convolve1d, WAVE, real(3), origin=1),
    *(case(ndimage.gaussian_filter, IMAGE, sigma, order, mode=mode)
      for sigma, order in ((1.1, 0), ((0.8, 1.3), (1, 0))) for mode in MODES),
    case(ndimage.gaussian_filter, IMAGE, 0.7, 2),
    case(ndimage.gaussian_filter1d, IMAGE, 0.8, axis=0), case(ndimage.gaussian_filter1d, IMAGE, 0.8, order=1),
    case(ndimage.gaussian_filter1d, WAVE, 0.8, mode="nearest"),
    *(case(ndimage.uniform_filter, IMAGE, size, mode=mode) for size in (3, 2, (3, 4)) for mode in MODES),
    case(ndimage.uniform_filter, IMAGE, 4, origin=1), case(ndimage.uniform_filter1d, IMAGE, 4, 0, origin=-1),
    *(case(fn, IMAGE, axis, mode=mode) for fn in (ndimage.sobel, ndimage.prewitt)
      for axis, mode in ((0, "reflect"), (-1, "mirror"), (0, "nearest"), (1, "wrap"), (0, "constant"))),
    *(case(ndimage.laplace, IMAGE, mode=mode) for mode in MODES),
    case(ndimage.gaussian_laplace, IMAGE, 0.9), case(ndimage.gaussian_laplace, IMAGE, (0.7, 0.9), mode="mirror"),
    case(ndimage.gaussian_gradient_magnitude, IMAGE, 0.9), case(ndimage.spline_filter, IMAGE),
    *(case(ndimage.spline_filter1d, IMAGE, order, 0, mode=mode) for order in (2, 3) for mode in ("mirror", "reflect")),
    *(case(ndimage.map_coordinates, IMAGE, PLACES, order=order, mode=mode) for order in (1, 2, 3)
      for mode in ("constant", "nearest", "mirror", "reflect", "grid-wrap")),
    case(ndimage.map_coordinates, IMAGE, PLACES, order=0), case(ndimage.map_coordinates, WAVE, PLACES[:1]),
    case(ndimage.map_coordinates, real(3, 4, 5), np.stack([PLACES[0] * 0.5, PLACES[0], PLACES[1]])),
    case(ndimage.map_coordinates, IMAGE, PLACES, prefilter=False),
    *(case(ndimage.shift, IMAGE, by, mode=mode) for by in (np.array([0.3, -1.2]), np.float64(0.7))
      for mode in ("constant", "mirror")),
    *(case(ndimage.map_coordinates, IMAGE, PLACES, mode=mode, prefilter=prefilter, order=order, cval=0.7)
      for mode in ("wrap", "grid-constant", "grid-mirror", "nearest", "constant")
      for prefilter, order in ((True, 3), (False, 3), (True, 5), (True, 4), (True, 1))),
    *(case(ndimage.shift, IMAGE, by, mode="wrap") for by in (np.array([0.3, -1.2]), np.float64(7.7))),
    *(case(ndimage.zoom, IMAGE, by, order=order) for by, order in ((2.0, 1), (1.5, 3), ((0.6, 2), 3))),
    *(case(ndimage.zoom, IMAGE, by, mode=mode, grid_mode=True, cval=1.5) for by in (2, (1.5, 0.7))
      for mode in ("grid-wrap", "grid-constant", "nearest", "reflect")),
    case(ndimage.affine_transform, IMAGE, np.array([[0.93, 0.11], [-0.21, 0.83]]), np.array([0.227, 0.347])),
    case(ndimage.affine_transform, IMAGE, np.array([[0.93, 0.11], [-0.21, 0.83]]), 0.155, order=1, mode="reflect"),
    case(ndimage.affine_transform, IMAGE, np.array([0.93, 0.83]), np.array([0.227, 0.347])),
    *(case(ndimage.rotate, IMAGE, 25.0, reshape=False, mode=mode) for mode in ("constant", "nearest", "wrap")),
    case(ndimage.rotate, real(3, 4, 5), 10.0, (0, 2), False),
    *(case(ndimage.rotate, VOLUME, 10.0, axes, False, prefilter=prefilter, mode=mode)
      for axes in ((0, 2), [1, 0])
      for prefilter, mode in ((True, "constant"), (False, "constant"), (True, "nearest"))),
    *(case(ndimage.rotate, a, angle, cval=0.4, mode=mode)
      for a in (IMAGE, VOLUME) for angle in (25.0, 90, -130.0)
      for mode in ("constant", "grid-constant")),
    *(case(ndimage.rotate, IMAGE, np.float64(by), reshape=True) for by in (25.0, 190.0)),
    *(case(fn, IMAGE, size, mode=mode) for fn in (ndimage.maximum_filter, ndimage.minimum_filter, ndimage.median_filter)
      for size, mode in zip((3, (2, 3), 2, (4, 1), 3), MODES)),
    *(case(fn, IMAGE, *args, cval=0.9, **settings)
      for fn, *args in (
          (ndimage.correlate, KERNEL), (ndimage.convolve, KERNEL), (ndimage.correlate1d, KERNEL[:, 0]),
          (ndimage.convolve1d, KERNEL[:, 0], 0), (ndimage.gaussian_filter, 0.9), (ndimage.gaussian_filter, 0.9, 1),
          (ndimage.gaussian_filter1d, 0.9), (ndimage.gaussian_filter1d, 0.9, 0, 1), (ndimage.uniform_filter, 3),
          (ndimage.uniform_filter1d, 3, 0), (ndimage.sobel, 0), (ndimage.prewitt, 1), (ndimage.laplace,),
          (ndimage.gaussian_laplace, 0.8), (ndimage.gaussian_gradient_magnitude, 0.8),
          (ndimage.maximum_filter, 3), (ndimage.minimum_filter, 3), (ndimage.median_filter, 3))
      for settings in ({"mode": "constant"}, {"mode": "grid-constant"})),
    *(case(fn, VOLUME, (3, 2), axes=(0, -1)) for fn in (ndimage.maximum_filter, ndimage.median_filter)),
    *(case(fn, VOLUME, *args, axes=axes, mode=mode)
      for fn, args in ((ndimage.gaussian_filter, ((0.9, 0.6), (0, 1))), (ndimage.uniform_filter, ((3, 2),)))
      for axes, mode in (((0, 1), "reflect"), ((-1, 0), ("nearest", "wrap")), ([1, 0], ["constant", "mirror"]))),
    *(case(fn, IMAGE, 3, mode=("nearest", "wrap")) for fn in (ndimage.uniform_filter, ndimage.minimum_filter)),
    *(case(fn, IMAGE, mode=["nearest", "constant"]) for fn in (ndimage.sobel, ndimage.prewitt, ndimage.laplace)),
    case(ndimage.gaussian_filter, IMAGE, (0, 0.9), (1, 1)), case(ndimage.gaussian_filter, IMAGE, [0.5, 0.9]),
    *(case(fn, IMAGE, 1, origin=origin) for fn in (ndimage.uniform_filter, ndimage.maximum_filter)
      for origin in (1, -1)),
    *(case(fn, IMAGE, (1, 2), origin=-1) for fn in (ndimage.uniform_filter, ndimage.minimum_filter)),
    case(ndimage.uniform_filter, IMAGE, (4, 3), origin=[1, -1]), case(ndimage.correlate, IMAGE, KERNEL, origin=[-1, 0]),
    *(case(fn, IMAGE, footprint=[[0, 1, 0], [1, 1, 1], [0, 1, 0]])
      for fn in (ndimage.maximum_filter, ndimage.minimum_filter, ndimage.median_filter)),
    case(ndimage.percentile_filter, IMAGE, 30, 3), case(ndimage.rank_filter, IMAGE, 1, 2),
    case(sampled, real(4, 5), PLACES, (1, 0), 3, "mirror"),
    case(scattered, real(5), PLACES, (0, 1), 3, "mirror", (4, 6)),
    case(given_back, WAVE, np.array([1, 1, 0, 5, -1, 3, 2, 7])), case(signal.medfilt, IMAGE, 3),
    case(signal.medfilt, WAVE, 5),
]  # fmt: skip
