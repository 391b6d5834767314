"""``**kwargs`` that get or lose a name on some paths only: refused, for the calls that they are handed to differ."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import UnsupportedSyntax


def of_options(x, a=1.0, b=5.0):
    return np.sum(x) * a + b


def counted(x, c, **options):
    if c > 0:
        options["e"] = options.pop("a")
    return np.sum(x) * len(options) * options.get("e", 1.0)


def handed_on(x, c, **options):
    if c > 0:
        del options["a"]
    return of_options(x, **options)


def given_in_a_loop(x, c, **options):
    for k in range(x.shape[0]):
        if k > c:
            options["b"] = 2.0
    return of_options(x, **options)


def replaced(x, c, **options):
    if c > 0:
        options["a"] = x[0]
    return of_options(x, **options)


def of_a_dict(x, c, **options):
    options = dict(options)
    if c > 0:
        options["e"] = options.pop("a")
    return np.sum(x) * len(options) * options.get("e", 1.0)


@pytest.mark.parametrize("program", [counted, handed_on, given_in_a_loop])
def test_keyword_arguments_that_some_paths_lack_are_refused(program):
    for c in (1.0, -1.0):
        with pytest.raises(UnsupportedSyntax, match="some paths only"):
            ad.grad(lambda x, c: program(x, c, a=2.0))(np.arange(1.0, 4.0), c)


@pytest.mark.parametrize("program", [replaced, of_a_dict])
def test_keyword_arguments_that_all_paths_have(program):
    x, h = np.arange(1.0, 4.0), 1e-6
    for c in (1.0, -1.0):
        value, gradient = ad.value_and_grad(lambda x, c: program(x, c, a=2.0))(x, c)
        assert value == program(x, c, a=2.0)
        steps = [(program(x + h * e, c, a=2.0) - program(x - h * e, c, a=2.0)) / (2 * h) for e in np.eye(3)]
        np.testing.assert_allclose(gradient, steps, 1e-6)
