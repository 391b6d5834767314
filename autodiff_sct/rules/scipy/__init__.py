"""Rules of SciPy, by its modules: `optional` reads them once a program has imported those."""
