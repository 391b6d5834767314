"""The tensor: what NumPy's programs do with it does what NumPy does, and is recorded."""

from __future__ import annotations

import copy
import operator
import pickle
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import AutodiffError, ops, tape
from autodiff_sct.rules.table import TABLE
from autodiff_sct.tape import grad, no_grad, tensor

A = np.array([[0.31, -1.23, 0.74], [1.42, 0.27, -0.66]])
B = np.array([[1.3, 0.4, -0.7], [0.5, 1.2, 0.9]])


def gradient_by_differences(function: Any, x: np.ndarray) -> np.ndarray:
    steps = 1e-6 * np.eye(x.size).reshape(-1, *x.shape)
    return np.array([(np.sum(function(x + h)) - np.sum(function(x - h))) / 2e-6 for h in steps]).reshape(x.shape)


def check(function: Any, x: np.ndarray = A) -> None:
    """The value is NumPy's, bit for bit, and the gradient of its sum that of differences."""
    t = tensor(x, requires_grad=True)
    y = function(t)
    assert isinstance(y, tape.Tensor)
    assert y.shape == np.shape(function(x)) and y.dtype == np.asarray(function(x)).dtype
    np.testing.assert_array_equal(y.detach().numpy(), function(x))
    (found,) = grad(np.sum(y), t)
    np.testing.assert_allclose(found.numpy(), gradient_by_differences(function, x), rtol=1e-5, atol=1e-7)


BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.mod, np.maximum, np.hypot, np.arctan2]


@pytest.mark.parametrize("fn", BINARY, ids=lambda fn: fn.__name__)
@pytest.mark.parametrize(
    "other", [B, B[0], 2.5, 2, np.float64(1.5), B.tolist()], ids=["array", "row", "float", "int", "scalar", "list"]
)
def test_operators_on_both_sides(fn, other):
    check(lambda x: fn(x, other))
    check(lambda x: fn(other, x))
    if isinstance(other, np.ndarray):
        check(lambda x: fn(x, tensor(other)) if isinstance(x, tape.Tensor) else fn(x, other))


def test_powers_and_products():
    check(lambda x: x**3)
    check(lambda x: abs(x) ** 1.5)
    check(lambda x: 2.0**x)
    check(lambda x: np.abs(x) ** (x * x))
    check(lambda x: x @ B.T)
    check(lambda x: B.T @ x)
    check(lambda x: x @ x.T)
    check(lambda x: -x + (+x) - abs(x))
    check(lambda x: divmod(x, 0.4)[1])


def test_operators_without_derivative_are_numpys():
    x = tensor(A, requires_grad=True)
    for fn in (operator.lt, operator.ge, operator.eq, operator.ne, operator.floordiv):
        np.testing.assert_array_equal(fn(x, B), fn(A, B))
        np.testing.assert_array_equal(fn(B, x), fn(B, A))
    n = tensor([6, 3])
    assert (n & 2).tolist() == [2, 2] and (~n).tolist() == [-7, -4] and (n << 1).tolist() == [12, 6]


