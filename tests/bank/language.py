"""Programs that use much of the language at once, as simulations, optimisers and interpreters do."""

import numpy as np

from tests.bank.registry import program


class Ball:
    def __init__(self, position, velocity):
        self.position, self.velocity, self.path = position, velocity, []

    def step(self, dt):
        self.position = self.position + self.velocity * dt
        if self.position[1] < 0:
            self.position[1] = -self.position[1]
        self.path.append(self.position)


class HeavyBall(Ball):
    def step(self, dt):
        self.velocity = self.velocity - np.array([0.0, dt])
        super().step(dt)


@program(args=lambda rng: (np.array([0.1, 0.3]), np.array([1.1, -0.7])))
def balls_in_a_list(position, velocity):
    balls = [Ball(position, velocity), HeavyBall(position, velocity * 0.5)]
    for _ in range(6):
        for ball in balls:
            ball.step(0.3)
    return np.sum(balls[0].path[-1] * balls[1].path[-2])


@program(args=lambda rng: (rng.normal(size=3),))
def rows_replaced_where_one_is_known_by_another_name(x):
    rows = [x, x * 2.0]
    first = rows[0]
    for i in range(2):
        rows[i] = rows[i] + 1.5
    return np.sum(first * rows[0]) + np.sum(rows[1])
