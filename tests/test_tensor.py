"""Tensors, parameters and dtypes: values, promotion, text and errors."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import Parameter, ParameterTuple, Tensor
from tests.nn.differences import assert_gradients


@pytest.mark.parametrize(
    "content, dtype",
    [
        ([1.0, 2.0], ad.float32),
        (2.5, ad.float32),
        ([1, 2], ad.int64),
        (3, ad.int64),
        ([True, False], ad.bool_),
        (1j, ad.complex64),
        (np.ones(2), ad.float64),
        (np.ones(2, np.float16), ad.float16),
        ([np.float64(1.0), np.float64(2.0)], ad.float64),
        (Tensor([1, 2], ad.int32), ad.int32),
        ([Tensor(1.0), Tensor(2.0)], ad.float32),
    ],
)
def test_dtype_of_content(content, dtype):
    assert Tensor(content).dtype == dtype


@pytest.mark.parametrize("content", [None, "a", {}, [[1], [1, 2]], ["a"], object(), np.array(["a"]), 2**70])
def test_content_that_is_no_number(content):
    with pytest.raises(TypeError):
        Tensor(content)


@pytest.mark.parametrize("dtype", [np.float32, "float32", float, 1])
def test_dtype_that_is_none_of_ours(dtype):
    with pytest.raises(TypeError, match="ad.float32"):
        Tensor([1.0], dtype)


def test_content_is_copied():
    array = np.ones(2)
    tensor = Tensor(array)
    array[0] = 5
    assert tensor.tolist() == [1, 1]
    shared = Tensor.from_numpy(array)
    array[1] = 7
    assert shared.tolist() == [5, 7]


def test_attributes():
    tensor = Tensor(np.zeros((2, 3), np.float32))
    assert (tensor.shape, tensor.ndim, tensor.size, tensor.itemsize, tensor.nbytes) == ((2, 3), 2, 6, 4, 24)
    assert tensor.T.shape == (3, 2)
    assert len(tensor) == 2
    assert [row.shape for row in tensor] == [(3,), (3,)]


i, x, h, d, b = (
    Tensor([1, 2]),
    Tensor([1.0, 2.0]),
    Tensor([1.0, 2.0], ad.float16),
    Tensor(np.array([1.0, 2.0])),
    Tensor([True, False]),
)


@pytest.mark.parametrize(
    "result, dtype",
    [
        (x * 2, ad.float32),
        (x * 2.5, ad.float32),
        (2.5 - h, ad.float16),
        (i + 1, ad.int64),
        (i + 1.5, ad.float32),
        (i / i, ad.float32),
        (i / 2, ad.float32),
        (i * x, ad.float32),
        (i * h, ad.float16),
        (i * d, ad.float64),
        (x * d, ad.float64),
        (h * x, ad.float32),
        (x * Tensor(np.array(2.0)), ad.float64),
        (b + 1, ad.int64),
        (b * x, ad.float32),
        (x // 2, ad.float32),
        (i % 2, ad.int64),
        (Tensor([1], ad.int32) + i[:1], ad.int64),
        (x > 1, ad.bool_),
        (~b, ad.bool_),
        (b & b, ad.bool_),
        (i.sum(), ad.int64),
        (b.sum(), ad.int64),
        (Tensor([1], ad.int32).sum(), ad.int64),
        (i.mean(), ad.float32),
        (np.exp(i), ad.float32),
        (np.sum(i, dtype=np.float64), ad.float64),
        (np.concatenate([i, x]), ad.float32),
        (x.astype(ad.int32), ad.int32),
    ],
)
def test_promotion(result, dtype):
    assert isinstance(result, Tensor)
    assert result.dtype == dtype


@pytest.mark.parametrize("other", [np.ones(2), [1.0, 2.0], "a", None, (1, 2), {}])
@pytest.mark.parametrize("operate", [lambda a, b: a + b, lambda a, b: b * a, lambda a, b: a @ b, lambda a, b: a < b])
def test_operand_of_another_kind(operate, other):
    with pytest.raises(TypeError):
        operate(x, other)


def test_operators():
    y = Tensor([3.0, 4.0])
    assert (x @ y).item() == 11
    assert (7 // y).tolist() == [2, 1]
    assert (2**y).tolist() == [8, 16]
    assert (y % 2).tolist() == [1, 0]
    assert abs(-y).tolist() == [3, 4]
    assert (x == Tensor([1.0, 3.0])).tolist() == [True, False]
    assert (x == None) is False  # noqa: E711
    assert [q.tolist() for q in divmod(y, 2)] == [[1, 2], [1, 0]]


def test_written_in_place_like_an_array():
    a = Tensor([1.0, 2.0, 3.0])
    view = a[1:]
    view *= 10
    a[0] = Tensor(5.0)
    a[a > 25] = 0
    assert a.tolist() == [5, 20, 0]


@pytest.mark.parametrize("index", [0, -1, slice(1), ..., None, (slice(None), None), [1, 0]])
def test_reading(index):
    array = np.array([1.0, 2.0], np.float32)
    assert np.array_equal(Tensor(array)[index].asnumpy(), array[index])


def test_reading_by_tensors():
    assert x[Tensor([1])].tolist() == [2]
    assert x[x > 1].tolist() == [2]
    assert x[i[0]].item() == 2


@pytest.mark.parametrize("index", [2, -3, (0, 0), 1.0, Tensor(1.0)])
def test_index_errors(index):
    with pytest.raises(IndexError):
        x[index]


@pytest.mark.parametrize(
    "work",
    [
        lambda: x + Tensor([1.0, 2.0, 3.0]),
        lambda: x.reshape(3),
        lambda: x.sum(axis=3),
        lambda: np.concatenate([x, Tensor([[1.0]])]),
        lambda: bool(x),
        lambda: float(x),
        lambda: int(x),
    ],
)
def test_value_errors(work):
    with pytest.raises(ValueError):
        work()


def test_python_numbers():
    assert float(Tensor([2.5])) == 2.5
    assert int(Tensor(3)) == 3
    assert bool(Tensor([1]))
    assert [10, 20][Tensor(1)] == 20
    assert f"{Tensor(2.5):.2f}" == "2.50"
    assert complex(Tensor(1j)) == 1j


def test_methods():
    m = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert m.reshape(3, 2).shape == m.reshape((3, 2)).shape == m.view(3, -1).shape == (3, 2)
    assert m.transpose().shape == m.transpose(1, 0).shape == m.transpose((1, 0)).shape == (3, 2)
    assert m.expand_dims(0).squeeze().shape == (2, 3)
    assert m.flatten().shape == m.ravel().shape == (6,)
    assert m.mean(axis=0, keep_dims=True).shape == (1, 3)
    assert m.std().item() == pytest.approx(np.arange(6).std())
    assert m.var(ddof=1).item() == pytest.approx(np.arange(6).var(ddof=1))
    assert m.argmax(axis=1).tolist() == [2, 2]
    assert m.max().item() == 5
    assert m.clip(1, 4).tolist() == m.clamp(1, 4).tolist() == [[1, 1, 2], [3, 4, 4]]
    assert m.masked_fill(m > 3, 0).sum().item() == 6
    assert [part.shape for part in m.split(2, axis=1)] == [(2, 2), (2, 1)]
    assert [part.shape for part in m.split([1, 2], axis=1)] == [(2, 1), (2, 2)]
    assert np.allclose(m.sqrt().square(), m)
    assert m.softmax().sum(axis=-1).tolist() == pytest.approx([1, 1])
    assert m.clone() is not m
    assert m.asnumpy() is m.asnumpy()


def test_str_and_repr():
    assert str(x) == "[1. 2.]"
    assert str(ad.float32) == "Float32"
    assert repr(x) == "Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.00000000e+00])"
    assert repr(i) == "Tensor(shape=[2], dtype=Int64, value= [1, 2])"
    assert repr(Tensor(2.5)) == "Tensor(shape=[], dtype=Float32, value= 2.5)"
    assert repr(Tensor([[1, 2], [3, 4]])) == "Tensor(shape=[2, 2], dtype=Int64, value=\n[[1, 2],\n [3, 4]])"
    assert repr(Tensor(range_of(9))) == "Tensor(shape=[9], dtype=Int64, value= [0, 1, 2 ... 6, 7, 8])"
    assert repr(h).endswith("value= [ 1.0000e+00,  2.0000e+00])")


def range_of(n: int) -> list[int]:
    return list(range(n))


def test_copies():
    for other in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert other is not x and other.tolist() == x.tolist() and other.dtype == x.dtype
    p = Parameter(x, "w", requires_grad=False)
    for other in (copy.copy(p), copy.deepcopy(p), pickle.loads(pickle.dumps(p)), p.clone()):
        assert (other.name, other.requires_grad, other.tolist()) == ("w", False, [1, 2])


def test_numpy_takes_tensors():
    assert np.sum(x).item() == 3
    assert isinstance(np.where(x > 1, x, 0), Tensor)
    assert np.shape(x) == (2,)
    assert np.allclose(x, x) is True
    q, r = np.linalg.qr(Tensor(np.eye(2)))
    assert isinstance(q, Tensor) and r.shape == (2, 2)
    assert np.asarray(x) is x.asnumpy()
    out = Tensor([0.0, 0.0])
    assert np.add(x, x, out=out) is out and out.tolist() == [2, 4]


def test_dtypes_work_as_numpys():
    assert np.zeros(2, ad.float16).dtype == np.float16
    assert ad.float32 == np.float32 == ad.float32
    assert ad.float32 != ad.float64
    assert {ad.float32: 1}[np.dtype(np.float32)] == 1
    assert pickle.loads(pickle.dumps(ad.int8)) is ad.int8
    assert np.issubdtype(ad.float32, np.floating)
    assert x.dtype is ad.float32


def test_parameter():
    p = Parameter(Tensor([1.0, 2.0]), name="w")
    assert isinstance(p * 2, Tensor) and not isinstance(p * 2, Parameter)
    assert p.set_data(Tensor([3.0, 4.0])) is p
    assert p.tolist() == [3, 4]
    p.set_data(np.array([5.0, 6.0]))
    assert p.dtype == ad.float32
    assert type(p.value()) is Tensor
    p.requires_grad = False
    assert not p.requires_grad
    assert repr(p) == "Parameter (name=w, shape=(2,), dtype=Float32, requires_grad=False)"
    with pytest.raises(ValueError, match="'w'"):
        p.set_data(Tensor([1.0]))


@pytest.mark.parametrize("make", [lambda: Parameter(None), lambda: Parameter("a"), lambda: Parameter(1.0, 3)])
def test_parameter_errors(make):
    with pytest.raises(TypeError):
        make()


def test_data_set_later_leaves_earlier_results_alone():
    p = Parameter([1.0, 2.0])
    view = p[:1]
    p.set_data(Tensor([9.0, 9.0]))
    assert view.tolist() == [1]


def test_parameter_tuple():
    a, c = Parameter([1.0], "a"), Parameter([2.0], "c")
    pair = ParameterTuple([a, c])
    assert isinstance(pair, tuple) and pair[1] is c
    assert [p.name for p in pair.clone("m")] == ["m.a", "m.c"]
    with pytest.raises(TypeError):
        ParameterTuple([1])
    with pytest.raises(TypeError):
        ParameterTuple(3)
    with pytest.raises(ValueError):
        ParameterTuple([a, Parameter([1.0], "a")])


def test_methods_under_further_names():
    x, y = Tensor([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]]), Tensor([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
    mask = x > 1.5
    methods = [
        lambda x: x.expand(2, 2, 3),
        lambda x: x.gather(Tensor([1, 0]), 0),
        lambda x: x.index_select(1, Tensor([2, 2])),
        lambda x: x.masked_select(mask),
        lambda x: x.moveaxis(0, 1),
        lambda x: x.narrow(1, 1, 2),
        lambda x: x.repeat_interleave(2, 1),
        lambda x: x.roll(1, 1),
        lambda x: x.sort()[0],
        lambda x: x.sort(0, True)[0],
        lambda x: x.t(),
        lambda x: x.topk(2)[0],
        lambda x: x.tril().triu(-1),
        lambda x: x.log1p().expm1() + (x + 1).log2() + (x + 1).log10(),
        lambda x: (x / 9).asin() + (x / 9).acos() + x.atan() + x.atan2(y),
        lambda x: x.sinh().multiply(y).subtract(y).divide(x.cosh()).negative().absolute(),
        lambda x: x[0].outer(y[0]),
        lambda x: x.inner(y),
        lambda x: x.select(mask, y),
        lambda x: x.addcmul(x, y, 0.5),
        lambda x: x * (x.eq(y).logical_or(x.gt(y))) + x * x.ge(y) + x * x.lt(y) + x * x.le(y).logical_not(),
        lambda x: x * x.ne(y).logical_and(mask),
    ]
    for method in methods:
        value, gradient = ad.value_and_grad(method)(x)
        plain = method(x)
        assert np.array_equal(value, plain) and value.dtype == plain.dtype == ad.float32 and isinstance(value, Tensor)
        assert_gradients(method, Tensor(x, ad.float64) + 0.01)
    assert x.sort()[1].tolist() == [[1, 2, 0], [0, 2, 1]] and x.topk(1)[1].tolist() == [[0], [1]]
    assert Tensor([[0, 2], [3, 0]]).nonzero().tolist() == [[0, 1], [1, 0]]