METHODS = [
    lambda x: x.sum(),
    lambda x: x.sum(axis=0, keepdims=True),
    lambda x: x.mean(1),
    lambda x: x.prod(axis=1),
    lambda x: x.max(axis=0) + x.min(),
    lambda x: x.var(axis=1) + x.std(),
    lambda x: x.cumsum(axis=1) * x.cumprod(axis=0),
    lambda x: x.clip(-0.5, 0.5),
    lambda x: x.dot(B.T),
    lambda x: x.T.ravel() * x.flatten(),
    lambda x: x.reshape(3, 2) + x.reshape((3, -1)) + x.transpose() + x.transpose(1, 0),
    lambda x: x.swapaxes(0, 1)[None].squeeze(0),
    lambda x: x.trace() + x.diagonal()[0],
    lambda x: x.repeat(2, axis=0).take([0, 3], axis=0),
    lambda x: x.copy() * x.astype(np.float64),
    lambda x: x.real + x.imag + x.conj(),
    lambda x: x[x > 0] ** 2,
    lambda x: x[[1, 0, 1]] * x[:, [0, 2]].sum(),
    lambda x: x[..., None][1, ::-1] * x[0, 1],
    lambda x: sum(row.sum() ** 2 for row in x),
    lambda x: x.flat[4] * x.view()[1, 0],
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_methods_and_indices(method):
    check(method)


FUNCTIONS = [
    lambda x: np.concatenate([x, B * x], axis=1),
    lambda x: np.stack([x, x * x], axis=-1),
    lambda x: np.where(x > 0, x, x * x),
    lambda x: np.einsum("ij,kj->ik", x, B),
    lambda x: np.linalg.norm(x, axis=1),
    lambda x: np.add.reduce(x, axis=1) * np.multiply.accumulate(x, axis=1)[:, 1],
    lambda x: np.tensordot(x, B, 2),
    lambda x: np.logaddexp(x, 0.0),
    lambda x: np.diff(np.sort(x, axis=1)),
    lambda x: np.array_split(x, 2, axis=1)[1] * 3,
    lambda x: np.add(x, 1.0, where=True, out=None),
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_of_numpy(function):
    check(function)


def test_casts_there_and_back():
    t = tensor(A, requires_grad=True)
    y = t.astype(np.float32).astype(float) * 2
    assert y.dtype == np.float64 and y.shape == A.shape
    (found,) = grad(np.sum(y), t)
    assert found.dtype == np.float64 and found.tolist() == [[2.0] * 3] * 2


def test_0d_arrays_and_scalars():
    for data in (0.7, np.float64(0.7), np.array(0.7)):
        t = tensor(data, requires_grad=True)
        (found,) = grad(np.sin(t) * t[()] + t.reshape(1)[0] ** 2, t)
        assert found.item() == pytest.approx(np.cos(0.7) * 0.7 + np.sin(0.7) + 1.4)
        assert found.shape == ()


def test_attributes_are_numpys():
    t = tensor(A.astype(np.float32))
    assert (t.shape, t.ndim, t.size, t.dtype, t.itemsize, t.nbytes) == ((2, 3), 2, 6, np.float32, 4, 24)
    assert len(t) == 2 and 0.2 not in tensor(A[0]) and bool(t[0, 0] > 0)
    assert t.tolist() == A.astype(np.float32).tolist()


def test_tensors_of_numbers_arrays_and_lists():
    assert tensor(2.0).dtype == tensor([1.0]).dtype == np.float64
    assert tensor(2).dtype == tensor([1]).dtype == np.int64 and tensor(True).dtype == bool
    assert tensor(np.float32(2)).dtype == np.float32
    source = np.array([1.0, 2.0])
    t = tensor(source)
    source[0] = 5
    assert t.tolist() == [1.0, 2.0]
    for wrong in ("text", None, [1.0, "a"], object()):
        with pytest.raises(TypeError):
            tensor(wrong)
    with pytest.raises(RuntimeError, match="np.stack"):
        tensor([tensor(1.0, True), tensor(2.0, True)])


# Leaving the tape


def test_only_item_and_detach_leave_the_tape():
    t = tensor([1.5, 2.5], requires_grad=True)
    assert type(t[0].item()) is float and t.item(1) == 2.5
    assert int(t[1]) == 2 and round(t)[1] == 2 and np.arange(3)[int(t[0])] == 1
    for leaving in (float, complex, np.asarray, lambda v: np.array([v]), lambda v: v.numpy()):
        with pytest.raises(RuntimeError, match="detach"):
            leaving(t[0])
    assert float(t.detach()[0]) == 1.5
    with no_grad():
        assert float(t[0]) == 1.5 and np.asarray(t).tolist() == [1.5, 2.5]


def test_lists_keep_their_gradient():
    t = tensor(A, requires_grad=True)
    (found,) = grad(sum(v * k for k, v in enumerate(t.tolist()[1])), t)
    assert found.tolist() == [[0.0, 0.0, 0.0], [0.0, 1.0, 2.0]]
    assert t.detach().tolist() == A.tolist()


def test_the_array_of_a_constant_is_for_reading():
    t = tensor([1.0, 2.0])
    assert np.shares_memory(t.numpy(), t.numpy()) and not t.numpy().flags.writeable
    assert np.array(t).flags.writeable and np.asarray(t, np.float32).dtype == np.float32


def test_copies_and_pickles_of_leaves():
    x = tensor([1.0, 2.0], requires_grad=True)
    for again in (copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))):
        assert again.requires_grad and again.is_leaf and again.detach().tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="detach"):
        copy.deepcopy(x * 2)


def test_printing():
    x = tensor([1.0, 2.5], requires_grad=True)
    assert repr(x) == "tensor([1.0, 2.5], requires_grad=True)"
    assert repr(x * 2) == "tensor([2., 5.], grad_fn=<MulBackward0>)"
    assert repr(np.sin(x * 0).detach()) == "tensor([0., 0.])"
    assert str(tensor(np.float32(3))) == "tensor(3., dtype=float32)" and f"{tensor(2.0):.3f}" == "2.000"
    assert repr(tensor([1, 2])) == "tensor([1, 2])" and f"{x[0] * 2}".startswith("tensor(2.")


