"""The gradients of a Cell or function by all its weights and its input, against central differences."""

from __future__ import annotations

import numpy as np

import autodiff_sct as ad
from autodiff_sct import Tensor


def assert_gradients(fn, *inputs: Tensor, step: float = 1e-6, tolerance: float = 1e-6) -> None:
    """Compare every gradient of the sum of ``fn(*inputs)``, and the value with that of a plain call."""
    weights = list(fn.trainable_params()) if hasattr(fn, "trainable_params") else []
    held = state_of(fn)
    value, (by_inputs, by_weights) = ad.value_and_grad(fn, tuple(range(len(inputs))), weights)(*inputs)
    restore(fn, held)
    plain = fn(*inputs)
    assert np.array_equal(value, plain) and type(value) is type(plain) and value.dtype == plain.dtype
    by_inputs = by_inputs if isinstance(by_inputs, tuple) else (by_inputs,)
    for tensor, gradient in [*zip(inputs, by_inputs), *zip(weights, by_weights)]:
        assert gradient.dtype == tensor.dtype and gradient.shape == tensor.shape
        if tensor.dtype == ad.float64:
            assert np.allclose(gradient, differences(fn, inputs, tensor, step), rtol=tolerance, atol=tolerance)


def differences(fn, inputs, tensor: Tensor, step: float) -> np.ndarray:
    """Central differences by the elements of `tensor`, an input or a weight."""
    array = tensor.asnumpy()
    gradient = np.zeros_like(array)
    for index in np.ndindex(array.shape):
        kept = array[index]
        values = []
        for moved in (kept + step, kept - step):
            array[index] = moved
            held = state_of(fn)
            values.append(float(np.sum(fn(*inputs).asnumpy())))
            restore(fn, held)
        array[index] = kept
        gradient[index] = (values[0] - values[1]) / (2 * step)
    return gradient


def state_of(fn) -> list[np.ndarray]:
    """What a call may change: the frozen parameters."""
    return [p.asnumpy() for p in fn.untrainable_params()] if hasattr(fn, "untrainable_params") else []


def restore(fn, held: list[np.ndarray]) -> None:
    """Undo what a call changed."""
    for parameter, array in zip(fn.untrainable_params() if held else (), held):
        parameter.set_data(array)
