"""Attention: layers in which each place of a sequence reads all others (Vaswani et al., 2017)."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from ..api.arguments import checked_flag
from ..dtypes import float32
from ..errors import ArgumentValueError
from ..ops import functional as F
from .activation import get_activation
from .cell import Cell, CellList
from .layers import Dense, Dropout, positive
from .normalization import LayerNorm

__all__ = ["MultiheadAttention", "TransformerEncoder", "TransformerEncoderLayer"]


class MultiheadAttention(Cell):
    """``softmax(q @ k.T / sqrt(d)) @ v`` in each of several heads, whose outputs are joined and mixed.

    Parameters
    ----------
    embed_dim, num_heads : int
        The length of the last axis, and into how many heads it falls.
    dropout : float
        The probability that a weight is zero, in training.
    has_bias : bool
        True for biases.
    kdim, vdim : int, optional
        The lengths of the last axes of keys and values; `embed_dim` by default.
    batch_first : bool
        True for inputs of shape (n, length, embed_dim) in the place of (length, n, embed_dim).

    Attributes
    ----------
    q_proj, k_proj, v_proj, out_proj : Dense
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        has_bias: bool = True,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        self.embed_dim = positive(embed_dim, "embed_dim")
        self.num_heads = positive(num_heads, "num_heads")
        if embed_dim % num_heads:
            raise ArgumentValueError(f"embed_dim {embed_dim} does not fall into {num_heads} heads")
        self.batch_first = checked_flag(batch_first, "batch_first")
        settings = {"weight_init": "xavier_uniform", "bias_init": "zeros", "has_bias": has_bias, "dtype": dtype}
        self.q_proj = Dense(embed_dim, embed_dim, **settings)
        self.k_proj = Dense(embed_dim if kdim is None else kdim, embed_dim, **settings)
        self.v_proj = Dense(embed_dim if vdim is None else vdim, embed_dim, **settings)
        self.out_proj = Dense(embed_dim, embed_dim, **settings)
        self.dropout = Dropout(dropout)

    def construct(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
    ) -> Any:
        """Attend.

        Parameters
        ----------
        query, key, value : Tensor of shape (length, n, embed_dim), or (n, length, embed_dim) with `batch_first`
            Lengths of keys and values are equal.
        key_padding_mask : Tensor of bool, of shape (n, keys), optional
            True for keys that do not count.
        need_weights, average_attn_weights : bool
            True to return the weights, and to return their mean over the heads.
        attn_mask : Tensor of shape (queries, keys), optional
            True for pairs that do not count, or numbers that are added.

        Returns
        -------
        output : Tensor of the shape of `query`
        weights : Tensor of shape (n, queries, keys), (n, heads, queries, keys) without the mean, or None
        """
        if not self.batch_first:
            query, key, value = np.swapaxes(query, 0, 1), np.swapaxes(key, 0, 1), np.swapaxes(value, 0, 1)
        q, k, v = self.heads(self.q_proj(query)), self.heads(self.k_proj(key)), self.heads(self.v_proj(value))
        scores = np.matmul(q, np.swapaxes(k, -1, -2)) / math.sqrt(self.embed_dim // self.num_heads)
        if attn_mask is not None:
            scores = masked(scores, attn_mask)
        if key_padding_mask is not None:
            scores = masked(scores, key_padding_mask[:, None, None, :])
        weights = self.dropout(F.softmax(scores, -1))
        joined = np.reshape(np.swapaxes(np.matmul(weights, v), 1, 2), (q.shape[0], q.shape[2], self.embed_dim))
        output = self.out_proj(joined)
        if not self.batch_first:
            output = np.swapaxes(output, 0, 1)
        if not need_weights:
            return output, None
        return output, np.mean(weights, axis=1) if average_attn_weights else weights

    def heads(self, x: Any) -> Any:
        """The last axis parted into heads, (n, heads, length, embed_dim // heads)."""
        return np.swapaxes(np.reshape(x, (x.shape[0], x.shape[1], self.num_heads, -1)), 1, 2)

    def extend_repr(self) -> str:
        """The sizes."""
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}"


def masked(scores: Any, mask: Any) -> Any:
    """Scores with minus infinity where a mask of booleans is true, or with a mask of numbers added."""
    return np.where(mask, -np.inf, scores) if mask.dtype == np.bool_ else scores + mask


class TransformerEncoderLayer(Cell):
    """Attention of a sequence to itself, then two dense layers, each added to its input and normalised.

    Parameters
    ----------
    d_model, nhead, dim_feedforward : int
        The length of the last axis, the number of heads, and the width between the dense layers.
    dropout : float
        The probability of zeros, in training.
    activation : str or Cell
        What is applied between the dense layers.
    layer_norm_eps : float
        Added to variances.
    batch_first : bool
        As in `MultiheadAttention`.
    norm_first : bool
        True to normalise what goes into the two parts, in the place of what comes out.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, dtype=dtype)
        self.linear1 = Dense(d_model, dim_feedforward, dtype=dtype)
        self.linear2 = Dense(dim_feedforward, d_model, dtype=dtype)
        self.norm1 = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        self.norm2 = LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.activation: Any = activation if isinstance(activation, Cell) else get_activation(activation)
        self.norm_first = checked_flag(norm_first, "norm_first")

    def construct(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None) -> Any:
        """Apply; masks are those of `MultiheadAttention`."""
        if self.norm_first:
            x = src + self.attend(self.norm1(src), src_mask, src_key_padding_mask)
            return x + self.feed(self.norm2(x))
        x = self.norm1(src + self.attend(src, src_mask, src_key_padding_mask))
        return self.norm2(x + self.feed(x))

    def attend(self, x: Any, mask: Any, padding: Any) -> Any:
        """The sequence's attention to itself."""
        return self.dropout(self.self_attn(x, x, x, padding, False, mask)[0])

    def feed(self, x: Any) -> Any:
        """The two dense layers."""
        return self.dropout(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoder(Cell):
    """Copies of a layer, one after the other, and then `norm`."""

    def __init__(self, encoder_layer: Cell, num_layers: int, norm: Cell | None = None) -> None:
        super().__init__()
        self.layers = CellList([copy.deepcopy(encoder_layer) for _ in range(positive(num_layers, "num_layers"))])
        self.norm = norm

    def construct(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None) -> Any:
        """Apply the layers in order."""
        x = src
        for layer in self.layers:
            x = layer(x, src_mask, src_key_padding_mask)
        return x if self.norm is None else self.norm(x)
