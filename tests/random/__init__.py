"""Random programs: `writer` writes them, `oracle` judges the compiler by them, `test_random_programs` runs thousands.
`containers` and `sweeps` write programs by a `grammar`, over lists, dicts and iterators and over items of arrays, which
`test_grammars` judges by itself.

`python -m tests.random [COUNT] [FIRST_SEED]` prints what is refused, what fails, and the text of what fails.
"""

import os

PROGRAMS = int(os.environ.get("AUTODIFF_SCT_RANDOM_PROGRAMS", "2000"))
