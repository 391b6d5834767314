"""The pipeline, the dispatcher and the compiled variants.

A function and its arguments come in; the derivative goes out.  The order of all passes is here, and so is every retry.
"""
