"""Optimisations of both sweeps.

A program in the intermediate form comes in and goes out, with the same value to the bit; cotangents may round
differently only where a pass says so.  Each pass may be left out.
"""
