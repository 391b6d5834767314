"""Programs kept on disk: found again by another process, and never used for anything but what they were made of."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.domain.pass_registry import without
from autodiff_sct.compiler.driver import dispatch, pullbacks
from autodiff_sct.core import process_state
from tests.bank.limits import within
from tests.bank.registry import load_bank

POSIX = pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions are POSIX")
PLAIN = """
import numpy as np

SCALE = 2.0
FLAG = True
NAME = "tanh"
TABLE = np.arange(3.0)


def bend(x, factor=1.5):
    return np.tanh(x) * factor


def loss(x):
    y = bend(x) if FLAG else bend(x) + x
    if NAME == "tanh":
        y = y * SCALE
    return np.sum(abs(y) * TABLE)
"""
X = np.array([0.3, -0.2, 0.5])


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The folder of kept programs."""
    monkeypatch.setenv("AUTODIFF_SCT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("AUTODIFF_SCT_CACHE")
    monkeypatch.setattr(process_state, "REGISTERED", [])  # by other tests
    return tmp_path / "cache" / "programs"


@pytest.fixture
def compilations(monkeypatch):
    """The names of what is compiled, one for each time."""
    made = []

    def counted(cls):
        original = cls.emit

        def emit(self, request):
            made.append(request.name)
            return original(self, request)

        monkeypatch.setattr(cls, "emit", emit)

    counted(dispatch.Compiled)
    counted(pullbacks.Pushforward)
    return made


@pytest.fixture
def user(tmp_path, monkeypatch):
    """Import a text as a module, anew each time: what another process would do."""

    def module(text=PLAIN, name="kept_user"):
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        sys.modules.pop(name, None)
        importlib.invalidate_caches()
        __import__("linecache").checkcache(str(path))
        spec = importlib.util.spec_from_file_location(name, path)
        found = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, found)
        exec(compile(text, str(path), "exec"), found.__dict__)
        return found

    return module


def slope(fn, *args):
    """Central differences of a function of one array."""
    x, *rest = args
    steps = 1e-6 * np.eye(len(x))
    return np.array([(fn(x + h, *rest) - fn(x - h, *rest)) / 2e-6 for h in steps])


def check(fn, *args):
    args = args or (X,)
    np.testing.assert_allclose(ad.grad(fn)(*args), slope(fn, *args), rtol=1e-6, atol=1e-8)


def only(place):
    (found,) = place.glob("*.json")
    return found


# -- found again


def test_a_program_is_compiled_once(place, compilations, user):
    first, second = user(), user()
    check(first.loss)
    check(second.loss)
    assert compilations == ["loss"]
    assert ad.grad(first.loss).source_for(X) == ad.grad(second.loss).source_for(X)


def test_what_a_kept_program_says_of_itself(place, compilations, user):
    compiled, revived = (ad.grad(user().loss).prepared().variant((("x", None),), (X,), (X,), {}) for _ in range(2))
    assert compilations == ["loss"]
    for name in ("text", "count", "tensors", "written", "wrap", "origins", "is_plain"):
        assert getattr(compiled, name) == getattr(revived, name), name
    assert guarded(compiled) == guarded(revived) != []
    assert compiled.emitted.seeds == revived.emitted.seeds


def guarded(variant):
    """The user's names that have to stay what they are."""
    tables = [(g.read.table, g.read.name) for g in variant.emitted.guards if hasattr(g.read, "table")]
    return [name for table, name in tables if table["__name__"] == "kept_user"]


@pytest.mark.parametrize("kind", ["value_and_grad", "vjp", "jvp", "second"])
def test_every_kind_of_derivative_is_kept(place, compilations, user, kind):
    def run(fn):
        if kind == "value_and_grad":
            return ad.value_and_grad(fn)(X)
        if kind == "second":
            return ad.grad(squared(ad.grad(fn)))(X)
        if kind == "jvp":
            return ad.jvp(fn, X, np.ones(3))
        value, pull = ad.vjp(fn, X)
        return value, pull(1.0)

    results = [run(user().loss) for _ in range(2)]
    assert len(compilations) == 1
    assert repr(results[0]) == repr(results[1])


def squared(gradient):
    def total(x):
        return np.sum(gradient(x) * gradient(x))

    return total


def test_gradients_of_gradients_are_kept(place, compilations):
    def cube(x):
        return x * x * x

    assert [ad.grad(ad.grad(cube))(2.0) for _ in range(2)] == [12.0, 12.0]
    assert len(compilations) == 1


def test_arguments_of_another_kind_are_another_program(place, compilations, user):
    for x in (X, X.astype(np.float32)):
        assert ad.grad(user().loss)(x).dtype == x.dtype
    assert len(compilations) == 2


def test_passes_that_are_off_are_part_of_the_name(place, compilations, user):
    check(user().loss)
    with without("canonicalize"):
        check(user().loss)
    assert len(compilations) == 2


