"""What is refused, where, and with which advice; and that all the rest gets through."""

import linecache
import textwrap

import pytest

from autodiff_sct.compiler.codegen.load import load
from autodiff_sct.compiler.frontend.parse import parse
from autodiff_sct.compiler.frontend.supported_syntax import fence
from autodiff_sct.errors import UnsupportedSyntax

REFUSALS = {
    "yield": ("def f(x):\n    yield x", 2, "generators"),
    "yield from": ("def f(x):\n    yield from x", 2, "generators"),
    "yield in an expression": ("def f(x):\n    y = 1 + (yield)\n    return y", 2, "generators"),
    "async def": ("async def f(x):\n    return x", 1, "asynchronous"),
    "await": ("async def f(x):\n    await x", 1, "asynchronous"),
    "async def inside": ("def f(x):\n    async def g(): pass\n    return x", 2, "asynchronous"),
    "async comprehension": ("def f(x):\n    async def g(): return [i async for i in x]\n    return g", 2, "async"),
    "except*": ("def f(x):\n    try: pass\n    except* ValueError: pass\n    return x", 2, r"except\*"),
    "global by def": ("def f(x):\n    global g\n    def g(): pass\n    return x", 3, "global variable"),
    "global deleted": ("def f(x):\n    global g\n    del g\n    return x", 3, "global variable"),
    "global in an inner function": (
        "def f(x):\n    def h():\n        global g\n        del g\n    return x",
        4,
        "global variable",
    ),
    "global captured": ("def f(x):\n    global g\n    match x:\n        case [g]: pass\n    return x", 4, "global"),
    "exec": ("def f(x):\n    exec('y = 1')\n    return x", 2, "exec"),
    "eval": ("def f(x):\n    return eval('x')", 2, "eval"),
    "locals": ("def f(x):\n    names = locals()\n    return names['x']", 2, "locals"),
    "vars": ("def f(x):\n    return vars()['x']", 2, "vars"),
    "del attribute": ("def f(x):\n    del x.y\n    return x", 2, "deleted"),
    "return in finally": ("def f(x):\n    try: pass\n    finally:\n        return x", 4, "finally"),
    "break in finally": ("def f(x):\n    for i in x:\n        try: pass\n        finally: break", 4, "finally"),
    "bound where control never gets": ("def f(x):\n    if x:\n        return y\n    return x\n    y = 1", 3, "never"),
    "declared where control never gets": (
        "def f(x):\n    while True:\n        x += 1\n    global y\n    return x",
        4,
        "never",
    ),
    "shadowed len": ("def f(x, len):\n    match x:\n        case [a]: return a\n    return x", 2, "`len`"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refused(case):
    text, line, reason = REFUSALS[case]
    function = load(text + "\n", "f", {}, "case")
    with pytest.raises(UnsupportedSyntax, match=reason) as caught:
        fence(parse(function), function.__globals__)
    assert caught.value.origin.line == line and caught.value.remedy
    assert caught.value.origin.text.strip() and isinstance(caught.value, NotImplementedError)


ALLOWED = '''
def f(x, /, y: float = 1.0, *args, k=2, **kwargs) -> float:
    """All that is understood, in one function."""
    import math as m
    from math import sin, cos
    global SCALE
    total, *rest = [x, *args]
    (a, b), c = (1, 2), {**kwargs, "k": k}
    z: float = x
    def inner(q):
        nonlocal total
        total += q
        return lambda t: t + q
    for i, j in enumerate([v for v in rest if v] + [*map(abs, {1, 2})]):
        if not i or j > 1 >= 0 and i is not None:
            continue
        elif (w := i) in (1, 2):
            break
    else:
        pass
    while True:
        try:
            assert x, "message"
            with open(x) as file, m.inf:
                return x[..., None, 1:-1, ::2] @ -y ** 2
        except (ValueError, TypeError) as error:
            raise KeyError(f"{x!r:>{k}}") from error
        else:
            del a, (b, z)
        finally:
            for _ in x:
                if _: break
                continue
        match x:
            case 1 | None: pass
            case [1, *_] | {"a": 2} if x: pass
            case {"b": v, **others}: pass
            case complex(real=0, imag=q) | float(q): return vars(x)
            case _: pass
    return {i: j for i, j in c.items()}, {i for i in c}, (i for i in c), SCALE if x else ~y
'''


def test_what_is_understood():
    function = load(ALLOWED, "f", {}, "allowed")
    fence(parse(function), function.__globals__)


def test_dead_code_that_decides_nothing_is_understood():
    fence(parse(load("def f(x):\n    y = 1\n    return y\n    y = 2\n    z = 3\n", "f", {}, "dead code")))


@pytest.mark.parametrize("name", ["eval", "exec", "locals", "vars"])
def test_functions_of_the_user_may_have_any_name(name):
    texts = [
        f"def f(x, {name}):\n    return {name}()\n",
        f"def f(x):\n    def {name}(): return 1\n    return {name}()\n",
        f"def f(x):\n    from m import {name}\n    return {name}()\n",
    ]
    for text in texts:
        fence(parse(load(text, "f", {}, "own name")))
    own = load(f"def f(x):\n    return {name}()\n", "f", {name: abs}, "own global")
    fence(parse(own), own.__globals__)
    with pytest.raises(UnsupportedSyntax):
        fence(parse(own))
    outer = load(f"def outer({name}):\n    def f(x):\n        return {name}()\n    return f\n", "outer", {}, "closure")
    fence(parse(outer(abs)))


def test_a_shadowed_class_in_a_positional_pattern():
    text = "def f(x):\n    match x:\n        case float(y): return y\n    return x\n"
    fence(parse(load(text, "f", {}, "builtin float")))
    shadowed = load(text, "f", {"float": complex}, "own float")
    with pytest.raises(UnsupportedSyntax, match="float"):
        fence(parse(shadowed), shadowed.__globals__)


def test_the_message_shows_the_line(tmp_path):
    path = tmp_path / "model.py"
    text = textwrap.dedent("""
        def loss(x):
            y = x * 2
            del y.a
            return y
    """)
    function = load(text, "loss", {}, "unused", path=path)
    with pytest.raises(UnsupportedSyntax) as caught:
        fence(parse(function))
    assert str(caught.value).splitlines() == [
        f"{path}:4: in loss",
        "    del y.a",
        "        ^^^",
        "attributes cannot be deleted.",
        "What to do: set the attribute to None.",
        "More: docs/errors.md#unsupported-syntax",
    ]
    linecache.checkcache(str(path))
