"""Filters and spectra of ``scipy.signal``: SciPy computes them; of these texts derivatives are taken."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import signal

__all__ = [
    "chebyshev_sections",
    "coherence",
    "cross",
    "from_state",
    "low_pass",
    "periodogram",
    "proportional",
    "response",
    "sections_from_state",
    "short_time",
    "spectrogram",
    "taper",
]


def from_state(b: Any, a: Any, x: Any, axis: int, zi: Any) -> Any:
    """``lfilter(b, a, x, axis, zi)``: what is filtered, and the state in which the filter ends.

    A state has the response that a signal of its numbers has to the recursive part alone, and the state at the end is
    found from the response to the zeros behind the signal.
    """
    b, a = b / a[0], a / a[0]
    x, zi = np.moveaxis(x, axis, -1), np.moveaxis(zi, axis, -1)
    zi = np.reshape(zi, (*np.shape(x)[:-1], -1))
    n, order = x.shape[-1], zi.shape[-1]
    wide = np.concatenate([x, np.zeros((*x.shape[:-1], order))], -1)
    start = np.concatenate([zi, np.zeros((*x.shape[:-1], n))], -1)
    y = signal.lfilter(b, a, wide) + signal.lfilter(np.ones(1), a, start)
    end = signal.lfilter(a, np.ones(1), y[..., n:])
    return np.moveaxis(y[..., :n], -1, axis), np.moveaxis(end, -1, axis)


def sections_from_state(sos: Any, x: Any, axis: int, zi: Any) -> Any:
    """``sosfilt(sos, x, axis, zi)``, section by section."""
    ends = []
    for k in range(len(sos)):
        x, end = from_state(sos[k, :3], sos[k, 3:], x, axis, zi[k])
        ends.append(end)
    return x, np.stack(ends)


def in_sections(sos: Any, x: Any, axis: int) -> Any:
    """``sosfilt(sos, x, axis)``."""
    for k in range(len(sos)):
        x = signal.lfilter(sos[k, :3], sos[k, 3:], x, axis)
    return x


def in_sections_both_ways(sos: Any, x: Any, axis: int, padtype: Any, padlen: Any) -> Any:
    """``sosfiltfilt(sos, x, axis, padtype, padlen)``: each section runs from the state that it would keep."""
    edge = 0 if padtype is None else padlen
    if padtype is not None and padlen is None:
        edge = 3 * (2 * len(sos) + 1 - min(np.sum(sos[:, 2] == 0), np.sum(sos[:, 5] == 0)))
    x = np.moveaxis(x, axis, -1)
    n = x.shape[-1]
    if padtype == "odd":
        before, behind = x[..., edge:0:-1], x[..., -2 : -edge - 2 : -1]
        x = np.concatenate([2 * x[..., :1] - before, x, 2 * x[..., -1:] - behind], -1) if edge else x
    elif padtype is not None:
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(edge, edge)], "edge" if padtype == "constant" else "reflect")
    for _ in range(2):
        for k in range(len(sos)):
            b, a = sos[k, :3], sos[k, 3:]
            x = signal.lfilter(b, a, x - x[..., :1]) + np.sum(b) / np.sum(a) * x[..., :1]
        x = np.flip(x, -1)
    return np.moveaxis(x[..., edge : edge + n], -1, axis)


# Other rates


def resampled(x: Any, up: int, down: int, axis: int, window: Any, padtype: str) -> Any:
    """``resample_poly(x, up, down, axis, window, padtype)`` for rates that have no common divisor."""
    if up == 1 and down == 1:
        return x
    h = window
    if isinstance(window, (str, tuple, float)):
        h = low_pass(20 * max(up, down) + 1, 1.0 / max(up, down), window).astype(x.dtype)
    half = (len(h) - 1) // 2
    x = np.moveaxis(x, axis, -1)
    n = x.shape[-1]
    length = -(-n * up // down)
    before = down - half % down
    first = (half + before) // down
    behind = max(0, (first + length - 1) * down + 1 - (n - 1) * up - len(h) - before)
    taps = np.concatenate([np.zeros(before, h.dtype), h * up, np.zeros(behind, h.dtype)])
    if padtype == "constant":
        found = signal.upfirdn(taps, x, up, down)[..., first : first + length]
    else:
        ground = background(x, padtype)
        found = signal.upfirdn(taps, x - ground, up, down)[..., first : first + length] + ground
    return np.moveaxis(found, -1, axis)


def background(x: Any, padtype: str) -> Any:
    """The value around which a signal is filtered."""
    if padtype == "mean":
        return np.mean(x, -1, keepdims=True)
    if padtype == "median":
        return np.median(x, -1, keepdims=True)
    return np.min(x, -1, keepdims=True) if padtype == "minimum" else np.max(x, -1, keepdims=True)


def decimated(x: Any, q: int, n: Any, ftype: str, axis: int, zero_phase: bool) -> Any:
    """``decimate(x, q, n, ftype, axis, zero_phase)``."""
    if ftype == "iir":
        sos = chebyshev_sections(8 if n is None else n, q).astype(x.dtype)
        y = in_sections_both_ways(sos, x, axis, "odd", None) if zero_phase else in_sections(sos, x, axis)
        return np.moveaxis(np.moveaxis(y, axis, -1)[..., ::q], -1, axis)
    b = low_pass((20 * q if n is None else n) + 1, 1.0 / q, "hamming").astype(x.dtype)
    if zero_phase:
        return resampled(x, 1, q, axis, b, "constant")
    length = -(-x.shape[axis] // q)
    return np.moveaxis(np.moveaxis(signal.upfirdn(b, x, 1, q, axis), axis, -1)[..., :length], -1, axis)


def low_pass(taps: int, cutoff: float, window: Any) -> Any:
    return signal.firwin(taps, cutoff, window=window)


def chebyshev_sections(order: int, q: int) -> Any:
    return signal.cheby1(order, 0.05, 0.8 / q, output="sos")


def quotient(numerator: Any, denominator: Any) -> Any:
    """``deconvolve(numerator, denominator)``: the quotient of polynomials and what is left."""
    length = len(numerator) - len(denominator) + 1
    if length < 1:
        return np.zeros(0), numerator
    impulse = np.zeros(length)
    impulse[0] = 1.0
    found = signal.lfilter(numerator, denominator, impulse)
    return found, numerator - np.convolve(denominator, found)


def taper(window: Any, length: int) -> Any:
    """The weights of a window that has a name."""
    return signal.get_window(window, length)


def weights_of(window: Any, length: Any) -> Any:
    return taper(window, length) if isinstance(window, (str, tuple)) else window


def proportional(axis: Any, factor: Any, fixed: Any) -> Any:
    """Frequencies, which are proportional to the sampling frequency; `fixed` is the same number without derivative."""
    return axis * (factor / fixed)


def response(b: Any, a: Any, frequencies: Any, fs: Any) -> Any:
    """The response of a filter at frequencies, by ``freqz(b, a, frequencies, fs=fs)``."""
    turned = np.exp(frequencies * (-2j * math.pi / fs))
    return np.polyval(b[::-1], turned) / np.polyval(a[::-1], turned)


def analog_response(b: Any, a: Any, frequencies: Any) -> Any:
    """The same of an analog filter, by ``freqs(b, a, frequencies)``."""
    return np.polyval(b, 1j * frequencies) / np.polyval(a, 1j * frequencies)


def length_of(n: int, window: Any, nperseg: Any) -> Any:
    """The number of samples of a segment."""
    if not isinstance(window, (str, tuple)):
        return len(window)
    return min(n, 256 if nperseg is None else nperseg)


def transforms(x: Any, weights: Any, length: Any, noverlap: Any, nfft: Any, detrend: Any, onesided: Any) -> Any:
    """The transforms of the segments of a signal along its last axis, one segment a row."""
    segments = np.lib.stride_tricks.sliding_window_view(x, length, -1)[..., :: length - noverlap, :]
    if detrend == "constant":
        segments = segments - np.mean(segments, -1, keepdims=True)
    if detrend == "linear":
        segments = signal.detrend(segments)
    count = length if nfft is None else nfft
    return np.fft.rfft(segments * weights, count) if onesided else np.fft.fft(segments * weights, count)


def powers(
    x: Any,
    y: Any,
    fs: Any,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    detrend: Any,
    onesided: Any,
    scaling: Any,
) -> Any:
    """The products of the transforms of the segments of two signals, which are one signal where `y` is None."""
    length = length_of(x.shape[-1], window, nperseg)
    weights, overlap = weights_of(window, length), length // 2 if noverlap is None else noverlap
    first = transforms(x, weights, length, overlap, nfft, detrend, onesided)
    if y is None:
        found = np.real(first) ** 2 + np.imag(first) ** 2
    else:
        found = np.conj(first) * transforms(y, weights, length, overlap, nfft, detrend, onesided)
    scale = 1 / (fs * np.sum(weights**2)) if scaling == "density" else 1 / np.sum(weights) ** 2
    if not onesided:
        return found * scale
    count = length if nfft is None else nfft
    sides = np.full(count // 2 + 1, 2.0)
    sides[0] = 1.0
    if count % 2 == 0:
        sides[-1] = 1.0
    return found * (scale * sides)


def cross(
    x: Any, y: Any, fs: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any, axis: Any,
    *, detrend: Any, return_onesided: Any, scaling: Any,
) -> Any:  # fmt: skip
    """The power of ``welch(x, ...)``, or that of ``csd(x, y, ...)``."""
    other = None if y is None else np.moveaxis(y, axis, -1)
    found = powers(
        np.moveaxis(x, axis, -1), other, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling
    )
    return np.moveaxis(np.mean(found, -2), -1, axis)


def coherence(
    x: Any, y: Any, fs: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any, axis: Any, *, detrend: Any
) -> Any:
    shared = (fs, window, nperseg, noverlap, nfft, axis)
    both = cross(x, y, *shared, detrend=detrend, return_onesided=True, scaling="density")
    first = cross(x, None, *shared, detrend=detrend, return_onesided=True, scaling="density")
    second = cross(y, None, *shared, detrend=detrend, return_onesided=True, scaling="density")
    return (np.real(both) ** 2 + np.imag(both) ** 2) / first / second


def periodogram(
    x: Any, fs: Any, window: Any, nfft: Any, axis: Any, *, detrend: Any, return_onesided: Any, scaling: Any
) -> Any:
    x = np.moveaxis(x, axis, -1)
    n = x.shape[-1] if nfft is None else min(nfft, x.shape[-1])
    shape = "boxcar" if window is None else window
    found = powers(x[..., :n], None, fs, shape, n, 0, nfft, detrend, return_onesided, scaling)
    return np.moveaxis(found[..., 0, :], -1, axis)


def spectrogram(
    x: Any, fs: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any, axis: Any,
    *, detrend: Any, return_onesided: Any, scaling: Any,
) -> Any:  # fmt: skip
    x = np.moveaxis(x, axis, -1)
    overlap = length_of(x.shape[-1], window, nperseg) // 8 if noverlap is None else noverlap
    found = powers(x, None, fs, window, nperseg, overlap, nfft, detrend, return_onesided, scaling)
    return np.moveaxis(found, -1, axis - 1 if axis < 0 else axis)


def short_time(
    x: Any, fs: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any, axis: Any,
    *, detrend: Any, return_onesided: Any, boundary: Any, padded: Any, scaling: Any,
) -> Any:  # fmt: skip
    """The transforms of ``stft(x, ...)`` of a signal with zeros around it."""
    x = np.moveaxis(x, axis, -1)
    length = length_of(x.shape[-1], window, nperseg)
    weights, overlap = weights_of(window, length), length // 2 if noverlap is None else noverlap
    edge = 0 if boundary is None else length // 2
    n = x.shape[-1] + 2 * edge
    rest = -(n - length) % (length - overlap) if padded else 0
    x = np.concatenate([np.zeros((*x.shape[:-1], edge)), x, np.zeros((*x.shape[:-1], edge + rest))], -1)
    found = transforms(x, weights, length, overlap, nfft, detrend, return_onesided)
    scale = 1 / np.sqrt(fs * np.sum(weights**2)) if scaling == "psd" else 1 / np.sum(weights)
    return np.moveaxis(found * scale, -1, axis - 1 if axis < 0 else axis)


def prominences(x: Any, peaks: Any, left: Any, right: Any) -> Any:
    """The heights of peaks above the higher one of the lowest points on both of their sides."""
    return x[peaks] - np.maximum(x[left], x[right])
