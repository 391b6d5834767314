"""One core, told to every library before it is imported, and what the figures were measured on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys

ONE_CORE = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_ENABLE_X64": "1",
    "JAX_PLATFORMS": "cpu",
}
PACKAGES = ("numpy", "autograd", "torch", "jax", "numba")


def restart_on_one_core() -> None:
    """Start the same command again with `ONE_CORE` set, unless it already is; keep to one core where possible."""
    if any(os.environ.get(name) != value for name, value in ONE_CORE.items()):
        os.environ.update(ONE_CORE)
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def versions() -> dict[str, str]:
    """Python's version and those of the packages that are installed."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def processor() -> str:
    """The processor's name as the system gives it."""
    try:
        with open("/proc/cpuinfo") as info:
            models = [line.partition(":")[2].strip() for line in info if line.startswith("model name")]
    except OSError:
        models = []
    return models[0] if models else platform.processor() or platform.machine()
