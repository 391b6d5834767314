"""Rotations of ``scipy.spatial.transform`` that a differentiated program makes, by their quaternions.

SciPy computes what they return; these are the texts of which derivatives are taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Turn"]


class Turn:
    """``made``, whose quaternions (scalar last, of length 1) are ``quat``."""

    stands_for = "a rotation"

    def __init__(self, made: Any, quat: Any) -> None:
        self.made = made
        self.quat = quat

    def apply(self, vectors: Any, inverse: Any = False) -> Any:
        return applied(self.made, self.quat, vectors, inverse)

    def as_matrix(self) -> Any:
        return matrix(self.made, self.quat)

    def as_quat(self) -> Any:
        return self.quat

    def as_rotvec(self) -> Any:
        return rotvec(self.made, self.quat)

    def as_mrp(self) -> Any:
        return mrp(self.made, self.quat)

    def as_euler(self, seq: Any, degrees: Any = False) -> Any:
        return euler(self.made, self.quat, seq, degrees)

    def magnitude(self) -> Any:
        return magnitude(self.made, self.quat)

    def inv(self) -> Any:
        made = inverted(self.made)
        return Turn(made, quaternion(made, self.quat * np.array([-1.0, -1.0, -1.0, 1.0])))

    def __mul__(self, other: Any) -> Any:
        other = as_turn(other)
        made = composed(self.made, other.made)
        return Turn(made, quaternion(made, product(self.quat, other.quat)))


# What SciPy makes of rotations, without a derivative


def as_turn(other: Any) -> Any:
    return other


def inverted(made: Any) -> Any:
    return made.inv()


def composed(made: Any, other: Any) -> Any:
    return made * other


# What it returns


def quaternion(made: Any, quat: Any) -> Any:
    """The quaternions of a rotation: of two opposite ones, those that SciPy has."""
    return quat * np.where(np.sum(quat * reference(made, quat), -1, keepdims=True) < 0, -1.0, 1.0)


def reference(made: Any, quat: Any) -> Any:
    """SciPy's quaternions, as a constant."""
    return made.as_quat()


def applied(made: Any, quat: Any, vectors: Any, inverse: Any) -> Any:
    turned = matrix_of(quat * np.array([-1.0, -1.0, -1.0, 1.0])) if inverse else matrix_of(quat)
    return np.sum(turned * np.expand_dims(vectors, -2), -1)


def matrix(made: Any, quat: Any) -> Any:
    return matrix_of(quat)


def rotvec(made: Any, quat: Any) -> Any:
    quat = quat * np.where(quat[..., 3:] < 0, -1.0, 1.0)
    square, w = np.sum(quat[..., :3] ** 2, -1, keepdims=True), quat[..., 3:]
    small = square < 1e-6
    ratio = square / (w * w + (w == 0))
    series = 2 / (w + (w == 0)) * (1 - ratio / 3 + ratio**2 / 5 - ratio**3 / 7)
    length = np.sqrt(np.where(small, 1.0, square))
    return np.where(small, series, 2 * np.arctan2(length, w) / length) * quat[..., :3]


def magnitude(made: Any, quat: Any) -> Any:
    return 2 * np.arctan2(np.sqrt(np.sum(quat[..., :3] ** 2, -1)), np.abs(quat[..., 3]))


def mrp(made: Any, quat: Any) -> Any:
    quat = quat * np.where(quat[..., 3:] < 0, -1.0, 1.0)
    return quat[..., :3] / (1 + quat[..., 3:])


def euler(made: Any, quat: Any, seq: Any, degrees: Any = False) -> Any:
    """Angles about three axes (Bernardes and Viollet 2022); those of an intrinsic sequence come in the other order."""
    order = seq.lower() if seq.islower() else seq.lower()[::-1]
    i, j, k = "xyz".index(order[0]), "xyz".index(order[1]), "xyz".index(order[2])
    proper = i == k
    k = 3 - i - j if proper else k
    sign = (i - j) * (j - k) * (k - i) // 2
    a, b, c, d = quat[..., 3], quat[..., i], quat[..., j], quat[..., k] * sign
    if not proper:
        a, b, c, d = a - c, b + d, c + a, d - b
    total, difference = np.arctan2(b, a), np.arctan2(d, c)
    middle = 2 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
    last = total + difference
    if not proper:
        middle, last = middle - np.pi / 2, last * sign
    angles = [total - difference, middle, last]
    found = np.stack(angles if seq.islower() else angles[::-1], -1)
    return found * (180 / np.pi) if degrees else found


