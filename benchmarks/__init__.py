"""Gradients against hand-written ones and against other libraries, side by side in one run on one core.

``python -m benchmarks [names] [--quick] [--json FILE] [--picture FILE] [--page]``
``python -m benchmarks.compile_growth [SHAPE ...]``

A workload is a module of `benchmarks.workloads` (its docstring lists what a workload holds).  `variants` turns it into
one call for each library, `timing` runs the calls in turns, `report` and `picture` show the result.

``python -m benchmarks growth [names] [--quick] [--page]`` fits how the cost of the programs of `shapes` grows.
"""
