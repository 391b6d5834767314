"""Variables that are read where they are not bound raise there, also where nobody needs what they would hold."""

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.errors import UnsupportedSyntax
from tests.compiler.checked import check_gradient, check_tangent

X = np.array([0.43, 0.81, -0.72, 0.64])


def added_to_before_it_is_bound(x):
    for i in range(len(x)):
        if i > 0:
            s = x[0]
        s += x[i]
    return s


def added_to_where_only_the_last_value_is_needed(x):
    for i in range(3):
        if x[i] < 0:
            s = 0.0
        s += x[i]
    return s


def multiplied_before_it_is_bound(x):
    for i in range(3):
        if i > 0:
            s = x[0]
        s *= x[i]
    return s


def saved_before_it_is_bound(x):
    for i in range(len(x)):
        if x[i] > 4:
            s = x[i] * 2
        t = s * x[0]
    return t


def read_in_a_step_before_it_is_bound(x):
    total = x[0]
    for i in range(len(x)):
        if i > 0:
            total = total * previous  # noqa: F821
        if i > 1:
            previous = x[i]
    return total


def named_again_and_not_used(x):
    if x[0] > 4:
        y = x[0]
    z = y
    return x[1] * 2


def read_and_nothing_else(x):
    if x[0] > 4:
        y = x[0]
    y
    return x[1] * 2


def in_a_tuple_that_is_not_used(x):
    if x[0] > 4:
        y = x[0]
    return (x[1] * 2, y)[0]


def handed_to_a_function_that_does_not_use_it(x):
    if x[0] > 4:
        y = x[0]

    def first(a, b):
        return a * 2

    return first(x[0], y)


def compared_with_none(x):
    if x[0] > 4:
        y = x[0]
    return x[1] if y is None else x[2]


def called_as_the_compiler_calls_what_is_returned(x):
    if x[0] > 4:
        result = x[0]
    z = result
    return x[1] * 2


def deleted_where_it_is_not_bound(x):
    s = x[0]
    del s
    if x[0] > 4:
        s = x[1]
    del s
    return x[1]


def as_an_index(x):
    if x[0] > 4:
        n = 3
    return x[n] * 2


def as_a_slice(x):
    if x[0] > 4:
        part = slice(0, 2)
    return np.sum(x[part])


def as_the_end_of_a_range(x):
    if x[0] > 4:
        n = 3
    total = 0.0
    for i in range(n):
        total += x[i]
    return total


def in_the_test_of_a_loop(x):
    if x[0] > 4:
        y = 3.0
    while y > 2:
        y -= 1
    return x[0] * y


def list_that_is_appended_to(x):
    if x[0] > 4:
        items = []
    items.append(x[0])
    return items[0] * 2


def list_that_is_gone_over(x):
    if x[0] > 4:
        items = [x[0], x[1]]
    total = 0.0
    for v in items:
        total += v * v
    return total


def dict_that_is_read(x):
    if x[0] > 4:
        d = {"a": x[0]}
    return d["a"] * 2


def dict_that_is_written(x):
    if x[0] > 4:
        d = {"a": x[0]}
    d["b"] = x[1]
    return d["b"] * 2


def empty_dict_that_is_written(x):
    if x[0] > 4:
        d = {}
    d["a"] = x[1]
    return d["a"] * 2


def dict_whose_keys_are_asked_for(x):
    if x[0] > 4:
        d = {"a": x[0]}
    return x[1] * len(d) if "a" in d else x[2]


