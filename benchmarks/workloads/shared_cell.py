"""A Cell that runs one dense layer on both of its inputs: weights that are shared add up."""

import numpy as np

from autodiff_sct import Parameter, Tensor, grad, nn, ops

KIND = "dense"
WRT = (0, 1)


def inputs(quick):
    rng = np.random.default_rng(0)
    batch, features, width = (4, 3, 2) if quick else (128, 64, 64)
    weight = rng.normal(size=(width, features)) / features**0.5
    return weight, np.zeros(width), rng.normal(size=(batch, features)), rng.normal(size=(batch, features))


def primal(weight, bias, first, second):
    apart = np.tanh(first @ weight.T + bias) - np.tanh(second @ weight.T + bias)
    return np.mean(apart * apart)


class Twins(nn.Cell):
    """The distance of two inputs after the same layer."""

    def __init__(self, weight, bias):
        super().__init__()
        self.weight = Parameter(Tensor(weight), name="weight")
        self.bias = Parameter(Tensor(bias), name="bias")

    def embed(self, x):
        return ops.tanh(ops.matmul(x, self.weight.T) + self.bias)

    def construct(self, first, second):
        apart = self.embed(first) - self.embed(second)
        return ops.mean(apart * apart)


def ours(args):
    weight, bias, first, second = args
    net = Twins(weight, bias)
    gradient = grad(net, grad_position=None, weights=net.trainable_params())
    first, second = Tensor(first), Tensor(second)
    return lambda: gradient(first, second)


def hand(weight, bias, first, second):
    one, two = first @ weight.T, second @ weight.T
    one += bias
    two += bias
    np.tanh(one, out=one)
    np.tanh(two, out=two)
    d_one = one - two
    d_one *= 2 / d_one.size
    one *= one
    two *= two
    two -= 1
    two *= d_one
    np.subtract(1, one, out=one)
    d_one *= one
    d_weight = d_one.T @ first
    d_weight += two.T @ second
    return d_weight, d_one.sum(axis=0) + two.sum(axis=0)
