"""Gradients with respect to pandas and xarray objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

pd = pytest.importorskip("pandas")
xr = pytest.importorskip("xarray")

RNG = np.random.default_rng(2)
X = pd.DataFrame(RNG.normal(size=(130, 3)), columns=["mass", "age", "height"])
W = pd.Series([0.3, -1.2, 0.7], index=X.columns, name="weights")
FIELD = xr.DataArray(RNG.normal(size=(3, 4)), coords={"time": [1.0, 2.0, 4.0]}, dims=("time", "place"), name="heat")


def loss(w: Any, x: Any) -> Any:
    return np.sum(np.tanh(x @ w) ** 2)


def expected(position: int) -> Any:
    return ad.grad(loss, position)(W.to_numpy(), X.to_numpy())


def test_a_series() -> None:
    found = ad.labelled(ad.grad(loss))(W, X)
    pd.testing.assert_series_equal(found, pd.Series(expected(0), index=X.columns, name="weights"))


def test_a_frame_by_keyword_with_the_value() -> None:
    value, (d_w, d_x) = ad.labelled(ad.value_and_grad(loss, (0, 1)))(W, x=X)
    assert value == loss(W.to_numpy(), X.to_numpy())
    pd.testing.assert_frame_equal(d_x, pd.DataFrame(expected(1), columns=X.columns))
    assert list(d_w.index) == ["mass", "age", "height"]


def test_an_array_beside_a_frame_stays_an_array() -> None:
    found = ad.labelled(ad.grad(loss, argnums=(0,)))(W.to_numpy(), X)
    assert type(found) is tuple and type(found[0]) is np.ndarray


def test_a_data_array() -> None:
    found = ad.labelled(ad.grad(lambda field: np.sum(np.diff(field, axis=0) ** 2)))(FIELD)
    assert isinstance(found, xr.DataArray) and found.dims == FIELD.dims and found.name == "heat"
    np.testing.assert_array_equal(found.coords["time"], FIELD.coords["time"])
    np.testing.assert_allclose(found.sel(time=1.0), 2 * (FIELD.sel(time=1.0) - FIELD.sel(time=2.0)).to_numpy())


def test_columns_in_a_dict_and_what_comes_besides() -> None:
    def scaled(columns: Any, scale: Any) -> Any:
        total = scale * sum(np.sum(column**2) for column in columns.values())
        return total, {"total": total}

    found, besides = ad.labelled(ad.grad(scaled, has_aux=True))(dict(X), 0.5)
    for name in X.columns:
        pd.testing.assert_series_equal(found[name], X[name])
    assert besides[0]["total"] == pytest.approx(0.5 * np.sum(X.to_numpy() ** 2))


def test_single_precision_is_kept() -> None:
    found = ad.labelled(ad.grad(loss))(W.astype(np.float32), X.astype(np.float32))
    assert found.dtype == np.float32


def test_columns_of_text_are_refused() -> None:
    with pytest.raises(TypeError, match="select_dtypes"):
        ad.labelled(ad.grad(loss))(W, X.assign(name="a"))


@pytest.mark.parametrize("wrong", [loss, ad.grad(loss, return_ids=True)], ids=["a function", "pairs"])
def test_other_functions_are_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="labelled takes a gradient by positions"):
        ad.labelled(wrong)
