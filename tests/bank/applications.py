"""Longer programs, as people write them to solve a problem."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np

from tests.bank.registry import program


def sigma_points(m, P, kappa):
    n = m.shape[0]
    L = np.linalg.cholesky((n + kappa) * P)
    pts = np.empty((2 * n + 1, n), dtype=m.dtype)
    pts[0] = m
    for i in range(n):
        pts[1 + i] = m + L[:, i]
        pts[1 + n + i] = m - L[:, i]
    w = np.full(2 * n + 1, 0.5 / (n + kappa), dtype=m.dtype)
    w[0] = kappa / (n + kappa)
    return pts, w


def unscented(fn, m, P, noise, kappa=1.0):
    pts, w = sigma_points(m, P, kappa)
    y = np.array([fn(p) for p in pts])
    mean = w @ y
    d = y - mean
    cov = (w[:, None] * d).T @ d + noise
    cross = (w[:, None] * (pts - m)).T @ d
    return mean, cov, cross


@program(
    args=lambda rng: (np.array([1.0, 0.2]), 0.3 * np.eye(2), np.array([1.2, 0.5]), rng.normal(size=5) * 0.3 + 0.8),
    wrt=(0, 1, 2),
)
def ukf_pendulum(m0, P0, params, observations):
    g, damping = params
    dt = 0.1

    def step(x):
        theta, omega = x
        return np.array([theta + dt * omega, omega - dt * (g * np.sin(theta) + damping * omega)])

    def observe(x):
        return np.array([np.sin(x[0])])

    m, P = m0, P0
    nll = 0.0
    Q = 0.01 * np.eye(2)
    R = np.array([[0.05]])
    for obs in observations:
        m, P, _ = unscented(step, m, P, Q)
        yhat, S, C = unscented(observe, m, P, R)
        K = np.linalg.solve(S.T, C.T).T
        innovation = obs - yhat
        m = m + K @ innovation
        P = P - K @ S @ K.T
        nll += 0.5 * (np.linalg.slogdet(S)[1] + innovation @ np.linalg.solve(S, innovation))
    return nll + np.trace(P)


@program(args=lambda rng: (rng.normal(size=16), rng.random((3, 5)) + 0.5), wrt=(0, 1))
def spectral_consistency(x, target):
    n, hop = 8, 4
    window = np.hanning(n)
    frames = np.lib.stride_tricks.sliding_window_view(x, n)[::hop]
    S = np.fft.rfft(frames * window, axis=1)
    mag, phase = np.abs(S), np.angle(S)
    new = target * np.exp(1j * phase)
    rebuilt = np.fft.irfft(new, n=n, axis=1) * window
    y = np.zeros_like(x)
    norm = np.zeros_like(x)
    for i, frame in enumerate(rebuilt):
        y[i * hop : i * hop + n] += frame
        norm[i * hop : i * hop + n] += window**2
    keep = norm > 1e-3
    y[keep] /= norm[keep]
    return np.sum((mag - target) ** 2) + np.sum(y**2)


@program(args=lambda rng: (rng.normal(size=(7, 4)), [1, 3, 3]), wrt=(0,))
def ctc_loss(logits, labels):
    NEG = -1e30
    z = logits - logits.max(axis=1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    ext = [0]
    for lab in labels:
        ext += [lab, 0]
    S, T = len(ext), len(logp)

    def lse(*xs):
        m = max(xs)
        if m <= NEG:
            return NEG
        return m + math.log(sum(math.exp(x - m) for x in xs))

    alpha = [[NEG] * S for _ in range(T)]
    alpha[0][0] = logp[0, ext[0]]
    alpha[0][1] = logp[0, ext[1]]
    for t in range(1, T):
        for s in range(S):
            a = [alpha[t - 1][s]]
            if s > 0:
                a.append(alpha[t - 1][s - 1])
            if s > 1 and ext[s] != 0 and ext[s] != ext[s - 2]:
                a.append(alpha[t - 1][s - 2])
            alpha[t][s] = lse(*a) + logp[t, ext[s]]
    return -lse(alpha[T - 1][S - 1], alpha[T - 1][S - 2])


@program(args=lambda rng: (rng.normal(size=3) * 0.5, np.array([1.0, 3.0, 0.5])), wrt=(0, 1))
def lbfgs_two_loop(x0, scale):
    def value_and_gradient(x):
        r = x - np.array([0.5, -0.3, 0.2])
        return np.sum(scale * r**2) + 0.1 * np.sum(x**4), 2 * scale * r + 0.4 * x**3

    memory = 2
    s_list, y_list = [], []
    x = x0
    f, g = value_and_gradient(x)
    for it in range(5):
        q = g
        alphas = []
        for s, y in zip(reversed(s_list), reversed(y_list)):
            rho = 1.0 / (y @ s)
            a = rho * (s @ q)
            q = q - a * y
            alphas.append((a, rho))
        if s_list:
            gamma = (s_list[-1] @ y_list[-1]) / (y_list[-1] @ y_list[-1])
        else:
            gamma = 0.1
        r = gamma * q
        for (s, y), (a, rho) in zip(zip(s_list, y_list), reversed(alphas)):
            b = rho * (y @ r)
            r = r + (a - b) * s
        step = 1.0
        slope = -(g @ r)
        for ls in range(20):
            xn = x - step * r
            fn, gn = value_and_gradient(xn)
            if fn <= f + 1e-4 * step * slope:
                break
            step *= 0.5
        s_list.append(xn - x)
        y_list.append(gn - g)
        if len(s_list) > memory:
            s_list.pop(0)
            y_list.pop(0)
        x, f, g = xn, fn, gn
        if np.linalg.norm(g) < 1e-8:
            break
    return f + 0.1 * np.sum(x)


def cubic_roots_real(b, c, d):
    q = (3 * c - b * b) / 9
    r = (9 * b * c - 27 * d - 2 * b**3) / 54
    disc = q**3 + r * r
    if disc > 0:
        s = r + math.sqrt(disc)
        t = r - math.sqrt(disc)
        s = math.copysign(abs(s) ** (1 / 3), s)
        t = math.copysign(abs(t) ** (1 / 3), t)
        return [s + t - b / 3]
    theta = math.acos(r / math.sqrt(-(q**3)))
    return [2 * math.sqrt(-q) * math.cos((theta + 2 * math.pi * k) / 3) - b / 3 for k in range(3)]


@dataclass(frozen=True)
class PengRobinson:
    Tc: float
    Pc: float
    omega: float

    R = 8.314

    def ab(self, T, P):
        kappa = 0.37464 + 1.54226 * self.omega - 0.26992 * self.omega**2
        alpha = (1 + kappa * (1 - math.sqrt(T / self.Tc))) ** 2
        a = 0.45724 * (self.R * self.Tc) ** 2 / self.Pc * alpha
        b = 0.0778 * self.R * self.Tc / self.Pc
        return a * P / (self.R * T) ** 2, b * P / (self.R * T)

    def compressibility(self, T, P, phase):
        A, B = self.ab(T, P)
        roots = [z for z in cubic_roots_real(-(1 - B), A - 3 * B * B - 2 * B, -(A * B - B * B - B**3)) if z > B]
        return max(roots) if phase == "vapour" else min(roots)

    def ln_phi(self, T, P, phase):
        A, B = self.ab(T, P)
        Z = self.compressibility(T, P, phase)
        s = math.sqrt(2)
        return Z - 1 - math.log(Z - B) - A / (2 * s * B) * math.log((Z + (1 + s) * B) / (Z + (1 - s) * B))


@program(args=lambda rng: (320.0, 1.2e6, 425.0, 3.8e6, 0.2), wrt=(0, 1, 2, 3, 4), tags={"second"})
def peng_robinson(T, P, Tc, Pc, omega):
    eos = PengRobinson(Tc, Pc, omega)
    return eos.ln_phi(T, P, "vapour") - eos.ln_phi(T, P, "liquid") + eos.compressibility(T, P, "vapour")


class Flock:
    def __init__(self, pos, vel, **weights):
        self.pos, self.vel = pos.copy(), vel.copy()
        self.w = {"cohesion": 0.05, "align": 0.1, "separate": 0.02, **weights}

    def neighbours(self, i, radius):
        d = np.linalg.norm(self.pos - self.pos[i], axis=1)
        return [j for j in range(len(d)) if j != i and d[j] < radius]

    def step(self, dt=0.3):
        new = np.empty_like(self.vel)
        for i in range(len(self.pos)):
            near = self.neighbours(i, 1.6)
            v = self.vel[i].copy()
            if near:
                centre = self.pos[near].mean(axis=0)
                v += self.w["cohesion"] * (centre - self.pos[i])
                v += self.w["align"] * (self.vel[near].mean(axis=0) - self.vel[i])
                for j in near:
                    gap = self.pos[i] - self.pos[j]
                    v += self.w["separate"] * gap / (gap @ gap + 0.1)
            speed = np.sqrt(v @ v)
            new[i] = v * min(1.0, 0.8 / speed)
        self.vel[:] = new
        self.pos += dt * self.vel

    @property
    def polarisation(self):
        unit = self.vel / np.linalg.norm(self.vel, axis=1, keepdims=True)
        return np.linalg.norm(unit.mean(axis=0))


@program(args=lambda rng: (rng.normal(size=(5, 2)), 0.5 * rng.normal(size=(5, 2)), 0.08), wrt=(0, 1, 2))
def boids(pos, vel, align):
    flock = Flock(pos, vel, align=align)
    order = []
    for _ in range(4):
        flock.step()
        order.append(flock.polarisation)
    return sum(order) + np.var(flock.pos)


class Shape(Enum):
    """What a body is; a member of each body in a list of them."""

    DISC = "disc"
    WALL = "wall"


@dataclass
class Rigid:
    place: np.ndarray
    speed: np.ndarray
    radius: float
    shape: Shape = Shape.DISC
    contacts: int = 0


@program(
    args=lambda rng: (
        np.array([[0.0, 1.0], [0.9, 0.5], [2.2, 0.3]]),
        np.array([[1.5, 0.0], [0.0, 0.1], [-1.0, -2.0]]),
        0.8,
    ),
    wrt=(0, 1, 2),
)
def bodies_of_several_shapes(places, speeds, restitution):
    bodies = [Rigid(x, v, 0.3) for x, v in zip(places, speeds)]
    bodies[1].shape = Shape.WALL
    for _ in range(8):
        for body in bodies:
            if body.shape is Shape.WALL:
                continue
            body.speed = body.speed - np.array([0.0, 0.1])
            body.place = body.place + 0.1 * body.speed
            if body.place[1] < body.radius and body.speed[1] < 0:
                body.speed = body.speed * np.array([0.95, -restitution])
                body.contacts += 1
    return sum(b.place @ b.place + b.contacts * b.speed[0] for b in bodies if b.shape != Shape.WALL)


def grown_in_a_loop(x, steps):
    """Of a dtype that only the run knows, where `x` is of single precision."""
    y = x * 1.0
    for _ in range(steps):
        y = y * np.array([1.5, 2.5])
    return y


@program(args=lambda rng: (rng.normal(size=2), 2), tags={"second"})
def conjugate_of_unknown_dtype(x, steps):
    y = grown_in_a_loop(x, steps)
    z = np.conj(y)
    z[0] = y[0] ** 2
    w = np.array([y[0], y[1], y[0] * y[1]])
    w[1] += y[0]
    return np.sum(y * z) + np.sum(w**2)


def searched(x, steps):
    if steps == 0:
        return np.sum(x)
    best = np.sum(x**2)
    for _ in range(3):
        for _ in range(4):
            trial = 0.5 * x
            value = np.sum(trial**2)
            if value <= best:
                break
        best = value
        x = trial
    return best + searched(1.1 * x, steps - 1)


@program(args=lambda rng: (1 + rng.random(2), 3))
def recursive_line_search(x, steps):
    return searched(x, steps)


@program(args=lambda rng: ({"w": 1 + rng.random(3), "b": 0.2}, 0.1), wrt=(0, 1))
def trained_twice_from_one_beginning(weights, rate):
    total, ends = 0.0, []
    for decay in (0.0, 0.3):
        current = weights
        for _ in range(3):
            current = {k: v - rate * (v**2 + decay * v) for k, v in current.items()}
        ends.append(current)
        total += np.sum(current["w"] ** 2) + current["b"]
    current = weights
    while np.sum(current["w"]) > 2.0:
        current = {k: 0.9 * v for k, v in current.items()}
    return total + np.sum(ends[0]["w"] * ends[1]["w"] * current["w"])
