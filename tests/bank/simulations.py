"""Programs as scientists write them, with objects, dicts of parameters and lists that change in loops."""

from __future__ import annotations

import math

import numpy as np

from tests.bank.registry import program


class Body:
    def __init__(self, mass, position, velocity):
        self.mass = mass
        self.position = position
        self.velocity = velocity
        self.acceleration = np.zeros_like(position)

    def kick(self, dt):
        self.velocity = self.velocity + self.acceleration * dt

    def drift(self, dt):
        self.position = self.position + self.velocity * dt


class Cluster:
    def __init__(self, bodies, softening=0.1):
        self.bodies = bodies
        self.softening = softening

    def attract(self):
        for body in self.bodies:
            body.acceleration = np.zeros(3)
        for i, a in enumerate(self.bodies):
            for b in self.bodies[i + 1 :]:
                d = b.position - a.position
                r2 = np.sum(d**2) + self.softening**2
                force = d / (r2 * math.sqrt(r2))
                a.acceleration += b.mass * force
                b.acceleration -= a.mass * force

    def step(self, dt):
        self.attract()
        for body in self.bodies:
            body.kick(dt)
            body.drift(dt)


@program(args=lambda rng: (rng.normal(size=(3, 3)), 0.1 * rng.normal(size=(3, 3)), 0.5 + rng.random(3)), wrt=(0, 1))
def bodies_attract_each_other(positions, velocities, masses):
    bodies = [Body(masses[i], positions[i].copy(), velocities[i].copy()) for i in range(len(masses))]
    cluster = Cluster(bodies)
    for _ in range(2):
        cluster.step(0.05)
    return sum(0.5 * b.mass * np.dot(b.velocity, b.velocity) + np.sum(b.position**2) for b in cluster.bodies)


def network(rng):
    params = {"W1": rng.normal(size=(3, 4)), "b1": np.zeros(4), "W2": rng.normal(size=(4, 1)), "b2": np.zeros(1)}
    return params, rng.normal(size=(5, 3)), rng.normal(size=(5, 1))


@program(args=network)
def layers_by_their_names(params, inputs, outputs):
    layers = ["1", "2"]
    a = inputs
    penalty = 0.0
    for i, name in enumerate(layers):
        W, b = params["W" + name], params[f"b{name}"]
        a = a @ W + b
        if i < len(layers) - 1:
            a = np.tanh(a)
        penalty += np.sum(W**2)
    return np.mean((a - outputs) ** 2) + 1e-2 * penalty


@program(args=lambda rng: (rng.normal(size=(3, 2)), 0.1))
def momenta_read_and_put_back(gradients, rate):
    momenta = [np.zeros(2) for _ in range(3)]
    weights = np.ones(2)
    for sweep in range(2):
        for k in range(len(momenta)):
            m = momenta[k]
            m *= 0.9
            m += gradients[k] * weights
            momenta[k] = m
            weights = weights - rate * momenta[k]
    return np.sum(weights**2) + sum(np.sum(m**3) for m in momenta)
