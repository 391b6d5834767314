"""Checkpointing: loops that keep states and run segments again."""
