"""Loading emitted text: what tracebacks, `inspect` and `parse` see of it, and what is left when it is gone."""

import gc
import inspect
import linecache
import sys
import traceback

import gast
import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.codegen import load as loading
from autodiff_sct.compiler.codegen.load import load, note_origin
from autodiff_sct.compiler.frontend.parse import parse
from autodiff_sct.errors import Origin

DOUBLE = "def double(x):\n    return scale * x\n"


def test_the_function_reads_its_globals_when_called():
    namespace = {"scale": 2}
    double = load(DOUBLE, "double", namespace, "adjoint of model.double")
    assert double(4) == 8
    namespace["scale"] = 3
    assert double(4) == 12
    assert "double" not in namespace and double.__globals__ is namespace


def test_functions_that_call_each_other():
    source = "def one(x):\n    return two(x) + 1\n\n\ndef two(x):\n    return 2 * x\n"
    assert load(source, "one", {}, "pair")(3) == 7


def test_tracebacks_and_inspect_show_the_text():
    function = load(DOUBLE, "double", {}, "adjoint of model.double")
    linecache.checkcache()
    with pytest.raises(NameError) as caught:
        function(1)
    text = "".join(traceback.format_exception(caught.value))
    assert 'File "<adjoint of model.double>", line 2' in text and "return scale * x" in text
    assert inspect.getsource(function) == DOUBLE


def test_parse_knows_the_text_even_without_linecache():
    function = load(DOUBLE, "double", {"scale": 1}, "adjoint of model.double")
    linecache.clearcache()
    parsed = parse(function)
    assert parsed.tree.name == "double" and parsed.file == "<adjoint of model.double>"
    assert parsed.origin(parsed.tree.body[0]).text == "    return scale * x"


def test_parse_knows_functions_inside():
    outer = load("def outer(k):\n    def inner(x):\n        return k * x\n    return inner\n", "outer", {}, "nested")
    inner = outer(2)
    del outer
    gc.collect()
    linecache.clearcache()
    assert isinstance(parse(inner).tree, gast.FunctionDef)


def test_entries_are_shared_by_equal_texts_numbered_otherwise_and_released():
    def name_of(function):
        return function.__code__.co_filename

    first, same = (load(DOUBLE, "double", {}, "some adjoint") for _ in range(2))
    other = load(DOUBLE.replace("scale", "3"), "double", {}, "<some adjoint>")
    assert name_of(first) == name_of(same) == "<some adjoint>" and name_of(other) == "<some adjoint (2)>"
    del first, other
    gc.collect()
    assert "<some adjoint>" in linecache.cache and "<some adjoint (2)>" not in linecache.cache
    del same
    gc.collect()
    assert "<some adjoint>" not in linecache.cache and "<some adjoint>" not in loading._users


def test_a_text_that_does_not_compile_leaves_nothing():
    with pytest.raises(SyntaxError):
        load("def broken(:\n", "broken", {}, "broken")
    with pytest.raises(ZeroDivisionError):
        load("def fails(x=1 / 0): pass\n", "fails", {}, "fails")
    assert not {"<broken>", "<fails>"} & {*linecache.cache, *loading._users}


def test_a_real_file(tmp_path):
    path = tmp_path / "adjoint.py"
    function = load(DOUBLE, "double", {"scale": 5}, "unused", path=path)
    assert function(2) == 10 and path.read_text() == DOUBLE
    assert function.__code__.co_filename == str(path) and parse(function).file == str(path)
    again = load(DOUBLE.replace("scale", "7"), "double", {}, "unused", path=path)
    assert again(2) == 14 and inspect.getsource(again) == path.read_text()


def test_an_expression_thousands_deep():
    deep = "def deep(x):\n    return " + " + ".join(["x"] * 2900) + "\n"
    assert load(deep, "deep", {}, "deep")(1) == 2900


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="the depth that the C compiler takes is fixed since 3.12")
def test_an_expression_deeper_than_the_recursion_limit():
    limit = sys.getrecursionlimit()
    deep = "def deep(x):\n    return " + " + ".join(["x"] * 9000) + "\n"
    assert load(deep, "deep", {}, "deep")(1) == 9000
    assert sys.getrecursionlimit() == limit


def test_a_note_names_the_line_of_the_user():
    function = load("def f(x):\n    y = x + 1\n    y = (\n        y / 0)\n    return y\n", "f", {}, "adjoint of f")
    origins = {
        2: Origin("model.py", 7, 4, 9, "    y = x + 1", "f"),
        3: Origin("model.py", 8, 4, 9, "    y = y / zero", "f"),
    }
    with pytest.raises(ZeroDivisionError) as caught:
        function(1)
    for _ in range(2):
        note_origin(caught.value, origins, "<adjoint of f>")
    emitted = (
        [] if sys.version_info >= (3, 13) else ["In <adjoint of f>: y / 0)"]
    )  # which Python itself shows since 3.13
    assert caught.value.__notes__ == ["\n".join(["From model.py:8, in f: y = y / zero", *emitted])]


def test_no_note_for_exceptions_from_elsewhere():
    error = ValueError()
    note_origin(error, {1: Origin("model.py", 7, 4, 9, "", "f")}, "<adjoint of f>")
    assert not hasattr(error, "__notes__")


def test_a_gradient_runs_from_the_file_that_it_is_saved_to(tmp_path):
    def energy(x):
        return np.sum(x**3) / x[0]

    gradient, path = ad.grad(energy), tmp_path / "d_energy.py"
    with pytest.raises(RuntimeError, match="no call has been made yet"):
        gradient.save(path)
    gradient.save(path, np.ones(3))
    assert "def d_energy(x, d_out=1.0):" in path.read_text()
    ran = []
    sys.settrace(lambda frame, event, arg: ran.append(frame.f_code.co_filename))
    try:
        found = gradient(np.array([1.0, 2.0]))
    finally:
        sys.settrace(None)
    np.testing.assert_allclose(found, [3.0 - 9.0, 12.0])
    assert str(path) in ran
    assert inspect.getsource(gradient.compiled(np.ones(3))) == path.read_text()
    gradient.save(tmp_path / "again.py")
    assert (tmp_path / "again.py").read_text() == path.read_text()


def test_emitted_functions_have_files_where_the_user_wants_them(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTODIFF_SCT_DUMP", str(tmp_path / "adjoints"))

    def energy(x):
        return np.sum(x**3)

    gradient = ad.grad(energy)
    plain = gradient.compiled(np.ones(3))
    np.testing.assert_array_equal(plain(np.array([1.0, 2.0])), [3.0, 12.0])
    written = sorted((tmp_path / "adjoints").iterdir())
    assert plain.__code__.co_filename == str(written[0]) and written[0].read_text() == inspect.getsource(plain)
    assert gradient(2.0) == 12.0  # another text, another file
    assert len([*(tmp_path / "adjoints").iterdir()]) == 2
