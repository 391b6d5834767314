"""The process of one package: a line of JSON for each function as it is looked at and as it is judged."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings

import numpy as np

from .functions import Target, public_functions, targets
from .judge import autograd_gradient, judge, our_gradient, use_autograd_numpy


def main(package: str, most: int, system: str, given: list[list[object]], skip: set[str]) -> None:
    """Judge the functions of a package by a system: the `given` targets, or those found."""
    out = os.fdopen(os.dup(1), "w")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.chdir(tempfile.mkdtemp())
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")

    def say(*values: object) -> None:
        print(json.dumps(values), file=out, flush=True)

    functions = public_functions(package)
    if system == "autograd":
        use_autograd_numpy(package)
    for found in (Target(*item) for item in given) if given else targets(package, most, skip):  # type: ignore[misc]
        if isinstance(found, str):
            say("look", found)
            continue
        say("start", *found)
        gradient_of = autograd_gradient if system == "autograd" else our_gradient
        say("done", found.name, *judge(functions[found.name], found, gradient_of))
    say("end", len(functions))


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    main(asked["package"], asked["most"], asked["system"], asked["given"], set(asked["skip"]))
