"""Public functions of installed packages, differentiated as they are.

``python -m benchmarks.real_code ot tensorly ...`` prints a table by package.  The rule is mechanical (`functions`): up
to 40 public functions a package whose arguments, tried from a small set, give finite floats twice the same.  The
gradient of the sum of the results with respect to the first float argument is compared with central differences
(`judge`), and so is that of HIPS autograd where it is installed.  Each package runs in a process of its own (`child`),
which is started again after a crash or a hang.
"""