def test_gradients_of_tensors_are_tensors_or_none():
    x = tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(TypeError):
        x.grad = np.ones(2)
    with pytest.raises(RuntimeError):
        x.grad = tensor(1.0)
    x.grad = tensor([1.0, 1.0])
    np.sum(x * x).backward()
    assert x.grad.tolist() == [3.0, 5.0]


def test_objects_that_are_no_numbers():
    x = tensor(2.0, requires_grad=True)
    for wrong in ("text", None, object(), {}):
        with pytest.raises(TypeError):
            x * wrong
        with pytest.raises(TypeError):
            wrong + x
    assert (x == None) is not True  # noqa: E711
    assert x in [x] and {x: 1}[x] == 1


def test_recording_is_off_under_no_grad_and_for_constants():
    x = tensor(A, requires_grad=True)
    with no_grad():
        y = np.sum(np.sin(x @ B.T)[0] * x[0, 0])
        assert not y.requires_grad and y.is_leaf
    assert not (tensor(A) * 2 + np.sin(tensor(A))).requires_grad
    whole = tensor([1, 2]) * 2
    assert isinstance(whole, tape.Tensor) and not (x[0] * 2).astype(int).requires_grad
    with pytest.raises(AutodiffError):
        x.astype(int).requires_grad_()


# A caller's arrays among the arguments


def test_a_small_array_of_the_caller_may_change():
    x, c, index = tensor(np.ones(3), requires_grad=True), np.array([1.0, 2.0, 3.0]), np.array([0, 2])
    y = np.sum(x * c) + np.sum(np.dot(x, c)) + np.sum(x[index])
    c[...], index[...] = 7.0, 1
    assert grad(y, x)[0].tolist() == [3.0, 4.0, 7.0]


def test_a_large_array_of_the_caller_must_not_change():
    x, c = tensor(np.ones(10_000), requires_grad=True), np.arange(10_000.0)
    y = np.sum(x * c)
    c[...] = 0.0
    with pytest.raises(RuntimeError, match="modified"):
        grad(y, x)


# Lists and other systems' tensors among the arguments


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.dot(x, [1, 2, 3]),
        lambda x: np.dot([1, 2], x),
        lambda x: x * (1.0, 2.0, 3.0) + [1, 2, 3],
        lambda x: np.trapezoid(x, [0.0, 0.5, 2.0]),
        lambda x: np.average(x, axis=1, weights=[0.2, 0.3, 0.5]),
        lambda x: np.interp(x, [-1, 0, 1], [0.0, 2.0, 3.0]),
        lambda x: np.maximum(x, [0, 1, 0]),
        lambda x: np.sum(x, axis=(0, 1)) + np.roll(x, [1, 1], (0, 1)),
        lambda x: np.polyval([1, 2.0, 3], x),
    ],
)
def test_lists_where_numpy_reads_arrays(function):
    check(function)


def test_lists_of_results():
    t = tensor(A, requires_grad=True)
    y = np.maximum([t[0, 0], t[1, 1]], t[0, :2])
    # Twice a half at the tie of t[0, 0] with itself.
    np.testing.assert_array_equal(grad(np.sum(y), t)[0].numpy(), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    y = np.zeros_like(t)
    y[0] = [t[1, 0], 2.0, t[1, 2]]
    assert grad(np.sum(y), t)[0].tolist() == [[0.0] * 3, [1.0, 0.0, 1.0]]


def test_tensors_of_mindspore():
    t, other = tensor([1.0, 2.0], requires_grad=True), ad.Tensor([3.0, 4.0])
    for use in (operator.mul, operator.add, np.add, lambda a, b: np.concatenate([a, b]), np.dot):
        for first, second in ((t, other), (other, t)):
            try:
                y = use(first, second)
            except AutodiffError:
                continue
            assert isinstance(y, tape.Tensor) and y.requires_grad
    assert grad(np.sum(t * other.asnumpy()), t)[0].tolist() == [3.0, 4.0]


def test_functions_of_the_package_on_tensors():
    t = tensor([1.0, 2.0], requires_grad=True)
    np.testing.assert_allclose(grad(np.sum(ops.exp(t) * 2), t)[0].numpy(), 2 * np.exp([1.0, 2.0]))


def test_a_function_called_by_its_own_rule():
    def cube(x):
        return np.asarray(x) ** 3

    t = tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(NotImplementedError, match="cube"):
        tape.apply(cube, t)

    @ad.rule(cube)
    def cube_rule(y, d, x):
        return d * 3 * x**2

    try:
        (first,) = grad(np.sum(tape.apply(cube, x=t)), t, create_graph=True)
        (second,) = grad(np.sum(first), t)
        assert (first.detach().tolist(), second.tolist()) == ([3.0, 12.0], [6.0, 12.0])
        with pytest.raises(AutodiffError):
            cube(t)
    finally:
        del TABLE[cube]
