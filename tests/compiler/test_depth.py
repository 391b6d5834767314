"""Deep recursion on a thread with a large stack, and nothing of it left behind."""

import contextvars
import sys
import threading

import pytest

from autodiff_sct.core.deep_stack import deeply

setting = contextvars.ContextVar("setting", default="outside")


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


def test_what_fits_runs_where_it_is():
    assert deeply(threading.get_ident) == threading.get_ident()


def test_what_does_not_fit_runs_with_more_room():
    before = sys.getrecursionlimit(), threading.stack_size()
    assert deeply(depth, 20_000) == 20_000
    assert deeply(deeply, depth, 20_000) == 20_000
    assert (sys.getrecursionlimit(), threading.stack_size()) == before


def test_context_and_errors_are_the_callers():
    def deep(n):
        depth(n)
        if setting.get() == "inside":
            raise KeyError("mine")

    setting.set("inside")
    with pytest.raises(KeyError, match="mine"):
        deeply(deep, 20_000)


def test_no_end_is_still_an_error():
    def forever():
        return forever()

    before = sys.getrecursionlimit()
    with pytest.raises(RecursionError):
        deeply(forever)
    assert sys.getrecursionlimit() == before
