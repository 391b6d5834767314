"""Random programs: `writer` writes them, `oracle` judges the compiler by them, `test_random_programs` runs thousands.
`containers` writes programs over lists, dicts and iterators, which `test_containers` judges by itself.

`python -m tests.random [COUNT] [FIRST_SEED]` prints what is refused, what fails, and the text of what fails.
"""

import os

PROGRAMS = int(os.environ.get("AUTODIFF_SCT_RANDOM_PROGRAMS", "2000"))
