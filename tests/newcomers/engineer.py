"""Script of an engineer: the insulation of a wall is chosen by a simulation that was there before."""

import enum
import json
import logging
from dataclasses import dataclass, field

import numpy as np

import autodiff_sct as ad

log = logging.getLogger("house")
CONFIG = json.loads("""{
    "steps": 96, "dt": 900.0, "cells": 24, "price": {"energy": 0.32, "insulation": 55.0},
    "layers": [
        {"name": "plaster", "thickness": 0.015, "conductivity": 0.70, "capacity": 1.4e6},
        {"name": "insulation", "thickness": 0.10, "conductivity": 0.035, "capacity": 3.0e4},
        {"name": "brick", "thickness": 0.24, "conductivity": 0.45, "capacity": 1.3e6}
    ]
}""")


class Mode(enum.Enum):
    HEATING = "heating"
    IDLE = "idle"


@dataclass
class Layer:
    name: str
    thickness: float
    conductivity: float
    capacity: float

    def __post_init__(self):
        if self.thickness <= 0:
            raise ValueError(f"{self.name}: a layer of {self.thickness} m")


class Wall:
    """Temperatures of the cells of a wall, by an implicit step (Thomas's algorithm)."""

    def __init__(self, layers, cells, start):
        self.layers = layers
        total = sum(layer.thickness for layer in layers)
        self.dx = total / cells
        self.conductivity = np.zeros(cells)
        self.capacity = np.zeros(cells)
        for i in range(cells):
            layer = self._layer_at((i + 0.5) / cells)
            self.conductivity[i] = layer.conductivity
            self.capacity[i] = layer.capacity
        self.temperature = np.full(cells, start)

    def _layer_at(self, share):
        """Layers share the cells as their numbers are, whatever their thickness."""
        return self.layers[min(int(share * len(self.layers)), len(self.layers) - 1)]

    def step(self, dt, inside, outside):
        n = len(self.temperature)
        each = n // len(self.layers)
        widths = np.array([layer.thickness for layer in self.layers]).repeat(each) / each
        between = 2.0 / (widths[1:] / self.conductivity[1:] + widths[:-1] / self.conductivity[:-1])
        heat = self.capacity * widths / dt
        lower, upper = -between.copy(), -between.copy()
        diagonal = heat.copy()
        diagonal[1:] += between
        diagonal[:-1] += between
        right = heat * self.temperature
        diagonal[0] += 8.0
        right[0] += 8.0 * inside
        diagonal[-1] += 25.0
        right[-1] += 25.0 * outside
        for i in range(1, n):
            w = lower[i - 1] / diagonal[i - 1]
            diagonal[i] -= w * upper[i - 1]
            right[i] -= w * right[i - 1]
        self.temperature[-1] = right[-1] / diagonal[-1]
        for i in range(n - 2, -1, -1):
            self.temperature[i] = (right[i] - upper[i] * self.temperature[i + 1]) / diagonal[i]
        return 8.0 * (inside - self.temperature[0])


@dataclass
class Room:
    temperature: float = 19.0
    mode: Mode = Mode.IDLE
    energy: float = 0.0
    history: list = field(default_factory=list)

    def control(self, wanted):
        if self.temperature < wanted - 0.5:
            self.mode = Mode.HEATING
        elif self.temperature > wanted + 0.5:
            self.mode = Mode.IDLE
        return 60.0 if self.mode is Mode.HEATING else 0.0


def weather(step):
    return 2.0 + 6.0 * np.sin(2 * np.pi * (step - 36) / 96)


def simulate(thickness, conductivity, power, config=CONFIG):
    layers = []
    for entry in config["layers"]:
        layer = Layer(**entry)
        if layer.name == "insulation":
            layer.thickness = thickness
            layer.conductivity = conductivity
        layers.append(layer)
    wall = Wall(layers, config["cells"], 15.0)
    room = Room()
    for step in range(config["steps"]):
        heating = room.control(20.0) * power
        loss = wall.step(config["dt"], room.temperature, weather(step))
        room.temperature += config["dt"] * (heating - loss) / 4e4
        room.energy += heating * config["dt"] / 3.6e6
        room.history.append(room.temperature)
        log.debug("step %d: %.2f", step, room.temperature)
    discomfort = np.mean((np.array(room.history) - 20.0) ** 2)
    price = config["price"]
    return room.energy * price["energy"] * 200 + price["insulation"] * thickness + 10.0 * discomfort


design = (0.10, 0.035, 1.1)
cost = simulate(*design)
value, gradient = ad.value_and_grad(simulate, (0, 1, 2))(*design)
assert value == cost
print(f"cost {cost:.3f}")
for i, name in enumerate(["thickness", "conductivity", "power"]):
    step = 1e-6 * design[i]
    up, down = list(design), list(design)
    up[i] += step
    down[i] -= step
    difference = (simulate(*up) - simulate(*down)) / (2 * step)
    print(f"{name:>14} {gradient[i]:12.5f} {difference:12.5f}")
    np.testing.assert_allclose(gradient[i], difference, rtol=1e-4)

curvature = ad.grad(lambda t: ad.grad(simulate)(t, 0.035, 1.1))(0.10)
slope = ad.grad(simulate)
difference = (slope(0.10 + 1e-5, 0.035, 1.1) - slope(0.10 - 1e-5, 0.035, 1.1)) / 2e-5
np.testing.assert_allclose(curvature, difference, rtol=1e-3)

# What the simulation raises is raised, in the words of the simulation.
try:
    ad.grad(simulate)(0.1, 0.035, 1.0, dict(CONFIG, layers=[dict(CONFIG["layers"][0], thickness=-1.0)]))
except ValueError as error:
    assert str(error) == "plaster: a layer of -1.0 m"
else:
    raise AssertionError("no error")
