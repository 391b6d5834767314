"""Scripts as newcomers of six kinds write them, each run as they run it: in a process of its own.

Each compares what it gets with differences, with a tape, or with what is known, and fails where they differ.
"""
