"""Operations that rooms of the interpreter share: each declaration has a definition with the same parameters."""

import inspect

import pytest

import autodiff_sct.compiler.derivatives_inside.bootstrap  # noqa: F401  (reads all rooms)
from autodiff_sct.compiler.interp.kernel import operations

pytestmark = pytest.mark.once
DECLARED = [
    fn
    for fn in vars(operations).values()
    if inspect.isfunction(fn) and fn.__module__ == operations.__name__ and fn is not operations.defines
]


@pytest.mark.parametrize("declared", DECLARED, ids=lambda fn: fn.__name__)
def test_each_declaration_is_defined(declared):
    definition = operations.DEFINITIONS[declared.__name__]
    assert list(inspect.signature(definition).parameters) == list(inspect.signature(declared).parameters)


def test_nothing_else_is_defined():
    assert operations.DEFINITIONS.keys() == {fn.__name__ for fn in DECLARED}
