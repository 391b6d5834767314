"""The tape: values of the forward sweep that the reverse sweep reads, kept, saved, computed again, or put back.

Both sweeps come in, both go out with saves and reads.  Each read sees the value that its forward line saw.
"""
