"""Every MindSpore example of the documents that users come from, with only its import lines changed."""

from __future__ import annotations

import numpy as np

import autodiff_sct
import autodiff_sct as ms
import autodiff_sct.nn as nn
from autodiff_sct import Tensor, grad, ops


def assert_printed(capsys, *texts: str) -> None:
    """The documents' text, whatever their pages did to white space."""
    printed = capsys.readouterr().out
    assert "".join(printed.split()) == "".join("".join(texts).split())


class MatMulNet(nn.Cell):
    """The network of grad.md and of the comparisons with torch and TensorFlow."""

    def __init__(self):
        super(MatMulNet, self).__init__()
        self.matmul = ops.MatMul()
        self.z = ms.Parameter(ms.Tensor(np.array([1.0], np.float32)), name="z")

    def construct(self, x, y):
        x = x * self.z
        out = self.matmul(x, y)
        return out


class GradNetWrtX(nn.Cell):
    def __init__(self, net):
        super(GradNetWrtX, self).__init__()
        self.net = net

    def construct(self, x, y):
        gradient_function = ms.grad(self.net)
        return gradient_function(x, y)


def test_gradient_of_a_cell_inside_a_cell(capsys):
    x = ms.Tensor([[0.5, 0.6, 0.4], [1.2, 1.3, 1.1]], dtype=ms.float32)
    y = ms.Tensor([[0.01, 0.3, 1.1], [0.1, 0.2, 1.3], [2.1, 1.2, 3.3]], dtype=ms.float32)
    output = GradNetWrtX(MatMulNet())(x, y)
    print(output)
    assert_printed(
        capsys,
        """
        [[1.4100001 1.5999999 6.6      ]
         [1.4100001 1.5999999 6.6      ]]
        """,
    )


class ProductNet(nn.Cell):
    """The network of the reference page of mindspore.grad."""

    def construct(self, x, y, z):
        return x * y * z


def product_inputs():
    x = Tensor([1, 2], autodiff_sct.float32)
    y = Tensor([-2, 3], autodiff_sct.float32)
    z = Tensor([0, 3], autodiff_sct.float32)
    return x, y, z


def test_positions_of_a_cell(capsys):
    x, y, z = product_inputs()
    net = ProductNet()
    output = grad(net, grad_position=(1, 2))(x, y, z)
    print(output)
    assert_printed(
        capsys,
        "(Tensor(shape=[2], dtype=Float32, value=[ 0.00000000e+00, 6.00000000e+00]), ",
        "Tensor(shape=[2], dtype=Float32, value=[-2.00000000e+00, 6.00000000e+00]))",
    )


def test_auxiliary_output_of_a_function(capsys):
    def fn(x, y, z):
        res = x * ops.exp(y) * ops.pow(z, 2)
        return res, z

    x = Tensor([3, 3], autodiff_sct.float32)
    y = Tensor([0, 0], autodiff_sct.float32)
    z = Tensor([5, 5], autodiff_sct.float32)
    gradient, aux = grad(fn, (1, 2), None, True)(x, y, z)
    print(gradient)
    print(aux)
    assert_printed(
        capsys,
        "(Tensor(shape=[2], dtype=Float32, value= [ 7.50000000e+01, 7.50000000e+01]), ",
        "Tensor(shape=[2], dtype=Float32, value= [ 3.00000000e+01, 3.00000000e+01]))",
        "(Tensor(shape=[2], dtype=Float32, value= [ 5.00000000e+00, 5.00000000e+00]),)",
    )


class DenseExample:
    """The cases of the reference page that share a network and a loss."""

    def __init__(self):
        net = nn.Dense(10, 1)
        loss_fn = nn.MSELoss()

        def forward(inputs, labels):
            logits = net(inputs)
            loss = loss_fn(logits, labels)
            return loss, logits

        self.forward = forward
        self.inputs = Tensor(np.random.randn(16, 10).astype(np.float32))
        self.labels = Tensor(np.random.randn(16, 1).astype(np.float32))
        self.weights = net.trainable_params()


def test_case_1_gradient_with_respect_to_inputs(capsys):
    example = DenseExample()
    grad_fn = grad(example.forward, grad_position=(0, 1), weights=None, has_aux=True)
    inputs_gradient, (aux_logits,) = grad_fn(example.inputs, example.labels)
    print(len(inputs_gradient))
    print(aux_logits.shape)
    assert_printed(capsys, "2 (16, 1)")


def test_case_2_gradient_with_respect_to_weights(capsys):
    example = DenseExample()
    grad_fn = grad(example.forward, grad_position=None, weights=example.weights, has_aux=True)
    params_gradient, (aux_logits,) = grad_fn(example.inputs, example.labels)
    print(len(example.weights), len(params_gradient))
    print(aux_logits.shape)
    assert_printed(capsys, "2 2 (16, 1)")


def test_case_3_gradient_with_respect_to_inputs_and_weights(capsys):
    example = DenseExample()
    grad_fn = grad(example.forward, grad_position=0, weights=example.weights, has_aux=False)
    inputs_gradient, params_gradient = grad_fn(example.inputs, example.labels)
    print(len(example.weights), len(params_gradient))
    assert_printed(capsys, "2 2")
    assert inputs_gradient.shape == (16, 10)


def test_case_4_gradient_with_ids(capsys):
    x, y, z = product_inputs()
    net = ProductNet()
    output = grad(net, grad_position=(1, 2), return_ids=True)(x, y, z)
    print(output)
    assert_printed(
        capsys,
        "((1, Tensor(shape=[2], dtype=Float32, value=[ 0.00000000e+00, 6.00000000e+00])), ",
        "(2, Tensor(shape=[2], dtype=Float32, value=[-2.00000000e+00, 6.00000000e+00])))",
    )
