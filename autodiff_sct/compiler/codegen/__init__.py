"""Code generation: from the intermediate form out of single assignment to statements, text and a function.

Both sweeps come in; a text and the function that it defines go out.  The same program gives the same text in every
process.
"""
