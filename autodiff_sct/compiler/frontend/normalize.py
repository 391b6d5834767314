"""Control flow in one form.

The stages after this one need to know six things only, which hold for every tree that `desugar` returns:

1. `return` is the last statement of the function and stands nowhere else;
2. there is no `continue`, and `break` occurs only as ``if <name>: break`` at the end of a loop's body;
3. no loop has an `else`;
4. there is no `match`;
5. branches nest no deeper than Python can read;
6. everything else is as the user wrote it, and nested functions are untouched.

Nested branches are preferred to flags, and a function that has the form already is returned as it is. New nodes carry
the place in the source of what they come from. The given tree is not changed, and shares its expressions with the
new one.

>>> import gast
>>> from autodiff_sct.compiler.text.unparse import unparse
>>> before = '''
... def first_above(values, bound):
...     for value in values:
...         if value > bound:
...             return value
...     return bound
... '''
>>> print(unparse(desugar(gast.parse(before).body[0])), end="")
def first_above(values, bound):
    returned = False
    for value in values:
        if value > bound:
            result = value
            returned = True
        if returned:
            break
    if not returned:
        result = bound
    return result
"""

from __future__ import annotations

import gast

from autodiff_sct.compiler.frontend.builders import Names
from autodiff_sct.compiler.frontend.deep_branches import without_deep_branches
from autodiff_sct.compiler.frontend.early_exits import single_exit
from autodiff_sct.compiler.frontend.pattern_matching import without_match
from autodiff_sct.core.deep_stack import deeply


def desugar(tree: gast.FunctionDef) -> gast.FunctionDef:
    """Return a function that does the same in the form above.

    Raises
    ------
    UnsupportedSyntax
        If a `finally` block is left by `return`, `break` or `continue`.
    """
    return deeply(_desugar, tree)


def _desugar(tree: gast.FunctionDef) -> gast.FunctionDef:
    names = Names(tree)
    return without_deep_branches(single_exit(without_match(tree, names), names), names)
