"""Programs that call ``scipy.signal``: spectra, and filters whose coefficients are lists and numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import signal

import autodiff_sct as ad
from autodiff_sct.errors import AutodiffError
from tests.scipy.checked import check_program

RNG = np.random.default_rng(41)
X, Y, TWO = RNG.normal(size=50), RNG.normal(size=50), RNG.normal(size=(2, 50))
WINDOW = np.hanning(10) + 0.1

OF_ONE: list[tuple[Callable[..., Any], np.ndarray]] = [
    (lambda x: signal.welch(x, nperseg=16)[1], X),
    (lambda x: signal.welch(x)[1], X),
    (lambda x: signal.welch(x, 10.0, WINDOW, noverlap=3, nfft=13, scaling="spectrum", detrend="linear")[1], X),
    (lambda x: signal.welch(x, 10.0, "hamming", 15, detrend=False, return_onesided=False, axis=0)[1], TWO.T),
    (lambda x: signal.csd(x, x, nperseg=16)[1], X),
    (lambda x: signal.periodogram(x, fs=4.0)[1], X),
    (lambda x: signal.periodogram(x, window="hann", nfft=64, axis=1)[1], TWO),
    (lambda x: signal.periodogram(x, nfft=32)[1], X),
    (lambda x: signal.spectrogram(x, fs=4.0, nperseg=16)[2], X),
    (lambda x: signal.spectrogram(x, fs=4.0, nperseg=16, axis=0)[2], TWO.T),
    (lambda x: signal.stft(x, nperseg=16)[2], X),
    (lambda x: signal.stft(x, 3.0, nperseg=15, noverlap=11, boundary=None, padded=False, scaling="psd")[2], X),
    (lambda x: signal.stft(x, nperseg=16, axis=0)[2], TWO.T),
]


@pytest.mark.filterwarnings("ignore:nperseg")
@pytest.mark.parametrize("fn, x", OF_ONE)
def test_spectra(fn: Any, x: np.ndarray) -> None:
    check_program(lambda x: np.sum(np.sin(np.abs(fn(x)))), x)


@pytest.mark.parametrize("fn", [signal.csd, signal.coherence])
def test_spectra_of_two_signals(fn: Any) -> None:
    check_program(lambda x, y: np.sum(np.abs(fn(x, y, nperseg=16)[1]) ** 2), X, Y)


def test_frequencies_of_spectra() -> None:
    def centre(x: Any) -> Any:
        f, power = signal.welch(x, fs=8.0, nperseg=16)
        return np.sum(f * power) / np.sum(power)

    check_program(centre, X)
    assert ad.grad(centre)(X.astype(np.float32)).dtype == np.float32


def test_windows_and_sampling_frequencies_have_derivatives() -> None:
    def fn(x: Any, fs: Any, window: Any) -> Any:
        f, power = signal.welch(x, fs, window)
        _, times, other = signal.spectrogram(x, fs=fs, window=window)
        return np.sum(f**2 * power) + np.sum(np.sin(other @ times))

    check_program(fn, X, 3.0, WINDOW)
    check_program(lambda w: np.sum(signal.periodogram(X[:4], window=[1.0, w, w, 1.0])[1] ** 2), 0.7)


def test_responses_of_filters() -> None:
    b, a = np.array([0.3, 0.2, 0.4]), np.array([1.0, -0.5])
    check_program(lambda b, a: np.sum(np.abs(signal.freqz(b, a, worN=16)[1]) ** 2), b, a)
    check_program(lambda b: np.sum(np.abs(signal.freqz(b)[1]) ** 2), b)
    check_program(lambda b, w: np.sum(np.real(signal.freqz(b, [1, -0.5], worN=w)[1])), b, np.array([0.1, 0.7, 2.0]))
    check_program(lambda fs: np.sum(np.abs(signal.freqz(b, 1, 8, fs=fs)[1]) * signal.freqz(b, 1, 8, fs=fs)[0]), 5.0)


def test_settings_of_spectra_that_are_refused() -> None:
    for fn in (
        lambda x: np.sum(signal.welch(x, nperseg=16, average="median")[1]),
        lambda x: np.sum(signal.spectrogram(x, nperseg=16, mode="magnitude")[2]),
        lambda x: np.sum(signal.welch(x, nperseg=16, detrend=lambda a: a)[1]),
        lambda x: np.sum(np.abs(signal.stft(x, nperseg=16, boundary="even")[2])),
        lambda x: np.sum(signal.welch(X, window=("gaussian", x[0]), nperseg=16)[1]),
    ):
        with pytest.raises(AutodiffError):
            ad.grad(fn)(X)


@pytest.mark.parametrize("n", [3, 60])
def test_coefficients_that_are_lists_and_numbers(n: int) -> None:
    x = X[:n]
    check_program(lambda x: np.sum(signal.lfilter([0.3, 0.2, 0.1, 0.2, 0.1], 1.0, x) ** 2), x)
    check_program(lambda x, b: np.sum(signal.lfilter(b, [1, -0.5], x) ** 2), x, np.array([0.3, 0.2, 0.1, 0.2, 0.1]))
    check_program(lambda x, c: np.sum(signal.lfilter(2, [1, c], x) ** 2), x, 0.3)
    check_program(lambda x: np.sum(signal.filtfilt([0.3, 0.2], 1, x, padlen=1) ** 2), x)
    check_program(lambda x: np.sum(signal.sosfilt([[1, 2, 1, 1, -0.5, 0.2]], x) ** 2), x)


@pytest.mark.parametrize("padtype", ["odd", "even", "constant", None])
def test_coefficients_of_filters_there_and_back(padtype: str | None) -> None:
    b, a = signal.butter(3, 0.3)
    fn = lambda b, a, x, axis: np.sum(np.sin(signal.filtfilt(b, a, x, axis, padtype=padtype)))
    check_program(lambda b, a, x: fn(b, a, x, -1), b, a, X)
    check_program(lambda b, a, x: fn(b, a, x, 0), b, a, TWO.T)


@pytest.mark.parametrize("axis", [0, -1])
def test_filters_by_the_coefficients_of_their_sections(axis: int) -> None:
    def fn(b: Any, a: Any, x: Any) -> Any:
        sos = np.concatenate([b, np.ones((2, 1)), a], 1)
        both = signal.sosfiltfilt(sos, x, axis, padlen=2) + signal.sosfiltfilt(sos, x, axis, "even", 1)
        return np.sum(signal.sosfilt(sos, x, axis) ** 3) + np.sum(both**2)

    b, a = RNG.normal(size=(2, 3)), 0.2 * RNG.normal(size=(2, 2))
    check_program(fn, b, a, RNG.normal(size=(6, 5)), second=False)


def test_sections_at_second_order() -> None:
    def fn(b: Any, a: Any, x: Any) -> Any:
        sos = np.reshape(np.concatenate([b, np.ones(1), a]), (1, 6))
        return np.sum(signal.sosfilt(sos, x) ** 3) + np.sum(signal.sosfiltfilt(sos, x) ** 2)

    check_program(fn, RNG.normal(size=3), 0.2 * RNG.normal(size=2), X)


@pytest.mark.parametrize("rates", [(3, 2), (1, 4), (4, 2), (5, 1), (2, 2)])
@pytest.mark.parametrize("n", [1, 3, 130])
def test_signals_at_other_rates(rates: tuple[int, int], n: int) -> None:
    check_program(lambda x: np.sum(signal.resample_poly(x, *rates) ** 3), RNG.normal(size=n), second=n == 3)


def test_settings_of_other_rates() -> None:
    taps, x = RNG.normal(size=7), RNG.normal(size=(20, 3))
    check_program(lambda h, x: np.sum(signal.resample_poly(x, 3, 2, window=h) ** 3), taps, x)
    for padtype in ("mean", "median", "maximum", "minimum"):
        fn = lambda x: np.sum(signal.resample_poly(x, 2, 3, axis=1, padtype=padtype) ** 3)
        check_program(fn, x, second=False)
    for settings in ({}, {"ftype": "fir"}, {"ftype": "fir", "zero_phase": False}, {"zero_phase": False, "n": 4}):
        fn = lambda x: np.sum(signal.decimate(x, 3, axis=0, **settings) ** 3)
        check_program(fn, RNG.normal(size=(90, 2)), second=False)


def test_quotients_of_polynomials() -> None:
    def fn(p: Any, q: Any) -> Any:
        quotient, rest = signal.deconvolve(p, q)
        return np.sum(quotient**3) + np.sum(rest**2)

    check_program(fn, RNG.normal(size=6), np.array([1.5, 0.3, -0.2]))
    check_program(lambda p: np.sum(signal.deconvolve(p, [1.0, 2.0])[0] ** 2), RNG.normal(size=4))


def test_responses_of_analog_filters() -> None:
    def fn(b: Any, a: Any, w: Any) -> Any:
        places, response = signal.freqs(b, a, worN=w)
        return np.sum(np.abs(response) ** 2 * places) + np.sum(np.abs(signal.freqs([1.0], [1.0, a[1], 1.0], [2.0])[1]))

    check_program(fn, RNG.normal(size=2), np.array([1.0, 0.5, 2.0]), np.array([0.5, 1.0, 2.0]))
