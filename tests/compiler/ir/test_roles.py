"""Roles of variables: what a variable is to a derivative does not depend on what the user calls it."""

import re

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain.facts import FLOAT
from autodiff_sct.compiler.interp.kernel.specialiser import Specialiser
from autodiff_sct.compiler.ir.function import Role

X = np.array([0.1, 0.2, 0.3])
PROGRAMS = {
    "computed_again": """
def f(x, n):
    total = 0.0
    for i in range(n):
        name = x * 2.0 * (0.5 * x)
        total = total + np.sum(np.sin(name) * name)
        x = x * 0.5
    return total
""",
    "written": """
def f(x, n):
    name = np.zeros_like(x)
    for i in range(n):
        name[i] = x[i] * 3.0
        name[i] = name[i] * x[i]
    name = (name + name * x) * 2.0
    other = name.copy()
    other[0] += 1.0
    return np.sum(other * name)
""",
    "list": """
def f(x, n):
    name = []
    for i in range(n):
        name.append(x[i] * x[i])
    s = 0.0
    for i in range(n):
        s += name[i] * 2.0
    return s
""",
}
LIKE = {"d_name": "b_name", "t_name": "b_name", "saved_name": "sobed_name", "took_name": "tuok_name"}


def adjoint(program: str, name: str) -> str:
    text = PROGRAMS[program].replace("name", name)
    source = ad.adjoint_source(ad.from_source(text, {"np": np}), X, 3).replace(name, "name")
    return re.sub(r"<source \d+>", "", source)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("name", LIKE)
def test_names_of_the_users_tell_no_role(program, name):
    assert adjoint(program, name) == adjoint(program, LIKE[name])


def test_a_variable_like_another_has_its_role():
    s = Specialiser()
    x = s.fresh("d_x", FLOAT)
    cotangent = s.fresh_after(Role.COTANGENT, x, FLOAT)
    assert not s.is_cotangent(x)
    assert s.is_cotangent(cotangent) and s.hints[cotangent] == "d_d_x"
    part = s.fresh_like(cotangent, end="_row")
    assert s.is_cotangent(part) and s.hints[part] == "d_d_x_row"
    assert s.is_cotangent(s.fresh("d_out", FLOAT, Role.SEED))
    assert not s.is_tangent(cotangent)
