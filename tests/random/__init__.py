"""Random programs: `writer` writes them, `oracle` judges the compiler by them, `test_random_programs` runs thousands.

`python -m tests.random [COUNT] [FIRST_SEED]` prints what is refused, what fails, and the text of what fails.
"""
