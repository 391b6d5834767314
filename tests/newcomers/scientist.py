"""Script of a scientist: an epidemic's model is fitted to counts of a table, with errors of its parameters."""

import numpy as np
import pandas as pd
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares, minimize
from scipy.stats import poisson

import autodiff_sct as ad

POPULATION = 763.0


def model(t, state, rate, recovery):
    s, i, r = state
    infections = rate * s * i / POPULATION
    return [-infections, infections - recovery * i, recovery * i]


def infected(theta, days):
    rate, recovery, first = np.exp(theta)
    start = [POPULATION - first, first, 0.0]
    run = solve_ivp(model, (0.0, days[-1]), start, t_eval=days, args=(rate, recovery), rtol=1e-8, atol=1e-8)
    return run.y[1]


def residuals(theta, frame):
    return np.sqrt(infected(theta, frame["day"].to_numpy())) - np.sqrt(frame["in_bed"].to_numpy())


def misfit(theta, frame):
    expected = infected(theta, frame["day"].to_numpy())
    return -np.sum(poisson.logpmf(frame["in_bed"].to_numpy(), expected))


# Boarding school, England 1978: British Medical Journal, 4 March 1978, page 587.
frame = pd.DataFrame(
    {
        "day": np.arange(14.0),
        "in_bed": [3, 8, 26, 76, 225, 298, 258, 233, 189, 128, 68, 29, 14, 4],
    }
)

guess = np.log([2.0, 0.4, 2.0])
jacobian = ad.jacrev(residuals)
fit = least_squares(residuals, guess, jac=jacobian, args=(frame,))
rate, recovery, first = np.exp(fit.x)
print(f"rate {rate:.3f} per day, recovery {recovery:.3f} per day, {first:.2f} infected at first")
assert fit.success and 1.7 < rate < 2.1 and 0.4 < recovery < 0.6

ad.check_grads(lambda theta: residuals(theta, frame), (fit.x,), order=1)

likely = minimize(ad.value_and_grad(misfit), fit.x, args=(frame,), jac=True, method="BFGS", options={"gtol": 1e-3})
errors = np.sqrt(np.diag(np.linalg.inv(ad.hessian(misfit)(likely.x, frame))))
for name, value, error in zip(["rate", "recovery", "first"], np.exp(likely.x), errors, strict=True):
    print(f"{name:>10} {value:.3f} +- {value * error:.3f}")
assert np.max(np.abs(ad.grad(misfit)(likely.x, frame))) < 0.1
assert np.all(errors < 0.3)

step = 1e-4 * np.eye(3)
gradient = ad.grad(misfit)
differences = [(gradient(likely.x + h, frame) - gradient(likely.x - h, frame)) / 2e-4 for h in step]
np.testing.assert_allclose(ad.hessian(misfit)(likely.x, frame), differences, rtol=1e-3, atol=0.5)
