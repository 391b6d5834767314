"""Desugared functions do what the originals do: traces of events compared on hand-written and on random programs."""

import dataclasses
import pickle
import random
import textwrap

import gast
import pytest

from autodiff_sct.compiler.frontend.builders import statements_in
from autodiff_sct.compiler.frontend.normalize import desugar
from autodiff_sct.compiler.text.unparse import unparse
from autodiff_sct.core import thresholds
from autodiff_sct.errors import UnsupportedSyntax

# Programs speak to a `World`: `t(k)` records an event, `c()` is an unpredictable condition, `m(k)` a context manager
# that may swallow exceptions and may raise on the way out, `e(k)` may raise.


class Exhausted(BaseException):
    """The end of the random bits: stops programs that would not end."""


class World:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.events = []
        self.left = 60

    def t(self, *what):
        self.events.append(what)
        return what[0] if what else None

    def c(self):
        self.left -= 1
        if self.left < 0:
            raise Exhausted
        value = self.random.random() < 0.4
        self.events.append(value)
        return value

    def e(self, k):
        self.events.append(("e", k))
        if self.random.random() < 0.3:
            raise ValueError(k)

    def m(self, k):
        return Manager(self, k, self.random.random() < 0.5, self.random.random() < 0.2)


class Manager:
    def __init__(self, world, k, swallows, raises):
        self.world, self.k, self.swallows, self.raises = world, k, swallows, raises

    def __enter__(self):
        self.world.t("enter", self.k)

    def __exit__(self, kind, error, traceback):
        self.world.t("exit", self.k, kind and kind.__name__)
        if self.raises:
            raise ValueError("exit")
        return self.swallows and kind is ValueError


@dataclasses.dataclass
class Point:
    x: object
    y: object


def compiled(tree):
    # Through the text, as all emitted code goes.
    return compile(unparse(tree), "<test>", "exec")


def outcome_of(code, name, seed, args=()):
    world = World(seed)
    namespace = {"t": world.t, "c": world.c, "e": world.e, "m": world.m, "Point": Point}
    exec(code, namespace)
    try:
        result = "returned", namespace[name](*args)
    except Exhausted:
        result = "exhausted", None
    except Exception as error:
        result = type(error), str(error)
    return result, world.events


def function(text):
    return gast.parse(textwrap.dedent(text)).body[0]


def has_the_form(tree):
    *body, last = tree.body
    for statement in statements_in(body):
        assert not isinstance(statement, (gast.Return, gast.Continue, gast.Match)), gast.dump(statement)
        if isinstance(statement, (gast.For, gast.While)):
            assert not statement.orelse
    if not isinstance(last, gast.Return):
        has_the_form_without_return([last])
    breaks = sum(isinstance(each, gast.Break) for each in statements_in(tree.body))
    allowed = sum(ends_with_break(each) for each in statements_in(tree.body))
    assert breaks == allowed


def has_the_form_without_return(block):
    assert not any(isinstance(each, (gast.Return, gast.Continue, gast.Match)) for each in statements_in(block))


def ends_with_break(loop):
    if not isinstance(loop, (gast.For, gast.While)):
        return False
    last = loop.body[-1]
    return (
        isinstance(last, gast.If)
        and isinstance(last.test, gast.Name)
        and [type(each) for each in last.body] == [gast.Break]
        and not last.orelse
    )


def new_nodes_have_places(tree, old):
    known = {id(node) for node in gast.walk(old)}
    for node in gast.walk(tree):
        if "lineno" in node._attributes and id(node) not in known:
            assert getattr(node, "lineno", None) and getattr(node, "end_lineno", None), gast.dump(node)


def check(tree, seeds, args=((),)):
    before = pickle.dumps(tree)
    new = desugar(tree)
    assert pickle.dumps(tree) == before, "the tree was changed"
    has_the_form(new)
    new_nodes_have_places(new, tree)
    assert gast.dump(desugar(new)) == gast.dump(new), "a second time changes nothing"
    old_code, new_code = compiled(tree), compiled(new)
    for seed in seeds:
        for arguments in args:
            was, now = (
                outcome_of(old_code, tree.name, seed, arguments),
                outcome_of(new_code, tree.name, seed, arguments),
            )
            assert now == was, unparse(tree) + unparse(new)
    return new