def test_exceptions_name_the_lines_of_the_user(place, user):
    text = "import numpy as np\n\n\ndef f(x):\n    y = np.sin(x)\n    return y @ np.ones((2, 2)) @ y\n"
    places = []
    for _ in range(2):
        with pytest.raises(ValueError) as caught:
            ad.grad(user(text).f)(X)
        last = traceback.extract_tb(caught.value.__traceback__)[-1]
        places.append((last.filename, last.lineno))
    assert places[0] == places[1]
    assert places[0][0].endswith("kept_user.py") and places[0][1] == 6


# -- never stale


@pytest.mark.parametrize(
    "old, new",
    [
        ("y * SCALE", "y / SCALE"),
        ("np.tanh(x) * factor", "np.tanh(x) + factor * x"),
        ("FLAG = True", "FLAG = False"),
        ('NAME = "tanh"', 'NAME = "other"'),
        ("factor=1.5", "factor=2.5"),
        ("factor=1.5", "factor=2"),
        ("SCALE = 2.0", "SCALE = 3.0"),
        ("SCALE = 2.0", "SCALE = 3"),
        ("SCALE = 2.0", "SCALE = np.array([2.0, 3.0, 4.0])"),
        ("np.arange(3.0)", "np.arange(3.0) + 1"),
        ("np.arange(3.0)", "np.ones(1)"),
        ("FLAG = True", "FLAG = True\n\n\ndef abs(x):\n    return x * x\n"),
        ("import numpy as np", "import numpy as np\n\ntanh = np.tanh\nnp = type('m', (), vars(np) | {'tanh': np.sin})"),
    ],
)
def test_another_module_gets_its_own_gradient(place, user, old, new):
    check(user().loss)
    changed = user(PLAIN.replace(old, new))
    check(changed.loss)
    check(user().loss)


def test_a_comment_shows_in_the_text(place, user):
    ad.grad(user().loss)(X)
    changed = user(PLAIN.replace("y = y * SCALE", "y = y * SCALE  # scaled"))
    assert "# scaled" in ad.grad(changed.loss).source_for(X)


def test_a_callee_in_another_module(place, compilations, user):
    imports = "import numpy as np\nimport kept_callee\nfrom kept_callee import g\n"
    caller = f"{imports}\n\ndef f(x):\n    return np.sum(g(x) * kept_callee.K)\n"
    for k, body in enumerate(("x * x", "x * x", "x * x * x")):
        user(f"K = 3.0\n\n\ndef g(x):\n    return {body}\n", "kept_callee")
        check(user(caller).f)
        assert len(compilations) == (1, 1, 2)[k]


def test_a_revived_program_follows_what_changes_afterwards(place, compilations, user):
    check(user().loss)
    module = user()
    check(module.loss)
    module.SCALE = 5.0
    check(module.loss)
    assert compilations == ["loss"]
    module.bend = lambda x, factor=1.0: x * x * factor
    check(module.loss)
    module.FLAG = False
    check(module.loss)
    gradient = ad.grad(module.loss)
    gradient(X)
    module.bend.__code__ = (lambda x, factor=1.0: x * factor).__code__
    np.testing.assert_allclose(gradient(X), slope(module.loss, X), rtol=1e-6)


CLOSURES = """
import numpy as np


def make(a, flag):
    def g(x):
        return a * x * x

    def f(x):
        return np.sum(g(x)) * a if flag else np.sum(g(x) + a)

    return f, g


def pair(a, b):
    f, g = make(a, True)
    other = make(b, True)[1]
    return lambda x: f(x) + np.sum(other(x))
"""


def test_closure_variables(place, compilations, user):
    module = user(CLOSURES)
    for a, flag, count in ((2.0, True, 1), (3.0, True, 1), (3.0, False, 2), (np.ones(3), False, 3), (2.0, True, 3)):
        check(module.make(a, flag)[0])
        assert len(compilations) == count


SHARED = """
import numpy as np


def make(a):
    def g(x):
        return a * x * x

    return g


def joined(one, two):
    def f(x):
        return np.sum(one(x) + 3.0 * two(x))

    return f
"""


def test_what_was_one_closure_variable_has_to_be_one_again(place, user):
    module = user(SHARED)
    one = module.make(2.0)
    check(module.joined(one, one))
    check(module.joined(one, module.make(5.0)))
    check(module.joined(module.make(7.0), one))


def test_what_was_one_array_has_to_be_one_again(place, user):
    text = "import numpy as np\n\nA = np.ones(3)\nB = A\n\n\ndef f(x):\n    return np.sum(A * x * x + B * x)\n"
    check(user(text).f)
    check(user(text.replace("B = A", "B = 2 * A")).f)
    check(user(text).f)


def test_users_rules(place, user):
    check(user().loss)
    module = user()

    @ad.rule(module.bend)
    def bend_rule(y, d, x, factor=1.5):
        return d * 100.0

    assert np.all(ad.grad(module.loss)(X)[1:] != slope(module.loss, X)[1:])


# -- what is not kept


