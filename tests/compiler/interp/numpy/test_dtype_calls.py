"""What NumPy tells of dtypes decides while compiling, as the run would, for every dtype that comes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

ARGUMENTS: dict[str, Any] = {
    "float64": np.linspace(0.1, 0.9, 5),
    "float32": np.linspace(0.1, 0.9, 5, dtype=np.float32),
    "float16": np.linspace(0.1, 0.9, 5, dtype=np.float16),
    "complex128": np.linspace(0.1, 0.9, 5) + 0.5j,
    "matrix": np.linspace(0.1, 0.9, 6).reshape(2, 3).T,
    "scalar": np.float32(0.7),
    "float": 0.7,
}
ANSWERS: list[Callable[[Any], Any]] = [
    lambda x: np.issubdtype(np.asarray(x).dtype, np.floating),
    lambda x: np.result_type(x, np.float32) == np.float32,
    lambda x: np.result_type(x, 1.0) == np.float64,
    lambda x: np.result_type(x, 1j).kind == "c",
    lambda x: np.result_type(np.asarray(x).dtype, "f4").itemsize,
    lambda x: np.promote_types(np.asarray(x).dtype, np.int64).itemsize,
    lambda x: np.can_cast(np.asarray(x).dtype, np.float32),
    lambda x: np.can_cast(np.asarray(x).dtype, np.float32, casting="same_kind"),
    lambda x: np.finfo(np.asarray(x).dtype).bits,
    lambda x: np.finfo(np.asarray(x).dtype).eps * 2,
    lambda x: np.iinfo(np.int8).max,
    lambda x: np.iscomplexobj(x),
    lambda x: np.isrealobj(x * 1j),
    lambda x: np.isscalar(x),
    lambda x: np.isscalar(np.sum(x)),
    lambda x: np.common_type(np.asarray(x)) is np.float64,
    lambda x: np.dtype(np.asarray(x).real.dtype).type(3) / 2,
    lambda x: np.dtype("float32") == np.asarray(x).dtype,
]  # fmt: skip


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("k", range(len(ANSWERS)))
def test_answer(k: int, name: str) -> None:
    answer, x = ANSWERS[k], ARGUMENTS[name]

    def weighted(x: Any) -> Any:
        told = answer(x)
        return np.real(np.sum(x)) * (3.0 if told is True else 5.0 if told is False else float(told))

    def chosen(x: Any) -> Any:
        return np.real(np.sum(x)) if answer(x) else 2.0 * np.real(np.sum(x))

    for fn in (weighted, chosen):
        value, gradient = ad.value_and_grad(fn)(x)
        assert value == fn(x)
        factor = (
            (3.0 if answer(x) is True else 5.0 if answer(x) is False else float(answer(x)))
            if fn is weighted
            else (1.0 if answer(x) else 2.0)
        )
        np.testing.assert_allclose(gradient, np.full(np.shape(x), factor), rtol=1e-3 if name == "float16" else 1e-6)


def test_the_text_decides_nothing_that_dtypes_decide() -> None:
    def fn(x: Any) -> Any:
        if not np.issubdtype(x.dtype, np.floating) or np.finfo(x.dtype).bits < 64:
            x = x.astype(np.result_type(x.dtype, np.float64))
        return np.sum(x**2)

    source = ad.adjoint_source(fn, ARGUMENTS["float64"])
    assert "if " not in source and ".dtype" not in source
    assert "astype" in ad.adjoint_source(fn, ARGUMENTS["float32"])


def test_what_numpy_refuses_is_raised() -> None:
    with pytest.raises(ValueError) as numpys:
        np.finfo(np.dtype("int32"))
    with pytest.raises(ValueError, match=re.escape(str(numpys.value))):
        ad.grad(lambda x: np.sum(x) * np.finfo(np.dtype("int32")).eps)(ARGUMENTS["float64"])