PROGRAMS = """
def early():
    if c(): return t(1)
    t(2)
    if c():
        if c(): return t(3)
        t(4)
    else:
        t(5)
    t(6)
    return t(7)

def falls_off():
    if c():
        t(1)
        if c(): return 5
    t(2)

def procedure():
    t(0)
    if c(): return
    for i in range(3):
        if c(): return
        t(i)
    t(9)

def nested_loops():
    for i in range(4):
        for j in range(4):
            if c(): break
            if c(): continue
            t(i, j)
        else:
            t("inner else")
            if c(): continue
            t("after")
        if c(): break
    else:
        t("outer else")
    return t("end")

def continue_in_both():
    while c():
        t(1)
        while c():
            if c():
                if c(): continue
                t(2)
            t(3)
        if c():
            t(4)
            if c(): continue
        t(5)

def return_in_nested_loops():
    for i in range(3):
        t(i)
        while c():
            if c(): return t("deep")
            for k in range(2):
                if c(): return k
                if c(): break
            if c(): break
        else:
            t("no break")
        t("rest")
    return t("end")

def while_else():
    while c():
        if c(): break
        if c(): return 1
    else:
        t("else")
        return 2
    t("after")
    return 3

def for_else_always():
    for i in range(2):
        if c(): continue
        t(i)
    else:
        return t("else")
    t("dead")

def forever():
    while True:
        t(1)
        if c(): return 4
        if c(): continue
        t(2)

def until():
    while True:
        t(1)
        if c(): break
    t(2)
    for i in range(3):
        t(i)
        if c(): break
    else:
        t("else")
    return t(3)

def done_flag():
    done = False
    while True:
        done = c()
        if c():
            continue
        t(1)
        if done: break
    return 1

def in_try():
    try:
        e(1)
        if c(): return 1
        t(2)
    except ValueError:
        t(3)
        if c(): return 2
    else:
        t(4)
        if c(): return 3
    finally:
        t(5)
    t(6)

def handlers_leave():
    try:
        e(1)
    except ValueError:
        return 1
    t(2)
    if c(): return 3
    try:
        e(2)
    except ValueError:
        raise TypeError("other")
    else:
        t(4)
    return 5

def try_in_loop():
    for i in range(5):
        try:
            e(i)
            if c(): continue
            if c(): break
            if c(): return i
        except ValueError:
            if c(): continue
            t("handled")
        finally:
            t("finally")
        t("rest")
    else:
        t("else")
    return t("end")

def in_with():
    with m(1):
        e(1)
        if c(): return 1
        t(2)
    t(3)
    with m(2):
        return t(4)

def exit_raises():
    try:
        with m(1):
            return t(1)
    except ValueError:
        t(2)
    return t(3)

def exit_raises_in_with():
    with m(1):
        with m(2):
            return t(1)
    return t(3)

def exit_of_several():
    for i in range(4):
        with m(1), m(2):
            if c(): break
            if c(): continue
            t(i)
        t("rest")
    else:
        t("else")
    return t("end")

def finally_raises():
    while c():
        try:
            try:
                if c(): break
                if c(): continue
                return t(1)
            finally:
                e(2)
        except ValueError:
            t(3)
        t(4)
    return t(5)

def raises():
    if c():
        raise ValueError("a")
    elif c():
        return 1
    t(2)
    while True:
        if c(): raise KeyError("b")
        t(3)

def user_names(returned=1, result=2):
    stop = skip = 3
    for i in range(3):
        if c(): return stop
        if c():
            if c(): continue
            t(skip)
        t(returned, result)
        if c(): break
    else:
        return result
    return returned

def unusual_tests():
    for i in range(6):
        if not c(): continue
        if c() and not c(): continue
        t(i)

def elifs():
    if c(): return 1
    elif c(): t(2)
    elif c(): return 3
    else: t(4)
    if c(): t(5)
    elif c(): return 6
    return t(7)

def inner_functions():
    def inner(k):
        for i in range(k):
            if c(): return i
        else:
            return 8
    f = lambda k: [t(i) for i in range(k)]
    for i in range(3):
        if c(): continue
        f(inner(i))
    return 1

def dead_code():
    t(1)
    return t(2)
    t(3)
    return t(4)

def dead_in_loop():
    for i in range(3):
        t(i)
        if c():
            break
            t(1)
        continue
        t(2)
    return 1

def break_out_of_reach():
    while c():
        for i in range(2):
            while True: e(1)
            if c(): break
        else: return t(2)
        e(3)
        if c(): return
        if c(): break

def finally_never_falls():
    while c():
        try:
            if c(): break
            t(1)
        except ValueError:
            if c(): continue
        else:
            if c(): return t(2)
        finally:
            raise TypeError("always")

def late_in_a_handler():
    try:
        e(1)
    except ValueError:
        try:
            with m(1):
                return t(2)
        except ValueError:
            t(3)

def always_breaks():
    for i in range(3):
        t(i)
        break
    else:
        t("else")
    while c():
        return t("first")
"""


