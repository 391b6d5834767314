"""Log-likelihood of a Kalman filter: small matrices, a solve and a determinant in a loop."""

import numpy as np

KIND = "loop"
WRT = (0, 1, 2)


def inputs(quick):
    rng = np.random.default_rng(0)
    transition = 0.9 * np.eye(4) + 0.05 * rng.normal(size=(4, 4))
    return (
        transition,
        0.1 * np.eye(4),
        0.5 * np.eye(2),
        rng.normal(size=(2, 4)),
        rng.normal(size=(3 if quick else 60, 2)),
    )


def primal(transition, noise, error, observe, measured):
    state, spread, total = np.zeros(4), np.eye(4), 0.0
    for t in range(len(measured)):
        state = transition @ state
        spread = transition @ spread @ transition.T + noise
        seen = observe @ spread
        covariance = seen @ observe.T + error
        apart = measured[t] - observe @ state
        gain = np.linalg.solve(covariance, seen).T
        total = total - 0.5 * (apart @ np.linalg.solve(covariance, apart) + np.linalg.slogdet(covariance)[1])
        state = state + gain @ apart
        spread = spread - gain @ seen
    return total


def hand(transition, noise, error, observe, measured):
    saved = []
    state, spread = np.zeros(4), np.eye(4)
    for t in range(len(measured)):
        predicted = transition @ state
        half = transition @ spread
        ahead = half @ transition.T
        ahead += noise
        seen = observe @ ahead
        covariance = seen @ observe.T
        covariance += error
        inverse = np.linalg.inv(covariance)
        apart = measured[t] - observe @ predicted
        gain = seen.T @ inverse.T
        saved.append((state, spread, half, seen, inverse, apart, gain))
        state = predicted + gain @ apart
        spread = ahead - gain @ seen
    d_state, d_ahead = np.zeros(4), np.zeros((4, 4))
    d_transition, d_noise, d_error = np.zeros((4, 4)), np.zeros((4, 4)), np.zeros((2, 2))
    while saved:
        state, spread, half, seen, inverse, apart, gain = saved.pop()
        weighted = inverse @ apart
        d_gain = d_state[:, None] * apart
        d_gain -= d_ahead @ seen.T
        d_seen = -(gain.T @ d_ahead)
        d_apart = d_state @ gain
        d_apart -= weighted
        # gain.T = inverse @ seen, and the likelihood: its own adjoint of the covariance is known in closed form.
        d_right = inverse.T @ d_gain.T
        d_seen += d_right
        d_covariance = 0.5 * (weighted[:, None] * weighted)
        d_covariance -= 0.5 * inverse.T
        d_covariance -= d_right @ gain
        d_error += d_covariance
        d_seen += d_covariance @ observe
        d_ahead = d_ahead + observe.T @ d_seen
        d_predicted = d_state - d_apart @ observe
        d_noise += d_ahead
        d_half = d_ahead @ transition
        d_transition += d_ahead.T @ half
        d_transition += d_half @ spread.T
        d_transition += d_predicted[:, None] * state
        d_ahead = transition.T @ d_half
        d_state = d_predicted @ transition
    return d_transition, d_noise, d_error


def hips_primal(transition, noise, error, observe, measured):
    state, spread, total = np.zeros(4), np.eye(4), 0.0
    for t in range(len(measured)):
        state = np.dot(transition, state)
        spread = np.dot(np.dot(transition, spread), transition.T) + noise
        seen = np.dot(observe, spread)
        covariance = np.dot(seen, observe.T) + error
        apart = measured[t] - np.dot(observe, state)
        gain = np.linalg.solve(covariance, seen).T
        total = total - 0.5 * (np.dot(apart, np.linalg.solve(covariance, apart)) + np.linalg.slogdet(covariance)[1])
        state = state + np.dot(gain, apart)
        spread = spread - np.dot(gain, seen)
    return total


def torch_primal(transition, noise, error, observe, measured):
    state, spread, total = np.zeros(4, dtype=np.float64), np.eye(4, dtype=np.float64), 0.0
    for t in range(len(measured)):
        state = transition @ state
        spread = transition @ spread @ transition.T + noise
        seen = observe @ spread
        covariance = seen @ observe.T + error
        apart = measured[t] - observe @ state
        gain = np.linalg.solve(covariance, seen).T
        total = total - 0.5 * (apart @ np.linalg.solve(covariance, apart) + np.linalg.slogdet(covariance)[1])
        state = state + gain @ apart
        spread = spread - gain @ seen
    return total


def jax_primal(transition, noise, error, observe, measured):
    from jax import lax

    def step(carry, y):
        state, spread = carry
        state = transition @ state
        spread = transition @ spread @ transition.T + noise
        seen = observe @ spread
        covariance = seen @ observe.T + error
        apart = y - observe @ state
        gain = np.linalg.solve(covariance, seen).T
        total = -0.5 * (apart @ np.linalg.solve(covariance, apart) + np.linalg.slogdet(covariance)[1])
        return (state + gain @ apart, spread - gain @ seen), total

    _, totals = lax.scan(step, (np.zeros(4), np.eye(4)), measured)
    return np.sum(totals)
