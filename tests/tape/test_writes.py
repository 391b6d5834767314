"""Writing into tensors and through views of them: right, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autodiff_sct import AutodiffError, tape
from autodiff_sct.tape import enable_grad, grad, no_grad, tensor

X = np.array([[0.31, -1.23, 0.74, 0.1], [1.42, 0.27, -0.66, 0.2], [0.5, 0.9, -0.4, 1.1]])


def check(function: Any, x: np.ndarray = X) -> None:
    """A program that writes into what it made of `x`: NumPy's value, the gradient of differences."""
    t = tensor(x, requires_grad=True)
    y = function(t)
    np.testing.assert_allclose(y.detach().numpy(), function(x), rtol=1e-14)
    weights = np.cos(np.arange(y.size)).reshape(y.shape)
    steps = 1e-6 * np.eye(x.size).reshape(-1, *x.shape)
    total = lambda v: np.sum(weights * function(v))
    expected = np.array([(total(x + h) - total(x - h)) / 2e-6 for h in steps]).reshape(x.shape)
    for create_graph in (True, False):
        (found,) = grad(np.sum(y * weights), t, create_graph=create_graph)
        np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-5, atol=1e-7)


def set_by_index(x):
    y = x * 2
    y[0] = x[1] ** 2
    y[1, 2] = x[0, 0] * x[0, 1]
    y[:, 3] = 5.0
    y[2, [0, 0]] = np.exp(x[0, :2])
    y[y > 2.9] = x[2, 2]
    y[-1] = [x[0, 0], 1.0, 2.0, x[1, 1]] if isinstance(x, tape.Tensor) else np.array([x[0, 0], 1.0, 2.0, x[1, 1]])
    return y


def through_a_view(x):
    y = x * 2
    part = y[1:]
    part[0] = x[0] * 3
    part *= 0.5
    return y + y[0]


def through_a_view_of_a_view(x):
    y = x * 2
    corner = y[1:].T[::-1]
    corner[0] = x[0, 0] * x[1, :2]
    corner -= x[0, 0]
    return y * 1.0


def read_by_a_view_made_before(x):
    y = x * 2
    column, flat = y[:, 1], y.reshape(-1)
    y[0] = x[1] * x[2]
    flat[5] = x[0, 0] ** 2
    y += 1.0
    return np.concatenate([column * 1.0, flat[::3] * 2.0])


def one_name_for_two(x):
    y = x * 2
    z = y
    y *= 3.0
    z += x
    return y - 0.5 * z


def augmented(x):
    y = np.sin(x)
    y += x
    y -= 0.5
    y *= 2
    y /= x + 5
    y **= 2
    y[0] += x[1]
    y[:, 1] *= 0.1
    return y


def into_itself(x):
    y = x * 1.0
    y *= y
    y += y[::-1]
    y[1:] -= y[:-1]
    y[:] = y.T.copy().T
    return y


def into_zeros(x):
    y = np.zeros_like(x)
    for k in range(3):
        y[k] = x[k] * k
        for j in range(4):
            y[k, j] += x[0, j] ** 2
    return y


def by_split_and_squeeze(x):
    y = x * 1.0
    left, right = np.split(y, 2, axis=1)
    left[0] = right[1] * 2.0
    inner = np.squeeze(y[None])
    inner[2] = x[0]
    np.expand_dims(y, 0)[0, 1, 1] = x[1, 1] * 7
    np.moveaxis(y, 0, 1)[3] *= 2.0
    np.expand_dims(a=y, axis=0)[0, 0, 2] = x[2, 2] ** 2
    return y


def by_out(x):
    y = np.empty_like(x)
    np.multiply(x, 2.0, out=y)
    np.add(y, x, out=y)
    np.divide(y, x, out=y, where=x > 0.3)
    row = np.zeros_like(x[0])
    np.sum(y, axis=0, out=row)
    y[0] = row
    y.clip(-1.0, 1.0, out=y[1:] * 1.0) if False else None
    np.clip(y, -1.0, 1.5, out=y)
    return y


