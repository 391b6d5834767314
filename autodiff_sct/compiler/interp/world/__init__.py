"""The world: names, captured values and classes that the program reads, and how another process reads them again.

Every reading is noted as a dependency, by which a compiled program is checked before it is used again.
"""
