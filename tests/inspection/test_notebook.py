"""Notebooks: what objects show, magics, provenance by cell, autoreload, and a notebook that is run whole."""

import importlib.util
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.core.highlight import highlighted_html, highlighted_lines

HAS_IPYTHON = importlib.util.find_spec("IPython") is not None
needs_ipython = pytest.mark.skipif(not HAS_IPYTHON, reason="needs IPython")
CAN_RUN_NOTEBOOKS = all(map(importlib.util.find_spec, ("nbclient", "nbformat", "ipykernel")))


def area(x, y):
    return np.sum(x * np.exp(y))


def test_sources_show_themselves():
    text = ad.adjoint_source(area, np.ones(3), np.ones(3))
    assert isinstance(text, str) and repr(text) == str(text).rstrip("\n") and repr(text).startswith("import numpy")
    assert text._repr_html_().count("<pre") == 1 and "prefers-color-scheme: dark" in text._repr_html_()
    stage = ad.adjoint_source(area, np.ones(3), np.ones(3), stage="record")
    assert repr(stage) == stage.rstrip("\n") and "<pre" in stage._repr_html_()


def test_gradient_and_jacobian_functions_show_their_text():
    assert "<figcaption>gradient of area by y</figcaption>" in ad.grad(area, 1)._repr_html_()
    for made, name in ((ad.jacfwd, "t_area"), (ad.jacrev, "area_backward"), (ad.hessian, "area")):
        jacobian = made(area)
        jacobian(np.ones(2), np.ones(2))
        assert name in jacobian.source_for(np.ones(2), np.ones(2)) if made is not ad.hessian else True
        assert made is ad.hessian or name in jacobian.source and name in jacobian._repr_html_()


def test_tokens_over_several_lines():
    lines = highlighted_lines('x = """a\nb"""\n# <c>')
    assert lines == [
        'x = <span class="s">"""a</span>',
        '<span class="s">b"""</span>',
        '<span class="c"># &lt;c&gt;</span>',
    ]
    assert highlighted_html("x", "<t>").count("&lt;t&gt;") == 1


def run_in_ipython(folder, code):
    """What a script prints in a process of its own, with an IPython session as `run`."""
    start = """
        import sys, time, numpy as np, autodiff_sct as ad
        from pathlib import Path
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        def run(cell): assert shell.run_cell(cell, store_history=True).success
        sys.path.insert(0, ".")
    """
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "IPYTHONDIR": str(folder / "ipython")}
    script = textwrap.dedent(start) + textwrap.dedent(code)
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], cwd=folder, env=env, capture_output=True, text=True, check=True
    ).stdout


@needs_ipython
def test_provenance_names_the_cell(tmp_path):
    code = """
        run("import numpy as np, autodiff_sct as ad")
        run("def f(x):\\n    y = np.sin(x)\\n    return np.sum(y * x)")
        run("print(ad.adjoint_source(f, np.ones(2), explain=True))")
        run("print(ad.profile(f)(np.ones(3)))")
        run("assert 'In [2]:2' in ad.show(f, np.ones(3)).html")
        run("def halves(x):\\n    yield x / 2")
        run("try: ad.grad(halves)(1.0)\\nexcept ad.AutodiffError as e: print(*e._render_traceback_(), sep='\\\\n')")
    """
    shown = run_in_ipython(tmp_path, code)
    assert "# In [2]:3  return np.sum(y * x)" in shown and "kept: the reverse of In [2]:3 reads y" in shown
    assert "\nIn [2]:2 " in shown and "ipython-input" not in shown
    assert "\n  Cell In [7], line 1, in <module>\n" in shown and ": In [6]:2: in halves\n    yield x / 2\n" in shown


@needs_ipython
def test_magics(tmp_path):
    code = """
        run("import numpy as np, autodiff_sct as ad")
        run("%load_ext autodiff_sct")
        run("%%adjoint\\ndef f(x, k=1):\\n    return np.sum(x**3) * k")
        run("%adjoint f(np.ones(2), k=2)")
        run("%adjoint --wrt 1 f(np.ones(2), 2.0)")
        run("%adjoint --explain --page f(np.ones(2))")
        run("%adjoint --profile f(np.ones(2))")
        run("%%adjoint g(2.0)\\ndef g(x):\\n    return x * x\\ndef h(x):\\n    return x")
    """
    shown = run_in_ipython(tmp_path, code)
    assert shown.count("def d_f(") == 3 and "# In [3]:3  return np.sum(x**3) * k" in shown
    assert "def d_g(x, d_out=1.0):\n    # In [8]:3  return x * x\n" in shown
    assert "<page about the adjoint of f" in shown and "\nf: " in shown


@needs_ipython
def test_autoreload(tmp_path):
    code = """
        text = "import numpy as np\\n\\ndef h(x):\\n    return x * 2\\n"
        text += "\\ndef f(x):\\n    return np.sum(h(x) ** 2)\\n"
        Path("mod.py").write_text(text)
        run("%load_ext autoreload")
        run("%autoreload 2")
        run("import numpy as np, mod, autodiff_sct as ad; g = ad.grad(mod.f); print(g(np.ones(1)))")
        for old, new in (("x * 2", "x * 3"), ("** 2", "** 3"), ("def f", "\\n\\ndef f")):
            text = text.replace(old, new)
            time.sleep(1.1)
            Path("mod.py").write_text(text)
            run("x = np.ones(1); print(ad.grad(mod.f)(x), g(x) == ad.grad(g.fn)(x))")
    """
    lines = run_in_ipython(tmp_path, code).splitlines()
    assert lines == ["[8.]", "[18.] [ True]", "[81.] [ True]", "[81.] [ True]"]


@pytest.mark.skipif(not CAN_RUN_NOTEBOOKS, reason="needs nbclient and ipykernel")
def test_a_notebook_is_run(tmp_path, monkeypatch):
    import nbclient
    import nbformat

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    cells = [
        "import numpy as np, autodiff_sct as ad\n%load_ext autodiff_sct",
        "def f(x):\n    y = np.exp(x)\n    return np.sum(y)",
        "ad.grad(f)",
        "%adjoint f(np.ones(2))",
        "ad.show(f, np.ones(2))",
        "ad.grad(f)(np.zeros(2))",
        "def f(x):\n    return np.sum(x**2)",
        "ad.grad(f)(np.ones(2))",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(
        book, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    shown = [cell.outputs[-1].data if cell.outputs else {} for cell in book.cells]
    assert "d_f" in shown[2]["text/html"] and "gradient of f by x" in shown[2]["text/html"]
    assert "In [2]:2" in shown[3]["text/plain"] and "<pre" in shown[3]["text/html"]
    assert "<iframe" in shown[4]["text/html"] and "In [2]:1" in shown[4]["text/html"]
    assert shown[5]["text/plain"] == "array([1., 1.])" and shown[7]["text/plain"] == "array([2., 2.])"