def by_functions_that_write(x):
    y = x * 1.0
    np.copyto(y[0], x[1] * 2)
    np.copyto(y, x[2], where=y > 1.0)
    np.put(y, [1, 5], x[0, :2] ** 2)
    np.place(y, y < -1.0, [x[0, 0], x[0, 1]]) if not isinstance(x, tape.Tensor) else np.place(y, y < -1.0, x[0, :2])
    np.putmask(y, y > 1.2, x * 3)
    np.fill_diagonal(y, x[0, 3])
    np.put_along_axis(y, np.array([[1], [0], [2]]), x[:, :1] * 5, axis=1)
    np.add.at(y, ([0, 0, 2], [1, 1, 3]), x[0, 0])
    np.subtract.at(y, 1, x[2])
    y.flat[7] = x[1, 1]
    y[2].fill(0.25)
    y[1].sort()
    return y


PROGRAMS = [
    set_by_index, through_a_view, through_a_view_of_a_view, read_by_a_view_made_before, one_name_for_two, augmented,
    into_itself, into_zeros, by_split_and_squeeze, by_out, by_functions_that_write,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_programs_that_write(program):
    check(program)


def by_flat(x):
    y = x.T * 1.0
    y.flat[3] *= 2
    copied = y.flat[0:4]
    copied[0] = 100.0
    y.flat[::2] += 1.5 * x[0, 0]
    y.flat[[0, -1]] = np.exp(x[0, :2])
    total = sum(v * i for i, v in enumerate(y.flat))
    z = y.copy()
    z.flat = np.arange(5.0) * x[1, 2]
    return y * total + z + np.sum(copied)


def test_flat_is_read_as_copies_and_written_in_place():
    check(by_flat)


def test_parts_of_complex_tensors():
    def program(x):
        z = x * (1 + 2j)
        z.real *= 3
        z.real = x**2
        z[0] = 2 * z[1]
        z.imag = z.real.copy() * x
        part = z.real
        part[1] = x[2, 2]
        return np.abs(z) ** 2 * z.imag

    check(program)
    z = tensor(X, requires_grad=True) * (1 + 2j)
    with pytest.raises(AutodiffError, match="imaginary"):
        z.imag[0] = 1.0
    assert z[0, 0].item() == X[0, 0] * (1 + 2j)


def test_in_other_orders_of_memory():
    check(through_a_view_of_a_view, np.asfortranarray(X))
    check(read_by_a_view_made_before, X[:, ::-1])


def test_second_derivatives_through_writes():
    x = tensor([0.5, 2.0], requires_grad=True)
    y = x * x
    y[0] = x[1] ** 3
    part = y[:1]
    part *= x[0]
    (first,) = grad(np.sum(y), x, create_graph=True)
    (second,) = grad(np.sum(first), x)
    # y = [x1^3 x0, x1^2]
    np.testing.assert_allclose(second.numpy(), [3 * 4.0, 3 * 4.0 + 6 * 2.0 * 0.5 + 2])


def test_a_scalar_is_a_value():
    x = tensor(3.0, requires_grad=True)
    y = x * x
    before = y
    y += 1.0
    y *= x
    assert before.item() == 9.0 and y.item() == 30.0
    assert grad(y, x)[0].item() == 28.0
    with pytest.raises(RuntimeError, match="leaf"):
        x += 1.0


def test_a_constant_that_is_written_with_a_result_is_one():
    x, y = tensor([1.0, 2.0], requires_grad=True), tensor(np.zeros(3))
    view = y[1:]
    y[1] = x[0] * 5
    assert y.requires_grad and view.requires_grad
    assert grad(np.sum(view * view), x)[0].tolist() == [50.0, 0.0]


def test_what_is_written_under_no_grad_is_not_differentiated():
    x = tensor([1.0, 2.0], requires_grad=True)
    with no_grad():
        x *= 2.0
        x[0] -= 1.0
        with enable_grad(), pytest.raises(RuntimeError, match="leaf"):
            x[0] = 1.0
    assert x.is_leaf and x.requires_grad and x.detach().tolist() == [1.0, 4.0]
    assert grad(np.sum(x * x), x)[0].tolist() == [2.0, 8.0]


def test_writing_through_a_detached_tensor():
    x = tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.detach()[0] = 7.0
    assert y.detach().tolist() == [7.0, 6.0]
    assert grad(np.sum(y), x)[0].tolist() == [0.0, 3.0]
    x.detach()[0] = 5.0
    assert x.detach().tolist() == [5.0, 2.0] and x.is_leaf


def test_a_leaf_made_of_a_view():
    x = tensor(np.arange(4.0), requires_grad=True)
    y = x * 2
    z = y[1:].detach().requires_grad_()
    assert z.is_leaf and grad(np.sum(z * z), z)[0].tolist() == [4.0, 8.0, 12.0]
    with pytest.raises(RuntimeError, match="leaf"):
        z[0] = 1.0
    saved = np.sum(z * z)
    y[3] = 0.0
    with pytest.raises(RuntimeError, match="modified in place"):
        grad(saved, z)


# Saved values that change


def leaf_and_result() -> tuple[tape.Tensor, tape.Tensor]:
    x = tensor(X, requires_grad=True)
    return x, x * 1.0


CHANGES = [
    lambda y: operator_set(y, 0, 1.0),
    lambda y: operator_set(y[1:], (0, 0), 1.0),
    lambda y: y.fill(1.0),
    lambda y: y.detach().__imul__(2.0),
    lambda y: np.add(y, 1.0, out=y),
    lambda y: np.add.at(y, 0, 1.0),
    lambda y: y.T.__iadd__(1.0),
]


def operator_set(y: Any, index: Any, value: Any) -> None:
    y[index] = value


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    "use", [lambda y: y * y, np.exp, lambda y: y[:2] ** 2, lambda y: y @ y.T], ids=["mul", "exp", "view", "matmul"]
)
def test_a_saved_value_that_changed_is_refused(change, use):
    x, y = leaf_and_result()
    z = use(y)
    change(z if use is np.exp else y)
    with pytest.raises(RuntimeError, match="modified in place"):
        grad(np.sum(z), x)


