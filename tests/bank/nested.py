"""Derivatives taken inside programs: `vjp`, `jvp`, Jacobians and gradients of one another."""

from __future__ import annotations

import numpy as np

import autodiff_sct as ad
from autodiff_sct import nn
from tests.bank.registry import program

WEIGHTS = np.array([1.0, 2.0, -0.5])


def v(rng):
    return (rng.uniform(0.4, 1.2, 3),)


def pair(rng):
    return rng.uniform(0.4, 1.2, 3), rng.uniform(-1.0, 1.0, 3)


def field(x):
    return np.sin(x) * x[0]


def energy(x):
    return np.sum(np.sin(x) * x * x[0])


def split(x):
    return x * x, np.sum(np.sin(x)), 3.0


def relaxed(x):
    state = x
    for _ in range(3):
        state = np.sin(state) * x
    return state


def grown(x):
    state = x[0]
    while state < 5.0:
        state = state * 1.5 + x[1] ** 2
    return state * x


def written(x):
    x[0] = x[1] * 5.0
    x[1:] *= x[0]
    return x * x


def weighed(parts):
    return np.sum(parts["a"] * parts["b"][0] * parts["b"][1])


@program(args=v, tags=("second",))
def pullback_norm(x):
    y, pull = ad.vjp(field, x)
    (g,) = pull(np.ones_like(y))
    return np.sum(g**2)


@program(args=v, tags=("second",))
def pullback_twice(x):
    y, pull = ad.vjp(field, x)
    (g,) = pull(y)
    (h,) = pull(g)
    return np.sum(g * h) + np.sum(y)


@program(args=v, tags=("second",))
def pullback_in_loop(x):
    _, pull = ad.vjp(field, x)
    total = 0.0
    for k in range(3):
        unit = np.zeros_like(x)
        unit[k] = 1.0
        total = total + np.sum(pull(unit)[0] ** 2)
    return total


@program(args=v)
def pullback_made_in_loop(x):
    total = 0.0
    for _ in range(3):
        y, pull = ad.vjp(field, x)
        (g,) = pull(y)
        x = x + 0.1 * g
        total = total + np.sum(g)
    return total


@program(args=v)
def pullback_of_several_outputs(x):
    (a, b, _), pull = ad.vjp(split, x)
    (g,) = pull(b * a, np.sum(a), 1.0)
    return np.sum(g * g)


@program(args=v)
def pullback_after_writes(x):
    y = x * 2.0
    out, pull = ad.vjp(field, y)
    y[0] = 7.0
    out[1] = 0.0
    (g,) = pull(x)
    g[0] = 1.0
    (h,) = pull(x)
    return np.sum(g * h) + np.sum(out * y)


@program(args=v)
def pullback_of_container(x):
    _, pull = ad.vjp(weighed, {"a": x * 2.0, "b": (x, x * x)})
    (g,) = pull(1.0)
    return np.sum(g["a"] * g["b"][1])


@program(args=v, tags=("second",))
def pullback_with_capture(x):
    w = x * 2.0
    _, pull = ad.vjp(lambda z: np.sin(z) * w, x + 1.0)
    (g,) = pull(x)
    return np.sum(g * w)


@program(args=v)
def pullback_of_writer(x):
    y, pull = ad.vjp(written, x)
    return np.sum(pull(y)[0] * x)


@program(args=v)
def pullback_of_while(x):
    y, pull = ad.vjp(grown, x)
    return np.sum(pull(x)[0] * y)


@program(args=v, tags=("second",))
def pullback_with_aux(x):
    y, pull, aux = ad.vjp(lambda z: (z * z, np.sum(z**3)), x, has_aux=True)
    return np.sum(pull(y)[0]) * aux


@program(args=v, tags=("second",))
def hessian_vector_norm(x):
    _, t = ad.jvp(ad.grad(energy), (x,), (WEIGHTS,))
    return t @ t


@program(args=v, tags=("second",))
def tangent_and_value(x):
    y, t = ad.jvp(field, (x,), (x * x,))
    return t @ y


@program(args=v)
def tangent_of_tangent(x):
    y, t = ad.jvp(lambda z: ad.jvp(field, (z,), (WEIGHTS,))[1], (x,), (WEIGHTS,))
    return np.sum(y * t)


@program(args=v)
def gradient_of_tangent(x):
    g = ad.grad(lambda z: np.sum(ad.jvp(field, (z,), (WEIGHTS,))[1] ** 2))(x)
    return np.sum(g * g)


@program(args=v)
def tangent_of_container(x):
    point, direction = {"a": x * 2.0, "b": (x, x * x)}, {"a": x, "b": (x * x, x)}
    y, t = ad.jvp(weighed, (point,), (direction,))
    return t * y


@program(args=v)
def tangent_in_branch(x):
    if x[0] > 0.1:
        y, t = ad.jvp(field, (x,), (WEIGHTS,))
    else:
        y, t = x, x
    return y @ t


@program(args=v)
def tangent_of_loop(x):
    y, t = ad.jvp(relaxed, x, x)
    return np.sum(y * t)


