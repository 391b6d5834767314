"""Calls: classified, inlined, outlined, made recursive, or left as they are; rules of derivatives as calls."""
