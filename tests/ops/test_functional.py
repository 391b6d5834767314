"""MindSpore's functions: values against NumPy, and gradients through those that have one."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import Tensor, ops
from autodiff_sct.ops import functional as F
from tests.nn.differences import assert_gradients

rng = np.random.default_rng(1)
A, B = rng.uniform(0.3, 0.9, (3, 4)), rng.uniform(0.3, 0.9, (3, 4))
SQUARE = rng.normal(size=(3, 3))


def row_norms(x):
    return np.linalg.norm(x, axis=1, keepdims=True)


def scattered(x):
    y = np.zeros((4, 4))
    y[1], y[3] = x[0] + x[2], x[1]
    return y


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
    ("erfc", F.erfc, np.vectorize(math.erfc), (np.array([-3.0, -1.0, -0.4, 0.0, 0.9, 1.1, 5.0, 9.0]),)),
    ("addmm", lambda x, y, z: F.addmm(x, y, z, beta=2, alpha=3), lambda x, y, z: 2 * x + 3 * y @ z, (SQUARE, A, B.T)),
    ("bias_add", F.bias_add, lambda x, y: x + y[:, None], (A[None], A[:, 0])),
    ("cross", F.cross, np.cross, (SQUARE, A[:, :3])),
    ("dense", F.dense, lambda x, w, b: x @ w.T + b, (A, B, A[:, 0])),
    ("det", F.det, np.linalg.det, (SQUARE,)),
    ("inverse", F.inverse, np.linalg.inv, (SQUARE,)),
    ("fmax", F.fmax, np.fmax, (A, B)),
    ("fmin", F.fmin, np.fmin, (A, B)),
    ("fmod", F.fmod, np.fmod, (4 * A, B)),
    ("frac", lambda x: F.frac(4 * x), lambda x: 4 * x - np.trunc(4 * x), (SQUARE,)),
    ("hypot", F.hypot, np.hypot, (A, B)),
    ("inner", F.inner, np.inner, (A, B)),
    ("kron", F.kron, np.kron, (SQUARE, A)),
    ("logaddexp", F.logaddexp, np.logaddexp, (A, B)),
    ("mv", F.mv, np.matmul, (A, B[0])),
    ("trace", F.trace, np.trace, (SQUARE,)),
    ("trapz", lambda y, x: F.trapz(y, x, dim=1), lambda y, x: np.trapezoid(y, x, axis=1), (A, B)),
    ("xlogy", F.xlogy, lambda x, y: x * np.log(y), (A, B)),
    ("deg2rad", F.deg2rad, np.deg2rad, (A,)),
    ("rad2deg", F.rad2deg, np.rad2deg, (A,)),
    ("exp2", F.exp2, np.exp2, (A,)),
    ("logit", F.logit, lambda x: np.log(x / (1 - x)), (A,)),
    ("logit", lambda x: F.logit(x, 0.4), lambda x: np.log((c := np.clip(x, 0.4, 0.6)) / (1 - c)), (A,)),
    (
        "nan_to_num",
        lambda x: F.nan_to_num(F.where(x > 0.6, math.inf, x), posinf=2.0),
        lambda x: np.where(x > 0.6, 2, x),
        (A,),
    ),
    ("sinc", F.sinc, np.sinc, (A,)),
    (
        "cosine_similarity",
        F.cosine_similarity,
        lambda x, y: (x * y).sum(1) / np.sqrt((x**2).sum(1) * (y**2).sum(1)),
        (A, B),
    ),
    ("l2_normalize", F.l2_normalize, lambda x: x / np.linalg.norm(x, axis=0), (A,)),
    ("nansum", lambda x: F.nansum(x, 0), lambda x: x.sum(0), (A,)),
    ("std_mean", lambda x: F.std_mean(x, 0)[0] + F.std_mean(x, 0)[1], lambda x: x.std(0) + x.mean(0), (A,)),
    ("var_mean", lambda x: F.var_mean(x, 0)[0] + F.var_mean(x, 0)[1], lambda x: x.var(0) + x.mean(0), (A,)),
    ("min", lambda x: F.min(x, 0)[0], lambda x: x.min(0), (A,)),
    ("clip", lambda x: F.clip(x, 0.4, 0.8), lambda x: np.clip(x, 0.4, 0.8), (A,)),
    ("clip_by_norm", lambda x: F.clip_by_norm(x, 1.0), lambda x: x / np.linalg.norm(x), (A,)),
    ("clip_by_norm", lambda x: F.clip_by_norm(x, 1.5, 1), lambda x: x / np.maximum(1, row_norms(x) / 1.5), (A,)),
    (
        "clip_by_global_norm",
        lambda x, y: F.clip_by_global_norm((x, y))[1],
        lambda x, y: y / np.sqrt((x**2).sum() + (y**2).sum()),
        (A, B),
    ),
    ("index_select", lambda x: F.index_select(x, 1, Tensor([2, 2])), lambda x: x[:, [2, 2]], (A,)),
    ("masked_select", lambda x: F.masked_select(x, x > 0.6), lambda x: x[x > 0.6], (A,)),
    ("scatter_nd", lambda x: F.scatter_nd(Tensor([[1], [3], [1]]), x, (4, 4)), scattered, (A,)),
    (
        "tensor_scatter_add",
        lambda x, u: F.tensor_scatter_add(x, Tensor([[0, 1], [2, 2]]), u),
        lambda x, u: x + np.array([[0, u[0], 0, 0], [0, 0, 0, 0], [0, 0, u[1], 0]]),
        (A, B[0, :2]),
    ),
    (
        "tensor_scatter_update",
        lambda x, u: F.tensor_scatter_update(x, Tensor([[1], [2]]), u),
        lambda x, u: np.concatenate([x[:1], u]),
        (A, B[:2]),
    ),
    ("chunk", lambda x: F.chunk(x, 3, 1)[1], lambda x: x[:, 2:], (A,)),
    ("column_stack", lambda x, y: F.column_stack((x, y)), lambda x, y: np.column_stack((x, y)), (A, B)),
    ("dstack", lambda x, y: F.dstack((x, y)), lambda x, y: np.dstack((x, y)), (A, B)),
    ("hstack", lambda x, y: F.hstack((x, y)), lambda x, y: np.hstack((x, y)), (A, B)),
    ("vstack", lambda x, y: F.vstack((x, y)), lambda x, y: np.vstack((x, y)), (A, B)),
    ("diagonal", F.diagonal, np.diagonal, (A,)),
    ("moveaxis", lambda x: F.moveaxis(x, 0, 1), np.transpose, (A,)),
    ("narrow", lambda x: F.narrow(x, 1, 1, 2), lambda x: x[:, 1:3], (A,)),
    ("ravel", F.ravel, np.ravel, (A,)),
    ("repeat_interleave", lambda x: F.repeat_interleave(x, 2, 1), lambda x: np.repeat(x, 2, 1), (A,)),
    ("rot90", lambda x: F.rot90(x, 1, (0, 1)), np.rot90, (A,)),
    ("slice", lambda x: F.slice(x, (1, 0), (2, -1)), lambda x: x[1:3], (A,)),
    ("t", F.t, np.transpose, (A,)),
    ("tensor_split", lambda x: F.tensor_split(x, 3, 1)[0], lambda x: x[:, :2], (A,)),
    ("unbind", lambda x: F.unbind(x, 1)[3], lambda x: x[:, 3], (A,)),
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


def test_positions_and_flags():
    x = Tensor([[0.0, 3.0, 1.0], [2.0, 0.0, np.nan]])
    assert F.nonzero(Tensor([[0, 2], [3, 0]])).tolist() == [[0, 1], [1, 0]]
    assert F.argsort(x[0]).tolist() == [0, 2, 1] and F.argsort(x[0], descending=True).tolist() == [1, 2, 0]
    assert F.count_nonzero(x).item() == 4 and F.numel(x) == 6 and F.dtype(x) == ad.float32
    assert F.logical_xor(Tensor([True, False]), Tensor([True, True])).tolist() == [False, True]
    assert F.isclose(Tensor([1.0, 2.0]), Tensor([1.0, 2.1])).tolist() == [True, False]


def test_random_numbers():
    ad.set_seed(5)
    drawn = [
        F.rand(3, 4),
        F.randn(3, 4),
        F.standard_normal((3, 4)),
        F.uniform((3, 4), 2.0, 3.0),
        F.normal((3,), 5.0, 0.0),
    ]
    assert all(x.dtype == ad.float32 for x in drawn) and F.rand(2, dtype=ad.float64).dtype == ad.float64
    assert 0 <= drawn[0].min().item() and 2 <= drawn[3].min().item() and drawn[3].max().item() <= 3
    assert drawn[4].tolist() == [5, 5, 5] and set(F.randint(0, 2, (50,)).tolist()) == {0, 1}
    ad.set_seed(5)
    assert np.array_equal(F.rand(3, 4), drawn[0])
    x = Tensor(np.ones(200, np.float32))
    value, gradient = ad.value_and_grad(lambda x: F.dropout(x, 0.25) * F.randn(200))(x)
    assert np.allclose(value, gradient) and 20 < np.sum(value.asnumpy() == 0) < 90
    assert F.dropout(x, training=False) is x


def test_erfc_far_out():
    x = np.linspace(-8, 26.5, 500)
    assert np.allclose(F.erfc(x), [math.erfc(value) for value in x], rtol=2e-13, atol=0)
    assert F.erfc(np.array([-np.inf, 40.0, np.inf])).tolist() == [2, 0, 0] and np.isnan(F.erfc(np.nan))


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
