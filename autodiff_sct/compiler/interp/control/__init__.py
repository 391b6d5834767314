"""Joins of paths: branches, loops, ``try``, ``with``, and paths that raise.

Abstract values of the paths come in, one value that covers both goes out.  A name that one path leaves unbound is
noted.
"""
