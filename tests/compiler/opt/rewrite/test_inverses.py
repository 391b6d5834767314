"""An inverse that is needed anyway solves the systems with the same matrix."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain import pass_registry
from tests.compiler.checked import differences

pytestmark = pytest.mark.once

RNG = np.random.default_rng(5)
A = RNG.normal(size=(3, 3)) + 3 * np.eye(3)
B, M = RNG.normal(size=3), RNG.normal(size=(3, 2))


def likelihood(a, b):
    return b @ np.linalg.solve(a, b) + np.linalg.slogdet(a)[1]


def solution(a, b):
    return np.sum(np.linalg.solve(a, b) ** 2)


def determinant_after(a, b):
    x = np.linalg.solve(a, b)
    return np.sum(x**2) * np.linalg.det(a)


def of_matrices(a, b):
    return np.sum(np.linalg.solve(a, b) ** 2) + np.sum(np.linalg.inv(a)) + np.linalg.det(a)


def transposed(a, b):
    return np.sum(np.linalg.solve(a.T, b) ** 2) + np.linalg.slogdet(a)[1]


def factorised(a, b):
    factor = np.linalg.cholesky(a @ a.T)
    return np.sum(np.linalg.solve(factor, b) ** 2) + np.sum(np.log(np.diag(factor)))


def filtered(a, b):
    total = 0.0
    for k in range(3):
        s = a * (k + 1.0)
        total = total + b @ np.linalg.solve(s, b) - np.linalg.slogdet(s)[1]
    return total


def changed_between(a, b):
    a = a.copy()
    x = np.linalg.solve(a, b)
    a[0] = a[0] * 2
    return np.sum(x) + np.linalg.slogdet(a)[1]


def in_one_branch(a, b):
    if b[0] > 0:
        return np.sum(np.linalg.solve(a, b) ** 2)
    return np.linalg.slogdet(a)[1]


def factorised_once(a, b):
    factor = np.linalg.cholesky(a @ a.T + np.eye(len(a)))
    x = np.linalg.solve(factor.T, np.linalg.solve(factor, b))
    return b @ x + np.sum(np.log(np.diag(factor)))


def transpose_first(a, b):
    turned = a.T
    x = np.linalg.solve(turned, b)
    return np.sum(np.linalg.solve(a, x) ** 2) + np.linalg.slogdet(a)[1]


CASES = [
    likelihood,
    determinant_after,
    transposed,
    factorised,
    filtered,
    changed_between,
    in_one_branch,
    factorised_once,
    transpose_first,
]
CASES = [(fn, (A, b)) for fn in CASES for b in (B, -B)] + [(of_matrices, (A, M)), (factorised, (A, M))]


@pytest.mark.parametrize(("fn", "args"), CASES)
def test_gradient(fn, args):
    value, found = ad.value_and_grad(fn, grad_position=(0, 1))(*args)
    assert value == fn(*args)
    with pass_registry.without("reuse_inverses"):
        plain = ad.grad(fn, grad_position=(0, 1))(*args)
    for k in range(2):
        np.testing.assert_allclose(found[k], plain[k], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(found[k], differences(fn, args, k), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("fn", [likelihood, factorised])
def test_no_system_is_solved_beside_an_inverse(fn):
    reverse = ad.adjoint_source(fn, A, B).split("# ", 1)[1]
    assert "np.linalg.solve(" not in reverse.replace("np.linalg.solve(a, b)", "").replace("np.linalg.solve(factor", "")


def shown(a, b):
    print(np.linalg.solve(a, b)[0])
    return likelihood(a, b)


def decided(a, b):
    x = np.linalg.solve(a, b)
    return np.linalg.slogdet(a)[1] * np.sum(x) if x[0] > 0 else np.sum(x)


def changed_after(a, b):
    a = a * 1.0
    x = np.linalg.solve(a, b)
    y = np.linalg.det(a)
    a[0] = 7.0
    return np.sum(x) * y + np.sum(np.linalg.solve(a, b))


def with_the_users(a, b):
    total = 0.0
    for k in range(3):
        s = a * (k + 1.0)
        gain = np.linalg.inv(s) @ b
        total += b @ np.linalg.solve(s, b) + np.linalg.slogdet(s)[1] + np.sum(gain**2)
    return total


def with_the_users_changed(a, b):
    inverse = np.linalg.inv(a)
    inverse[0] = 0.5
    return np.sum(inverse) * np.linalg.slogdet(a)[1] + np.sum(np.linalg.solve(a, b) ** 2)


def stacked(a, b):
    c = a @ a.T
    return np.sum(np.linalg.solve(c[None], b[None, :, None])) + np.linalg.slogdet(c)[1]


def code(fn, *args):
    return "\n".join(x for x in ad.adjoint_source(fn, *args, grad_position=(0, 1)).splitlines() if "# " not in x)


@pytest.mark.parametrize("fn", [factorised_once, transpose_first])
def test_transposes_are_solved_with_the_same_inverse(fn):
    text = code(fn, A, B)
    assert "solve" not in text and text.count("linalg.inv") == 1


def test_one_inverse_for_both_sweeps():
    for fn in (likelihood, filtered, factorised, with_the_users):
        text = code(fn, A, B)
        assert "np.linalg.solve" not in text and text.count("np.linalg.inv") == 1, fn.__name__
    for fn in (shown, decided):
        assert "np.linalg.solve(a, b)" in code(fn, A, B)


@pytest.mark.parametrize("fn", [shown, decided, changed_after, stacked, with_the_users, with_the_users_changed])
def test_solutions_that_others_see(fn, capsys):
    found = ad.grad(fn, grad_position=(0, 1))(A, B)
    for k in range(2):
        np.testing.assert_allclose(found[k], differences(fn, (A, B), k), rtol=1e-5, atol=1e-7)


def test_right_side_that_does_not_fit():
    with pytest.raises(ValueError):
        ad.grad(likelihood)(A, np.ones(2))


def test_no_inverse_is_made_for_a_solution():
    assert "np.linalg.inv" not in ad.adjoint_source(solution, A, B)


def test_single_precision():
    single = [x.astype(np.float32) for x in (A, B)]
    found = ad.grad(factorised, grad_position=(0, 1))(*single)
    assert [d.dtype for d in found] == [np.float32] * 2
    for one, other in zip(found, ad.grad(factorised, grad_position=(0, 1))(A, B)):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


def test_singular_matrix():
    with pytest.raises(np.linalg.LinAlgError):
        ad.grad(likelihood)(np.zeros((2, 2)), np.ones(2))


def solved_in_a_loop(a, b, n):
    s = np.linalg.slogdet(a)[1] + np.sum(a @ b)
    for _ in range(n):
        s = s + np.sum(np.linalg.solve(a, b) * b)
    return s


def solved_in_an_inner_loop(a, b, n):
    s = np.sum(a @ b)
    for i in range(n):
        c = a + i * np.eye(3)
        s = s + np.linalg.slogdet(c)[1]
        for _ in range(i):
            s = s + np.sum(np.linalg.solve(c, b) * b)
    return s


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("fn", [solved_in_a_loop, solved_in_an_inner_loop])
def test_systems_of_a_loop_that_may_not_run(fn, n):
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(3, 3)) + 4 * np.eye(3), rng.normal(size=3)
    np.testing.assert_allclose(ad.grad(fn)(a, b, n), differences(fn, (a, b, n)), rtol=1e-6, atol=1e-7)
