"""MindSpore's primitives and composites: settings at construction, operands in the call."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
import autodiff_sct.ops as ops
import autodiff_sct.ops.composite as C
import autodiff_sct.ops.functional as F
import autodiff_sct.ops.operations as P
from autodiff_sct import Parameter, Tensor, nn
from tests.nn.differences import assert_gradients

M = np.arange(1.0, 7.0).reshape(2, 3)

SORT = P.Sort(descending=True)
CASES = [
    (P.MatMul(transpose_b=True), (M, M), M @ M.T),
    (P.MatMul(transpose_a=True), (M, M), M.T @ M),
    (P.BatchMatMul(), (M[None], M.T[None]), (M @ M.T)[None]),
    (P.ReduceSum(), (M,), M.sum()),
    (lambda x: P.ReduceSum(keep_dims=True)(x, 1), (M,), M.sum(1, keepdims=True)),
    (lambda x: P.ReduceMean()(x, (0,)), (M,), M.mean(0)),
    (P.ReduceMax(), (M,), M.max()),
    (lambda x: P.ReduceMin()(x, 1), (M,), M.min(1)),
    (P.ReduceProd(), (M,), M.prod()),
    (P.Concat(1), ((M, M),), np.concatenate([M, M], 1)),
    (P.Stack(axis=1), ([M, M],), np.stack([M, M], 1)),
    (lambda x: P.Split(1, 3)(x)[1], (M,), M[:, 1:2]),
    (lambda x: P.Unstack(1)(x)[2], (M,), M[:, 2]),
    (P.Squeeze(), (M[None],), M),
    (P.Squeeze(0), (M[None],), M),
    (P.BroadcastTo((2, -1, 3)), (M,), np.broadcast_to(M, (2, 2, 3))),
    (lambda x: P.Reshape()(x, (3, 2)), (M,), M.reshape(3, 2)),
    (lambda x: P.Transpose()(x, (1, 0)), (M,), M.T),
    (lambda x: P.ExpandDims()(x, 0), (M,), M[None]),
    (lambda x: P.Tile()(x, (2, 1)), (M,), np.tile(M, (2, 1))),
    (lambda x: P.Cast()(x, ad.float64), (M,), M),
    (lambda x: P.Gather()(x, Tensor([1, 1]), 0), (M,), M[[1, 1]]),
    (lambda x: P.Select()(x > 2.5, x, -x), (M,), np.where(M > 2.5, M, -M)),
    (P.Softmax(), (M,), np.exp(M) / np.exp(M).sum(1, keepdims=True)),
    (P.LogSoftmax(0), (M,), M - np.log(np.exp(M).sum(0))),
    (lambda x: P.TopK()(x, 2)[0], (M,), M[:, :0:-1]),
    (lambda x: SORT(x)[0], (M,), M[:, ::-1]),
    (lambda x: P.CumSum()(x, 0), (M,), M.cumsum(0)),
    (P.L2Normalize(1), (M,), M / np.linalg.norm(M, axis=1, keepdims=True)),
    (P.Exp(), (M,), np.exp(M)),
    (P.Pow(), (M, M), M**M),
    (P.RealDiv(), (M, M + 1), M / (M + 1)),
    (P.AddN(), ((M, M, M),), 3 * M),
    (P.GeLU(), (M,), F.gelu(M, "tanh")),
    (lambda x: P.ArgMaxWithValue(1, True)(x)[1], (M,), M.max(1, keepdims=True)),
    (lambda x: P.ArgMinWithValue(0)(x)[1], (M,), M.min(0)),
    (P.BiasAdd(), (M, M[0]), M + M[0]),
    (P.Elu(), (-M,), np.expm1(-M)),
    (P.Erfc(), (M,), F.erfc(M)),
    (P.HShrink(2.5), (M,), np.where(M > 2.5, M, 0)),
    (P.L2Loss(), (M,), (M**2).sum() / 2),
    (P.MulNoNan(), (M, M), M * M),
    (P.Pad(((1, 0), (0, 1))), (M,), np.pad(M, ((1, 0), (0, 1)))),
    (P.ReverseV2((1,)), (M,), M[:, ::-1]),
    (lambda x: P.Slice()(x, (0, 1), (2, 1)), (M,), M[:, 1:2]),
    (P.SmoothL1Loss(), (M, M + 2), np.full((2, 3), 1.5)),
    (lambda x, y: P.SoftmaxCrossEntropyWithLogits()(x, y)[0], (M, M / 6), -(M / 6 * F.log_softmax(M)).sum(1)),
    (P.SigmoidCrossEntropyWithLogits(), (M, M / 6), np.logaddexp(0, M) - M * M / 6),
    (P.BinaryCrossEntropy("sum"), (M / 7, M / 8), F.binary_cross_entropy(M / 7, M / 8, reduction="sum")),
    (lambda x: P.SquareSumAll()(x, x)[1], (M,), (M**2).sum()),
    (lambda x: P.Meshgrid()((x[0], x[1]))[0], (M,), np.meshgrid(M[0], M[1])[0]),
    (lambda x: P.EmbeddingLookup()(x, Tensor([2, 1]), 1), (M,), M[[1, 0]]),
    (P.Triu(1), (M,), np.triu(M, 1)),
    (P.Xlogy(), (M, M), M * np.log(M)),
    (lambda x: P.Depend()(x, x + 1), (M,), M),
]


@pytest.mark.parametrize("primitive, operands, expected", CASES)
def test_value_and_gradient(primitive, operands, expected):
    tensors = [
        type(operand)(Tensor(x) for x in operand) if isinstance(operand, (list, tuple)) else Tensor(operand)
        for operand in operands
    ]
    assert np.allclose(primitive(*tensors), expected)
    if all(isinstance(tensor, Tensor) for tensor in tensors):
        assert_gradients(primitive, *tensors, tolerance=1e-4)


def test_settings():
    assert repr(P.Softmax(axis=0)) == "Softmax(axis=0)" and repr(P.Exp()) == "Exp()"
    assert repr(P.Sort(descending=True)) == "Sort(axis=-1, descending=True)"
    for make in (lambda: P.Softmax(1, 2), lambda: P.Concat(dim=1), lambda: P.Pad(), lambda: P.Exp(1)):
        with pytest.raises(TypeError):
            make()
    y, kept = P.Dropout(0.75)(Tensor(np.ones(1000)))
    assert set(y.tolist()) == {0, 1 / 0.75} and np.array_equal(y.asnumpy() > 0, kept)
    assert P.StandardNormal()((2, 3)).shape == P.UniformReal(seed=2)((2, 3)).shape == (2, 3)
    assert ops.constexpr(len) is len


def test_integers():
    x = Tensor(M)
    assert P.DType()(x) == ad.float64 and P.ReduceAny()(x > 5).item() and not P.ReduceAll()(x > 5).item()
    assert P.Argmax()(x).tolist() == [2, 2] and P.Argmax()(x).dtype == ad.int32
    assert P.Argmin(0, ad.int64)(x).tolist() == [0, 0, 0]
    assert P.Shape()(x) == (2, 3)
    assert P.OneHot()(Tensor([1]), 2, Tensor(1.0), Tensor(0.0)).tolist() == [[0, 1]]
    assert P.Range()(Tensor(0), Tensor(3), Tensor(1)).tolist() == [0, 1, 2]
    assert P.DivNoNan()(Tensor([1.0, 2.0]), Tensor([0.0, 4.0])).tolist() == [0, 0.5]


def test_stop_gradient():
    assert ad.grad(lambda x: x * P.StopGradient()(x))(3.0) == 3.0


def test_primitives_in_a_cell():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.matmul = P.MatMul(transpose_b=True)
            self.total = P.ReduceSum(keep_dims=False)
            self.cast = P.Cast()
            self.concat = P.Concat(axis=-1)
            self.w = Parameter(Tensor(M), "w")

        def construct(self, x):
            y = self.matmul(self.cast(x, ad.float64), self.w)
            return self.total(self.concat((y, y)), -1)

    assert_gradients(Net(), Tensor(M))


def test_text():
    assert repr(P.Concat(1)) == "Concat(axis=1)"
    assert repr(P.Exp()) == "Exp()"
    assert P.Exp.__doc__ == "The exponential."


# -- GradOperation and the maps


def scaled(x, y):
    return x * x * y


def test_grad_operation():
    assert C.GradOperation()(scaled)(3.0, 2.0) == 12.0
    assert ops.GradOperation(get_all=True)(scaled)(3.0, 2.0) == (12.0, 9.0)
    assert ops.GradOperation(get_all=True)(lambda x: x * x)(3.0) == (6.0,)
    assert ops.GradOperation(sens_param=True)(scaled)(3.0, 2.0, 10.0) == 120.0
    assert ops.GradOperation(get_all=True, sens_param=True)(scaled)(3.0, 2.0, 10.0) == (120.0, 90.0)


def test_grad_operation_by_weights():
    net = nn.Dense(2, 1, weight_init="ones")
    x = Tensor([[1.0, 2.0]])
    for weights in (net.trainable_params(), ad.ParameterTuple(net.trainable_params()), None):
        by_weight, by_bias = ops.GradOperation(get_by_list=True)(net, weights)(x)
        assert by_weight.tolist() == [[1, 2]] and by_bias.tolist() == [1]
    by_inputs, by_weights = ops.GradOperation(get_all=True, get_by_list=True)(net, [net.bias])(x)
    assert by_inputs[0].tolist() == [[1, 1]] and by_weights[0].tolist() == [1]
    with pytest.raises(TypeError):
        ops.GradOperation(get_by_list=True)(scaled)
    with pytest.raises(TypeError):
        ops.GradOperation(get_all=1)


def test_maps():
    double = lambda x: x * 2
    assert C.HyperMap(double)((1, (2, [3]))) == (2, (4, (6,)))
    assert C.HyperMap()(double, [1, 2]) == (2, 4)
    assert C.Map(lambda x, y: x + y)((1, 2), (3, 4)) == (4, 6)
    add = C.MultitypeFuncGraph("add")

    @add.register("Tensor", "Tensor")
    def add_tensors(x, y):
        return x + y

    assert C.HyperMap(add)((1, 2), (3, 4)) == (4, 6)
    with pytest.raises(TypeError):
        C.MultitypeFuncGraph("empty")(1)
