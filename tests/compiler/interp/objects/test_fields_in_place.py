"""`body.speed += e` of objects in a list whose field is an array: the field stays that array, unless `e` changes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from tests.compiler.checked import check_gradient, check_tangent

SIZES = [1, 3, 130]


class Body:
    def __init__(self, place: Any, speed: Any) -> None:
        self.place, self.speed = place, speed

    def restart(self) -> Any:
        self.place = self.place * 2.0
        return np.sin(self.place)


class Watched(Body):
    @property
    def doubled(self) -> Any:
        return self.place

    @doubled.setter
    def doubled(self, value: Any) -> None:
        self.place = value * 2.0


def bodies_of(x: Any, cls: type = Body) -> list[Any]:
    return [cls(row * 2.0, np.sin(row)) for row in x]


def moved(x: Any) -> Any:
    bodies = bodies_of(x)
    for _ in range(3):
        for body in bodies:
            body.place += 0.1 * body.speed**2
            body.speed *= np.cos(body.place)
    return sum([np.sum(body.place**2 * body.speed) for body in bodies])


def replaced_by_the_value(x: Any) -> Any:
    bodies = bodies_of(x)
    for body in bodies:
        body.place += body.restart()  # what `restart` puts there is replaced by the array that was read before
    return sum([np.sum(body.place**3) for body in bodies])


def rebound_between(x: Any) -> Any:
    bodies = bodies_of(x)
    for k in range(3):
        for body in bodies:
            body.place += 0.1 * body.speed
            if k == 1:
                body.place = body.place * body.speed
    return sum([np.sum(body.place**2) for body in bodies])


def shared_by_two(x: Any) -> Any:
    bodies = bodies_of(x)
    bodies[-1].place = bodies[0].place
    for body in bodies:
        body.place += 0.1 * body.speed**2
    return sum([np.sum(body.place**3) for body in bodies])


def by_a_property(x: Any) -> Any:
    bodies = bodies_of(x, Watched)
    for body in bodies:
        body.doubled += body.speed
    return sum([np.sum(body.place**3) for body in bodies])


PROGRAMS = [moved, replaced_by_the_value, rebound_between, shared_by_two, by_a_property]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("fn", PROGRAMS)
def test_gradient_and_tangent(fn: Any, n: int) -> None:
    x = np.linspace(0.3, 0.9, 2 * n).reshape(2, n)
    for layout in (x, np.asfortranarray(x)):
        check_gradient(fn, (layout,))
        check_tangent(fn, (layout,))


def test_no_shadow_is_saved() -> None:
    text = ad.adjoint_source(moved, np.ones((2, 3)))
    assert "Body_place[body] +=" in text and "saved_d_" not in text
