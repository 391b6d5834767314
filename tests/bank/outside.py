"""What lives outside the call: globals, attributes of classes, closure variables and dicts that are read and assigned."""

import copy

import numpy as np

from tests.bank.registry import program

calls = 0
scale = 2.0
latest = 0.0
OPTIONS = {"rate": 0.5, "steps": 3}
PARAMETERS = {"a": 2.0, "b": np.array([1.0, -1.0])}
STATE = {"calls": 0, "best": 10.0}
LOG = []


def vector(rng):
    return (rng.uniform(0.3, 1.7, size=4),)


def scaled(x):
    global calls
    calls += 1
    return x * scale


@program(vector)
def counts_its_calls(x):
    global calls, latest
    before = calls
    total = 0.0
    for v in x:
        total += scaled(v) * (calls - before)
        latest = total
    return total * latest


@program(vector, tags={"second"})
def global_that_is_put_back(x):
    global scale
    old = scale
    scale = x[0] * old
    try:
        return np.sum(scaled(x) ** 2)
    finally:
        scale = old


@program(vector)
def global_assigned_on_one_path(x):
    global first
    if x[0] > 0.1:
        first = x[0]
    return np.sum(x**2)


@program(vector)
def global_beside_a_variable_of_its_name(x):
    scale = x[1]

    def inner():
        global scale
        return scale

    return inner() * np.sum(x) * scale


class Model:
    made = 0
    rate = 0.5

    def __init__(self, w):
        self.w = w
        Model.made += 1

    @classmethod
    def reset(cls):
        cls.made = 0

    def __call__(self, x):
        return self.w * x * self.rate * type(self).made


class Shifted(Model):
    pass


@program(vector)
def counts_its_objects(x):
    Model.reset()
    first, second = Model(x[0]), Shifted(x[1])
    second.rate = 2.0
    return first(x[2]) + second(x[3]) * Shifted.made


@program(vector)
def class_attribute_that_is_put_back(x):
    Model.reset()
    model = Model(x[0])
    Model.rate = x[1]
    result = model(x[2])
    Model.rate = 0.5
    return result * model(x[3])


def counted():
    count = 0
    last = 0.0

    def call(x):
        nonlocal count, last
        count += 1
        last = x[0] * x[1]
        return last * np.sum(x)

    return call


program(vector, name="closure_variable_outside", topic="outside")(counted())


def stepped(x, rate=1.0, steps=1):
    for _ in range(steps):
        x = x - rate * np.sin(x)
    return x


@program(vector, tags={"second"})
def settings_in_a_dict(x):
    other = {**OPTIONS, "rate": x[0]}
    more = OPTIONS.copy()
    more["rate"] *= x[1]
    return np.sum(stepped(x, **OPTIONS) * stepped(x, **other) * stepped(x, **more)) * OPTIONS["rate"]


@program(vector)
def parameters_in_a_dict(x):
    p = dict(PARAMETERS)
    p["a"] = x[0]
    q = copy.deepcopy(PARAMETERS)
    q["b"] *= x[1]
    r = PARAMETERS | {"a": x[2]}
    return p["a"] * r["a"] * np.sum(q["b"] ** 2) * np.sum(PARAMETERS["b"] ** 2) + q["a"]


@program(vector)
def state_in_a_dict(x):
    STATE["calls"] += 1
    STATE["best"] = 10.0
    for v in x:
        if v < STATE["best"]:
            STATE["best"] = v
    STATE["last"] = x[0]
    return STATE["best"] * STATE["last"] * x[1]


@program(vector)
def writes_a_log(x):
    y = x * 1.0
    for k in range(3):
        y = y * np.cos(y)
        LOG.append(float(np.sum(y)))
        LOG.append(y)
    return np.sum(y)
