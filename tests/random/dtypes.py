"""Random programs over arrays of several dtypes: real and complex numbers, integers, single and double precision."""

from __future__ import annotations

from tests.random.grammar import Grammar

GRAMMAR = {
    # Real vectors: x, u; complex ones: z, c, e; integers: k, p; matrices: A, R (real), Z (complex); numbers: t, s, w.
    "s": ["s", "t", "0.7", "-0.4", "{x}[{i}]", "{z}[{i}].real", "{z}[{i}].imag", "abs({z}[{i}])", "np.mean({r})",
          "np.vdot({c}, {c}).real / n", "{r} @ {r} / n", "float(k[{i}]) * 0.2", "np.tanh({s})", "({s} * {s})",
          "w.imag", "np.abs(w)", "np.linalg.norm({c}) / n", "np.real(w * w)", "(w * w.conjugate()).real",
          "np.sum(k * {r}) / n", "np.float32({s})", "np.max({r})"],
    "w": ["w", "(0.3 + 0.2j)", "{z}[{i}]", "({s} + 1j * {s})", "np.sum({c}) / n", "({c} @ {c} / n)",
          "np.vdot({c}, {c}) / n", "(w * {s})", "np.exp(1j * {s})", "complex({s}, {s})", "w.conjugate()", "(w ** 2)",
          "np.mean({c})", "(1j * {s})", "np.trace(Z) / n", "{c}[{i}] / (2.0 + {s} ** 2)"],
    "r": ["{x}", "{x}", "{x}[::-1]", "np.sin({r})", "(0.5 * {r})", "({r} + {r})", "({r} * {s})", "{c}.real",
          "{c}.imag", "np.abs({c})", "(np.abs({c}) ** 2)", "np.real({c} * np.conj({c}))", "np.real({c})",
          "np.imag({c})", "(k * {r})", "{x}[p]", "np.where(k > 1, {r}, {s})", "({A} @ {r} / n)",
          "((Z @ {c}).real / n)", "{r}.astype(np.float32)", "np.angle({c} + 2.5)", "np.maximum({r}, 0.1039)",
          "(np.cumsum({r}) / n)", "np.fft.irfft(np.fft.rfft({r}), n)", "np.hypot({c}.real, {c}.imag)",
          "({r} / (1.5 + k))", "np.append({c}.real, {c}.imag)[:n]", "(np.abs(np.fft.fft({r})) / n)",
          "np.arctan2({c}.imag, 2.0 + {c}.real)", "(np.linalg.norm(Z, axis=1) / n)", "np.diagonal({A})",
          "np.float64({r})", "np.linalg.norm({A}, axis=0)", "(k ** 2 * {r})"],
    "c": ["{z}", "{z}", "{z}[::-1]", "np.conj({c})", "({r} + 1j * {r})", "({c} + {c})", "({c} * {r})", "({c} * {c})",
          "(0.5 * {c})", "np.exp(0.3 * {c})", "np.exp(1j * {r})", "(np.fft.fft({c}) / n)", "(Z @ {c} / n)",
          "np.fft.ifft({r})", "({A} @ {c} / n)", "({c} / (2.0 + {r} ** 2))", "np.sqrt({c} + 3.0)",
          "np.where({r} > 0.1039, {c}, {r})", "{z}[p]", "(np.cumsum({c}) / n)", "np.log({c} + 3.5)",
          "(1.0 / ({c} + 2.5))", "({c} - {w})", "(k * {c})", "np.roll({c}, 1)", "{r}.astype(complex)",
          "{c}.astype(np.complex64)", "np.sin({c})", "({c} ** 2)", "Z[{i}]", "(np.einsum('ij,j->i', Z, {c}) / n)",
          "np.linalg.solve(Z + 4 * np.eye(n), {c})", "(np.conj(Z).T @ {c} / n)", "np.where(k > 1, {c}, {w})",
          "(np.outer({c}, {r}) @ {c} / n)", "{c}.conj()", "np.array([v * {s} for v in {c}])",
          "np.concatenate([{z}[1:], {z}[:1]])", "np.tanh(0.5 * {c})", "({w} * {r})", "np.fft.fftshift({c})"],
    "R": ["{A}", "0.5 * {A}", "{A} * {r}", "np.outer({r}, {r})", "Z.real", "Z.imag.T", "np.abs(Z)", "k * {A}",
          "(Z @ np.conj(Z).T).real / n", "np.tanh({A})", "{A}[p]"],
    "Z": ["Z * 0.9", "np.outer({c}, np.conj({c}))", "{A} + 1j * {A}.T", "np.conj(Z).T", "Z @ Z / n",
          "Z * {r}[:, None]", "np.diag({c})", "np.fft.fft2({A}) / n", "{w} * {A}", "Z[p]",
          "np.kron({c}, {r}).reshape(n, n)"],
    "x": ["x", "u", "u"],
    "z": ["z", "c", "e"],
    "A": ["A", "R"],
    "i": ["0", "-1", "n // 2"],
    "op": ["+=", "-=", "*="],
    "whole": ["u = {r}", "u = {r}", "c = {c}", "c = {c}", "e = {c}", "e = {c}", "R = {R}", "Z = {Z}", "s = {s}",
              "w = {w}", "u[:] = {r}", "e[:] = {c}", "e[:] = {r}", "e *= {r}", "e += {r}", "e /= 1.5", "u *= 0.9",
              "u += {c}.real", "e[p] = {c}", "e[k > 1] = {w}", "e[k > 1] *= {s}", "np.add.at(e, p, {c})",
              "np.add.at(u, p, {r})", "u[k > 0] = {s}", "c = e", "c = e.real + 0j", "np.multiply(e, {r}, out=e)",
              "np.conj(e, out=e)", "Z[{i}] = {c}", "Z[:, {i}] {op} {c}", "Z[{i}, {i}] = {w}", "R[{i}] = {r}",
              "R[:, {i}] {op} {r}", "Z.imag *= 0.5", "np.exp(1j * u, out=e)", "w *= {s}",
              "u = np.zeros(n, np.float32); u[:] = {r}", "e = np.zeros(n, np.complex64); e += {c}", "e = e[::-1]",
              "u = x.copy()", "e = z.copy()", "w = {w}; w += {s}", "c, e = e, {c}",
              "u = np.stack([e.real, e.imag], -1).ravel()[:n]", "u = np.asarray({r}, x.dtype)", "e.flat[0] = {w}",
              "e[::2] = {c}[::2]", "e = np.append({c}[1:], {w})"],
    "item": ["e[i] = {w}", "e[i] += {s}", "e[i] *= {w}", "u[i] = {s}", "w = w * 0.5 + e[i]",
             "s = s * 0.5 + abs(e[i])", "u[i] = abs(e[i - 1])", "e[i] = e[i - 1] * {w}", "e[i] = complex({s}, u[i])",
             "s += 0.1 * k[i] * u[i]", "Z[i] = 0.5 * {c}", "e = e * 0.9 + Z[i]", "w += e[i].conjugate() * u[i]",
             "u += Z[i].real * {s}", "e[p[i]] += {w}"],
    "test": ["{s} > 0.1039", "abs({w}) > 0.3039", "k[0] > 1", "n > 2", "np.iscomplexobj({z})",
             "{x}.dtype.kind == 'f'"],
    "start": ["0.5 * z", "z.copy()", "np.zeros(n, complex)", "x + 1j * x[::-1]", "np.zeros_like(z)"],
}  # fmt: skip
TEXT = """\
import numpy as np


def program(x, z, A, t, k):
    n = len(x)
    p = (k * 2 + np.arange(n)) % n
    u, R, s, w = x * 0.5, A * 0.9, t, 0.1 + 0.2j
"""
TOTAL = [
    "s * s",
    "np.abs(w) ** 2",
    "np.sum(u * np.cos(np.arange(n)))",
    "np.sum((c * np.exp(1j * np.arange(n))).real)",
    "np.sum(np.abs(e) ** 2)",
    "np.sum(np.real(Z * (1 + 2j)))",
    "np.sum(R * np.arange(n)) / n",
]


class Dtypes(Grammar):
    """A writer of programs."""

    rules = GRAMMAR

    def part(self, indent: str) -> list[str]:
        """Return a statement of whole arrays, a loop over items or steps, or a branch."""
        kind = self.random.random()
        if kind < 0.6 or len(indent) > 8:
            lines = self.expand("{whole}").split("; ")
        elif kind < 0.75:
            lines = ["for i in range(n):", *self.several("item")]
        elif kind < 0.85:
            lines = ["for step in range(2):", *self.several("whole")]
        else:
            lines = [self.expand("if {test}:"), *self.several("whole"), "else:", *self.several("whole")]
        return [indent + line for line in lines]

    def several(self, symbol: str) -> list[str]:
        found = [self.expand(f"{{{symbol}}}") for _ in range(self.random.randint(1, 2))]
        return ["    " + part for text in found for part in text.split("; ")]

    def program(self) -> str:
        lines = [self.expand(f"    {name} = {{start}}") for name in "ce"]
        lines.append("    Z = np.outer(c, z) + A")
        for _ in range(self.random.randint(1, 5)):
            lines += self.part("    ")
        return TEXT + "\n".join([*lines, f"    return {' + '.join(TOTAL)}", ""])
