"""Memory optimisations: dead stores, reuse of buffers, axis order."""
