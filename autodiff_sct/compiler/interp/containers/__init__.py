"""Lists, tuples, dicts, sets and iterators: items, iteration, changes while something iterates."""
