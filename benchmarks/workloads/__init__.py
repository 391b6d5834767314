"""One workload a file.  A workload is a module with these names:

``KIND``
    ``"dense"`` where the time is in array operations, ``"loop"`` where it is in steps of Python.
``WRT``
    The positions that are differentiated, as a tuple.
``inputs(quick)``
    The arguments, always the same; small ones for `quick`.
``primal(*args)``
    The function, as a NumPy user writes it.
``hand(*args)``
    Its gradients, as an expert writes them in NumPy, at the primal's granularity: a tuple, or the one gradient.
``hand_numba(*args)``
    The same with loops, for `numba.njit`; may be missing.
``tape_primal``, ``hips_primal``, ``torch_primal``, ``jax_primal``
    What an expert of that library writes.  They run with the global `np` bound to `numpy`, `autograd.numpy`, `torch`,
    `jax.numpy`.  A missing one is `primal` itself under that `np`; ``None`` says that the library cannot run it.
``ours(args)``
    A call of ours, where it is not ``grad(primal, WRT)`` (Cells); may be missing.
"""
