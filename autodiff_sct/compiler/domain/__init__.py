"""The abstract domain: what is known of a value without running the program, and what is asked of the compiler.

Arguments come in as Python objects; trees, facts and abstract values go out.  Modules of this package read neither
syntax trees nor programs, so that a program of the disk cache is found without the rest of the compiler.
"""