@pytest.mark.parametrize(
    "use", [lambda y: y + y, lambda y: np.sum(y, axis=0), lambda y: y.reshape(-1) * 2.0, lambda y: y[0]]
)
def test_a_value_that_is_not_read_may_change(use):
    x, y = leaf_and_result()
    z = use(y) * 1.0
    y[...] = 0.0
    assert np.all(grad(np.sum(z), x)[0].numpy()[0] > 0)


def test_other_elements_than_the_saved_ones_may_change():
    x = tensor([0.5, 0.0, 0.0, 0.0], requires_grad=True)
    u = x * 1.0
    for k in range(1, 4):
        u[k : k + 1] = np.sin(u[k - 1 : k]) * 2.0
    v, slope = 0.5, 1.0
    for _ in range(3):
        v, slope = 2 * np.sin(v), 2 * np.cos(v) * slope
    assert grad(u[3], x)[0].numpy()[0] == pytest.approx(slope)


def test_gradients_that_grow_are_values_like_others():
    x = tensor([1.0, 2.0], requires_grad=True)
    np.sum(x * x).backward()
    y = np.sum(x * x.grad)
    np.sum(x * x).backward()
    with pytest.raises(RuntimeError, match="modified in place"):
        grad(y, x)


@pytest.mark.parametrize(
    "write",
    [
        lambda plain, t: operator_set(plain, 0, t[0]),
        lambda plain, t: np.copyto(plain, t),
        lambda plain, t: np.add(t, 1.0, out=plain),
        lambda plain, t: np.sum(t[None], axis=0, out=plain),
        lambda plain, t: np.put(plain, [0], t[:1]),
        lambda plain, t: np.add.at(plain, [0], t[0]),
        lambda plain, t: np.fill_diagonal(plain[None], t[0]),
        lambda plain, t: plain.__iadd__(t),
        lambda plain, t: operator_set(plain, slice(None), t),
    ],
)
def test_plain_arrays_do_not_take_results(write):
    plain, t = np.zeros(2), tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises((AutodiffError, ValueError)):
        write(plain, t)
    assert plain.tolist() == [0.0, 0.0]
    write(plain, t.detach())


