"""Accumulation of cotangents: the first contribution is an assignment, copies and zeros that are not needed go."""
