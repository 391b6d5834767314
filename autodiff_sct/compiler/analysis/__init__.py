"""Questions about programs: aliasing, ownership, layout, definite assignment, what may raise.

The intermediate form comes in, an answer goes out.  An analysis changes no statement, and errs on the safe side.
"""
