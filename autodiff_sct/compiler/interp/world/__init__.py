"""What the program reads from outside: names, captured values, classes; and how another process reads it again.

Every reading is noted as a dependency, by which a compiled program is checked before it is used again.
"""
