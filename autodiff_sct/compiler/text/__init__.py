"""Names, text, and the function that it becomes."""
