"""MindSpore's functions: values against NumPy, and gradients through those that have one."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import Tensor, ops
from autodiff_sct.ops import functional as F
from tests.nn.differences import assert_gradients

rng = np.random.default_rng(1)
A, B = rng.uniform(0.3, 0.9, (3, 4)), rng.uniform(0.3, 0.9, (3, 4))
SQUARE = rng.normal(size=(3, 3))

# Name, the function on tensors, the same in NumPy, the operands.
CASES = [
    ("add", F.add, np.add, (A, B)),
    ("sub", F.sub, np.subtract, (A, B)),
    ("mul", F.mul, np.multiply, (A, B)),
    ("div", F.div, np.divide, (A, B)),
    ("pow", F.pow, np.power, (A, B)),
    ("neg", F.neg, np.negative, (A,)),
    ("abs", F.abs, np.abs, (SQUARE,)),
    ("reciprocal", F.reciprocal, lambda x: 1 / x, (A,)),
    ("rsqrt", F.rsqrt, lambda x: x**-0.5, (A,)),
    ("addcmul", F.addcmul, lambda x, y, z: x + y * z, (A, B, A)),
    ("lerp", lambda x, y: F.lerp(x, y, 0.3), lambda x, y: 0.7 * x + 0.3 * y, (A, B)),
    ("floor_mod", F.floor_mod, np.mod, (A, B)),
    *[
        (name, getattr(F, name), getattr(np, name), (A,))
        for name in "exp expm1 log log2 log10 log1p sqrt square sin cos tan sinh cosh tanh".split()
    ],
    ("asin", F.asin, np.arcsin, (A,)),
    ("acos", F.acos, np.arccos, (A,)),
    ("atan", F.atan, np.arctan, (A,)),
    ("atan2", F.atan2, np.arctan2, (A, B)),
    ("asinh", F.asinh, np.arcsinh, (A,)),
    ("acosh", F.acosh, np.arccosh, (A + 1,)),
    ("atanh", F.atanh, np.arctanh, (A,)),
    ("maximum", F.maximum, np.maximum, (A, B)),
    ("minimum", F.minimum, np.minimum, (A, B)),
    ("clamp", lambda x: F.clamp(x, 0.4, 0.8), lambda x: np.clip(x, 0.4, 0.8), (A,)),
    ("clip_by_value", lambda x: F.clip_by_value(x, 0.4, 0.8), lambda x: np.clip(x, 0.4, 0.8), (A,)),
    ("where", lambda x, y: F.where(x > 0.6, x, y), lambda x, y: np.where(x > 0.6, x, y), (A, B)),
    ("masked_fill", lambda x: F.masked_fill(x, x > 0.6, 2.0), lambda x: np.where(x > 0.6, 2.0, x), (A,)),
    ("sum", lambda x: F.sum(x, 1, True), lambda x: x.sum(1, keepdims=True), (A,)),
    ("reduce_sum", lambda x: F.reduce_sum(x, ()), np.sum, (A,)),
    ("mean", lambda x: F.mean(x, (0, 1)), np.mean, (A,)),
    ("prod", lambda x: F.prod(x, 0), lambda x: x.prod(0), (A,)),
    ("std", lambda x: F.std(x, 0), lambda x: x.std(0), (A,)),
    ("var", lambda x: F.var(x, 1, 1, True), lambda x: x.var(1, ddof=1, keepdims=True), (A,)),
    ("amax", lambda x: F.amax(x, 1), lambda x: x.max(1), (A,)),
    ("amin", lambda x: F.amin(x), np.min, (A,)),
    ("max", lambda x: F.max(x, 1)[0], lambda x: x.max(1), (A,)),
    ("cumsum", lambda x: F.cumsum(x, 1), lambda x: np.cumsum(x, 1), (A,)),
    ("cumprod", lambda x: F.cumprod(x, 1), lambda x: np.cumprod(x, 1), (A,)),
    ("logsumexp", lambda x: F.logsumexp(x, 1), lambda x: np.log(np.exp(x).sum(1)), (A,)),
    ("norm", lambda x: F.norm(x), np.linalg.norm, (A,)),
    ("matmul", F.matmul, np.matmul, (A, B.T)),
    ("dot", F.dot, np.dot, (A, B.T)),
    ("outer", F.outer, np.outer, (A[0], B[0])),
    ("tensor_dot", lambda x, y: F.tensor_dot(x, y, 2), lambda x, y: np.tensordot(x, y, 2), (A, B)),
    ("einsum", lambda x, y: F.einsum("ij,kj->ik", x, y), lambda x, y: x @ y.T, (A, B)),
    ("reshape", lambda x: F.reshape(x, (2, 6)), lambda x: x.reshape(2, 6), (A,)),
    ("transpose", lambda x: F.transpose(x, (1, 0)), np.transpose, (A,)),
    ("swapaxes", lambda x: F.swapaxes(x, 0, 1), np.transpose, (A,)),
    ("expand_dims", lambda x: F.expand_dims(x, 1), lambda x: x[:, None], (A,)),
    ("squeeze", lambda x: F.squeeze(F.unsqueeze(x, 0)), lambda x: x, (A,)),
    ("flatten", lambda x: F.flatten(x, 0), np.ravel, (A,)),
    ("broadcast_to", lambda x: F.broadcast_to(x, (2, 3, 4)), lambda x: np.broadcast_to(x, (2, 3, 4)), (A,)),
    ("tile", lambda x: F.tile(x, (2, 1)), lambda x: np.tile(x, (2, 1)), (A,)),
    ("repeat_elements", lambda x: F.repeat_elements(x, 2, 1), lambda x: np.repeat(x, 2, 1), (A,)),
    ("concat", lambda x, y: F.concat((x, y), 1), lambda x, y: np.concatenate([x, y], 1), (A, B)),
    ("stack", lambda x, y: F.stack([x, y], 1), lambda x, y: np.stack([x, y], 1), (A, B)),
    ("flip", lambda x: F.flip(x, (0,)), lambda x: x[::-1], (A,)),
    ("roll", lambda x: F.roll(x, 1, 1), lambda x: np.roll(x, 1, 1), (A,)),
    ("tril", F.tril, np.tril, (A,)),
    ("triu", F.triu, np.triu, (A,)),
    ("diag", F.diag, np.diag, (SQUARE,)),
    ("pad", lambda x: F.pad(x, ((1, 0), (0, 2))), lambda x: np.pad(x, ((1, 0), (0, 2))), (A,)),
    ("gather", lambda x: F.gather(x, Tensor([2, 0, 2]), 0), lambda x: x[[2, 0, 2]], (A,)),
    ("gather_nd", lambda x: F.gather_nd(x, Tensor([[0, 1], [2, 2]])), lambda x: x[[0, 2], [1, 2]], (A,)),
    ("sort", lambda x: F.sort(x, 1)[0], lambda x: np.sort(x, 1), (A,)),
    ("topk", lambda x: F.topk(x, 2)[0], lambda x: -np.sort(-x, 1)[:, :2], (A,)),
    ("zeros_like", lambda x: x + F.zeros_like(x) + F.ones_like(x), lambda x: x + 1, (A,)),
    ("full_like", lambda x: x * F.full_like(x, 2.0), lambda x: 2 * x, (A,)),
    ("cast", lambda x: F.cast(x, ad.float64) * 2, lambda x: x * 2, (A,)),
    ("erf", F.erf, lambda x: x * 0 + F.erf(x), (A,)),
]


@pytest.mark.parametrize("name, function, reference, operands", CASES, ids=[case[0] for case in CASES])
def test_value_and_gradient(name, function, reference, operands):
    tensors = tuple(Tensor(operand) for operand in operands)
    value = function(*tensors)
    assert isinstance(value, Tensor) and np.allclose(value, reference(*operands))
    assert_gradients(function, *tensors, tolerance=1e-5)
    single = function(*(Tensor(operand, ad.float32) for operand in operands))
    assert name == "cast" or single.dtype == ad.float32


@pytest.mark.parametrize("name", "equal not_equal greater greater_equal less less_equal logical_and logical_or".split())
def test_comparisons(name):
    x, y = np.array([1.0, 2.0, 0.0]), np.array([1.0, 0.0, 3.0])
    assert np.array_equal(getattr(F, name)(Tensor(x), Tensor(y)), getattr(np, name)(x, y))


def test_integers_and_flags():
    x = Tensor([[1.0, -2.5], [3.0, 0.5]])
    assert F.argmax(x, 1).tolist() == [0, 0] and F.argmin(x).item() == 1
    assert F.floor(x).tolist() == [[1, -3], [3, 0]] and F.ceil(x).tolist() == [[1, -2], [3, 1]]
    assert F.round(x).tolist() == [[1, -2], [3, 0]] and F.trunc(x).tolist() == [[1, -2], [3, 0]]
    assert F.sign(x).tolist() == [[1, -1], [1, 1]]
    assert F.all(x > -3).item() and not F.any(x > 3).item()
    assert F.isfinite(x).all() and not F.isnan(x).any() and not F.isinf(x).any()
    assert F.logical_not(x > 0).tolist() == [[False, True], [False, False]]
    assert F.shape(x) == (2, 2) and F.rank(x) == 2 and F.size(x) == 4
    assert F.div(x, 2, "floor").tolist() == [[0, -2], [1, 0]] and F.div(x, 2, "trunc").tolist() == [[0, -1], [1, 0]]


def test_what_is_made_is_a_tensor():
    for value, expected, dtype in [
        (F.zeros((2,)), [0, 0], ad.float32),
        (F.ones(2, ad.int32), [1, 1], ad.int32),
        (F.full((2,), 3.0), [3, 3], ad.float32),
        (F.fill(ad.float64, (2,), 3), [3, 3], ad.float64),
        (F.arange(3), [0, 1, 2], ad.int64),
        (F.arange(1, 5, 2), [1, 3], ad.int64),
        (F.arange(0.0, 1.0, 0.5), [0, 0.5], ad.float32),
        (F.linspace(0.0, 1.0, 3), [0, 0.5, 1], ad.float32),
        (F.eye(2), [[1, 0], [0, 1]], ad.float32),
        (F.one_hot(Tensor([1, 0]), 2), [[0, 1], [1, 0]], ad.float32),
        (F.one_hot(Tensor([1]), 2, Tensor(5.0), Tensor(1.0), axis=0), [[1], [5]], ad.float32),
    ]:
        assert isinstance(value, Tensor) and value.tolist() == expected and value.dtype == dtype


@pytest.mark.parametrize("largest", [True, False])
def test_ties(largest):
    x = Tensor([[1.0, 1.0, 0.0], [0.0, 2.0, 2.0]] if largest else [[0.0, 0.0, 1.0], [2.0, 0.0, 0.0]])
    name, halves = ("max", "amax") if largest else ("min", "amin")
    first = [[1, 0, 0], [0, 1, 0]]
    shared = [[0.5, 0.5, 0], [0, 0.5, 0.5]]
    for take, expected in (
        (lambda x: getattr(F, name)(x, 1)[0], first),
        (lambda x: getattr(F, name)(x, -1, True)[0], first),
        (lambda x: getattr(x, name)(1), first),
        (lambda x: getattr(x, name)(axis=-1, keepdims=True), first),
        (lambda x: getattr(F, halves)(x, 1), shared),
        (lambda x: getattr(x, halves)(1), shared),
        (lambda x: getattr(x, name)((1,)), shared),
    ):
        value, gradient = ad.value_and_grad(take)(x)
        assert gradient.tolist() == expected and value.tolist() == take(x).tolist()
    assert F.max(x, 1, True)[1].shape == (2, 1) and F.min(x, 0)[1].shape == (3,)


def test_what_is_made_inside_a_compiled_function():
    def fn(x):
        return x * F.ones((2,)) + F.zeros((2,)) + F.full((2,), 2.0) * x + F.one_hot(Tensor([0, 1]), 2).sum(axis=0)

    value, gradient = ad.value_and_grad(fn)(Tensor([1.0, 2.0]))
    assert value.tolist() == [4, 7] and gradient.tolist() == [3, 3]
    assert value.dtype == gradient.dtype == ad.float32


def test_pieces():
    x = Tensor(np.arange(6.0).reshape(2, 3))
    assert [piece.tolist() for piece in F.unstack(x)] == [[0, 1, 2], [3, 4, 5]]
    assert [piece.shape for piece in F.split(x, 2, 1)] == [(2, 2), (2, 1)]
    assert [grid.shape for grid in F.meshgrid(x[0], x[1])] == [(3, 3), (3, 3)]
    assert_gradients(lambda x: F.split(x, 1, 1)[2] ** 2, x)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses(reduction):
    rates, wanted = Tensor(A), Tensor(np.round(B))
    for loss in (F.mse_loss, F.l1_loss, F.huber_loss, F.smooth_l1_loss):
        assert_gradients(lambda x: loss(x, wanted, reduction=reduction), rates)
    for loss in (F.binary_cross_entropy, F.binary_cross_entropy_with_logits):
        assert_gradients(lambda x: loss(x, wanted, reduction=reduction), rates)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weight", [None, Tensor(np.array([1.0, 2.0, 0.5, 3.0]))])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_cross_entropy(reduction, weight, smoothing):
    logits, labels = Tensor(rng.normal(size=(3, 4))), Tensor([1, -100, 3])
    loss = lambda x: F.cross_entropy(x, labels, weight, reduction=reduction, label_smoothing=smoothing)
    assert_gradients(loss, logits)
    p = np.exp(logits.asnumpy())
    p /= p.sum(1, keepdims=True)
    w = np.ones(4) if weight is None else weight.asnumpy()
    each = np.zeros(3)
    for k, label in ((0, 1), (2, 3)):
        sharp = -w[label] * np.log(p[k, label])
        each[k] = (1 - smoothing) * sharp - smoothing / 4 * (w * np.log(p[k])).sum()
    expected = {"none": each, "sum": each.sum(), "mean": each.sum() / (w[1] + w[3])}[reduction]
    assert np.allclose(loss(logits), expected)


def test_cross_entropy_with_probabilities():
    logits, labels = Tensor(rng.normal(size=(3, 4, 2))), Tensor(rng.dirichlet(np.ones(4), (3, 2)).transpose(0, 2, 1))
    assert_gradients(lambda x: F.cross_entropy(x, labels), logits)
    by_class = F.cross_entropy(logits, Tensor(np.zeros((3, 2), int)))
    sharp = np.zeros((3, 4, 2))
    sharp[:, 0] = 1
    assert np.allclose(by_class, F.cross_entropy(logits, Tensor(sharp)))


def test_assign():
    p = ad.Parameter([1.0, 2.0])
    assert F.assign(p, Tensor([3.0, 4.0])) is p and p.tolist() == [3, 4]
    assert F.assign_add(p, 1.0).tolist() == [4, 5] and F.assign_sub(p, Tensor([1.0, 1.0])).tolist() == [3, 4]


def test_plain_numbers_and_arrays():
    assert F.exp(0.0) == 1.0
    assert ad.grad(F.square)(3.0) == 6.0
    assert type(ad.grad(lambda x: F.relu(x).sum())(np.array([1.0, -1.0]))) is np.ndarray


@pytest.mark.parametrize("operand", ["a", None])
def test_operands_that_are_none(operand):
    for function in (F.exp, F.sin, F.relu, F.sigmoid):
        with pytest.raises(TypeError):
            function(operand)
    with pytest.raises(TypeError):
        ops.add(Tensor(1.0), operand)
