"""Arrays that loops touch item by item, as lists of Python's numbers."""
