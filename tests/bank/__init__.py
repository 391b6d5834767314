"""A bank of user programs that goes through every stage, both modes and second order.

Each module holds ordinary code on one topic; `registry` collects it, `checks` says what must hold for each program and
`test_bank` runs the checks. `python -m tests.bank` prints one line a program.
"""
