"""The tests; a package, so that `tests/random` never shadows the standard library's `random`."""
