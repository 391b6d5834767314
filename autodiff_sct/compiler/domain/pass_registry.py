"""The optimisations by name: each is one pass over both sweeps, and each may be switched off.

A pass that is off costs speed or looks, never meaning: the bank of user programs runs with each of them off.

>>> with without("spell"):
...     on("spell"), on("sink")
(False, True)
>>> on("spell")
True
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

PASSES: dict[str, str] = {
    "stay_calls": "a large function of numbers that inlining would write out again and again is called",
    "separate_items": "arrays of a few numbers that a loop makes anew are as many numbers",
    "once": "what a program computes twice of the same values is computed once",
    "cancel_shifts": "the shift by a maximum in a softmax or logsumexp carries no derivative",
    "reverse_once": "what is the same in every step of a loop is reversed once, after it",
    "as_square": "a product with itself is a square, also where a number is multiplied in first",
    "share_inverses": "an inverse that is needed anyway solves systems, too",
    "as_softmax": "the cotangent of a softmax is the softmax times what is above its mean",
    "thin_factors": "a product with diagonal matrices and outer products takes no product of matrices",
    "known_values": "what the forward sweep has computed is not computed again",
    "known_products": "a product that the forward sweep has is not computed again",
    "stand_in": "a value that is read for its shape only is replaced by another of that shape",
    "read_copies": "what is overwritten is read where it was saved, and not put back, if nobody else reads it",
    "take_over": "the cotangent of what was copied is that of the copy, but for the part that was overwritten",
    "improve": "a first contribution is an assignment, a copy that nobody changes is none",
    "begin_lists": "the cotangent of a list is the first list of cotangents that it is given",
    "carry_back": "what a step leaves is what the next one began with: of the two, one is saved",
    "save_math": "machine code saves functions of `math` that the forward sweep computes anyway",
    "read_again": "an item that nobody writes later is read again, not saved",
    "read_once": "numbers that a step reads twice from one place are saved once",
    "common_sources": "what several wanted values are computed from is saved in their place",
    "pass_again": "what is one pass over arrays that are saved anyway is computed again",
    "raised_again": "what the reverse sweep computes again need not be computed before to raise",
    "read_merged": "what a branch hands on has one name in the branch that reverses it",
    "factor_cotangents": "the cotangent of a matrix from that of its Cholesky factor is computed block by block",
    "full_first": "what is as large as a cotangent is its beginning",
    "gather_products": "products that a loop adds up are one product for many steps",
    "gather_parts": "products with columns that a loop adds to parts of a matrix are one product after it",
    "rank_one": "a sum of outer products is one product of two matrices",
    "where_taken": "what reverses a number that only one side of a branch uses is on that side",
    "sink": "the next cotangent is computed after the last use of the one before",
    "zero_last": "a part of a shadow is set to zero after the use of what was in it",
    "drop_dead_stores": "a cotangent that nobody reads again is not cleared",
    "leave_taken": "nor is an item of it that no later step reads",
    "inline_lengths": "lengths are written where they are read",
    "small_powers": "small powers of arrays are products of squares, for which NumPy has quick passes",
    "join_branches": "branches that only the reverse sweep reads are one with those that reverse them",
    "repeat": "parts of arrays, short sums and tests of branches are written where they are read twice",
    "in_rows": "short vectors that a loop saves in every iteration are rows of one array",
    "save_together": "what is saved in one place and read back in one is saved together",
    "compute_there": "a number that only one line of the reverse sweep reads is computed there",
    "counts": "a counter with a number added has a name only where it is read often",
    "spell": "signs, numeric factors and methods as one writes them by hand",
    "with_methods": "in loops, reductions are methods",
    "summed_products": "a product that is only summed along two axes is not made",
    "contract": "a sum of products is computed without the products",
    "tensor_products": "sums of products of arrays that share only the summed axes are tensor products",
    "touch_first": "what is added to zeros is assigned",
    "list_parts": "the cotangent of a list of arrays that became one array is the list of the parts of the array's",
    "sum_lists": "the cotangent of a list begins with what each item gets from the sum of all",
    "assign_items": "what is added to an item of zeros for the first time is assigned",
    "absorb_signs": "what is the negative of another cotangent is subtracted instead of added",
    "overwrite": "a cotangent that is read for the last time is overwritten by its successor",
    "overwrite_own": "an array that gets a new value under its name is overwritten by it",
    "pair_products": "sums over pairs of vectors are products of matrices",
    "save_shapes": "of what is read back for its shape only, the shape is saved",
    "of_numbers": "functions of single numbers in loops are those of `math`",
    "items": "arrays that loops touch item by item are lists while they run",
    "plain_floats": "a Python float is not made one",
    "rearrange": "what is unpacked, or changes places, does so in one statement",
    "iterate": "a loop that reads items by its counter goes over them",
    "drop_unread": "what nobody reads and what cannot fail is not computed",
    "in_strips": "long element-wise programs run over arrays in strips that fit into the cache",
    "without_names": "what is named only to be saved, raised, entered or changed is written there",
    "add_plainly": "what is added at places that integers name is added by NumPy itself",
    "ask_for_ties": "halves of a cotangent are made where two arrays tie, if they do",
    "select_quickly": "what a condition selects of a large cotangent is made by the bits of the numbers",
    "opposites": "the opposite of a test is the opposite comparison",
    "read_last": "what a loop goes over is read after it under the name that the loop gives it",
    "count_up": "a loop that only repeats counts up",
    "execute_unread": "what is only there since it may raise has no name",
    "shape_checks": "of what is only there since shapes may not fit, the check of the shapes is left",
    "return_at_once": "the only gradient is returned where it is computed",
    "read_next": "what only the next statement reads is computed there",
    "leave_at_once": "a loop is left where that is decided",
    "say_once": "branches that say something twice say it once",
    "choose": "a branch that only chooses a value is a conditional expression",
    "comprehend": "a list that a loop only fills is a comprehension",
    "go_back": "a loop that takes back what each step of another has saved goes over it from the end",
    "assign_together": "a value that is given to several places is written once",
    "side_by_side": "small assignments that belong together stand on one line",
}

_off: ContextVar[frozenset[str]] = ContextVar("_off", default=frozenset())


def off() -> frozenset[str]:
    """The passes that do not run."""
    return _off.get()


def on(name: str) -> bool:
    """Whether a pass of `PASSES` runs."""
    assert name in PASSES, name
    return name not in _off.get()


@contextmanager
def without(*names: str) -> Iterator[None]:
    """Compile without the passes of these names; programs that are compiled already stay as they are.

    Raises
    ------
    ValueError
        A name that is none of `PASSES`.
    """
    unknown = [name for name in names if name not in PASSES]
    if unknown:
        raise ValueError(f"no pass is called {unknown[0]!r}; the passes are {', '.join(PASSES)}")
    token = _off.set(_off.get() | set(names))
    try:
        yield
    finally:
        _off.reset(token)