@pytest.mark.parametrize(
    "text",
    [
        "class A:\n    k = 2.0\n\n\ndef f(x):\n    return np.sum(x * x) * A.k\n",
        "import types\n\nbox = types.SimpleNamespace(k=2.0)\n\n\ndef f(x):\n    return np.sum(x * x) * box.k\n",
        "def f(x):\n    from math import pi\n\n    return np.sum(x * x) * pi\n",
        "import functools\n\ng = functools.partial(np.multiply, 2.0)\n\n\ndef f(x):\n    return np.sum(g(x) * x)\n",
        "settings = {'k': 2.0}\n\n\ndef f(x):\n    return np.sum(x * x) * settings['k']\n",
    ],
)
def test_what_is_known_by_itself_only_is_not_kept(place, compilations, user, text):
    for _ in range(2):
        check(user("import numpy as np\n\n" + text).f)
    assert len(compilations) == 2
    assert not list(place.glob("*.json"))


def test_switched_off(place, compilations, user, monkeypatch):
    monkeypatch.setenv("AUTODIFF_SCT_CACHE", "0")
    for _ in range(2):
        check(user().loss)
    assert len(compilations) == 2
    assert not place.exists()


# -- files that are not what they should be


def altered(content, key, change):
    head, body = content.split(b"\n", 1)
    entry = json.loads(body)
    entry[key] = change(entry[key])
    return head + b"\n" + json.dumps(entry).encode()


BAD = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "garbage": lambda content: os.urandom(500),
    "one byte": lambda content: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
    "another text": lambda content: altered(content, "parts", lambda _: [["d", "d", "raise SystemExit('run')"]]),
    "no digest": lambda content: content.split(b"\n", 1)[1],
}


@pytest.mark.parametrize("bad", BAD)
def test_damaged_files_are_written_anew(place, compilations, user, bad):
    check(user().loss)
    path = only(place)
    whole = path.read_bytes()
    path.write_bytes(BAD[bad](whole))
    check(user().loss)
    assert len(compilations) == 2
    assert path.read_bytes() == whole
    check(user().loss)
    assert len(compilations) == 2


def test_the_file_of_another_program_is_ignored(place, compilations, user):
    check(user().loss)
    first = only(place)
    ad.grad(user().loss)(X.astype(np.float32))
    (second,) = set(place.glob("*.json")) - {first}
    second.write_bytes(first.read_bytes())
    assert ad.grad(user().loss)(X.astype(np.float32)).dtype == np.float32
    assert len(compilations) == 3


@POSIX
@pytest.mark.parametrize("spoil", ["file", "folder", "base", "link", "pipe"])
def test_files_that_others_may_have_written_are_ignored(place, compilations, user, spoil, tmp_path):
    check(user().loss)
    path = only(place)
    if spoil == "link":
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
    elif spoil == "pipe":
        path.unlink()
        os.mkfifo(path)
    else:
        {"file": path, "folder": place, "base": place.parent}[spoil].chmod(0o777)
    check(user().loss)
    assert len(compilations) == 2


@POSIX
def test_the_folder_is_for_its_owner_only(place, user):
    check(user().loss)
    assert (place.stat().st_mode & 0o777, only(place).stat().st_mode & 0o777) == (0o700, 0o600)


def test_a_folder_that_cannot_be_made(place, user, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AUTODIFF_SCT_CACHE_DIR", str(tmp_path / "file"))
    check(user().loss)


# -- processes and threads

SECOND = """
import sys
import numpy as np
import autodiff_sct as ad
import kept_user

print(ad.grad(kept_user.loss)(np.array([0.3, -0.2, 0.5])).tolist())
print("autodiff_sct.compiler.driver.pipeline" in sys.modules, "gast" in sys.modules)
"""


def process(tmp_path):
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{root}"}
    return subprocess.Popen(
        [sys.executable, "-c", SECOND], env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )


def test_a_second_process_does_not_read_the_compiler(place, user, tmp_path):
    user()
    outputs = [process(tmp_path).communicate()[0].splitlines() for _ in range(2)]
    assert outputs[0][0] == outputs[1][0]
    assert [lines[1] for lines in outputs] == ["True True", "False False"]


def test_processes_side_by_side(place, user, tmp_path):
    user()
    outputs = {p.communicate()[0].splitlines()[0] for p in [process(tmp_path) for _ in range(4)]}
    assert len(outputs) == 1
    assert [p.name for p in place.iterdir()] == [only(place).name]


def test_threads_side_by_side(place, user):
    def run(_):
        return ad.grad(module.loss)(X).tolist()

    module = user()
    with ThreadPoolExecutor(8) as pool:
        assert len({tuple(r) for r in pool.map(run, range(24))}) == 1
    assert [p.name for p in place.iterdir()] == [only(place).name]


@pytest.mark.parametrize("number", range(6))
def test_programs_of_the_bank(place, number):
    programs, _ = load_bank()
    for program in within(programs.values())[number * 17 :: 102]:
        position = program.wrt if len(program.wrt) > 1 else program.wrt[0]
        texts = [ad.grad(program.function, position).source_for(*program.args()) for _ in range(2)]
        assert texts[0] == texts[1], program.name
        outcomes = [repr(ad.value_and_grad(program.function, position)(*program.args())) for _ in range(2)]
        assert outcomes[0] == outcomes[1] or " at 0x" in outcomes[0], program.name
