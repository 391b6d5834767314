"""From a function object to the tree of its text, with control flow in one form."""
