"""Checkpoints: the parameters of a network in a file.

A checkpoint is an archive of NumPy (``np.load`` reads it) with one array for each parameter, under its name.  No object
is pickled, so that reading a file runs no code of it.
"""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..core.storage import write
from ..errors import ArgumentTypeError, ArgumentValueError
from ..nn.cell import Cell
from ..tensor import Parameter, Tensor

__all__ = ["load_checkpoint", "load_param_into_net", "save_checkpoint"]

SUFFIXES = (".ckpt", ".npz")


def save_checkpoint(save_obj: Any, ckpt_file_name: Any, **settings: Any) -> None:
    """Write parameters into a file.

    Parameters
    ----------
    save_obj : Cell, dict or list
        A network; arrays or tensors by name; or a list of ``{"name": ..., "data": ...}``.
    ckpt_file_name : str or Path
        The file; a name without one of the suffixes ``.ckpt`` and ``.npz`` is given ``.ckpt``.
    **settings
        MindSpore's other settings, without effect.

    Raises
    ------
    TypeError
        If `save_obj` is something else, or holds anything but numbers.
    """
    arrays = arrays_of(save_obj)
    path = Path(ckpt_file_name)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as members:
        for name, array in arrays.items():
            with members.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    write(path if path.suffix in SUFFIXES else path.with_name(f"{path.name}.ckpt"), archive.getvalue())


def arrays_of(save_obj: Any) -> dict[str, np.ndarray]:
    """The arrays to save, by name."""
    if isinstance(save_obj, Cell):
        save_obj = save_obj.parameters_dict()
    if isinstance(save_obj, Mapping):
        pairs: Iterable[tuple[str, Any]] = save_obj.items()
    elif isinstance(save_obj, (list, tuple)):
        pairs = [(entry["name"], entry["data"]) for entry in save_obj]
    else:
        raise ArgumentTypeError(f"save_checkpoint saves a Cell, a dict or a list, not {type(save_obj).__name__}")
    return {name: Tensor(data).asnumpy() for name, data in pairs}


def load_checkpoint(ckpt_file_name: Any, net: Cell | None = None, **settings: Any) -> dict[str, Parameter]:
    """Read the parameters in a file.

    Parameters
    ----------
    ckpt_file_name : str or Path
        The file.
    net : Cell, optional
        A network to load them into, as `load_param_into_net` does.
    **settings
        MindSpore's other settings, without effect.

    Returns
    -------
    dict of Parameter
        By name.

    Raises
    ------
    ValueError
        If the file is missing or no checkpoint.
    """
    path = Path(ckpt_file_name)
    if not path.is_file():
        raise ArgumentValueError(f"there is no checkpoint {str(path)!r}")
    if not zipfile.is_zipfile(path):
        raise ArgumentValueError(f"{str(path)!r} is no checkpoint of this package: write it with save_checkpoint")
    with np.load(path, allow_pickle=False) as arrays:
        found = {name: Parameter(arrays[name], name) for name in arrays.files}
    if net is not None:
        load_param_into_net(net, found)
    return found


def load_param_into_net(
    net: Cell, parameter_dict: Mapping[str, Parameter], strict_load: bool = False
) -> tuple[list[str], list[str]]:
    """Give the parameters of a network the values of those with the same names, and warn where there is none.

    Returns
    -------
    param_not_load, ckpt_not_load : list of str
        The names of the network's parameters that got no value, and those of the values that none took.

    Raises
    ------
    TypeError
        If `net` is no Cell.
    ValueError
        If a shape differs.
    """
    if not isinstance(net, Cell):
        raise ArgumentTypeError(f"net is a Cell, not {type(net).__name__}")
    wanted = net.parameters_dict()
    for name in wanted.keys() & parameter_dict.keys():
        wanted[name].set_data(parameter_dict[name])
    missing = [name for name in wanted if name not in parameter_dict]
    if missing:
        warnings.warn(f"no value for {', '.join(missing)}: the checkpoint has other names", stacklevel=2)
    return missing, [name for name in parameter_dict if name not in wanted]
