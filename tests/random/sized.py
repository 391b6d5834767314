"""Random programs over vectors and matrices of any size: whole arrays, rows, columns, items, views, lists of rows."""

from __future__ import annotations

from tests.random.grammar import Grammar

GRAMMAR = {
    # Of n items: x, u, p; of m items: y, w, q; of n rows and m columns: A, M, N; numbers: t, s, k.
    "sc": ["s", "t", "k", "0.7", "-0.4", "{x}[{i}]", "{y}[{j}]", "{A}[{i}, {j}]", "np.mean({n})", "np.mean({m} ** 2)",
           "np.sum({nm}) / {A}.size", "{n} @ {n} / n", "np.dot({y}, {y}) / m", "np.max({A})", "float({sc})",
           "np.tanh({sc})", "({sc} * {sc})", "({sc} - {sc})", "np.linalg.norm({m}) / m", "max({sc}, {sc})",
           "{x}.min()", "np.std({n})", "math.sin({sc})", "abs({sc})", "np.einsum('ij,ij->', {A}, {A}) / {A}.size"],
    "n": ["{x}", "{x}", "{x}[::-1]", "np.sin({n})", "0.5 * {n}", "({n} + {n})", "({n} * {n})", "({n} - {sc})",
          "{A}.mean(axis=1)", "{A} @ {y} / m", "np.sum({nm} * {y}, axis=1) / m", "{A}[:, {j}]", "{A}.max(axis=1)",
          "np.maximum({n}, {n})", "np.where({n} > 0.1039, {n}, {sc})", "np.tanh({n})", "{n} / (1.5 + np.cos({n}))",
          "np.cumsum({n}) / n", "{x}[p]", "np.roll({n}, 1)", "np.einsum('ij,j->i', {A}, {y}) / m", "{n} ** 2",
          "np.array([{of_row} for r in {A}])", "np.sort({n})", "np.clip({n}, -0.6109, 0.6109)",
          "np.concatenate([{x}[1:], {x}[:1]])", "np.sqrt({n} ** 2 + 0.1)", "np.linalg.norm({A}, axis=1)",
          "np.diff({n}, append=0.3)", "np.stack([{n}, {n}], axis=1).sum(axis=1)", "np.exp(-np.abs({n}))"],
    "m": ["{y}", "{y}", "{y}[::-1]", "np.cos({m})", "0.5 * {m}", "({m} + {m})", "({m} * {sc})", "{A}.mean(axis=0)",
          "{x} @ {A} / n", "{A}[{i}]", "{A}[{i}, ::-1]", "np.var({A}, axis=0)", "np.exp(-np.abs({m}))", "{y}[q]",
          "np.where({m} > {m}, {m}, 0.5 * {m})", "{m} / (1 + {m} ** 2)", "rows[{i}]", "rows[{i}]",
          "({m} - np.mean({m}))", "np.prod({A}[:2], axis=0)", "({m} * {m})", "np.minimum({m}, {sc})",
          "smooth({m}, {m})"],
    "nm": ["{A}", "{A}", "np.tanh({nm})", "0.5 * {nm}", "({nm} + {nm})", "{nm} * {y}", "{nm} * {x}[:, None]",
           "np.outer({n}, {m})", "({nm} - ({nm}).mean(axis=1, keepdims=True))", "({nm} - {y})", "{A}[::-1]",
           "{A}[:, ::-1]", "soft({nm})", "np.where({nm} > 0.1039, {nm}, {sc})", "{A}[p]", "{A}[:, q]", "{nm} ** 2",
           "({nm} * {nm})", "{A} / (1 + np.sum({A} ** 2, axis=0))", "np.cumsum({A}, axis=0) / n", "np.array(rows)",
           "np.maximum({nm}, 0.0)", "({A} @ {A}.T / m) @ {A} / n", "np.broadcast_to({y}, (n, m))", "np.stack(rows)",
           "{A}.T.copy().T", "np.pad({A}, 1)[1:-1, 1:-1]", "np.vstack([{A}[1:], {A}[:1]])",
           "np.reshape({A}, (m, n)).reshape(n, m)", "np.tile({y}, (n, 1))", "np.diff({A}, axis=0, prepend=0.2)",
           "np.abs({nm})", "np.sqrt({nm} ** 2 + 0.2)"],
    "of_row": ["r[0]", "r @ {y} / m", "np.mean(r)", "r[-1] * r[0]", "np.sum(r * r) / m", "{sc} * r[j0]"],
    "x": ["x", "u", "u"],
    "y": ["y", "w", "w"],
    "A": ["A", "M", "M", "N"],
    "i": ["0", "-1", "n // 2", "i0", "i0"],
    "j": ["0", "-1", "m // 2", "j0", "j0"],
    "op": ["+=", "-=", "*="],
    "small": ["0.5 * tanh({sc})", "0.3 * {sc}", "0.5 * {x}[i]", "0.4 * {A}[i, {j}]", "0.5 * {x}[i - 1] * k"],
    "cell": ["0.5 * M[i, j]", "0.4 * M[i - 1, j] + 0.2 * {A}[i, j]", "0.3 * {x}[i] * {y}[j]", "tanh({A}[i, j]) * s",
             "0.5 * {A}[i, j - 1]", "max({A}[i, j], 0.1039)"],
    "rowwise": ["M[i] = {m}", "M[i] *= 0.5 + 0.2 * np.sin({m})", "M[i] = M[i] - M[i].mean()",
                "M[i] -= 0.4 * (M[i] @ M[i - 1]) / m * M[i - 1]", "M[i] /= 1.0 + np.linalg.norm(M[i])",
                "u[i] = {y} @ M[i] / m", "r = M[i]; r *= 0.9; u[i] = r[0]", "M[i, 1:] += 0.3 * M[i, :-1]",
                "M[i] = np.sort(M[i])", "w = 0.5 * w + 0.5 * M[i]", "M[i] += 0.2 * {m}",
                "rows[i] = 0.5 * rows[i] + {m}", "s = 0.9 * s + 0.1 * np.mean(M[i] ** 2)", "M[i] = soft(M[i])",
                "u[i] += {sc}", "M[i][0] = {sc}", "M[i, {j}] = {small}", "rows[i] = {m}", "M[i] = 0.7 * {A}[i - 1]",
                "u[i] = {small}", "u[i] {op} {small}", "s = 0.5 * s + 0.5 * u[i]", "M[i, :] = w; w = w * 0.9",
                "rows[i][0] = {sc}"],
    "colwise": ["M[:, j] = {n}", "M[:, j] *= 0.5 + 0.2 * np.sin({n})", "w[j] = {x} @ M[:, j] / n",
                "c = M[:, j]; c *= 0.8", "M[:, j] -= 0.3 * M[:, j - 1]", "u = 0.5 * u + 0.5 * M[:, j]",
                "w[j] {op} {sc}", "M[1:, j] = 0.6 * M[:-1, j]", "s = 0.5 * s + np.mean(M[:, j])",
                "w[j] = 0.5 * w[j - 1] + 0.3 * k"],
    "whole": ["u = {n}", "u = {n}", "w = {m}", "w = {m}", "M = {nm}", "M = {nm}", "s = {sc}", "k = tanh({sc})",
              "u *= 0.9", "M *= {y}", "M -= 0.3 * {nm}", "M += {n}[:, None]", "u += {n}", "w[:] = {m}", "M[:] = {nm}",
              "M[1:] = 0.9 * M[:-1]", "M[:, 1:] += 0.2 * M[:, :-1]", "N = M", "N = M.copy()", "N = M[::-1]",
              "u[u > 0.3039] = {sc}", "M[M > 0.3039] *= 0.5", "np.sin(u, out=u)", "np.multiply(M, {y}, out=M)",
              "u[p] = {n}", "np.add.at(u, p, {n})", "u = x.copy()", "rows = [r * {sc} for r in {A}]",
              "rows = list({nm})", "rows[{i}] = {m}", "rows[{i}] *= {sc}", "rows = rows[::-1]", "M, N = N, M",
              "u, x = x, {n}", "w = smooth(w, {m})", "damp(u, {sc})", "damp(M[{i}], {sc})", "M.T[{j}] = {n}",
              "M[{i}] = {m}", "M[:, {j}] {op} {n}", "M[{i}, {j}] = {sc}", "np.dot(M, {y} / m, out=u)", "M[p] *= 0.8",
              "w = np.sum(rows, axis=0) / n", "u[::2] = 0.5 * u[::2]", "M[::2, 1::2] *= 0.4", "w = sum(rows) / n",
              "M = M + 0.0", "M /= 1.0 + np.abs(M).max()", "np.maximum(u, {sc}, out=u)",
              "w = np.mean(M, axis=0, out=w)", "u.fill({sc})", "M = layer(M, {y}, {sc})",
              "s = s + sum([np.mean(r * r) for r in rows]) / n", "M = np.where(M > {sc}, M, {nm})"],
    "test": ["{sc} > 0.1039", "{sc} < -0.0517", "np.sum(u) > 0.1039", "n > 16", "m > 128",
             "{A}.shape[0] > {A}.shape[1]", "0.0391 < {sc} and {sc} < 0.8513", "np.any(u > 0.5039)"],
    "trips": ["2", "3", "n", "m", "min(n, 4)"],
}  # fmt: skip
TEXT = """\
import math
from math import tanh

import numpy as np


def soft(a):
    e = np.exp(a - np.max(a, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def smooth(a, b):
    c = np.sin(a) * 0.5
    c += 0.3 * b
    return c


def damp(a, k):
    a *= 0.5 + 0.3 * np.sin(k)
    return a


def layer(a, g, b):
    v = np.var(a, axis=-1, keepdims=True)
    a = (a - np.mean(a, axis=-1, keepdims=True)) / np.sqrt(v + 0.5)
    return g * a + b


def program(x, y, A, t):
    n, m = A.shape
    i0, j0, k = n // 3, m // 3, 0.7
    p, q = np.arange(n)[::-1] // 2, (np.arange(m) * 3) % m
"""
START = ["u = {start_n}", "w = {start_m}", "M = {start_nm}", "N = A * 0.9", "rows = {start_rows}", "s = {start_s}"]
GRAMMAR |= {
    "start_n": ["x.copy()", "0.5 * x", "np.zeros(n)", "A[:, 0] * 1.0", "x * t"],
    "start_m": ["y.copy()", "np.zeros(m)", "A[0].copy()", "0.3 * y"],
    "start_nm": ["A.copy()", "0.5 * A", "np.zeros((n, m))", "np.outer(x, y)", "A + x[:, None]"],
    "start_rows": ["[r.copy() for r in A]", "list(A * 0.5)", "[y * v for v in x]"],
    "start_s": ["0.0", "t", "np.mean(x)", "x[0]"],
}
TOTAL = [
    "s * s + 0.3 * k",
    "np.sum(u * np.cos(np.arange(n)))",
    "np.sum(w * w)",
    "np.sum(np.sin(M) * np.arange(m)) / m",
    "np.sum(N[0] * N[-1])",
    "sum([r[0] * r[-1] for r in rows]) / n",
]


