"""State machines: members of an Enum that depend on the path."""

import enum
import math

import numpy as np

from tests.bank.registry import program


class Mode(enum.Enum):
    HEAT = "heat"
    COOL = "cool"
    OFF = None


class Thermostat:
    """A controller with hysteresis, as simulations of buildings have."""

    power = {Mode.HEAT: 1.5, Mode.COOL: -0.8, Mode.OFF: 0.0}

    def __init__(self):
        self.mode = Mode.OFF
        self.record = []

    def step(self, temperature):
        if temperature < 19.0:
            self.mode = Mode.HEAT
        elif temperature > 22.0:
            self.mode = Mode.COOL
        elif self.mode is Mode.COOL and temperature < 21.0:
            self.mode = Mode.OFF
        self.record.append(self.mode)
        return self.power[self.mode]


@program(args=lambda rng: (18.5, 0.11), wrt=(0, 1), tags={"second"})
def modes_of_a_controller(temperature, loss):
    control = Thermostat()
    energy = 0.0
    for hour in range(24):
        outside = 15.0 + 12.0 * math.sin(0.26 * hour)
        heat = control.step(temperature)
        temperature = temperature + heat - loss * (temperature - outside)
        if control.mode in (Mode.HEAT, Mode.COOL):
            energy = energy + heat**2 * temperature
    return energy + temperature**2 * sum(mode is Mode.OFF for mode in control.record)


@program(args=lambda rng: (1.3, rng.normal(size=3)), wrt=(0, 1))
def mode_of_two_paths(level, x):
    mode = Mode.HEAT if level > 1.0 else Mode.COOL
    scale = np.exp(level) if mode == Mode.HEAT else level
    return np.sum(x**2) * scale if mode.value == "heat" else np.sum(x)
