"""Random programs: `writer` writes them, `oracle` judges the compiler by them, `test_random_programs` runs thousands.
`containers`, `sweeps` and `tables` write programs by a `grammar`, over lists, dicts, iterators, items and rows, which
`test_grammars` judges by itself; `sized`, `shared` and `kept` write programs over arrays of 1 to 300 items, which
`sized_oracle` judges; `dtypes` over complex numbers, integers and single precision, which `dtypes_oracle` judges;
`subscripts` writes loops over affine subscripts.

`python -m tests.random [LEVEL] [COUNT] [FIRST_SEED]` prints what is refused, what fails, and the text of what fails.
"""

import os

PROGRAMS = int(os.environ.get("AUTODIFF_SCT_RANDOM_PROGRAMS", "2000"))
ENOUGH = 20  # programs in a batch: a share of fewer says nothing


def wanted(usual: int) -> int:
    """Count of programs of a kind whose programs are dear: as many as are asked for, and `usual` ones by default."""
    return PROGRAMS if PROGRAMS > 2000 else min(usual, PROGRAMS)
