"""What every room of the interpreter stands on: shared operations, tables, binding of arguments, escape, errors."""
