"""Cells: parameters, names, sub-cells, modes, text and errors."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct import Parameter, ParameterTuple, Tensor, nn


class Layer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.scale = Parameter(Tensor([1.0]), name="own")
        self.shift = Parameter(Tensor([0.0]))

    def construct(self, x):
        return x * self.scale + self.shift


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = Layer()
        self.last = nn.Dense(1, 1)
        self.gain = Parameter(Tensor([1.0]), name="gain", requires_grad=False)

    def construct(self, x):
        return self.last(self.first(x)) * self.gain


def names(cell):
    return [parameter.name for parameter in cell.get_parameters()]


def test_names():
    assert names(Layer()) == ["own", "shift"]
    assert names(Block()) == ["gain", "first.scale", "first.shift", "last.weight", "last.bias"]

    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.block = Block()
            self.row = nn.CellList([Layer(), Layer()])

    assert names(Outer())[:3] == ["block.gain", "block.first.scale", "block.first.shift"]
    assert names(Outer())[-2:] == ["row.1.scale", "row.1.shift"]


def test_parameters():
    block = Block()
    assert [p.name for p in block.untrainable_params()] == ["gain"]
    assert len(block.trainable_params()) == 4 and isinstance(block.trainable_params(), list)
    assert list(block.parameters_dict()) == names(block)
    assert [path for path, _ in block.parameters_and_names()] == names(block)
    assert [p.name for p in block.get_parameters(expand=False)] == ["gain"]
    block.gain.requires_grad = True
    assert len(block.trainable_params()) == 5


def test_a_cell_used_twice_is_listed_once():
    layer = Layer()
    net = nn.SequentialCell(layer, nn.ReLU(), layer)
    assert len(net.trainable_params()) == 2 and names(net) == ["0.scale", "0.shift"]
    assert len(net.cells()) == 3 and len(net.name_cells()) == 2


def test_cells():
    block = Block()
    assert [name for name, _ in block.cells_and_names()] == ["", "first", "last"]
    assert list(block.name_cells()) == ["first", "last"] and block.cells() == [block.first, block.last]
    assert block.cls_name == "Block"


def test_parameter_tuple_as_attribute():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.all = ParameterTuple([Parameter([1.0], "a"), Parameter([2.0], "b")])

        def construct(self):
            return self.all[0] + self.all[1]

    assert names(Net()) == ["a", "b"] and Net()().item() == 3


def test_training_mode():
    block = Block()
    assert not block.training
    assert block.set_train() is block and block.first.training
    block.set_train(False)
    assert not block.last.training


def test_sequential_cell():
    relu, tanh = nn.ReLU(), nn.Tanh()
    for net in (nn.SequentialCell(relu, tanh), nn.SequentialCell([relu, tanh]), nn.SequentialCell(relu).append(tanh)):
        assert net[1] is tanh and len(net) == 2 and list(net) == [relu, tanh]
        assert np.allclose(net(Tensor([-1.0, 1.0])), [0.0, np.tanh(1.0)])
    keyed = nn.SequentialCell(OrderedDict(first=Layer(), last=nn.Dense(1, 1)))
    assert names(keyed) == ["first.scale", "first.shift", "last.weight", "last.bias"]
    assert isinstance(net[:1], nn.SequentialCell) and len(net[:1]) == 1


def test_a_cell_list_names_what_is_appended_later():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = nn.CellList()
            self.blocks = nn.CellList([nn.SequentialCell([nn.Dense(2, 2, has_bias=False)])])
            self.layers.append(nn.Dense(2, 2))
            self.blocks[0].append(nn.Dense(2, 2, has_bias=False))

    expected = ["layers.0.weight", "layers.0.bias", "blocks.0.0.weight", "blocks.0.1.weight"]
    assert names(Net()) == expected
    assert names(nn.SequentialCell(Net())) == [f"0.{name}" for name in expected]


def test_a_missing_attribute_inside_construct_is_an_attribute_error():
    class Net(nn.Cell):
        def __init__(self, read):
            super().__init__()
            self.read = read
            self.dense = nn.Dense(2, 2)

        def construct(self, x):
            return self.read(self, x)

    for read in (
        lambda net, x: net.nothing * x,
        lambda net, x: net.dense.wieght * x,
        lambda net, x: x.nothing * 2,
        lambda net, x: (x * 2).nothing(),
    ):
        for run in (lambda net: net, ad.grad):
            with pytest.raises(AttributeError, match="object has no attribute"):
                run(Net(read))(Tensor([1.0, 2.0]))


def test_cell_list():
    cells = nn.CellList([Layer()])
    cells.append(Layer())
    cells.extend([Layer()])
    cells.insert(0, nn.ReLU())
    assert len(cells) == 4 and isinstance(cells[0], nn.ReLU)
    assert names(cells) == [f"{k}.{attribute}" for k in (1, 2, 3) for attribute in ("scale", "shift")]
    del cells[0]
    cells[0] = nn.Tanh()
    assert [type(cell).__name__ for cell in cells] == ["Tanh", "Layer", "Layer"]
    with pytest.raises(NotImplementedError):
        cells(Tensor([1.0]))


@pytest.mark.parametrize(
    "make", [lambda: nn.CellList([1]), lambda: nn.SequentialCell(np.tanh), lambda: nn.CellList([None])]
)
def test_only_cells_in_containers(make):
    with pytest.raises(TypeError):
        make()


def test_without_construct():
    class Empty(nn.Cell):
        pass

    with pytest.raises(AttributeError, match="construct"):
        Empty()(1.0)


def test_without_super_init():
    class Hasty(nn.Cell):
        def __init__(self):
            self.layer = nn.Dense(1, 1)

    with pytest.raises(AttributeError, match=r"super\(\).__init__"):
        Hasty()


def test_a_tensor_assigned_to_a_parameter_is_its_new_value():
    layer = Layer()
    held = layer.scale
    layer.scale = Tensor([3.0])
    assert layer.scale is held and held.item() == 3
    with pytest.raises(ValueError):
        layer.scale = Tensor([1.0, 2.0])
    layer.scale = other = Parameter([4.0], "other")
    assert layer.scale is other


def test_unknown_attribute():
    with pytest.raises(AttributeError, match="'Block' object has no attribute 'nothing'"):
        Block().nothing


def test_text():
    assert repr(nn.Dense(2, 3)) == "Dense(input_channels=2, output_channels=3, has_bias=True)"
    expected = "SequentialCell(\n  (0): Dense(input_channels=2, output_channels=3, has_bias=True)\n  (1): ReLU()\n)"
    assert repr(nn.SequentialCell(nn.Dense(2, 3), nn.ReLU())) == expected


@pytest.mark.parametrize("make", [copy.deepcopy, lambda cell: pickle.loads(pickle.dumps(cell))])
def test_copies(make):
    net = nn.SequentialCell(nn.Dense(2, 3), nn.BatchNorm1d(3), nn.Dropout())
    other = make(net)
    assert names(other) == names(net)
    assert other[0].weight is not net[0].weight
    assert np.array_equal(other(Tensor([[1.0, 2.0]])), net(Tensor([[1.0, 2.0]])))
