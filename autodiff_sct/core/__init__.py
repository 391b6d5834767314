"""The foundation of every layer: locks, thresholds, the cache folder, switches of the process.

It imports nothing of the package but the public modules of errors and dtypes, and knows neither tensors nor programs.
"""
