"""The smoke test of an installed package: run as a script, outside of the repository, by ``tools/release.py``."""

import importlib.metadata
import sys
from pathlib import Path

import numpy as np

import autodiff_sct as ad

OWN = {"autodiff_sct", "numpy", "gast", "astunparse", "six", "wheel", "packaging", "pip", "setuptools"}


def heat(rod: np.ndarray, steps: int) -> float:
    for _ in range(steps):
        rod[1:-1] = 0.25 * (rod[:-2] + 2 * rod[1:-1] + rod[2:])
    return np.sum(rod**2)


rod = np.array([0.0, 3.0, 1.0, 4.0, 1.0, 5.0])
assert "d_rod" in ad.adjoint_source(heat, rod, 10)
ad.check_grads(heat, (rod, 10))
assert "<html" in ad.show(heat, rod, 10).html
folder = Path(ad.__file__).parent
assert folder.is_relative_to(sys.prefix) and (folder / "py.typed").exists(), folder
assert importlib.metadata.version("autodiff_sct") == ad.__version__
installed = {dist.metadata["Name"].lower() for dist in importlib.metadata.distributions()}
assert installed <= OWN, installed - OWN
