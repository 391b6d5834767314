"""The command line: ``python -m autodiff_sct``.

A target and its example arguments come in; a text goes out.  It uses what users can use, and the compiler's stages.
"""