def test_shapes_and_dtypes_that_do_not_fit():
    x = tensor(np.ones(3, np.float32), requires_grad=True)
    y, whole = x * 2, tensor([1, 2, 3])
    y += tensor(np.ones(3))
    assert y.dtype == np.float32
    with pytest.raises(ValueError):
        y += np.ones((2, 3))
    with pytest.raises(TypeError):
        whole += 0.5
    with pytest.raises(IndexError):
        y[3] = 1.0


# Random programs

STEPS = [
    "pool.append(p[{a}])", "pool.append(p[..., {b}])", "pool.append(p.T)", "pool.append(p.reshape(-1))",
    "pool.append(p[::-1])", "p[...] *= 0.7", "p += 0.3 * p", "p *= size(q)", "p[0] = size(q)", "p[-1] = p[0] * size(q)",
    "p[[0, 0]] = size(q) * 2", "pool.append(p * size(q))", "pool.append(np.exp(0.1 * p))", "pool.append(p.copy())",
    "total = total + size(p) * size(q)", "np.add(p, 0.5, out=p)", "p[p > 0.5] = size(q)", "p -= p[0]",
    "np.multiply(p, p, out=p)", "p.sort()",
]  # fmt: skip


def size(p: Any) -> Any:
    q = p.copy()
    return (q * q * 0.5 + q).sum()


def random_program(rng: np.random.Generator) -> str:
    lines = ["pool, total = [x * 1.5 + 0.1, np.sin(x)], 0.0"]
    for _ in range(rng.integers(4, 14)):
        i, j, a, b = (int(rng.integers(0, n)) for n in (100, 100, 3, 4))
        lines.append(f"p, q = pool[{i} % len(pool)], pool[{j} % len(pool)]")
        lines.append(STEPS[rng.integers(0, len(STEPS))].format(a=a, b=b))
    return "\n".join([*lines, "result = total + sum(size(p) * (k + 1) for k, p in enumerate(pool))"])


def result_of(text: str, x: Any) -> Any:
    names = {"np": np, "size": size, "x": x}
    exec(text, names)
    return names["result"]


@pytest.mark.parametrize("seed", range(120))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_programs(seed):
    """Views, writes and reads in any order: the right gradient, or a refusal because a saved value was overwritten."""
    rng = np.random.default_rng([20, seed])
    text, x = random_program(rng), rng.normal(size=(3, 4)) * 0.5
    steps = np.eye(12).reshape(-1, 3, 4)
    try:
        near, far = (
            np.array([float(result_of(text, x + d * s)) - float(result_of(text, x - d * s)) for s in steps]) / (2 * d)
            for d in (1e-5, 1e-4)
        )
        value = float(result_of(text, x))
    except (IndexError, TypeError, ValueError):
        return  # no program: it indexes a number
    if not np.allclose(near, far, rtol=1e-3, atol=1e-4) or not abs(value) < 1e6:
        return  # at a kink, or too steep for differences
    t = tensor(x, requires_grad=True)
    result = result_of(text, t)
    assert result.item() == pytest.approx(value, rel=1e-9)
    try:
        (found,) = grad(result, t, create_graph=seed % 3 == 0)
    except RuntimeError as error:
        assert "modified in place" in str(error)
        return
    scale = max(1.0, float(np.abs(near).max()) * 1e-2)
    np.testing.assert_allclose(found.detach().numpy().ravel(), near, rtol=2e-3, atol=1e-3 * scale)
