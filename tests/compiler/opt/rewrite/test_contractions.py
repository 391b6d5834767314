"""Sums of products without the products, and cotangents that are narrower than what they belong to."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import differences

pytestmark = pytest.mark.once

RNG = np.random.default_rng(3)
A, B = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4))
CUBE = RNG.normal(size=(2, 3, 4))


def scaled(s, a, b):
    return np.sum(np.sin(a * s) * b)


def scaled_twice(s, a, b):
    return np.sum((a * s) ** 2 * s) - np.sum(3 * s * b)


def column(a, b):
    return np.sum(np.sin(a[:, :1] * b))


def row(a, b):
    return np.sum(np.cos(a[0] * b) * b)


def middle(c, a):
    return np.sum(np.tanh(c * a[:, 1][:, None]))


def sums_of_broadcast_products(a, b):
    return np.sum(np.sum(a[:, :, None] * b[:, None, :], axis=1) ** 2)


def sums_kept(a, b):
    total = np.sum(a * b, axis=1, keepdims=True)
    return np.sum((a - total) ** 2 * b)


def narrow_beside_narrow(a, b):
    outer = a[:, :1] + b[:1, :]
    return np.sum(np.sum(outer * a, axis=0) ** 2)


def sum_along_both(a, b):
    return np.sum(np.sum(a[:, :1] * b, axis=0)) + np.sum(np.mean(a[0] * b, axis=1) ** 2)


def one_wide(a, b):
    x = a[:, :1] * b[:, :1]
    return np.sum(np.sum(x * b, axis=1) * a[:, 0])


def rows_scaled(v, a):
    return np.sum(np.sum(a * np.sin(v)[:, None], axis=0) ** 2)


def normalised(a, b):
    middle = np.mean(a, axis=1, keepdims=True)
    spread = np.sqrt(np.mean((a - middle) ** 2, axis=1, keepdims=True) + 0.1)
    return np.sum(np.sin((a - middle) / spread) * b)


def normalised_columns(a, b):
    return np.sum(((a - np.mean(a, axis=0)) / np.sqrt(np.var(a, axis=0) + 0.1)) ** 3 * b)


def shares(a, b):
    e = np.exp(a)
    return np.sum(e / np.sum(e, axis=0) * b) + np.sum(e / np.sum(e, axis=-1, keepdims=True) * b)


def quotients_in_a_cube(c, a):
    return np.sum(np.sin(c / a[0][:, None, None])) + np.sum(np.cos(c / (a[:, :1] + 7)) / np.sum(c * c, axis=1)[:, None])


def rows_of_items(a, b):
    total = 0.0
    for i in range(len(a)):
        total = total + np.sum(np.sin(a[i] * a[0, 0]) * b[i])
    return total


def damped(c, v, n):
    for k in range(n):
        v = v * c + np.sin(v * c * k)
    return np.sum(v**2)


def damped_inside(c, v, n):
    v = v * 1.0
    for _ in range(n):
        v[1:-1] += 0.1 * c * np.sin(v[1:-1] * v[2:])
        v[:-1] *= c
    return np.sum(v**2)


def shrinking(c, v, n):
    total = 0.0
    for _ in range(n):
        v = c * v[1:] * np.sin(v[:-1])
        total = total + c * np.sum(v**2)
    return total


def growing(c, v, n):
    w = v[:1]
    for _ in range(n):
        w = c * np.sin(w) * (w if n > 3 else v)
    return np.sum(w)


CASES = [
    (rows_scaled, (A[:, 0], B)), (rows_scaled, (A[:1, 0], B)), (rows_scaled, (A[:1, 0], B[:1])),
    (scaled, (0.7, A, B)), (scaled_twice, (0.7, A, B)), (column, (A, B)), (row, (A, B)), (middle, (CUBE, A)),
    (sums_of_broadcast_products, (A, B)), (sums_kept, (A, B)), (narrow_beside_narrow, (A, B)),
    (sum_along_both, (A, B)), (one_wide, (A, B)), (sums_kept, (A[:1], B[:1])), (sums_kept, (A[:, :1], B[:, :1])),
    (row, (A[:1], B)), (middle, (CUBE[:, :, :1], A)), (column, (A.T, B.T)),
    (normalised, (A, B)), (normalised, (A, B[:1])), (normalised, (A[:1], B)), (normalised_columns, (A, B)),
    (normalised_columns, (A, B[:, :1])), (shares, (A, B)), (shares, (A[:1], B)), (shares, (A, B[:, :1])),
    (quotients_in_a_cube, (CUBE, A[:, :2])), (quotients_in_a_cube, (CUBE[:, :1], A[:, :2])),
    (rows_of_items, (A, B)), (rows_of_items, (A, B[:, :1])), (rows_of_items, (A[:, :1], B)),
]  # fmt: skip
IDS = [f"{fn.__name__}-{k}" for k, (fn, _) in enumerate(CASES)]


@pytest.mark.parametrize(("fn", "args"), CASES, ids=IDS)
def test_gradient(fn, args):
    positions = tuple(range(len(args)))
    found = ad.grad(fn, grad_position=positions)(*args)
    with pass_registry.without("fuse_contractions"):
        plain = ad.grad(fn, grad_position=positions)(*args)
    for k in positions:
        assert np.shape(found[k]) == np.shape(args[k]) and type(found[k]) is type(args[k])
        np.testing.assert_allclose(found[k], plain[k], rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(found[k], differences(fn, args, k), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("fn", "args"), CASES[:3] + CASES[5:], ids=IDS[:3] + IDS[5:])
def test_single_precision(fn, args):
    single = [a.astype(np.float32) for a in args]
    found = ad.grad(fn, grad_position=(0, 1))(*single)
    assert [d.dtype for d in found] == [np.float32] * 2
    for one, other in zip(found, ad.grad(fn, grad_position=(0, 1))(*args)):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


def test_contracted():
    assert "np.vdot(" in ad.adjoint_source(scaled, 0.7, A, B)
    assert "vdot" not in ad.adjoint_source(scaled, 0.7, A.astype(np.float32), B)
    text = ad.adjoint_source(rows_scaled, A[:, 0], B)
    assert "a @ t" in text and "spread(" not in text


@pytest.mark.parametrize("fn", [damped, damped_inside, shrinking, growing])
@pytest.mark.parametrize("steps", [0, 1, 3, 5])
@pytest.mark.parametrize("size", [1, 2, 7, 20])
def test_products_with_what_a_loop_has_saved(fn, steps, size):
    args = 0.9, np.cos(np.arange(float(size))), steps
    found = ad.grad(fn, grad_position=(0, 1))(*args)
    with pass_registry.without("fuse_contractions"):
        plain = ad.grad(fn, grad_position=(0, 1))(*args)
    for k in (0, 1):
        np.testing.assert_allclose(found[k], plain[k], rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(found[k], differences(fn, args, k), rtol=1e-5, atol=1e-7)


def test_a_product_with_a_saved_vector_is_one_of_vectors():
    for fn in (damped, damped_inside):
        assert "np.vdot(" in ad.adjoint_source(fn, 0.9, np.ones(20), 3)


def test_infinities_stay_where_they_are():
    big = np.array([[np.inf, 1.0], [2.0, 3.0]])
    with np.errstate(invalid="ignore"):
        found = ad.grad(sums_kept, grad_position=1)(big, np.ones((2, 2)))
    assert np.isfinite(found[1]).all() and not np.isfinite(found[0]).all()


@pytest.mark.parametrize(("fn", "args"), CASES[1:9], ids=IDS[1:9])
def test_differentiated_again(fn, args):
    def slope(x):
        return np.sum(ad.grad(fn)(x, *args[1:]) * np.cos(x))

    np.testing.assert_allclose(ad.grad(slope)(args[0]), differences(slope, args[:1]), rtol=1e-5, atol=1e-6)


def kalman(a, q, x):
    state, spread = np.zeros(2), np.eye(2)
    for k in range(len(x)):
        state = a @ state
        spread = a @ spread @ a.T + q
        gain = np.linalg.solve(spread + np.eye(2), spread).T
        state = state + gain @ (x[k] - state)
        spread = spread - gain @ spread
    return np.sum(state**2) + np.sum(spread)


def two_heads(w, x):
    q = (x @ w).reshape(len(x), 2, -1).transpose((1, 0, 2))
    p = q @ q.transpose((0, 2, 1)) / np.sqrt(q.shape[-1])
    return np.sum(np.tanh(p) @ q)


def gates(w, x):
    n, h = len(w), np.zeros((1, len(w)))
    for k in range(len(x)):
        z = x[k] @ w.T @ np.ones((n, 2 * n)) + 0.1
        h = np.tanh(z[:, :n]) * h + np.tanh(z[:, n:])
    return np.sum(h)


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (kalman, (RNG.normal(size=(2, 2)), np.eye(2), RNG.normal(size=(4, 2)))),
        (kalman, (RNG.normal(size=(2, 2)), np.eye(2), RNG.normal(size=(0, 2)))),
        (two_heads, (RNG.normal(size=(3, 4)), RNG.normal(size=(5, 3)))),
        (two_heads, (RNG.normal(size=(3, 2)), RNG.normal(size=(1, 3)))),
        (gates, (RNG.normal(size=(3, 2)), RNG.normal(size=(4, 1, 2)))),
        (gates, (RNG.normal(size=(1, 2)), RNG.normal(size=(4, 1, 2)))),
    ],
)
def test_lengths_are_known(fn, args):
    """What the facts prove about products needs no look at shapes while the program runs."""
    text = ad.adjoint_source(fn, *args)
    if fn is not gates:
        assert "unbroadcast(" not in text and "spread(" not in text
    np.testing.assert_allclose(ad.grad(fn)(*args), differences(fn, args), rtol=1e-5, atol=1e-7)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("x", [np.ones(0), np.ones((0, 2)), np.ones((2, 0)), np.ones(3)])
def test_mean_of_what_may_be_empty(x):
    for fn in (lambda x: np.mean(x * x), lambda x: np.mean(x[x > 2.0] ** 2), lambda x: x[x < 0].mean()):
        found = ad.grad(fn)(x)
        assert found.shape == x.shape and np.isfinite(found).all()


def test_a_call_with_something_after_one_with_nothing():
    gradient = ad.grad(sums_kept)
    for a in (A[:0], A, A[:, :1], A[:0], A):
        np.testing.assert_allclose(gradient(a, a), differences(sums_kept, (a, a)), rtol=1e-6, atol=1e-7)


def test_an_argument_that_has_the_name_of_a_seed():
    def f(x, d_out=2.0):
        return x * x * d_out

    assert ad.value_and_grad(f)(3.0) == (18.0, 12.0)
    assert ad.vjp(f, 3.0, 5.0)[1](2.0) == (60.0, 18.0)


def test_one_number_for_each_sum_is_outside_it():
    text = ad.adjoint_source(normalised, A, B)
    assert 'np.einsum("ij,ij->i"' in text and "/ spread).sum" not in text


def rows_of_losses(x, t):
    losses = np.sum(np.logaddexp(0, x) - t * x, axis=1)
    return np.mean(losses) + np.mean(np.sum(x * x, axis=1, keepdims=False))


def test_sizes_are_lengths_of_what_is_at_hand():
    text = "".join(x for x in ad.adjoint_source(rows_of_losses, A, B).splitlines() if "# " not in x)
    assert "logaddexp" not in text and "len(" in text
    np.testing.assert_allclose(ad.grad(rows_of_losses)(A, B), differences(rows_of_losses, (A, B)), rtol=1e-5, atol=1e-8)
    assert ad.grad(rows_of_losses)(A[:1], B[:1]).shape == (1, 4)


def axis_that_is_not_there(x):
    return np.sum(x * x) + 0 * np.mean(np.sum(x, axis=2))


def test_a_sum_that_fails_stays():
    with pytest.raises(np.exceptions.AxisError):
        ad.grad(axis_that_is_not_there)(A)


def pulled(x, q):
    apart = x[:, None, :] - x[None, :, :]
    return q @ np.exp(-np.sum(apart**2, axis=-1)) @ q


def test_sum_that_keeps_an_axis_goes_straight_to_its_place():
    text = ad.adjoint_source(pulled, A, B[:, 0])
    assert "keepdims=True" not in text and "[None, :, :] -=" not in text
    for a in (A, A[:1], A[:, :1]):
        np.testing.assert_allclose(
            ad.grad(pulled)(a, B[: len(a), 0]), differences(pulled, (a, B[: len(a), 0])), 1e-5, 1e-8
        )


def distances(x, w):
    apart = x[:, None, :] - x[None, :, :]
    d2 = np.sum(apart**2, axis=-1)
    return np.sum(np.exp(-d2) @ w) + np.sum(np.sum(apart * w[:, None, None], axis=1, keepdims=True) ** 2)


def pulls(x, w):
    for _ in range(3):
        apart = x[None] - x[:, None]
        d2 = np.sum(apart**2, axis=2) + 0.1
        x = x + 0.1 * np.sum(apart * (w / d2)[:, :, None], axis=1)
    return np.sum(x**2)


def pulled_until_large(x, w):
    while np.sum(np.sum(x**2, axis=1)) < 40:
        x = x * 1.5 + w[:, None]
    return np.sum(x)


def orbit(x, w):
    x, force = x[0], np.zeros_like(w)
    for t in range(3):
        force[0] += np.sum(x * x) * t
        x = x + 0.1 * (1 + w[0]) * x / (np.sum(x**2) + np.sum(x * np.ones(1))) ** 1.5
    return np.sum(x**2) + np.sum(force * w)


def norms(x, w):
    total = np.sum(x / np.linalg.norm(x, axis=1, keepdims=True)) + np.sum(np.linalg.norm(x, axis=-2) ** 3)
    for _ in range(2):
        x = x * w[:, None] / np.linalg.norm(x)
        w = w / (1 + np.linalg.norm(w)) + np.linalg.norm(x, 2, axis=1) + np.linalg.norm(w, axis=0, keepdims=True)
    return total * np.linalg.norm(x, axis=(0, 1)) + np.linalg.norm(w, ord=1)


def norm_that_decides(x, w):
    return np.sum(x) if np.linalg.norm(x) > 0.5 else np.sum(w)


@pytest.mark.parametrize("fn", [distances, pulls, pulled_until_large, orbit, norms, norm_that_decides])
@pytest.mark.parametrize("args", [(A, B[:, 0]), (A[:1], B[:1, 0]), (A[:, :1], B[:, 0]), (A.T.copy().T, B[:, 0])])
def test_sums_of_the_forward_sweep(fn, args):
    value, both = ad.value_and_grad(fn, grad_position=(0, 1))(*args)
    assert value == fn(*args)
    found = ad.grad(fn, grad_position=(0, 1))(*args)
    for k in range(2):
        np.testing.assert_allclose(found[k], both[k], rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(found[k], differences(fn, args, k), rtol=1e-5, atol=1e-7)


def forward(text):
    return "\n".join(x for x in text.split("d_out=1.0):")[1].splitlines() if "# " not in x).split("d_")[0]


def test_norms_of_the_forward_sweep():
    text = ad.adjoint_source(norms, A, B[:, 0], grad_position=(0, 1))
    assert "np.sqrt(np.vdot(w, w))" in text
    assert 'np.sqrt(np.einsum("ij,ij->i", x, x))[:, None]' in text
    assert "np.linalg.norm(x2, 2, axis=1)" in text
    single = ad.grad(lambda x: np.sum(x / np.linalg.norm(x)))(A.astype(np.float32))
    assert single.dtype == np.float32
    assert np.all(np.isnan(ad.grad(np.linalg.norm)(np.array([np.nan, 1.0]))))
    np.testing.assert_array_equal(ad.grad(np.linalg.norm)(np.zeros(3)), np.zeros(3))


def test_the_value_is_never_summed_in_another_order():
    assert "einsum" in forward(ad.adjoint_source(distances, A, B[:, 0]))
    assert "einsum" in forward(ad.adjoint_source(pulls, A, B[:, 0]))
    assert "np.vdot(x2, x2) +" in ad.adjoint_source(orbit, A, B[:, 0])
    assert "einsum" not in forward(ad.adjoint_source(pulled_until_large, A, B[:, 0]))
    assert "einsum" not in forward(ad.adjoint_source(distances, A.astype(np.float32), B[:, 0].astype(np.float32)))


def ends_that_are_subtracted_and_added(x, z):
    u = np.exp(z) / np.sum(np.exp(z)) ** 2
    return np.sum(np.outer(z, x) @ np.array([u for _ in x]))


def test_what_is_subtracted_before_an_addition_keeps_its_sign():
    args = (np.array([0.3, -0.4, 0.7]), np.array([0.5, -0.2]))
    found = ad.grad(ends_that_are_subtracted_and_added, grad_position=(0, 1))(*args)
    for k in range(2):
        np.testing.assert_allclose(found[k], differences(ends_that_are_subtracted_and_added, args, k), rtol=1e-6)


# -- parts whose bounds are variables


def elimination(a, b):
    a, b = a.copy(), b.copy()
    for k in range(3):
        for i in range(k + 1, 3):
            factor = a[i, k] / (3.0 + a[k, k])
            a[i, k:] -= factor * a[k, k:]
            b[i] -= factor * b[k]
    return np.sum(a**2) + np.sum(b**3)


def factor_of_a_part(a, b, k):
    s = np.sin(b[0, 0])
    c = a.copy()
    c[1, k:] += s * a[0, k:]
    k = k - 1
    c[2, k:] += s * a[1, k:] * b[1, k:]
    return np.sum(c * b)


def factor_of_parts_of_other_lengths(a, b):
    s = np.sin(b[0, 0])
    total = 0.0
    for k in range(3):
        total = total + np.sum(s * a[k, k:] * b[k, 3:] + s * a[k, k:] * b[:, k:])
    return total


def factor_of_parts_that_end_at_what_changes(a, b):
    s, n, total = np.sin(b[0, 0]), 0, 0.0
    while n < 4:
        part = a[0, :n]
        n = n + 1
        total = total + np.sum(s * a[1, :n] * b[2, :n]) + np.sum(s * part * part)
    return total


PARTS = [
    (elimination, (A[:, :3].copy(), A[:, 3].copy())),
    *((factor_of_a_part, (A, B, k)) for k in (1, 2, -1, 4)),
    (factor_of_parts_of_other_lengths, (A, B)),
    (factor_of_parts_that_end_at_what_changes, (A, B)),
]


@pytest.mark.parametrize(("fn", "args"), PARTS, ids=[f"{fn.__name__}-{k}" for k, (fn, _) in enumerate(PARTS)])
def test_parts_with_variable_bounds(fn, args):
    for position in (0, 1):
        found = ad.grad(fn, position)(*args)
        np.testing.assert_allclose(found, differences(fn, args, position), rtol=1e-5, atol=1e-7)


def test_a_sum_over_parts_is_a_contraction():
    assert "np.vdot(d_t, a[k, k:])" in ad.adjoint_source(elimination, *PARTS[0][1])