class Sized(Grammar):
    """A writer of programs."""

    rules = GRAMMAR

    def part(self, indent: str) -> list[str]:
        """Return a statement of whole arrays, a loop over rows, columns or items, a branch, or steps."""
        kind, deep = self.random.random(), len(indent) > 8
        if kind < 0.4 or deep:
            lines = [self.expand("{whole}")]
        elif kind < 0.6:
            lines = ["for i in range(n):", *self.several("rowwise")]
        elif kind < 0.7:
            lines = ["for j in range(m):", *self.several("colwise")]
        elif kind < 0.78:
            lines = ["for i in range(min(n, 20)):", "    for j in range(min(m, 20)):"]
            lines += ["        " + self.expand("M[i, j] = {cell}")]
        elif kind < 0.86:
            lines = [self.expand("if {test}:"), "    " + self.expand("{whole}")]
            lines += ["else:", "    " + self.expand("{whole}")] if self.random.random() < 0.5 else []
        elif kind < 0.93:
            lines = [self.expand("for step in range({trips}):"), *self.several("whole")]
        else:
            lines = ["for i, r in enumerate(rows):", "    " + self.expand("u[i] = {of_row}")]
        return [indent + line for line in lines]

    def several(self, symbol: str) -> list[str]:
        lines = []
        for _ in range(self.random.randint(1, 2)):
            text = self.expand(f"{{{symbol}}}")
            lines += [f"    if {self.expand('{test}')}:", f"        {text}"] if self.random.random() < 0.15 else []
            lines += ["    " + part for part in text.split("; ")]
        return lines

    def program(self) -> str:
        lines = ["    " + self.expand(line) for line in START]
        for _ in range(self.random.randint(1, 5)):
            lines += self.part("    ")
        return TEXT + "\n".join([*lines, f"    return {' + '.join(TOTAL)}", ""])
