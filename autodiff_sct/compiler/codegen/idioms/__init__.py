"""Idioms: statements as an expert would write them.  The operations stay the same, in the same order."""
