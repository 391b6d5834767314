"""Every torch and TensorFlow example of the documents that users come from, on the tape and through the compiler.

The examples for MindSpore are in `tests/test_seeds.py`.
"""

from __future__ import annotations

import numpy as np

import autodiff_sct as ad
from autodiff_sct import tape as tf
from autodiff_sct import tape as torch
from tests.test_seeds import assert_printed

# The comparison of torch.autograd.backward and torch.autograd.grad with mindspore.grad, in both languages.


def test_backward(capsys):
    x = torch.tensor(2.0, requires_grad=True)
    y = torch.tensor(3.0, requires_grad=True)
    z = x * x * y
    z.backward()
    print(x.grad, y.grad)
    assert_printed(capsys, "tensor(12.) tensor(4.)")


def test_grad(capsys):
    x = torch.tensor(2.0).requires_grad_()
    y = torch.tensor(3.0).requires_grad_()
    z = x * x * y
    grad_x = torch.autograd.grad(outputs=z, inputs=x)
    print(grad_x[0])
    assert_printed(capsys, "tensor(12.)")


def test_backward_and_grad_compiled():
    def z(x, y):
        return x * x * y

    assert ad.grad(z, (0, 1))(2.0, 3.0) == (12.0, 4.0)
    assert ad.grad(z)(2.0, 3.0) == 12.0


def test_the_signatures_of_the_documents():
    x = torch.tensor(2.0, requires_grad=True)
    torch.autograd.backward(
        tensors=x * x, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None
    )
    assert x.grad.item() == 4.0
    (found,) = torch.autograd.grad(
        outputs=x * x,
        inputs=x,
        grad_outputs=None,
        retain_graph=None,
        create_graph=False,
        only_inputs=True,
        allow_unused=False,
    )
    assert found.item() == 4.0


# The page on tensor.backward() and torch.autograd.grad(), with the numbers that it printed.

DOUBLED = np.array(
    [[-1.6736, -4.1714, -0.8464, -3.2346], [-2.3770, -3.3405, 1.2205, 0.0100], [-0.9843, -0.6907, -0.8425, 0.6817]]
)
PRINTED = """
    tensor([[-1.6736, -4.1714, -0.8464, -3.2346],
            [-2.3770, -3.3405,  1.2205,  0.0100],
            [-0.9843, -0.6907, -0.8425,  0.6817]]"""


def test_second_derivative_by_grad(capsys):
    x = torch.tensor(DOUBLED / 2).requires_grad_(True)

    y = x**2

    weight = torch.tensor(np.ones(y.shape))
    y.backward(weight, retain_graph=True)

    print("backward grad")
    print(x.grad)
    dydx = torch.autograd.grad(
        outputs=y, inputs=x, grad_outputs=weight, retain_graph=True, create_graph=True, only_inputs=True
    )
    print("autograd grad")
    print(dydx[0].detach())

    d2ydx2 = torch.autograd.grad(
        outputs=dydx[0], inputs=x, grad_outputs=weight, retain_graph=True, create_graph=True, only_inputs=True
    )
    print("Second Derivative")
    print(d2ydx2[0].detach())
    assert dydx[0].grad_fn is not None
    assert_printed(
        capsys,
        f"backward grad {PRINTED})",
        f"autograd grad {PRINTED})",
        """Second Derivative
        tensor([[2., 2., 2., 2.],
                [2., 2., 2., 2.],
                [2., 2., 2., 2.]])""",
    )


def test_second_derivative_compiled():
    def y(x):
        return x**2

    x = DOUBLED / 2
    weight = np.ones(x.shape)
    _, pull = ad.vjp(y, x)
    assert np.array_equal(pull(weight)[0], DOUBLED)
    assert np.array_equal(ad.grad(y)(x), DOUBLED)
    assert np.array_equal(ad.grad(ad.grad(y))(x), 2.0 * weight)


# The comparison of tf.gradients with mindspore.grad.

W1, W2, W3, W4 = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
SEEDS = (np.array([2.0, 2.0, 3.0], np.float32), np.array([3.0, 2.0, 4.0], np.float32))
PRINTED_BY_TF = """
    [array([2., 2., 3.], dtype=float32),
     array([2., 2., 3.], dtype=float32),
     array([5., 4., 7.], dtype=float32),
     array([3., 2., 4.], dtype=float32)]"""


def test_gradients(capsys):
    w1 = tf.tensor(W1, requires_grad=True)
    w2 = tf.tensor(W2, requires_grad=True)
    w3 = tf.tensor(W3, requires_grad=True)
    w4 = tf.tensor(W4, requires_grad=True)
    z1 = w1 + w2 + w3
    z2 = w3 + w4
    grads = tf.gradients([z1, z2], [w1, w2, w3, w4], grad_ys=[tf.tensor(SEEDS[0]), tf.tensor(SEEDS[1])])
    print([np.asarray(g.detach()) for g in grads])
    assert_printed(capsys, PRINTED_BY_TF)


def test_gradients_compiled(capsys):
    def z(w1, w2, w3, w4):
        z1 = w1 + w2 + w3
        z2 = w3 + w4
        return z1, z2

    _, pull = ad.vjp(z, W1, W2, W3, W4)
    print(list(pull(*SEEDS)))
    assert_printed(capsys, PRINTED_BY_TF)


def test_the_signature_of_gradients():
    x = tf.tensor(3.0, requires_grad=True)
    found = tf.gradients(ys=x * x, xs=x, grad_ys=None, stop_gradients=None, unconnected_gradients="none")
    assert [g.item() for g in found] == [6.0]
