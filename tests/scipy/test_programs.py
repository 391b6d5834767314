"""Programs as users of SciPy write them."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import linalg, ndimage, optimize, signal, special, stats
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.special import erf, gammaln, gammasgn, logsumexp

import autodiff_sct as ad
from tests.scipy.checked import check_program

RNG = np.random.default_rng(11)
POINTS, TARGETS = RNG.normal(size=(12, 3)), RNG.normal(size=12)


@pytest.mark.parametrize("lower", [True, False])
def test_a_gaussian_process(lower: bool) -> None:
    """The marginal likelihood by the logarithms of length, amplitude and noise."""

    def negative_evidence(theta: Any) -> Any:
        length, amplitude, noise = np.exp(theta)
        kernel = amplitude * np.exp(-0.5 * cdist(POINTS, POINTS, "sqeuclidean") / length**2)
        factor = cho_factor(kernel + noise * np.eye(len(POINTS)), lower=lower)
        alpha = cho_solve(factor, TARGETS)
        return 0.5 * TARGETS @ alpha + np.sum(np.log(np.diag(factor[0]))) + 6 * np.log(2 * np.pi)

    check_program(negative_evidence, np.array([0.1, 0.2, -1.0]))


def test_a_gaussian_process_by_triangular_systems() -> None:
    def negative_evidence(theta: Any) -> Any:
        distances = squareform(pdist(POINTS, "sqeuclidean"))
        kernel = np.exp(theta[1]) * np.exp(-0.5 * distances / np.exp(2 * theta[0])) + np.exp(theta[2]) * np.eye(12)
        lower = linalg.cholesky(kernel, lower=True)
        white = linalg.solve_triangular(lower, TARGETS, lower=True)
        return 0.5 * white @ white + np.sum(np.log(np.diag(lower)))

    check_program(negative_evidence, np.array([0.1, 0.2, -1.0]))


def test_a_mixture_of_normal_distributions() -> None:
    x = np.concatenate([RNG.normal(-1.0, 0.5, 15), RNG.normal(2.0, 0.8, 15)])

    def loss(means: Any, scales: Any, logits: Any) -> Any:
        weights = logits - logsumexp(logits)
        return -np.sum(logsumexp(stats.norm.logpdf(x[:, None], means, np.exp(scales)) + weights, axis=1))

    check_program(loss, np.array([-0.5, 1.5]), np.array([0.1, -0.1]), np.array([0.2, 0.0]))


def test_counts_with_a_gamma_prior() -> None:
    counts = np.array([3, 0, 2, 5, 1])

    def posterior(rate: Any, shape: Any) -> Any:
        prior = stats.gamma(shape, scale=2.0).logpdf(rate)
        return -(np.sum(stats.poisson.logpmf(counts, rate)) + prior) + gammaln(shape)

    check_program(posterior, 1.7, 2.2)


def test_a_control_law() -> None:
    """The cost of a linear quadratic regulator by the matrices of the system."""

    def cost(a: Any, b: Any) -> Any:
        p = linalg.solve_continuous_are(a, b, np.eye(3), np.eye(2))
        gain = np.linalg.solve(np.eye(2), b.T @ p)
        return np.trace(p) + np.sum(gain**2) + np.linalg.norm(linalg.expm(0.1 * (a - b @ gain)))

    check_program(cost, 0.4 * RNG.normal(size=(3, 3)), RNG.normal(size=(3, 2)), rtol=1e-4)


def test_deblurring() -> None:
    image = RNG.normal(size=(9, 8))

    def loss(x: Any, kernel: Any) -> Any:
        blurred = signal.fftconvolve(ndimage.gaussian_filter(x, 1.2), kernel, mode="same")
        return np.mean((blurred - image) ** 2) + 1e-3 * np.sum(np.abs(np.diff(x, axis=0)) ** 2)

    check_program(loss, RNG.normal(size=(9, 8)), RNG.normal(size=(3, 3)))


def test_a_fit_of_the_place_of_an_edge() -> None:
    """Least squares by hand: SciPy's minimiser is given the gradient that is compiled."""
    x = np.linspace(-2, 2, 40)
    seen = 0.5 * (1 + erf((x - 0.3) / 0.4)) + 0.01 * RNG.normal(size=40)

    def loss(p: Any) -> Any:
        return np.sum((0.5 * (1 + erf((x - p[0]) / p[1])) - seen) ** 2)

    check_program(loss, np.array([0.1, 0.6]))
    found = optimize.minimize(loss, np.array([0.1, 0.6]), jac=ad.grad(loss), method="BFGS")
    np.testing.assert_allclose(found.x, [0.3, 0.4], atol=0.05)


