"""Layers that give their input mean 0 and variance 1 over a batch, over a group of channels, or over the last axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api import stop_gradient
from ..common.initializer import initializer
from ..dtypes import float32
from ..errors import ArgumentTypeError, ArgumentValueError
from ..tensor import Parameter
from .cell import Cell
from .layers import positive

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "LayerNorm"]


class BatchNorm(Cell):
    """Mean 0 and variance 1 in every channel, then scaled by `gamma` and moved by `beta`.

    Parameters
    ----------
    num_features : int
        The number of channels, the second axis.
    eps : float
        Added to the variance.
    momentum : float
        How much of the moving statistics a training step keeps.
    affine : bool
        Whether `gamma` and `beta` are trained.
    use_batch_statistics : bool, optional
        Statistics of the batch (True) or the moving ones (False); by default those of the batch in training only.
    """

    dims: tuple[int, ...] = ()

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        self.num_features = positive(num_features, "num_features")
        self.eps = eps
        if isinstance(momentum, bool) or not isinstance(momentum, (int, float)):
            raise ArgumentTypeError(f"momentum is a number, not {momentum!r}")
        if not 0 <= momentum <= 1:
            raise ArgumentValueError(f"momentum is between 0 and 1, not {momentum}")
        self.momentum = float(momentum)
        self.use_batch_statistics = use_batch_statistics
        shape = (num_features,)
        self.moving_mean = Parameter(initializer(moving_mean_init, shape, dtype), "mean", requires_grad=False)
        self.moving_variance = Parameter(initializer(moving_var_init, shape, dtype), "variance", requires_grad=False)
        self.gamma = Parameter(initializer(gamma_init, shape, dtype), "gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, shape, dtype), "beta", requires_grad=affine)

    def construct(self, x: Any) -> Any:
        """Normalise; in training also move the moving statistics."""
        if x.ndim not in self.dims:
            raise ArgumentValueError(f"{self.cls_name} wants an input with {self.dims} axes, not {x.ndim}")
        shape = (1, self.num_features) + (1,) * (x.ndim - 2)
        from_batch = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        if from_batch:
            axes = (0, *range(2, x.ndim))
            mean = np.mean(x, axis=axes)
            variance = np.var(x, axis=axes)
            self.remember(stop_gradient(mean), stop_gradient(variance), x.size // self.num_features)
        else:
            mean = self.moving_mean
            variance = self.moving_variance
        scale = self.gamma / np.sqrt(variance + self.eps)
        return (x - np.reshape(mean, shape)) * np.reshape(scale, shape) + np.reshape(self.beta, shape)

    def remember(self, mean: Any, variance: Any, count: int) -> None:
        """Move the moving statistics towards those of a batch of `count` elements a channel, the variance unbiased."""
        kept = self.momentum
        unbiased = variance * (count / max(count - 1, 1))
        # Cell gives a parameter that is assigned to a new value.
        self.moving_mean = kept * self.moving_mean + (1 - kept) * mean
        self.moving_variance = kept * self.moving_variance + (1 - kept) * unbiased

    def extend_repr(self) -> str:
        """The settings."""
        return f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}"


class BatchNorm1d(BatchNorm):
    """`BatchNorm` of inputs of shape (n, channels) or (n, channels, length)."""

    dims = (2, 3)


class BatchNorm2d(BatchNorm):
    """`BatchNorm` of inputs of shape (n, channels, height, width)."""

    dims = (4,)


class BatchNorm3d(BatchNorm):
    """`BatchNorm` of inputs of shape (n, channels, depth, height, width)."""

    dims = (5,)


class LayerNorm(Cell):
    """Mean 0 and variance 1 over the last axes, then scaled by `gamma` and moved by `beta`.

    Parameters
    ----------
    normalized_shape : tuple of int
        The lengths of the axes that are normalised.
    begin_norm_axis, begin_params_axis : int
        The first axis that is normalised, and the first that the parameters have; -1 stands for the last.
    gamma_init, beta_init : Tensor, str, Initializer or number
        How the parameters begin.
    epsilon : float
        Added to the variance.
    """

    def __init__(
        self,
        normalized_shape: Any,
        begin_norm_axis: int = -1,
        begin_params_axis: int = -1,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        epsilon: float = 1e-7,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        if not isinstance(normalized_shape, (tuple, list)):
            raise ArgumentTypeError(f"normalized_shape is a tuple or list of int, not {normalized_shape!r}")
        self.normalized_shape = tuple(normalized_shape)
        self.begin_norm_axis = begin_norm_axis
        self.last_only = begin_norm_axis == -1
        self.epsilon = epsilon
        self.gamma = Parameter(initializer(gamma_init, self.normalized_shape, dtype), "gamma")
        self.beta = Parameter(initializer(beta_init, self.normalized_shape, dtype), "beta")

    def construct(self, x: Any) -> Any:
        """Normalise."""
        first = self.begin_norm_axis + x.ndim if self.begin_norm_axis < 0 else self.begin_norm_axis
        axes = -1 if self.last_only else tuple(range(first, x.ndim))
        centred = x - np.mean(x, axis=axes, keepdims=True)
        variance = np.mean(centred * centred, axis=axes, keepdims=True)
        return centred / np.sqrt(variance + self.epsilon) * self.gamma + self.beta

    def extend_repr(self) -> str:
        """The shape."""
        return f"normalized_shape={self.normalized_shape}, epsilon={self.epsilon}"


class GroupNorm(Cell):
    """Mean 0 and variance 1 in every group of channels, then scaled by `gamma` and moved by `beta`.

    Parameters
    ----------
    num_groups, num_channels : int
        The number of groups, and that of channels, the second axis.
    eps : float
        Added to the variance.
    affine : bool
        True if `gamma` and `beta` are trained.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        self.num_groups = positive(num_groups, "num_groups")
        self.num_channels = positive(num_channels, "num_channels")
        if num_channels % num_groups:
            raise ArgumentValueError(f"{num_channels} channels do not fall into {num_groups} groups")
        self.eps = eps
        shape = (num_channels,)
        self.gamma = Parameter(initializer(gamma_init, shape, dtype), "gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, shape, dtype), "beta", requires_grad=affine)

    def construct(self, x: Any) -> Any:
        """Normalise."""
        groups = np.reshape(x, (x.shape[0], self.num_groups, -1))
        centred = groups - np.mean(groups, axis=2, keepdims=True)
        variance = np.mean(centred * centred, axis=2, keepdims=True)
        shape = (self.num_channels,) + (1,) * (x.ndim - 2)
        y = np.reshape(centred / np.sqrt(variance + self.eps), x.shape)
        return y * np.reshape(self.gamma, shape) + np.reshape(self.beta, shape)

    def extend_repr(self) -> str:
        """The settings."""
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}, eps={self.eps}"