def matrix_of(quat: Any) -> Any:
    x, y, z, w = quat[..., 0], quat[..., 1], quat[..., 2], quat[..., 3]
    rows = [
        [x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w],
    ]
    return np.stack([np.stack(row, -1) for row in rows], -2)


def product(a: Any, b: Any) -> Any:
    """The product of quaternions."""
    u, s = a[..., :3], a[..., 3:]
    v, t = b[..., :3], b[..., 3:]
    vector = s * v + t * u + np.cross(u, v)
    return np.concatenate([vector, s * t - np.sum(u * v, -1, keepdims=True)], -1)


# Quaternions of what rotations are made of


def from_quat(quat: Any) -> Any:
    return quat / np.sqrt(np.sum(quat * quat, -1, keepdims=True))


def from_rotvec(rotvec: Any, degrees: Any = False) -> Any:
    rotvec = rotvec * (np.pi / 180) if degrees else rotvec
    square = np.sum(rotvec * rotvec, -1, keepdims=True)
    small = square < 1e-4
    angle = np.sqrt(np.where(small, 1.0, square))
    scale = np.where(small, 0.5 - square / 48 + square**2 / 3840 - square**3 / 645120, np.sin(angle / 2) / angle)
    last = np.where(small, 1 - square / 8 + square**2 / 384 - square**3 / 46080, np.cos(angle / 2))
    return np.concatenate([scale * rotvec, last], -1)


def from_euler(seq: Any, angles: Any, degrees: Any = False) -> Any:
    half = angles * (np.pi / 360) if degrees else angles / 2
    if len(seq) == 1:
        return about(seq, half)
    parts = [about(seq[k], half[..., k]) for k in range(len(seq))]
    parts = parts if seq[0] in "XYZ" else parts[::-1]
    quat = parts[0]
    for part in parts[1:]:
        quat = product(quat, part)
    return quat


def about(axis: Any, half: Any) -> Any:
    """The quaternion of a turn about one axis by twice an angle."""
    nothing, sine = 0 * half, np.sin(half)
    return np.stack([sine if axis in pair else nothing for pair in ("xX", "yY", "zZ")] + [np.cos(half)], -1)


def from_matrix(matrix: Any) -> Any:
    """The quaternion of the rotation that is nearest to a matrix, by Newton's iteration for the orthogonal factor."""
    for _ in range(8):
        matrix = 0.5 * (matrix + np.swapaxes(np.linalg.inv(matrix), -1, -2))
    xx, yy, zz = matrix[..., 0, 0], matrix[..., 1, 1], matrix[..., 2, 2]
    xy, xz, yz = matrix[..., 1, 0], matrix[..., 2, 0], matrix[..., 2, 1]
    yx, zx, zy = matrix[..., 0, 1], matrix[..., 0, 2], matrix[..., 1, 2]
    trace = xx + yy + zz
    ways = [
        [1 - trace + 2 * xx, xy + yx, xz + zx, yz - zy],
        [xy + yx, 1 - trace + 2 * yy, yz + zy, zx - xz],
        [xz + zx, yz + zy, 1 - trace + 2 * zz, xy - yx],
        [yz - zy, zx - xz, xy - yx, 1 + trace],
    ]
    largest = np.argmax(np.stack([xx, yy, zz, trace], -1), -1)
    every = np.stack([np.stack(way, -1) for way in ways], 0)
    quat = np.sum(np.where((np.arange(4) == largest[..., None])[..., None], np.moveaxis(every, 0, -2), 0.0), -2)
    return from_quat(quat)


def from_mrp(mrp: Any) -> Any:
    square = np.sum(mrp * mrp, -1, keepdims=True)
    return np.concatenate([2 * mrp, 1 - square], -1) / (1 + square)
