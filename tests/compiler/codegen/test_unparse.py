"""Text that means the same tree, with the fewest parentheses, comments and lines of a readable length."""

import ast
import pathlib
import sysconfig
import time

import gast
import pytest

from autodiff_sct.compiler.text.unparse import WIDTH, broken, printed, unparse

LIBRARY = sorted(pathlib.Path(sysconfig.get_path("stdlib")).glob("*.py"))


@pytest.mark.parametrize("file", LIBRARY[::3], ids=lambda file: file.stem)
def test_the_standard_library(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for same in (tree, gast.ast_to_gast(tree)):
        assert ast.dump(ast.parse(unparse(same))) == ast.dump(tree)


# Each is printed as it is written.
EXPRESSIONS = """
a - (b - c)
a - b - c
a - (b + c) + d
a * (b + c)
a * b + c
(a + b) * c
a / (b * c)
a / b * c
a // b % c
a @ b @ c
a @ (b @ c)
(a ** b) ** c
a ** b ** c
(-x) ** 2
-x ** 2
2 ** -x
2 ** -x ** 2
(-1) ** n
-x * y
-(x * y)
--x
~-x
not a
not (a and b)
not a and b
(not a) + b
a and (b and c)
a or b and c
(a or b) and c
a < b <= c
(a < b) < c
a < (b < c)
a is not b
a not in b
(a if b else c) + d
a if b else c
a if b else c if d else e
(a if b else c) if d else e
a if (b if c else d) else e
lambda: 1
lambda x, y=2, *a, k, **kw: x + y
lambda x, /, y: x
(lambda x: x)(1)
(lambda: x) if c else y
[lambda: x, y]
f(x)(y)
f(*a, b, *c, k=1, **d)
f(x for x in y)
f((x for x in y), z)
f((yield))
f((x := 1))
(x := 1) + 2
x[1:-1, ::2]
x[..., None]
x[a, b]
x[a,]
x[()]
x[(a, b), c]
x[:]
x[a:b:c]
x[a if b else c]
x[-1]
x[(a := 1)]
x.y.z
(a + b).c
(-a).b
(1).real
1.0.real
(3).bit_length()
f(x).y[z]
[a, b]
[]
()
(a,)
(a, b)
{a: b, **c}
{a, b}
{}
[x for x in y if a if b]
[x for x, y in z]
[(a, b) for a in b]
{x: y for x in z}
{x for x in y}
[x for x in (a if b else c)]
[x for x in y if (a if b else c)]
"text" + "it's" + '"'
b'bytes'
1.0
1e+20
0.1
-1
1j
None
True
...
a | b ^ c & d
(a | b) & c
a << b + c
(a << b) + c
a, *b
a == (b, c)
(a, b) == c
await x ** 2
await x.y
await (a + b)
"""


@pytest.mark.parametrize("text", EXPRESSIONS.strip().splitlines())
def test_parentheses_are_minimal(text):
    # `await` needs a coroutine around it, `yield` any function.
    whole = f"async def f():\n    {text}\n"
    tree = ast.parse(whole)
    lines = unparse(tree).splitlines()
    assert lines[1].strip() == {"(a, b)": "a, b"}.get(text, text)
    assert ast.dump(ast.parse(unparse(gast.ast_to_gast(tree)))) == ast.dump(tree)


STATEMENTS = """
a = b = c
a, b = c, d
a, *b = c
(a,) = b
a = (b,)
a = ()
a = [b, c]
a += 1
a @= b
a = yield
x: int = 1
(x): int
x.y: int = 1, 2
return
return a
return a, b
return (a,)
return a, *b
return a if b else c
del a, b
del (a, b)
assert a, b
assert (a, b)
raise A from b
raise
import a.b as c, d
from . import a
from ..a import b as c
global a, b
nonlocal a
pass
f(a)
"""


@pytest.mark.parametrize("text", STATEMENTS.strip().splitlines())
def test_statements(text):
    tree = ast.parse(f"def f():\n    {text}\n")
    if text == "nonlocal a":
        tree = ast.parse(text)
    assert unparse(tree).splitlines()[-1].strip() == text
    assert unparse(gast.ast_to_gast(tree)).splitlines()[-1].strip() == text


BLOCKS = '''"""A module."""
import numpy as np


def f(x: int, *a: float, k=1, m: int = 2, **kw) -> int:
    """What it does.

    More of it.
    """
    if (n := x):
        y = 1
    elif x:
        y = 2
    else:
        y = 3
    for i, j in zip(x, y):
        while True:
            break
        else:
            continue
    for i in (1, 2):
        pass
    with a as b, c as (d, e):
        pass
    try:
        pass
    except (A, B) as error:
        pass
    except A:
        pass
    else:
        pass
    finally:
        pass

    @g
    @h(1)
    def inner():
        return 1

    return inner


class A(B, metaclass=C):
    x = 1

    def f(self):
        pass

    def g(self):
        pass


match x:
    case [1, *rest] if rest:
        pass
    case {"a": 1}:
        pass
    case _:
        pass
'''


def test_blocks():
    expected = BLOCKS.replace("if (n := x):", "if n := x:").replace('{"a": 1}', "{'a': 1}")
    assert unparse(ast.parse(BLOCKS)) == expected
    assert unparse(gast.parse(BLOCKS)) == expected


def test_docstrings_that_need_escapes():
    for value in ("a\\b", 'ends with "', 'has """ inside', "tab\t", "line\n  two"):
        tree = ast.parse("def f():\n    pass")
        tree.body[0].body = [ast.Expr(ast.Constant(value))]
        assert ast.get_docstring(ast.parse(unparse(tree)).body[0], clean=False) == value


@pytest.mark.parametrize(
    "value",
    [
        float("inf"),
        -float("inf"),
        1e400j,
        -0.0,
        -1,
        -1.5,
        2**70,
        1 + 2j,
        -1j,
        complex(-0.0, 1),
        (1, 2.0),
        (1,),
        (),
        "a'b\"c",
        b"x",
        None,
    ],
)
def test_constants_of_any_value(value):
    power = ast.BinOp(ast.Constant(value), ast.Pow(), ast.Constant(2))
    assert repr(eval(unparse(ast.Expression(ast.Constant(value))))) == repr(value)
    if isinstance(value, (int, float)):
        assert eval(unparse(power)) == value**2
    assert unparse(ast.Constant(float("nan"))) == 'float("nan")'


def test_a_node_alone():
    assert unparse(ast.parse("a + b").body[0].value) == "a + b"
    assert unparse(ast.parse("a = b").body[0]) == "a = b\n"
    assert unparse(gast.parse("def f(x): return x").body[0]) == "def f(x):\n    return x\n"


def test_formatted_strings():
    for text in ("f'{a}b{c!r:>{d}}'", "f'{a[\"b\"]}'", "f'{{}}{a:.2f}'", 'f"{a if b else c}"', "f'{(lambda: 1)}'"):
        tree = ast.parse(text)
        assert ast.dump(ast.parse(unparse(tree))) == ast.dump(tree)
        assert ast.dump(ast.parse(unparse(gast.ast_to_gast(tree)))) == ast.dump(tree)


def test_comments_and_the_statements_of_lines():
    tree = gast.parse("def f(x):\n    y = x\n    if y:\n        return x\n    elif x:\n        z = 1\n    return y\n")
    first, choice, last = tree.body[0].body
    first.comment = "model.py:14  y = x"
    choice.orelse[0].comment = "the other"
    text, statements = printed(tree, {id(last): "one\ntwo"})
    assert text == (
        "def f(x):\n    # model.py:14  y = x\n    y = x\n    if y:\n        return x\n    # the other\n    elif x:\n"
        "        z = 1\n    # one\n    # two\n    return y\n"
    )
    assert statements[3] is first and statements[4] is choice and statements[11] is last
    assert statements[7] is choice.orelse[0] and statements[1] is tree.body[0]
    lines = text.splitlines()
    assert all(
        lines[line - 1].lstrip().startswith(("def", "y =", "if", "return", "elif", "z =")) for line in statements
    )


def test_lines_of_statements_after_long_lines_and_strings():
    long = "total = combine(" + ", ".join(f"argument_{k}" for k in range(30)) + ")"
    tree = ast.parse(f'def f():\n    """Doc\n\n    string."""\n    {long}\n    x = "a\\nb"\n    return x\n')
    text, statements = printed(tree)
    for line, statement in statements.items():
        if isinstance(statement, ast.Return):
            assert text.splitlines()[line - 1] == "    return x"
    assert ast.dump(ast.parse(text)) == ast.dump(tree)


LONG = [
    "total = combine(" + ", ".join(f"argument_{k}" for k in range(30)) + ")",
    "return d_alpha, np.sum(" + " + ".join(f"(weight_{k} * value_{k})" for k in range(12)) + ")",
    "x = [" + ", ".join(f'"string, with (comma {k}"' for k in range(20)) + "]",
    "x = f(" + ", ".join(f"{{'key {k}': [1, 2, 3], 'other': lambda x, y: x - y}}" for k in range(9)) + ")",
    "if combine(" + " and ".join(f"condition_{k} < limit" for k in range(12)) + "):\n        pass",
    "def g(" + ", ".join(f"argument_{k}=({k}, -{k})" for k in range(20)) + "):\n        pass",
]


@pytest.mark.parametrize("text", LONG)
def test_long_lines_are_broken(text):
    tree = ast.parse(f"def f():\n    {text}\n")
    shown = unparse(tree)
    assert max(map(len, shown.splitlines())) <= WIDTH
    assert ast.dump(ast.parse(shown)) == ast.dump(tree)


def test_lines_that_cannot_be_broken_are_left():
    for line in ("x = " + "a" * 200, "# " + "a, " * 100, 'x = f(f"{a, b}", "' + "b, " * 60 + '")'):
        assert broken(line) == [line]


def test_type_parameters():
    text = "def f[T: int, *Ts, **P](x: T) -> T:\n    return x\n\n\ntype A[T] = list[T]\n\n\nclass B[T](C):\n    pass\n"
    try:
        tree = ast.parse(text)
    except SyntaxError:
        pytest.skip("needs Python 3.12")
    assert ast.dump(ast.parse(unparse(tree))) == ast.dump(tree)
    assert ast.dump(ast.parse(unparse(gast.ast_to_gast(tree)))) == ast.dump(tree)


def test_trees_thousands_deep():
    tree = ast.parse("x = " + " + ".join(["a"] * 2000)).body[0]
    for _ in range(3000):
        tree.value = ast.UnaryOp(ast.USub(), tree.value)
        tree.value = ast.BinOp(ast.Name("b", ast.Load()), ast.Sub(), tree.value)
    assert unparse(tree).count("(") == 3000
    assert len(unparse(ast.parse("x = " + " + ".join(["a"] * 2000)))) > 7000


def test_it_is_fast():
    text = "def f(x):\n" + "    y = np.sin(x[1:-1] * 2 + k) @ (w + b) - np.mean(x ** 2, axis=0)\n" * 30
    tree = ast.parse(text)
    unparse(tree)
    best = min(_seconds(unparse, tree) for _ in range(5))
    assert best < 0.01, best


def _seconds(function, *args):
    start = time.perf_counter()
    function(*args)
    return time.perf_counter() - start