@pytest.mark.parametrize("tree", gast.parse(PROGRAMS).body, ids=lambda tree: tree.name)
def test_hand_written_programs(tree):
    check(tree, range(150))


MATCHES = """
def values(s):
    match s:
        case 1 | 2: return "small"
        case "a": t("a")
        case None | True: return "singleton"
        case -1.5: return "negative"
        case 3 if c(): t("three")
        case int(): return "int"
        case _: t("other")
    return "end"

def sequences(s):
    match s:
        case []: return "empty"
        case [x]: return x
        case (x, y) if c(): t(x, y)
        case [1, x, *_]: return "one", x
        case [x, [y, z]]: return x, y, z
        case [x, *rest, 9]: return x, rest
        case [_, [y, *ys], *rest]: return y, ys, rest
        case [*items] if len(items) > 3: return items
        case [Point(x=0) as p, *_]: return p
    return "end", s

def classes(s):
    match s:
        case Point(0, 0): return "origin"
        case Point(x=0, y=y): return y
        case Point(x, y) if c(): return x, y
        case Point(x=Point(x=a), y=b): return a, b
        case Point(missing=z): return z
        case str(text): return text
        case float() | complex() as number: return number
        case Point() as p: t("point"); return p
    return "end"

def mappings(s):
    match s:
        case {"kind": "a", "value": v}: return v
        case {"kind": [k, *_], **rest}: return k, rest
        case {1: x, **rest} if c(): return x, rest
        case {}: return "dict"
    return "end"

def options(s):
    match s:
        case [x, 1] | [1, x, 2] | {"x": x}: return x
        case Point(x=x) | [[x]]: return "p", x
    return "end"

def rebinds(s):
    x = "unset"
    match s:
        case [x, 5] if c(): t(x)
        case [s, *x]: t(s, x)
        case s: t(s)
    return s, x

def nested(s):
    for k in range(3):
        match s:
            case [a, b] if c():
                match a:
                    case 1 if c(): continue
                    case n if c(): t(n)
                    case _: break
            case n if c(): return n, k
            case _:
                t("none")
        t("rest")
    else:
        return "else"

def only_guards(s):
    match (s, c()):
        case n, True if c(): return n
        case (x, y): t(x, y)
"""

SUBJECTS = [
    *(0, 1, 2, 3, 7, -1.5, True, None, "a", "ab", b"ab", 2.5, 1j, [], [1], (1, 2), [1, 2, 3], [4, [5, 6]], [4, 5, 9]),
    *([0, [5, 6, 7], 1, 2], range(5), Point(0, 0), Point(0, 4), Point(3, 4), Point(Point(1, 2), 3), [Point(0, 1), 2]),
    *({"kind": "a", "value": 3}, {"kind": "bc"}, {"kind": [1, 2], "more": 4}, {1: 2, 3: 4}, {}, {"x": 6}, [2, 1]),
    *([1, 8, 2], [[3]], [1, 5], {1, 2}, object),
]


