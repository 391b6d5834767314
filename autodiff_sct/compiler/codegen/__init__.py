"""From the intermediate form to Python: out of single assignment, statements, text, function.

Both sweeps come in; a text and the function that it defines go out.  The same program gives the same text in every
process.
"""
