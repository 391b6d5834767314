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
SECTIONS = signal.butter(3, 0.4, output="sos")
COMPLEX = [fft.fft, fft.ifft, fft.fft2, fft.ifft2, fft.fftn, fft.ifftn]
HALF = [fft.rfft, fft.ihfft, fft.rfft2, fft.rfftn]
CASES: list[Case] = [
    *(case(fn, a) for fn in COMPLEX for a in (complex_(4, 6),)), *(case(fn, IMAGE) for fn in HALF),
    *(case(fn, complex_(4, 4)) for fn in (fft.irfft, fft.hfft, fft.irfft2, fft.irfftn)),
    case(fft.fft, Z, 8), case(fft.rfft, WAVE, 6, norm="ortho"), case(fft.irfft, Z, axis=0, norm="forward"),
    *(case(fn, a, kind, axis=axis, norm=norm) for fn in (fft.dct, fft.idct, fft.dst, fft.idst) for kind in (1, 2, 3, 4)
      for a, axis in ((WAVE, -1), (IMAGE, 0)) for norm in (None, "ortho")),
    *(case(fn, IMAGE, kind, norm="ortho") for kind in (1, 2, 4) for fn in (fft.dctn, fft.idctn, fft.dstn, fft.idstn)),
    *(case(fn, complex_(4, 6)) for fn in (fftpack.fft, fftpack.ifft, fftpack.fft2, fftpack.ifft2, fftpack.fftn)),
    case(fftpack.ifftn, complex_(4, 6)), case(fftpack.fft, Z, 8), case(fftpack.fftn, IMAGE, (3, 8)),
    *(case(fn, a, axis=axis) for fn in (fftpack.rfft, fftpack.irfft) for a, axis in ((WAVE, -1), (real(5, 3), 0))),
    *(case(fn, a, kind, axis=axis, norm=norm) for fn in (fftpack.dct, fftpack.idct, fftpack.dst, fftpack.idst)
      for kind in (2, 3) for a, axis in ((WAVE, -1), (IMAGE, 0)) for norm in (None, "ortho")),
    *(case(fn, IMAGE, kind, norm="ortho") for fn in (fftpack.dctn, fftpack.idctn, fftpack.dstn, fftpack.idstn)
      for kind in (2, 3)),
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
    case(signal.hilbert, WAVE), case(signal.hilbert, real(3, 5)), case(signal.hilbert, IMAGE, axis=0),
    *(case(fn, *points, metric) for fn, points in (
        (distance.cdist, (real(4, 3), real(5, 3))), (distance.pdist, (real(4, 3),)))
      for metric in ("euclidean", "sqeuclidean", "cityblock")),
    case(distance.squareform, real(6)),
    case(integrate.trapezoid, IMAGE), case(integrate.trapezoid, IMAGE, np.arange(4.0) ** 1.5, axis=0),
    case(integrate.cumulative_trapezoid, IMAGE), case(integrate.cumulative_trapezoid, WAVE, np.arange(8.0) ** 1.5),
    case(integrate.cumulative_trapezoid, IMAGE, np.arange(4.0) ** 1.5, axis=0, initial=0),
    case(integrate.simpson, WAVE), case(integrate.simpson, IMAGE, axis=0), case(integrate.simpson, real(7)),
    case(integrate.simpson, WAVE, x=np.arange(8) ** 2),
    case(integrate.romb, real(9), 0.5), case(integrate.romb, real(5, 2), axis=0),
]  # fmt: skip
