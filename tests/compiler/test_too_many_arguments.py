"""Builtins that are given more than they take raise what they raise in Python."""

import pytest

import autodiff_sct as ad
from tests.compiler.checked import V, check_gradient

WRONG = [
    lambda x: sum(x, 1.0, 2.0),
    lambda x: sum(x, initial=2.0),
    lambda x: len(x, x) * x[0],
    lambda x: list(x, x)[0],
    lambda x: tuple(x, 3)[0],
    lambda x: sorted(x, abs)[0],
    lambda x: sorted(x, key=abs, cmp=3)[0],
    lambda x: list(enumerate(x, 1, 2))[0][1],
    lambda x: list(zip(x, x, foo=1))[0][0],
    lambda x: list(filter(abs, x, x))[0],
    lambda x: bool(x[0], 1) * x[0],
    lambda x: list(reversed(x, 1))[0],
]


@pytest.mark.parametrize("fn", WRONG, ids=range(len(WRONG)))
def test_it_is_an_error(fn):
    with pytest.raises(TypeError) as expected:
        fn(V)
    for derivative in (ad.grad(fn), ad.value_and_grad(fn), lambda x: ad.vjp(fn, x), lambda x: ad.jvp(fn, (x,), (x,))):
        with pytest.raises(TypeError) as found:
            derivative(V)
        assert str(found.value) == str(expected.value)


def by_name(x):
    numbered = enumerate(iterable=x, start=1)
    total = sum((k * v for k, v in numbered), start=x[0])
    pairs = zip(x, sorted(x, key=abs, reverse=True), strict=True)
    return total + sum(a * b for a, b in pairs) + sum(filter(None, reversed(list(x))))


def test_what_they_take_by_name():
    check_gradient(by_name, (V,))
