"""The kernel of the interpreter: the specialiser, shared operations, tables, binding of arguments, escape, errors."""