def dict_made_in_a_loop(x):
    for i in range(int(x[0]) // 2):
        d = {"a": x[i]}
    return x[1] * len(d)


def dict_written_in_a_step_before_it_is_made(x):
    for i in range(4):
        if i > 0:
            d["a"] = x[i]  # noqa: F821
        if i > 1:
            d = {"a": x[0]}
    return d["a"]


def dict_made_under_a_handler(x):
    try:
        d = {"a": x[7]}
    except IndexError:
        pass
    return x[0] * len(d)


def empty_tuple(x):
    if x[0] > 4:
        t = ()
    return x[0] if t == () else x[1]


class Holder:
    def __init__(self, v):
        self.v = v


def object_that_is_read(x):
    if x[0] > 4:
        held = Holder(x[0])
    return held.v * 2


def object_that_is_written(x):
    if x[0] > 4:
        held = Holder(x[0])
    held.v = x[1]
    return held.v


def object_that_another_name_stands_for(x):
    other = Holder(x[0])
    if x[0] > 4:
        held = other
    held.v = x[1]
    return other.v


def tuple_of_an_object(x):
    if x[0] > 4:
        pair = (Holder(x[0]), 3)
    _ = pair
    return x[1]


def in_a_function_that_is_called(x):
    def inner(a):
        if a > 4:
            y = a
        z = y
        return a

    return inner(x[0]) * 2


def by_a_function_inside(x):
    if x[0] > 4:
        y = x[0]

    def inner():
        z = y
        return x[1]

    return inner() * 2


def in_a_comprehension(x):
    if x[0] > 4:
        y = x[0]
    return sum([x[i] for i in range(3) if y is not None])


def power(n, x):
    if n > 2:
        y = x * 2
    z = y
    return x if n <= 1 else x * power(n - 1, x)


def in_a_recursive_function(x):
    return power(3, x[0])


EARLY = [
    added_to_before_it_is_bound,
    added_to_where_only_the_last_value_is_needed,
    multiplied_before_it_is_bound,
    saved_before_it_is_bound,
    read_in_a_step_before_it_is_bound,
    named_again_and_not_used,
    read_and_nothing_else,
    in_a_tuple_that_is_not_used,
    handed_to_a_function_that_does_not_use_it,
    compared_with_none,
    called_as_the_compiler_calls_what_is_returned,
    deleted_where_it_is_not_bound,
    as_an_index,
    as_a_slice,
    as_the_end_of_a_range,
    in_the_test_of_a_loop,
    list_that_is_appended_to,
    list_that_is_gone_over,
    dict_that_is_read,
    dict_that_is_written,
    empty_dict_that_is_written,
    dict_whose_keys_are_asked_for,
    dict_made_in_a_loop,
    dict_written_in_a_step_before_it_is_made,
    dict_made_under_a_handler,
    empty_tuple,
    object_that_is_read,
    object_that_is_written,
    object_that_another_name_stands_for,
    tuple_of_an_object,
    in_a_function_that_is_called,
    by_a_function_inside,
    in_a_comprehension,
    in_a_recursive_function,
]


@pytest.mark.parametrize("fn", EARLY, ids=lambda fn: fn.__name__)
def test_what_nobody_needs_is_read_where_the_program_reads_it(fn):
    with pytest.raises(NameError):
        fn(X)
    for derivative in (ad.grad(fn), ad.value_and_grad(fn), lambda x: ad.vjp(fn, x), lambda x: ad.jvp(fn, (x,), (x,))):
        with pytest.raises(NameError):
            derivative(X)


ALWAYS = [added_to_before_it_is_bound, read_in_a_step_before_it_is_bound, multiplied_before_it_is_bound]
ALWAYS += [dict_made_under_a_handler, deleted_where_it_is_not_bound, saved_before_it_is_bound, in_a_recursive_function]
ALWAYS += [added_to_where_only_the_last_value_is_needed, dict_written_in_a_step_before_it_is_made]


@pytest.mark.parametrize("fn", [fn for fn in EARLY if fn not in ALWAYS], ids=lambda fn: fn.__name__)
def test_where_it_is_bound(fn):
    check_gradient(fn, (X + 5,))
    check_tangent(fn, (X + 5,))


def deleted_on_one_path(x):
    s = x[0]
    for i in range(3):
        t = s
        if x[i] > 0.5:
            del s
    return t


def test_what_one_path_deletes_is_not_read_after_it():
    with pytest.raises(NameError):
        deleted_on_one_path(X)
    with pytest.raises(UnsupportedSyntax, match="'s' is deleted on one of the paths"):
        ad.grad(deleted_on_one_path)(X)