@pytest.mark.parametrize("size", [1, 3, 130])
def test_single_precision(size: int) -> None:
    x = np.linspace(0.2, 1.5, size).astype(np.float32)
    found = ad.grad(lambda x: np.sum(erf(x) * gammaln(x + np.float32(1))))(x)
    wide = ad.grad(lambda x: np.sum(erf(x) * gammaln(x + 1)))(x.astype(np.float64))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wide, 1e-4)
    for matrix in (np.eye(size, dtype=np.float32) * 2, np.asfortranarray(np.eye(size, dtype=np.float32) * 2)):
        found = ad.grad(lambda m: np.sum(cho_solve(cho_factor(m, lower=True), x) ** 2))(matrix)
        assert found.dtype == np.float32 and found.shape == (size, size)


@pytest.mark.filterwarnings("ignore:floating point number truncated")
@pytest.mark.parametrize("fn", [special.yn, special.kn, special.expn])
def test_orders_that_are_cut_off(fn: Any) -> None:
    x = np.array([0.6, 1.3, 2.2])
    orders = np.array([0.4, 1.0, 2.9])
    np.testing.assert_allclose(
        ad.grad(lambda x: np.sum(fn(orders, x) ** 2))(x), ad.grad(lambda x: np.sum(fn(orders // 1, x) ** 2))(x)
    )


def test_chirps() -> None:
    check_program(lambda x: np.sum(np.abs(signal.czt(x)) ** 3), RNG.normal(size=7), second=False)
    check_program(lambda x: np.sum(np.abs(signal.zoom_fft(x, [0.1, 0.5])) ** 3), RNG.normal(size=8), second=False)


@pytest.mark.parametrize(
    "line", ["from scipy import special", "import scipy.special as special", "special = scipy.special"]
)
def test_the_first_call_of_a_function_that_asks_for_a_module_itself(line: str, tmp_path: Path) -> None:
    text = f"""
import numpy as np
import scipy
import autodiff_sct as ad

def program(x):
    {line}
    y = np.empty(x.shape)
    special.erf(x, out=y)
    return np.sum(y * special.erf(x))

print(ad.grad(program)(np.array([0.3, 0.7])).tolist())
"""
    (tmp_path / "program.py").write_text(text)
    ran = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True)
    x = np.array([0.3, 0.7])
    assert ran.returncode == 0, ran.stderr
    np.testing.assert_allclose(ast.literal_eval(ran.stdout), 4 / np.sqrt(np.pi) * np.exp(-(x**2)) * erf(x))


def test_the_sign_of_the_gamma_function_is_no_number() -> None:
    x = np.array([-0.5, -1.5, 2.5])
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(gammasgn(x) * x**2))(x), 2 * x * gammasgn(x))
    assert np.array_equal(ad.jvp(gammasgn, (x,), (x,))[1], np.zeros(3))


def test_a_class_that_chooses_another_in_new_is_refused() -> None:
    def program(a: Any) -> Any:
        return np.sum(signal.lti(np.array([1.0, 0.1]), np.append(1.0, a)).num)

    with pytest.raises(ad.AutodiffError, match="lti"):
        ad.grad(program)(np.array([0.3, 0.2]))
