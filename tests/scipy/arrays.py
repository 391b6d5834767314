"""Calls on which the rows of ``rules/scipy`` for transforms, filters, distances and sums of samples are tried."""

from __future__ import annotations

import numpy as np
from scipy import fft, fftpack, integrate, signal
from scipy.spatial import distance

import autodiff_sct.rules.scipy.distances
import autodiff_sct.rules.scipy.fft
import autodiff_sct.rules.scipy.fftpack
import autodiff_sct.rules.scipy.sampled
import autodiff_sct.rules.scipy.signals  # noqa: F401  (fills the table)
from tests.laws.cases_linalg import complex_, real
from tests.laws.checker import Case, case

WAVE, IMAGE, Z = real(8), real(4, 6), complex_(5)
NUMERATOR, DENOMINATOR = np.array([0.5, 0.3, -0.2]), np.array([1.2, -0.4, 0.1])
LONG = real(20)
OTHER = np.random.default_rng(29).uniform(-1, 1, (4, 6))
SECTIONS = signal.butter(3, 0.4, output="sos")
BLOCK, COMPLEX_BLOCK = real(3, 4, 5), complex_(3, 4, 5)
COMPLEX = [fft.fft, fft.ifft, fft.fft2, fft.ifft2, fft.fftn, fft.ifftn]
HALF = [fft.rfft, fft.ihfft, fft.rfft2, fft.rfftn]
CASES: list[Case] = [
    *(case(fn, a) for fn in COMPLEX for a in (complex_(4, 6),)), *(case(fn, IMAGE) for fn in HALF),
    *(case(fn, complex_(4, 4)) for fn in (fft.irfft, fft.hfft, fft.irfft2, fft.irfftn)),
    *(case(fn, COMPLEX_BLOCK, **settings) for fn in (fft.fftn, fft.ifftn, fft.fft2, fft.irfftn, fft.irfft2, fft.hfftn)
      for settings in ({"s": (3, 7)}, {"s": (6, 4), "axes": (2, 0)}, {"s": 3, "axes": 1}, {"axes": 0}, {"axes": None})),
    *(case(fn, BLOCK, **settings) for fn in (fft.rfftn, fft.ihfftn)
      for settings in ({"s": (3, 7)}, {"s": (6, 4), "axes": (2, 0)}, {"s": 3}, {"axes": 0, "norm": "forward"})),
    case(fft.hfft2, complex_(4, 4)), case(fft.ihfft2, IMAGE), case(fft.hfftn, complex_(4, 4)), case(fft.ihfftn, IMAGE),
    case(fft.fft, Z, 8), case(fft.rfft, WAVE, 6, norm="ortho"), case(fft.irfft, Z, axis=0, norm="forward"),
    *(case(fn, a, kind, axis=axis, norm=norm) for fn in (fft.dct, fft.idct, fft.dst, fft.idst) for kind in (1, 2, 3, 4)
      for a, axis in ((WAVE, -1), (IMAGE, 0)) for norm in (None, "ortho")),
    *(case(fn, IMAGE, kind, norm=norm) for kind in (1, 2, 3, 4) for norm in (None, "ortho", "forward")
      for fn in (fft.dctn, fft.idctn, fft.dstn, fft.idstn)),
    *(case(fn, a, kind, norm=norm, orthogonalize=flag)
      for fn, a in ((fft.dct, WAVE), (fft.idst, WAVE), (fft.dctn, IMAGE))
      for kind in (1, 2, 3) for norm, flag in (("forward", None), (None, True), ("ortho", False))),
    *(case(fn, IMAGE, kind, n, axis) for fn in (fft.dct, fft.idct, fft.dst, fft.idst)
      for kind, n, axis in ((2, 3, 0), (3, 9, 1))),
    *(case(fn, BLOCK, 2, s, axes) for fn in (fft.dctn, fft.idstn) for s, axes in (((3, 6), None), ((5, 2), (0, 2)))),
    *(case(fn, complex_(4, 6)) for fn in (fftpack.fft, fftpack.ifft, fftpack.fft2, fftpack.ifft2, fftpack.fftn)),
    case(fftpack.ifftn, complex_(4, 6)), case(fftpack.fft, Z, 8), case(fftpack.fftn, IMAGE, (3, 8)),
    *(case(fn, a, axis=axis) for fn in (fftpack.rfft, fftpack.irfft) for a, axis in ((WAVE, -1), (real(5, 3), 0))),
    *(case(fn, IMAGE, n, axis) for fn in (fftpack.rfft, fftpack.irfft) for n, axis in ((4, -1), (7, 1), (6, 0))),
    *(case(fn, BLOCK, (3, 7), (1, 2)) for fn in (fftpack.fftn, fftpack.ifftn)), case(fftpack.fftn, BLOCK, axes=1),
    *(case(fn, a, kind, axis=axis, norm=norm) for fn in (fftpack.dct, fftpack.idct, fftpack.dst, fftpack.idst)
      for kind in (1, 2, 3, 4) for a, axis in ((WAVE, -1), (IMAGE, 0)) for norm in (None, "ortho")),
    *(case(fn, IMAGE, kind, norm=norm) for fn in (fftpack.dctn, fftpack.idctn, fftpack.dstn, fftpack.idstn)
      for kind in (1, 2, 3, 4) for norm in (None, "ortho")),
    case(signal.lfilter, NUMERATOR, DENOMINATOR, WAVE), case(signal.lfilter, NUMERATOR, DENOMINATOR, IMAGE, 0),
    case(signal.filtfilt, NUMERATOR, DENOMINATOR, LONG),
    case(signal.filtfilt, NUMERATOR, DENOMINATOR, real(12, 2), 0),
    *(case(signal.filtfilt, NUMERATOR, DENOMINATOR, LONG, padtype=p, padlen=4) for p in ("even", "constant", None)),
    case(signal.sosfiltfilt, SECTIONS, LONG), case(signal.sosfiltfilt, SECTIONS, real(19, 2), 0),
    *(case(signal.savgol_filter, LONG, 5, 2, mode=mode) for mode in ("interp", "mirror", "nearest", "constant")),
    case(signal.savgol_filter, real(2, 9), 5, 3, 1, 0.5), case(signal.savgol_filter, real(5, 2), 5, 2, axis=0),
    *(case(signal.upfirdn, NUMERATOR, WAVE, up, down) for up, down in ((1, 1), (2, 1), (3, 2), (2, 5))),
    case(signal.upfirdn, NUMERATOR, real(6, 2), 2, 1, 0), case(signal.oaconvolve, WAVE, NUMERATOR, "same"),
    *(case(fn, IMAGE, real(3, 2), mode, boundary) for fn in (signal.convolve2d, signal.correlate2d)
      for mode in ("full", "same", "valid") for boundary in ("fill", "symm", "wrap")),
    case(signal.sosfilt, SECTIONS, WAVE), case(signal.sosfilt, SECTIONS, IMAGE, 0),
    *(case(fn, a, b, mode) for fn in (signal.convolve, signal.fftconvolve, signal.correlate)
      for a, b in ((WAVE, NUMERATOR), (WAVE, real(4)), (IMAGE, real(3, 2))) for mode in ("full", "same", "valid")),
    case(signal.detrend, WAVE), case(signal.detrend, IMAGE, 0, "constant"),
    *(case(signal.hilbert, IMAGE, n, axis) for n in (3, 5, 9) for axis in (0, 1)),
    *(case(signal.savgol_filter, LONG, 5, 2, mode=mode, cval=0.7) for mode in ("constant", "nearest")),
    *(case(fn, IMAGE, b, mode, axes) for fn in (signal.fftconvolve, signal.oaconvolve)
      for b, axes in ((OTHER[:3, :], 0), (OTHER[:1, :2], [1]), (OTHER[:2, :3], (0, 1)), (OTHER[:4, :2], (-1,)))
      for mode in ("full", "same", "valid")),
    *(case(fn, IMAGE, OTHER[:3, :2], mode, fillvalue=0.7) for fn in (signal.convolve2d, signal.correlate2d)
      for mode in ("full", "same", "valid")),
    case(signal.hilbert, WAVE), case(signal.hilbert, real(3, 5)), case(signal.hilbert, IMAGE, axis=0),
    *(case(fn, *points, metric) for fn, points in (
        (distance.cdist, (real(4, 3), real(5, 3))), (distance.pdist, (real(4, 3),)))
      for metric in ("euclidean", "sqeuclidean", "cityblock")),
    *(case(fn, *points, metric, **settings) for fn, points in (
        (distance.cdist, (OTHER[:2, :3], OTHER[1:, 3:] + 3)), (distance.pdist, (OTHER[:, :3] + 3,)))
      for metric, settings in (
          ("chebyshev", {}), ("minkowski", {}), ("minkowski", {"p": 3}), ("minkowski", {"p": 1.5}), ("canberra", {}),
          ("braycurtis", {}), ("cosine", {}), ("correlation", {}), ("seuclidean", {"V": np.array([0.4, 0.7, 1.2])}),
          ("mahalanobis", {"VI": [[2.0, 0.3, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.5]]}))),
    case(distance.squareform, real(6)),
    case(integrate.trapezoid, IMAGE), case(integrate.trapezoid, IMAGE, np.arange(4.0) ** 1.5, axis=0),
    case(integrate.cumulative_trapezoid, IMAGE), case(integrate.cumulative_trapezoid, WAVE, np.arange(8.0) ** 1.5),
    case(integrate.cumulative_trapezoid, IMAGE, np.arange(4.0) ** 1.5, axis=0, initial=0),
    case(integrate.simpson, WAVE), case(integrate.simpson, IMAGE, axis=0), case(integrate.simpson, real(7)),
    case(integrate.simpson, WAVE, x=np.arange(8) ** 2),
    case(integrate.romb, real(9), 0.5), case(integrate.romb, real(5, 2), axis=0),
]  # fmt: skip
