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
        self.velocity = self.velocity * (1.0 - dt)
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


def evaluated(tree):
    if isinstance(tree, list):
        return sum(evaluated(branch) for branch in tree) * 1.1
    if isinstance(tree, tuple):
        left, sign, right = tree
        left, right = evaluated(left), evaluated(right)
        return {"+": left + right, "*": left * right}[sign]
    return tree


@program(args=lambda rng: (rng.uniform(0.5, 1.5), rng.uniform(0.5, 1.5)))
def tree_of_lists_and_tuples(x, y):
    return evaluated([x, (x, "*", y), [y, (x, "+", (y, "*", y))]])


def mapped(f, tree):
    if isinstance(tree, dict):
        return {key: mapped(f, branch) for key, branch in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(mapped(f, branch) for branch in tree)
    return f(tree)


def leaves_of(tree):
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in leaves_of(tree[key])]
    if isinstance(tree, (list, tuple)):
        return [leaf for branch in tree for leaf in leaves_of(branch)]
    return [tree]


@program(args=lambda rng: (rng.uniform(0.5, 1.5), rng.uniform(0.5, 1.5)))
def tree_mapped(x, y):
    tree = {"a": x, "b": [y, (x * y, 2.0)], "c": {"d": x}}
    squares = mapped(lambda v: v * v + x, tree)
    return sum(leaf * (k + 1) for k, leaf in enumerate(leaves_of(squares)))


@program(args=lambda rng: (1.3, 0.4))
def keys_of_either_dict(x, y):
    first, second = {"a": x, "b": x * y}, {"b": y, "c": x - y}
    seen = set()
    total = 0.0
    for key in sorted(set(first) | set(second)):
        total = total * 0.5 + first.get(key, 1.0) * second.get(key, 2.0)
        seen |= {key, key.upper()}
    return total * len(seen - {"a"})


@program(args=lambda rng: (rng.normal(size=3),))
def special_methods_by_name(x):
    parts = [x, x * 2]
    total = np.sum(x.__abs__() ** 3) * parts.__len__() * (1, 2).__len__()
    return total + x.__neg__().__len__() * np.sum(x.__pos__())
