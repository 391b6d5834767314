"""Nothing that a function captures outlives it, and an upgrade beside a running process spoils nothing on disk."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tracemalloc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.interp.world import normalized_bodies
from autodiff_sct.core import storage

X = np.ones(3)


class Holder:
    pass


def over_array(big):
    return lambda x: np.sum(x * x) * big[0]


def over_list(big):
    factors = [big, big]
    return lambda x: np.sum(x * x) * factors[1][0]


def over_object(big):
    holder = Holder()
    holder.big = big
    return lambda x: np.sum(x * x) * holder.big[0]


def over_function(big):
    def helper(x):
        return x * big[0]

    return lambda x: np.sum(helper(x) * x)


def over_default(big):
    return lambda x, b=big: np.sum(x * x) * b[0]


DERIVATIVES = {
    "grad": lambda f: ad.grad(f)(X),
    "value_and_grad": lambda f: ad.value_and_grad(f)(X),
    "vjp": lambda f: ad.vjp(f, X)[1](1.0),
    "jvp": lambda f: ad.jvp(f, (X,), (X,)),
    "grad of grad": lambda f: ad.grad(lambda x: np.sum(ad.grad(f)(x)))(X),
}


@pytest.mark.parametrize("kept", ["0", "1"], ids=["cache off", "cache on"])
@pytest.mark.parametrize("derivative", DERIVATIVES.values(), ids=DERIVATIVES)
@pytest.mark.parametrize("make", [over_array, over_list, over_object, over_function, over_default])
def test_what_a_closure_captures_is_freed(make, derivative, kept, monkeypatch, tmp_path):
    monkeypatch.setenv("AUTODIFF_SCT_CACHE", kept)
    monkeypatch.setenv("AUTODIFF_SCT_CACHE_DIR", str(tmp_path / "cache"))
    captured = []
    for k in range(4):
        big = np.full(1000, float(k))
        captured.append(weakref.ref(big))
        derivative(make(big))
        del big
    gc.collect()
    assert sum(found() is not None for found in captured) == 0


def test_texts_go_with_their_code():
    before = len(normalized_bodies.PREPARED)
    for k in range(20):
        space = {"np": np}
        exec(f"def f(x): return np.sum(x * {k}.0)", space)
        with pytest.raises(ad.AutodiffError):
            ad.grad(space["f"])(X)  # without a file, it has no text
    del space
    gc.collect()
    assert len(normalized_bodies.PREPARED) <= before + 1


UPGRADED = """
import sys
import numpy as np
from pathlib import Path
import autodiff_sct as ad
from autodiff_sct.core import storage

changed = Path(storage.PACKAGE) / "installed_later.py"
changed.write_text("")
try:
    print(ad.grad(lambda x: np.sum(x * x))(np.ones(2)), len(storage.files("programs")))
finally:
    changed.unlink()
print(ad.grad(lambda x: np.sum(x * x * x))(np.ones(2)), len(storage.files("programs")))
"""


def test_nothing_is_kept_once_the_package_has_changed(tmp_path):
    """The package is a copy, so that nobody else sees it change."""
    import shutil

    shutil.copytree(storage.PACKAGE, tmp_path / "autodiff_sct", ignore=shutil.ignore_patterns("__pycache__"))
    script = tmp_path / "upgraded.py"
    script.write_text(UPGRADED)
    env = os.environ | {"PYTHONPATH": str(tmp_path), "AUTODIFF_SCT_CACHE_DIR": str(tmp_path / "cache")}
    env.pop("AUTODIFF_SCT_CACHE", None)
    run = subprocess.run([sys.executable, str(script)], env=env, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["[2. 2.] 0", "[3. 3.] 1"]
    assert Path(tmp_path / "cache" / "CACHEDIR.TAG").is_file()


def test_many_closures_leave_nothing() -> None:
    """What is held after some hundreds of closures is what was held after as many before them."""

    def closure(scale: float) -> Any:
        held = np.full(1000, scale)
        return lambda x: np.sum(x * held)

    def run(count: int) -> None:
        for k in range(count):
            assert ad.grad(closure(k + 1.0))(np.ones(1000))[0] == k + 1.0
        gc.collect()

    tracemalloc.start()
    run(200)
    before = tracemalloc.get_traced_memory()[0]
    run(200)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 100_000  # 200 arrays are 1.6 MB


def test_functions_as_arguments_go_with_their_variants() -> None:
    """What a function captures that is an argument is held by no more than the variants that are kept."""

    def call(x: Any, f: Any) -> Any:
        return np.sum(f(x))

    def scaled(values: Any) -> Any:
        return lambda x: x * values[0]

    gradient, held = ad.grad(call), []
    for k in range(160):
        values = np.full(3, k + 1.0)
        held.append(weakref.ref(values))
        assert gradient(X, scaled(values))[0] == k + 1.0
        del values
    gc.collect()
    assert sum(each() is not None for each in held) <= 128
