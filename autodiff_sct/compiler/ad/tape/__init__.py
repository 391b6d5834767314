"""What the reverse sweep reads of the forward sweep: kept, saved, computed again, or put back.

Both sweeps come in, both go out with saves and reads.  Each read sees the value that its forward line saw.
"""
