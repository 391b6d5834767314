"""Services of the whole interpreter: typed operations, binding of arguments, escape, errors of the program."""
