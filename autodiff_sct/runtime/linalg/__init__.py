"""Functions of matrices that emitted programs call: factorisations, determinants, spectra.

Arguments and results are NumPy arrays.  Where a spectrum is degenerate, the derivative says so by NaN or infinity.
"""
