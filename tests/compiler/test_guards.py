"""What a compiled function is used under: one look at each function that it calls, and none at one that changed."""

from __future__ import annotations

import autodiff_sct as ad


def square(x):
    return x * x


def cube(x):
    return x * x * x


def several(x):
    return square(x) + square(x + 1.0) + square(x + 2.0)


def test_a_function_called_several_times_is_looked_at_once():
    gradient = ad.grad(several)
    gradient(1.0)
    variant = gradient.prepared().latest
    assert len(variant.guards) < len(variant.emitted.guards)
    assert len(variant.guards) == 2  # the name and the code of `square`


def test_a_changed_function_is_compiled_anew():
    gradient = ad.grad(several)
    assert gradient(1.0) == 2.0 + 4.0 + 6.0
    code = square.__code__
    try:
        square.__code__ = cube.__code__
        assert gradient(1.0) == 3.0 + 12.0 + 27.0
    finally:
        square.__code__ = code
    assert gradient(1.0) == 2.0 + 4.0 + 6.0
