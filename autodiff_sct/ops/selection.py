"""Comparison, selection and bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "clamp",
    "clip_by_value",
    "equal",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "masked_fill",
    "maximum",
    "minimum",
    "not_equal",
    "select",
    "where",
]


def equal(input: Any, other: Any) -> Any:
    """Where two tensors are equal."""
    return np.equal(input, other)


def not_equal(input: Any, other: Any) -> Any:
    """Where two tensors differ."""
    return np.not_equal(input, other)


def greater(input: Any, other: Any) -> Any:
    """Where `input` is greater."""
    return np.greater(input, other)


def greater_equal(input: Any, other: Any) -> Any:
    """Where `input` is greater or equal."""
    return np.greater_equal(input, other)


def less(input: Any, other: Any) -> Any:
    """Where `input` is less."""
    return np.less(input, other)


def less_equal(input: Any, other: Any) -> Any:
    """Where `input` is less or equal."""
    return np.less_equal(input, other)


def logical_and(input: Any, other: Any) -> Any:
    """Where both are true."""
    return np.logical_and(input, other)


def logical_or(input: Any, other: Any) -> Any:
    """Where either is true."""
    return np.logical_or(input, other)


def logical_not(input: Any) -> Any:
    """Where it is false."""
    return np.logical_not(input)


def maximum(input: Any, other: Any) -> Any:
    """The larger of two; ties share the derivative evenly."""
    return np.maximum(input, other)


def minimum(input: Any, other: Any) -> Any:
    """The smaller of two; ties share the derivative evenly."""
    return np.minimum(input, other)


def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """The elements held within bounds."""
    return np.clip(input, min, max)


def clip_by_value(x: Any, clip_value_min: Any = None, clip_value_max: Any = None) -> Any:
    """The elements held within bounds."""
    return np.clip(x, clip_value_min, clip_value_max)


def where(condition: Any, input: Any, other: Any) -> Any:
    """`input` where the condition is true, else `other`."""
    return np.where(condition, input, other)


def select(condition: Any, input: Any, other: Any) -> Any:
    """`input` where the condition is true, else `other`."""
    return np.where(condition, input, other)


def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """`value` where the mask is true, else `input`."""
    return np.where(mask, value, input)