@pytest.mark.parametrize("tree", gast.parse(MATCHES).body, ids=lambda tree: tree.name)
def test_match(tree):
    check(tree, range(6), [(subject,) for subject in SUBJECTS])


def test_a_guard_that_fails_has_bound_its_names():
    text = """
    def f(s):
        x = 0
        match s:
            case [x, 1] if t(x) > 5: t("big")
            case _: t("none")
        return x
    """
    check(function(text), [0], [([3, 1],), ([9, 1],), ([3, 2],)])


def test_the_subject_is_evaluated_once():
    text = """
    def f():
        match t(3):
            case 1: return 1
            case 2: return 2
            case n: return n
    """
    new = check(function(text), [0])
    assert unparse(new).count("t(3)") == 1


UNCHANGED = """
def straight(x):
    y = x * 2
    return y

def branches(x):
    if x:
        y = 1
    else:
        y = 2
    return y

def loops(x):
    for i in range(3):
        x = x + i
    while x < 5:
        x = x + 1
        done = x > 2
        if done:
            break
    return x

def no_return(x):
    x[0] = 1

def inner(x):
    def g(y):
        for i in y:
            if i: continue
            return i
    return g(x)
"""


@pytest.mark.parametrize("tree", gast.parse(UNCHANGED).body, ids=lambda tree: tree.name)
def test_what_has_the_form_is_returned_as_it_is(tree):
    assert desugar(tree) is tree


def shown(text):
    return unparse(desugar(function(text))).strip()


def test_one_branch_returns_so_the_rest_is_the_other():
    assert shown("""
    def f(x):
        if x > 0:
            return x
        y = -x
        return y
    """) == textwrap.dedent("""\
    def f(x):
        if x > 0:
            result = x
        else:
            y = -x
            result = y
        return result""")


def test_continue_needs_no_flag_where_a_branch_will_do():
    assert shown("""
    def f(xs):
        s = 0
        for x in xs:
            if x < 0:
                continue
            s += x
        return s
    """) == textwrap.dedent("""\
    def f(xs):
        s = 0
        for x in xs:
            if not x < 0:
                s += x
        return s""")


def test_break_at_the_end_keeps_its_condition():
    assert shown("""
    def f(x):
        while True:
            x = x / 2
            if x < 1:
                break
        return x
    """) == textwrap.dedent("""\
    def f(x):
        while True:
            x = x / 2
            stop = x < 1
            if stop:
                break
        return x""")


def test_break_and_return_share_the_flag_that_ends_the_loop():
    assert shown("""
    def f(xs):
        for x in xs:
            if x < 0:
                return x
            if x > 9:
                break
            g(x)
        return 0
    """) == textwrap.dedent("""\
    def f(xs):
        returned = False
        stop = False
        for x in xs:
            if x < 0:
                result = x
                returned = True
                stop = True
            elif x > 9:
                stop = True
            else:
                g(x)
            if stop:
                break
        if not returned:
            result = 0
        return result""")


def test_nodes_point_to_the_lines_they_come_from():
    tree = desugar(function("def f(x):\n    if x:\n        return 1\n    return 2\n"))
    first, last = tree.body
    assert [first.body[0].lineno, first.orelse[0].lineno, last.lineno] == [3, 4, 4]


def test_many_early_returns_do_not_nest_too_deeply():
    body = "".join(f"    t({k})\n    if c(): return {k}\n" for k in range(300))
    check(function(f"def f():\n{body}    return -1\n"), range(20))
    loop = "".join(f"        t({k})\n        if c(): continue\n        if c(): break\n" for k in range(120))
    check(function(f"def f():\n    for i in range(2):\n{loop}        t('end')\n    return 1\n"), range(20))
    tries = "".join(f"    try: e({k})\n    except ValueError: return {k}\n" for k in range(120))
    check(function(f"def f():\n{tries}    return -1\n"), range(20))


def test_thousands_of_early_returns():
    body = "".join(f"    if c(): return {k}\n" for k in range(3000))
    check(function(f"def f():\n{body}    return -1\n"), range(3))


