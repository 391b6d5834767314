"""The paths from which MindSpore's scripts import, execution settings, and parameters in files."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import autodiff_sct as ms
from autodiff_sct import Parameter, Tensor, nn

PATHS = {
    "common": "Parameter ParameterTuple Tensor initializer set_seed",
    "common.api": "jit ms_function",
    "common.dtype": "float32 int32 bool_ DType",
    "common.initializer": "initializer Normal XavierUniform HeUniform TruncatedNormal Zero One Constant Uniform",
    "common.parameter": "Parameter ParameterTuple",
    "common.tensor": "Tensor",
    "context": "set_context GRAPH_MODE PYNATIVE_MODE",
    "nn": "Cell Dense",
    "nn.loss": "MSELoss",
    "nn.optim": "Adam Momentum",
    "numpy": "sqrt zeros",
    "ops": "GradOperation stop_gradient",
    "ops.composite": "GradOperation HyperMap",
    "ops.functional": "cast reshape",
    "ops.operations": "MatMul ReduceSum",
    "train.serialization": "save_checkpoint load_checkpoint load_param_into_net",
}


@pytest.mark.parametrize("path", PATHS)
def test_imports(path):
    module = importlib.import_module(f"autodiff_sct.{path}")
    for name in PATHS[path].split():
        assert name in module.__all__ and hasattr(module, name)


def test_jit_is_the_function_itself():
    def square(x):
        return x * x

    assert ms.jit(square) is square and ms.jit(mode="PIJit")(square) is square
    assert ms.grad(ms.jit(square))(3.0) == 6.0
    assert ms.mutable(square) is square


def test_settings():
    ms.set_context(mode=ms.GRAPH_MODE)
    assert ms.get_context("mode") == ms.GRAPH_MODE
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_device("CPU")
    assert ms.get_context("device_target") == "CPU"
    ms.set_seed(3)
    assert ms.get_seed() == 3


@pytest.mark.parametrize("make", [ms.grad, ms.value_and_grad, ms.vjp, ms.jvp, ms.jacrev, ms.jacfwd])
def test_calls_without_a_function(make):
    with pytest.raises(TypeError):
        make()


def net():
    return nn.SequentialCell(nn.Dense(3, 2), nn.BatchNorm1d(2), nn.Dense(2, 1, dtype=ms.float64))


@pytest.mark.parametrize("name", ["net", "net.ckpt", "net.npz"])
def test_checkpoint_of_a_network(tmp_path, name):
    saved, loaded = net(), net()
    x = Tensor(np.ones((4, 3), np.float32))
    ms.save_checkpoint(saved, tmp_path / name)
    found = ms.load_checkpoint(str(tmp_path / ("net.ckpt" if name == "net" else name)))
    assert list(found) == [p.name for p in saved.get_parameters()]
    assert all(isinstance(p, Parameter) for p in found.values()) and found["2.weight"].dtype == ms.float64
    assert ms.load_param_into_net(loaded, found) == ([], [])
    assert np.array_equal(saved(x), loaded(x))


def test_checkpoint_with_names_of_others(tmp_path):
    path = tmp_path / "values.ckpt"
    ms.save_checkpoint({"weight": Tensor([[2.0]]), "file": np.arange(3)}, path)
    layer = nn.Dense(1, 1)
    with pytest.warns(UserWarning, match="no value for bias"):
        assert list(ms.load_checkpoint(path, layer)) == ["weight", "file"] and layer.weight.item() == 2
    with pytest.warns(UserWarning, match="no value for bias"):
        assert ms.load_param_into_net(layer, ms.load_checkpoint(path)) == (["bias"], ["file"])
    ms.save_checkpoint([{"name": "weight", "data": Tensor([[1.0, 2.0]])}, {"name": "bias", "data": [1.0]}], path)
    with pytest.raises(ValueError, match="'weight' has shape"):
        ms.load_checkpoint(path, layer)


def test_checkpoint_errors(tmp_path):
    with pytest.raises(TypeError):
        ms.save_checkpoint(3, tmp_path / "a.ckpt")
    with pytest.raises(TypeError):
        ms.save_checkpoint({"a": "text"}, tmp_path / "a.ckpt")
    with pytest.raises(ValueError, match="there is no checkpoint"):
        ms.load_checkpoint(tmp_path / "a.ckpt")
    (tmp_path / "b.ckpt").write_bytes(b"\x80\x04.")
    with pytest.raises(ValueError, match="is no checkpoint"):
        ms.load_checkpoint(tmp_path / "b.ckpt")
    np.savez(tmp_path / "c.npz", a=np.array([print], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        ms.load_checkpoint(tmp_path / "c.npz")
    with pytest.raises(TypeError):
        ms.load_param_into_net(3, {})
