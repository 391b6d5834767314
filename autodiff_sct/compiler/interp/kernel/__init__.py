"""The kernel of the interpreter: shared operations, tables, binding of arguments, escape, errors."""
