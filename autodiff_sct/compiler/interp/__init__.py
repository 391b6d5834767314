"""The abstract interpreter: one run over a function's tree writes its program in the intermediate form.

A tree and facts of the arguments come in, structured single assignment with facts of every variable goes out.
Statements have the order of the program, and each raises what the program raises.
"""
