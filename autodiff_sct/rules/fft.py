"""Rules for the discrete Fourier transforms.

The matrix of the transform is symmetric, so with the bilinear pairing of complex derivatives (no conjugation) each
transform is its own transpose, scale included.  What remains is bookkeeping: the transpose of zero-padding is
truncation and the other way round, and the real transforms leave out the half of the spectrum that mirrors the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import NoRule
from ..runtime.linalg.spectrum import mirrored_twice, resized
from .table import linear, static

# Complex transforms


@linear(np.fft.fft)
def fft(y, d, a, n=None, axis=-1, norm=None):
    whole = np.fft.fft(d, axis=axis, norm=norm)
    return whole if n is None else fitted(whole, np.shape(a), (axis,))


@linear(np.fft.ifft)
def ifft(y, d, a, n=None, axis=-1, norm=None):
    whole = np.fft.ifft(d, axis=axis, norm=norm)
    return whole if n is None else fitted(whole, np.shape(a), (axis,))


@linear(np.fft.fftn)
def fftn(y, d, a, s=None, axes=None, norm=None):
    axes = axes_of(axes, s, d.ndim)
    whole = np.fft.fftn(d, axes=axes, norm=norm)
    return whole if s is None else fitted(whole, np.shape(a), axes)


@linear(np.fft.ifftn)
def ifftn(y, d, a, s=None, axes=None, norm=None):
    axes = axes_of(axes, s, d.ndim)
    whole = np.fft.ifftn(d, axes=axes, norm=norm)
    return whole if s is None else fitted(whole, np.shape(a), axes)


@linear(np.fft.fft2)
def fft2(y, d, a, s=None, axes=(-2, -1), norm=None):
    return fftn(y, d, a, s, axes, norm)


@linear(np.fft.ifft2)
def ifft2(y, d, a, s=None, axes=(-2, -1), norm=None):
    return ifftn(y, d, a, s, axes, norm)


def axes_of(axes, s, ndim):
    """The axes of a transform: those given, else the last ones, as many as there are lengths."""
    if axes is None:
        return last_axes(ndim if s is None else np.size(s), ndim)
    return distinct(axes, ndim)


@static
def last_axes(count: int, ndim: int) -> tuple[int, ...]:
    return tuple(range(ndim - count, ndim))


@static
def distinct(axes: int | tuple[int, ...], ndim: int) -> tuple[int, ...]:
    """Several axes as a tuple; no axis twice, since a transform along it again is of other lengths."""
    found = tuple(int(axis) for axis in np.ravel(axes))
    if len({axis % ndim for axis in found}) < len(found):
        raise NoRule("Fourier transforms are differentiable along each axis once")
    return found


def fitted(a, shape, axes):
    """`a` cut off or filled up with zeros at the end of each of the axes."""
    for axis in axes:
        a = resized(a, shape[axis], axis)
    return a


@linear(resized)
def resized_back(y, d, x, length, axis):
    return resized(d, np.shape(x)[axis], axis)


@linear(mirrored_twice)
def mirrored_back(y, d, half, n, axis):
    return mirrored_twice(d, n, axis)


# Real transforms


@linear(np.fft.rfft)
def rfft(y, d, a, n=None, axis=-1, norm=None):
    whole = from_half(d, np.shape(a)[axis] if n is None else n, axis, norm)
    return whole if n is None else fitted(whole, np.shape(a), (axis,))


@linear(np.fft.irfft)
def irfft(y, d, a, n=None, axis=-1, norm=None):
    half = to_half(d, axis, norm)
    return half if n is None else fitted(half, np.shape(a), (axis,))


@linear(np.fft.hfft)
def hfft(y, d, a, n=None, axis=-1, norm=None):
    half = np.conj(to_half(d, axis, opposite(norm)))
    return half if n is None else fitted(half, np.shape(a), (axis,))


@linear(np.fft.ihfft)
def ihfft(y, d, a, n=None, axis=-1, norm=None):
    whole = from_half(np.conj(d), np.shape(a)[axis] if n is None else n, axis, opposite(norm))
    return whole if n is None else fitted(whole, np.shape(a), (axis,))


@linear(np.fft.rfftn)
def rfftn(y, d, a, s=None, axes=None, norm=None):
    axes = axes_of(axes, s, d.ndim)
    n = last_length(a, s, axes[-1])
    if axes[1:]:
        d = np.fft.fftn(d, axes=axes[:-1], norm=norm)
    whole = from_half(d, n, axes[-1], norm)
    return whole if s is None else fitted(whole, np.shape(a), axes)


@linear(np.fft.irfftn)
def irfftn(y, d, a, s=None, axes=None, norm=None):
    axes = axes_of(axes, s, d.ndim)
    half = to_half(d, axes[-1], norm)
    if axes[1:]:
        half = np.fft.ifftn(half, axes=axes[:-1], norm=norm)
    return half if s is None else fitted(half, np.shape(a), axes)


@linear(np.fft.rfft2)
def rfft2(y, d, a, s=None, axes=(-2, -1), norm=None):
    return rfftn(y, d, a, s, axes, norm)


@linear(np.fft.irfft2)
def irfft2(y, d, a, s=None, axes=(-2, -1), norm=None):
    return irfftn(y, d, a, s, axes, norm)


def last_length(a, s, axis):
    """The length of a transform along its last axis; -1 stands for the array's."""
    n = -1 if s is None else s[-1] if np.ndim(s) else s
    return np.shape(a)[axis] if n == -1 else n


def from_half(d, n, axis, norm):
    """The adjoint of ``rfft``: the half that it leaves out is zero here."""
    return np.real(np.fft.fft(d, n, axis=axis, norm=norm))


def to_half(d, axis, norm):
    """The adjoint of ``irfft``, which reads each frequency twice but for the first and, of an even number, the last."""
    n = d.shape[axis]
    half = np.conj(np.fft.rfft(d, axis=axis, norm=opposite(norm)))
    return mirrored_twice(half, n, axis)


@static
def opposite(norm: str | None) -> Any:
    """The scaling of the inverse transform."""
    return {"forward": "backward", "ortho": "ortho"}.get(norm or "backward", "forward")


# Shifts


@linear(np.fft.fftshift)
def fftshift(y, d, x, axes=None):
    return np.fft.ifftshift(d, axes)


@linear(np.fft.ifftshift)
def ifftshift(y, d, x, axes=None):
    return np.fft.fftshift(d, axes)