@program(args=v, tags=("second",))
def jacobian_by_rows(x):
    jacobian = ad.jacrev(field)(x)
    return np.sum(jacobian * jacobian)


@program(args=v, tags=("second",))
def jacobian_by_columns(x):
    jacobian = ad.jacfwd(field)(x)
    return np.sum(jacobian * jacobian * jacobian)


@program(args=v)
def jacobian_of_several(x):
    (a_x, a_y), (b_x, b_y) = ad.jacrev(lambda x, y: (x * y, np.sum(x * x)), (0, 1))(x, x * x)
    (c_x, c_y), (d_x, d_y) = ad.jacfwd(lambda x, y: (x * y, np.sum(x * x)), (0, 1))(x, x * x)
    return np.sum(a_x * a_y) + np.sum(b_x * c_x @ x) + np.sum(b_y) + np.sum(c_y @ d_x) + np.sum(d_y)


@program(args=lambda rng: (0.7,))
def jacobian_of_number(t):
    weights = np.arange(1.0, 4.0)
    by_rows, by_columns = ad.jacrev(lambda t: t * t * weights)(t), ad.jacfwd(lambda t: t * t * weights)(t)
    return ad.jacrev(lambda t: t**3)(t) * t + np.sum(by_rows**2) + np.sum(by_columns**3)


@program(args=v)
def hessian_trace(x):
    hessian = ad.jacfwd(ad.grad(energy))(x)
    return np.sum(hessian * hessian) + np.trace(ad.jacrev(ad.grad(energy))(x))


@program(args=v)
def hessian_by_jacobians(x):
    hessian = ad.jacfwd(ad.jacrev(energy))(x)
    return np.sum(hessian * hessian)


@program(args=pair)
def newton_steps(x, target):
    for _ in range(2):
        jacobian = ad.jacrev(lambda z: z**3 + 2.0 * z - target)(x)
        x = x - np.linalg.solve(jacobian, x**3 + 2.0 * x - target)
    return np.sum(x * x)


@program(args=v)
def gradient_operation(x):
    g, h = ad.ops.GradOperation(get_all=True)(lambda a, b: np.sum(a * np.sin(b) * b))(x, 2.0 * x)
    return np.sum(g * h * ad.ops.GradOperation()(energy)(x))


@program(args=v)
def gradient_found_by_id(x):
    gradients = ad.grad(lambda x, y: np.sum(x**3 * y), (0, 1), return_ids=True)(x, x * x)
    return np.sum(ad.get_grad(gradients, 1) * ad.get_grad(gradients, 0))


@program(args=v)
def gradient_with_seed(x):
    g = ad.grad(field, sens_param=True)(x, x * x)
    return np.sum(g * g)


@program(args=v)
def gradient_with_aux(x):
    (value, aux), g = ad.value_and_grad(lambda x: (np.sum(x**3), x * x), has_aux=True)(x)
    return value * np.sum(aux * g)


@program(args=v)
def gradient_by_keyword(x):
    g, h = ad.grad(lambda a, b: np.sum(a * b * b), (0, 1))(x, b=x * 2.0)
    return np.sum(g * h)


@program(args=v)
def gradient_as_decorator(x):
    @ad.grad(grad_position=(0, 1))
    def gradients(z, w):
        return np.sum(z**3 * w * x)

    g, h = gradients(x, x * 2.0)
    return np.sum(g * h)


@program(args=v)
def gradient_of_chosen(x):
    def square(t):
        return np.sum(t**2)

    def cube(t):
        return np.sum(t**3)

    chosen = square if x[0] > 0.1 else cube
    return np.sum(ad.grad(chosen)(x) * x)


class Affine(nn.Cell):
    """A Cell whose gradient by its weights is used in a program."""

    def __init__(self):
        super().__init__()
        self.w = ad.Parameter(np.array([1.0, 2.0, 3.0]), name="w")
        self.b = ad.Parameter(np.array([0.5, 0.5, 0.5]), name="b")

    def construct(self, x):
        return (x * self.w + self.b) ** 2


AFFINE = Affine()
BY_WEIGHTS = ad.grad(AFFINE, 0, AFFINE.trainable_params())


@program(args=v)
def gradient_by_weights(x):
    by_input, (by_w, by_b) = BY_WEIGHTS(x)
    by_same = ad.grad(AFFINE, None, AFFINE.w)(x)
    return np.sum(by_input * by_w.asnumpy() * by_b.asnumpy()) + np.sum(by_same.asnumpy() * x)


def scaled_first(x):
    x[1] *= x[0]
    x[0] *= x[2]
    return x * x


@program(args=v, tags=("second",))
def gradient_of_writer(x):
    return np.sum(ad.grad(scaled_first)(x) * x * x)


@program(args=v, tags=("second",))
def pullback_of_first_writer(x):
    def first(x):
        x[0] = x[1] * 5.0
        x[1:] *= x[0]
        return x * x

    y, pull = ad.vjp(first, x)
    return np.sum(pull(y)[0] * x)
