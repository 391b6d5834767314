"""Fit the single-diode model of a solar cell, whose current is the root of an equation.

`scipy.optimize.brentq` solves the equation at each measured voltage, `least_squares` fits the five parameters, and
`jacrev` gives it the Jacobian: derivatives of the roots with respect to the parameters, which the equation captures.

The measurements are of a 57 mm silicon cell of R.T.C. France at 33 degrees Celsius: T. Easwarakhanthan, J. Bottin,
I. Bouhouch and C. Boutrit, "Nonlinear minimization algorithm for determining the solar cell parameters with
microcomputers", International Journal of Solar Energy 4 (1986), 1-12.

    python examples/solar_cell.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from scipy.constants import Boltzmann, elementary_charge
from scipy.optimize import OptimizeResult, brentq, least_squares

from autodiff_sct import jacrev

matplotlib.use("Agg")
import matplotlib.pyplot as plt

OUT = Path("out")
VOLTS = np.array(
    [-0.2057, -0.1291, -0.0588, 0.0057, 0.0646, 0.1185, 0.1678, 0.2132, 0.2545, 0.2924, 0.3269, 0.3585, 0.3873]
    + [0.4137, 0.4373, 0.4590, 0.4784, 0.4960, 0.5119, 0.5265, 0.5398, 0.5521, 0.5633, 0.5736, 0.5833, 0.5900]
)
AMPERES = np.array(
    [0.7640, 0.7620, 0.7605, 0.7605, 0.7600, 0.7590, 0.7570, 0.7570, 0.7555, 0.7540, 0.7505, 0.7465, 0.7385]
    + [0.7280, 0.7065, 0.6755, 0.6320, 0.5730, 0.4990, 0.4130, 0.3165, 0.2120, 0.1035, -0.0100, -0.1230, -0.2100]
)
THERMAL = Boltzmann * (273.15 + 33) / elementary_charge  # volts
GUESS = np.array([0.75, np.log(1e-6), 1.6, 0.03, np.log(30.0)])


def currents(p: np.ndarray) -> np.ndarray:
    """The current at each voltage: the root of Kirchhoff's law for the cell's equivalent circuit."""
    light, saturation, ideality, series, shunt = p[0], np.exp(p[1]), p[2], p[3], np.exp(p[4])
    found = np.zeros(len(VOLTS))
    for k in range(len(VOLTS)):

        def balance(current: float, volts: float) -> float:
            inside = volts + current * series
            return light - saturation * np.expm1(inside / (ideality * THERMAL)) - inside / shunt - current

        found[k] = brentq(balance, -2.0, 2.0, args=(VOLTS[k],), xtol=1e-14)
    return found


def residuals(p: np.ndarray) -> np.ndarray:
    """What the model's currents get wrong, in milliamperes."""
    return 1000 * (currents(p) - AMPERES)


def fit() -> OptimizeResult:
    """Minimise the sum of the squares of the residuals."""
    return least_squares(residuals, GUESS, jac=jacrev(residuals), x_scale="jac", xtol=1e-12, ftol=1e-12)


def draw(path: Path, p: np.ndarray) -> None:
    """Save the measurements and the fit."""
    figure, axis = plt.subplots(figsize=(6, 3.4), layout="constrained")
    axis.plot(VOLTS, AMPERES, "o", label="measured")
    axis.plot(VOLTS, currents(p), label="fitted")
    axis.set(xlabel="voltage (V)", ylabel="current (A)")
    axis.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(argv: list[str] | None = None) -> float:
    """Run the example; return the root mean square of the residuals, in amperes."""
    result = fit()
    light, saturation, ideality, series, shunt = result.x
    print(f"photocurrent {light:.5f} A, saturation current {1e6 * np.exp(saturation):.4f} uA, ideality {ideality:.4f}")
    print(f"series resistance {series:.5f} ohm, shunt resistance {np.exp(shunt):.2f} ohm")
    error = float(np.sqrt(2 * result.cost / len(VOLTS))) / 1000
    print(f"root mean square error {error:.4e} A in {result.nfev} evaluations")
    draw(OUT / "solar_cell.png", result.x)
    print(f"saved {OUT / 'solar_cell.png'}")
    return error


if __name__ == "__main__":
    main()
