"""An Asian option by Monte Carlo: many paths in a loop over time, derivatives with respect to four numbers."""

import numpy as np

KIND = "dense"
WRT = (0, 1, 2, 3)


def inputs(quick):
    steps, paths = (3, 20) if quick else (30, 10_000)
    return 100.0, 0.2, 0.05, 101.0, 1.0, np.random.default_rng(0).normal(size=(steps, paths))


def primal(spot, volatility, rate, strike, maturity, normals):
    steps = len(normals)
    dt = maturity / steps
    drift = (rate - 0.5 * volatility**2) * dt
    price = spot * np.ones(normals.shape[1])
    total = np.zeros(normals.shape[1])
    for t in range(steps):
        price = price * np.exp(drift + volatility * np.sqrt(dt) * normals[t])
        total = total + price
    payoff = np.maximum(total / steps - strike, 0.0)
    return np.exp(-rate * maturity) * np.mean(payoff)


def hand(spot, volatility, rate, strike, maturity, normals):
    steps, paths = normals.shape
    dt = maturity / steps
    drift = (rate - 0.5 * volatility**2) * dt
    noise = volatility * np.sqrt(dt)
    prices, growth = np.empty_like(normals), np.empty_like(normals)
    price, total = spot, np.zeros(paths)
    for t in range(steps):
        np.multiply(normals[t], noise, out=growth[t])
        growth[t] += drift
        np.exp(growth[t], out=growth[t])
        price = np.multiply(growth[t], price, out=prices[t])
        total += price
    gain = total / steps - strike
    in_money = gain > 0.0
    discount = np.exp(-rate * maturity) / paths
    d_strike = -discount * np.count_nonzero(in_money)
    d_total = in_money * (discount / steps)
    d_price, d_drift, d_noise = np.zeros(paths), 0.0, 0.0
    for t in range(steps - 1, -1, -1):
        d_price += d_total
        d_exponent = np.multiply(prices[t], d_price, out=prices[t])
        d_drift += d_exponent.sum()
        d_noise += d_exponent @ normals[t]
        d_price *= growth[t]
    d_volatility = d_noise * np.sqrt(dt) - d_drift * volatility * dt
    d_rate = d_drift * dt - maturity * discount * gain[in_money].sum()
    return d_price.sum(), d_volatility, d_rate, d_strike


def torch_primal(spot, volatility, rate, strike, maturity, normals):
    steps = len(normals)
    dt = maturity / steps
    drift = (rate - 0.5 * volatility**2) * dt
    price, total = spot * np.ones(normals.shape[1], dtype=np.float64), 0.0
    for t in range(steps):
        price = price * np.exp(drift + volatility * dt**0.5 * normals[t])
        total = total + price
    return np.exp(-rate * maturity) * np.mean(np.relu(total / steps - strike))


def jax_primal(spot, volatility, rate, strike, maturity, normals):
    from jax import lax

    steps = len(normals)
    dt = maturity / steps
    drift = (rate - 0.5 * volatility**2) * dt

    def step(state, normal):
        price, total = state
        price = price * np.exp(drift + volatility * np.sqrt(dt) * normal)
        return (price, total + price), None

    zero = np.zeros(normals.shape[1])
    (_, total), _ = lax.scan(step, (spot + zero, zero), normals)
    return np.exp(-rate * maturity) * np.mean(np.maximum(total / steps - strike, 0.0))
