"""Calls on which the rows of ``rules/fft.py`` are checked."""

from __future__ import annotations

import numpy as np

from autodiff_sct.runtime.linalg.spectrum import mirrored_twice, resized
from tests.laws.checker import Case, case

RNG = np.random.default_rng(5)
V5, V6, X, C = (RNG.uniform(-1, 1, shape) for shape in ((5,), (6,), (4, 5), (2, 3, 4)))
Z5, Z6, ZX, ZC = (x + 1j * RNG.uniform(-1, 1, x.shape) for x in (V5, V6, X, C))
NORMS = [None, "ortho", "forward", "backward"]
ONE = [np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft]
TWO = [np.fft.fft2, np.fft.ifft2, np.fft.rfft2, np.fft.irfft2]
MANY = [np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn]
REAL_ONLY = [np.fft.rfft, np.fft.ihfft, np.fft.rfft2, np.fft.rfftn]


def inputs(fn: object, real: list[np.ndarray], complex_: list[np.ndarray]) -> list[np.ndarray]:
    return real if fn in REAL_ONLY else [*real, *complex_]


CASES: list[Case] = [
    *(case(fn, x) for fn in ONE for x in inputs(fn, [V5, V6, X], [Z5, Z6, ZX])),
    *(case(fn, x, n) for fn in ONE for x in inputs(fn, [V6], [Z6]) for n in (1, 4, 5, 6, 9, 12)),
    *(case(fn, x, n, axis=0) for fn in ONE for x in inputs(fn, [X], [ZX]) for n in (None, 3, 6)),
    *(case(fn, x, norm=norm) for fn in ONE for x in inputs(fn, [V5], [Z6]) for norm in NORMS),
    *(case(fn, x) for fn in [*TWO, *MANY] for x in inputs(fn, [X, C], [ZX, ZC])),
    *(case(fn, C, norm=norm) for fn in [*TWO, *MANY] for norm in NORMS),
    *(
        case(fn, x, (4, 3), axes=axes)
        for fn in [*TWO, *MANY]
        for x in inputs(fn, [C], [ZC])
        for axes in ((-2, -1), (2, 0))
    ),
    *(case(fn, C, axes=(0, 1)) for fn in [*TWO, *MANY]),
    *(case(fn, C, (5, -1), axes=(0, 1)) for fn in [np.fft.fftn, np.fft.rfftn]),
    *(case(fn, V6) for fn in MANY),
    *(case(fn, X, axes=None) for fn in TWO),
    *(case(fn, x) for fn in (np.fft.fftshift, np.fft.ifftshift) for x in (V5, X, Z6)),
    *(case(fn, X, axes) for fn in (np.fft.fftshift, np.fft.ifftshift) for axes in (0, (1,), (0, 1))),
    *(case(resized, x, n, axis) for x in (X, ZX) for n in (0, 3, 5, 7) for axis in (0, -1)),
    *(case(mirrored_twice, x, n, axis) for x in (X, ZX) for n, axis in ((8, -1), (9, -1), (6, 0), (7, 0))),
]
