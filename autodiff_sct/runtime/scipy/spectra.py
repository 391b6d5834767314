"""Spectra of ``scipy.signal`` by windowed segments: SciPy computes them; of these texts derivatives are taken."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import signal

__all__ = ["coherence", "cross", "periodogram", "proportional", "response", "short_time", "spectrogram", "taper"]


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