@pytest.mark.parametrize("leaving", ["return 1", "break", "continue"])
def test_leaving_a_finally_block_is_refused(leaving):
    text = f"def f(x):\n    for i in x:\n        try: g()\n        finally: {leaving}\n    return 2\n"
    with pytest.raises(UnsupportedSyntax, match="finally"):
        desugar(function(text))


class Writer:
    """Writes random programs."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0

    def program(self):
        return "def f():\n" + self.block(1, 0, False, 3)

    def block(self, indent, loops, final, depth):
        size = self.random.randint(1, 4)
        return "".join(self.statement(indent, loops, final, depth) for _ in range(size))

    def statement(self, indent, loops, final, depth):
        self.count += 1
        pad = "    " * indent
        leaving = [] if final else [f"return t({self.count})", "return"]
        if loops:
            leaving += ["break", "continue"] * 2
        choices = [f"t({self.count})", f"e({self.count})"] + (leaving if self.random.random() < 0.5 else [])
        if depth == 0 or self.random.random() < 0.35:
            return f"{pad}{self.random.choice(choices)}\n"
        kind = self.random.choice(["if", "if", "if", "for", "while", "try", "with", "match"])
        return getattr(self, "write_" + kind)(pad, indent, loops, final, depth - 1)

    def write_if(self, pad, indent, loops, final, depth):
        text = f"{pad}if c():\n" + self.block(indent + 1, loops, final, depth)
        if self.random.random() < 0.3:
            text += f"{pad}elif c():\n" + self.block(indent + 1, loops, final, depth)
        if self.random.random() < 0.4:
            text += f"{pad}else:\n" + self.block(indent + 1, loops, final, depth)
        return text

    def write_for(self, pad, indent, loops, final, depth):
        head = f"for i{indent} in range({self.random.randint(0, 3)})"
        return self.write_loop(head, pad, indent, loops, final, depth)

    def write_while(self, pad, indent, loops, final, depth):
        head = self.random.choice(["while c()", "while c()", "while True"])
        return self.write_loop(head, pad, indent, loops, final, depth)

    def write_loop(self, head, pad, indent, loops, final, depth):
        text = f"{pad}{head}:\n{pad}    t({self.count}, c())\n" + self.block(indent + 1, loops + 1, final, depth)
        if self.random.random() < 0.3:
            text += f"{pad}    if c(): break\n"
        if self.random.random() < 0.4:
            text += f"{pad}else:\n" + self.block(indent + 1, loops, final, depth)
        return text

    def write_try(self, pad, indent, loops, final, depth):
        text = f"{pad}try:\n" + self.block(indent + 1, loops, final, depth)
        has_handler = self.random.random() < 0.8
        if has_handler:
            text += f"{pad}except ValueError as error:\n" + self.block(indent + 1, loops, final, depth)
            if self.random.random() < 0.3:
                text += f"{pad}else:\n" + self.block(indent + 1, loops, final, depth)
        if not has_handler or self.random.random() < 0.3:
            text += f"{pad}finally:\n" + self.block(indent + 1, 0, True, depth)
        return text

    def write_with(self, pad, indent, loops, final, depth):
        managers = self.random.choice(["m(1)", "m(2)", "m(1), m(2)"])
        return f"{pad}with {managers}:\n" + self.block(indent + 1, loops, final, depth)

    def write_match(self, pad, indent, loops, final, depth):
        guard = self.random.choice(["", " if c()"])
        text = f"{pad}match [c(), c()]:\n{pad}    case [True, a]{guard}:\n"
        text += self.block(indent + 2, loops, final, depth)
        text += f"{pad}    case [a, b] if c():\n" + self.block(indent + 2, loops, final, depth)
        if self.random.random() < 0.5:
            text += f"{pad}    case _:\n" + self.block(indent + 2, loops, final, depth)
        return text


@pytest.mark.parametrize(("start", "deep"), [(0, 200), (200, 200), (400, 10), (600, 0)])
def test_random_programs(start, deep, monkeypatch):
    monkeypatch.setattr(thresholds, "NESTED_BLOCKS", deep)
    for seed in range(start, start + 200):
        check(function(Writer(seed).program()), range(25))
