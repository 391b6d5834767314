"""Every number at which the package goes another way: by a size, a trip count, a length, or by how much code there is.

Each costs speed, memory or looks where it is chosen badly, never meaning: the bank of programs runs with each of them
at both of its ends (`tests/compiler/driver/test_thresholds.py`), and at sizes on both sides of it
(`tests/bank/sizes.py`).
Modules read them as attributes, so that tests may set them.  Not here: widths of lines, which are looks only, bounds
of caches, and bounds on rounds that end what would have no end.
"""

from __future__ import annotations

# -- decided by the emitted program while it runs

# Numbers of a row of saved values: what Python keeps around an array is a tenth of it.
NUMBERS_OF_A_ROW = 128
# Items from which on numbers are selected by their bits: below, `np.where` is quicker.
SELECTED_BY_BITS = 4096
# Numbers from which on their places between evenly spaced ones are computed, not searched.
PLACED_EVENLY = 4096
# Numbers that are added at places one by one before an index of each of them is made.
ADDED_ONE_BY_ONE = 400
# Items of a strip of a long element-wise program: it has to fit into the cache.
ITEMS_OF_A_STRIP = 16384
# Steps whose outer products are one product of matrices: more are no faster, and are kept.
STEPS_OF_A_PRODUCT = 32
# Parts into which a batch is parted where its examples take different branches, and those at one place: a program that
# goes more ways runs example by example.
PARTS_OF_A_BATCH = 16
WAYS_OF_A_BATCH = 8
# The share of a square matrix that parts of its rows fill from which on they are products with a whole matrix.
SHARE_OF_A_MATRIX = 0.1
# Rows of the blocks in which the cotangent of a matrix comes from that of its Cholesky factor.
WIDTH_OF_A_BLOCK = 48
# Arrays as large as the largest saved one that a step of a loop works with, as the division into segments estimates it.
WORKING_ARRAYS = 8
# Elements up to which a NaN is looked for by a product of an array with itself: BLAS has more threads for longer ones.
ELEMENTS_OF_ONE_THREAD = 8192

# -- of settings

# The largest length of an axis or a list for which alone a program is compiled, where there is none for any.
SETTING = 16
# The largest such integer: an order, an axis, a number of points.  CPython has one object of each of them.
INTEGER = 256

# -- of machine code

# Products in a matrix times a vector up to which loops in place are quicker than BLAS.
PRODUCTS_IN_LOOPS = 1000
# Elements of an array that is kept in variables.
ELEMENTS_IN_VARIABLES = 16
# The longest axis over which a loop is written out.
LENGTH_WRITTEN_OUT = 4
# Items for which lists that grow have room at first.
ITEMS_AT_FIRST = 1024

# -- of recording by operators

# Bytes up to which a value is kept instead of its shape alone.
BYTES_KEPT = 1 << 11
# Bytes up to which an array of the caller's is copied; of a larger one, samples are kept.
BYTES_COPIED = 1 << 15
SAMPLES_KEPT = 256

# -- decided by the compiler, of lengths and counts that it knows

# Elements from which on a part of an axis is taken to have several, too; calls are specialised on it.
LONG_AXIS = 16
# Trips of a loop over known things that is written out, in a program and in a rule.
TRIPS_WRITTEN_OUT = 64
# The same of a loop over the entries of a dict that it does not leave early: each is an array with a name of its own.
ENTRIES_WRITTEN_OUT = 512
RULE_TRIPS_WRITTEN_OUT = 100
# Numbers of a range, as those of axes, that stay known one by one in a list or a tuple of them.
NUMBERS_LISTED = 8
# Items of the standard library's iterators that are listed one by one, and items that are combined at a time.
ITEMS_LISTED = 64
ITEMS_COMBINED = 4
# Items of a list of constants that stays a constant.
SHORT_LIST = 16
# The largest integer for whose sake stand-ins have longer axes: a window's length.
LONGEST_WINDOW = 64
# Items of an array that is as many numbers, and the operations on numbers that may take the place of those on arrays.
ITEMS_OF_SHORT_ARRAYS = 4
OPERATIONS_ON_ITEMS = 200
# Numbers of which a list is made as quickly as a few of them are read.
ITEMS_READ_AS_LIST = 8
# Items of a short array that are touched for less than an array takes to be made of a list.
ITEMS_TOUCHED = 4
# Numbers of an array whose small powers are not worth products.
NUMBERS_OF_A_POWER = 16

# -- decided by the compiler, of how much code there is

# Activations of a recursive function that are inlined into each other, and calls of it in one program; the same where
# the structure of the arguments drives the recursion.
INLINED_ACTIVATIONS = 24
INLINED_CALLS = 150
STRUCTURED_ACTIVATIONS = 40
STRUCTURED_CALLS = 1000
# Variables that inlining one function has written, from which on it is called.
INLINED_VARIABLES = 600
# Functions inlined into each other from which on this is so of functions of arrays, too: as calls they are not
# optimised together with what is around them.
NESTED_CALLS = 6
# Derivatives inside each other: a function that takes its own derivative has no end of them.
DERIVATIVES_NESTED = 16
# Statements of a rule that may be written out although facts did not decide its cases.
RULE_STATEMENTS = 16
# Beyond this, guards stand one after the other instead of inside each other: Python allows 100 levels of indentation.
# A nested block counts 10, one more `elif` counts 4.
NESTED_BLOCKS = 200
# Branches inside each other, as those of a chain of `elif`s are, from which on the rest stands after them.
NESTED_BRANCHES = 64
# Definitions that are followed one after the other to bound an index.
DEFINITIONS_FOLLOWED = 12
# Products inside each other among whose factors two are looked for that have been multiplied before.
PRODUCTS_FOLLOWED = 8
# Operations in one expression of the reverse sweep, and in a statement into which the one before it is nested.
OPERATIONS_NESTED = 8
OPERATIONS_READ_NEXT = 8
# Operations on arrays from which on a program runs in strips.
OPERATIONS_IN_STRIPS = 17
# Sums of one product that are computed without it.
SUMS_OF_A_PRODUCT = 2
# Statements among which a pass looks for what belongs to a statement.
NEAR_COTANGENT = 40  # the only reader of a cotangent
NEAR_ZEROING = 16  # the use of what is set to zero
NEAR_FAMILY = 40  # the number of a row that is read again
NEAR_PART = 20  # the first reader of a part of an array
# Statements that are as well left where they are as put into a branch, and of which it is asked which come first.
STATEMENTS_LEFT = 2
STATEMENTS_ORDERED = 50
# Lines that a function of a library runs at most where it is tried on stand-ins for its arguments.
LINES_TRIED = 100_000
# Numbers in inner loops from which on they are saved as one tuple.
NUMBERS_OF_A_TUPLE = 5

# -- decided when a call has failed

# Seconds that a call took at most whose function is called again, for the frames that Python shows of it.
SECONDS_REPEATED = 2.0
