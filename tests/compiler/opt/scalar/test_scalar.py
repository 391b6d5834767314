"""Scalar passes, each on a program before and after it."""

from autodiff_sct.compiler.analysis.alias import regions_of_program
from autodiff_sct.compiler.analysis.liveness import sweep_dead
from autodiff_sct.compiler.opt.scalar.cse import number_values
from autodiff_sct.compiler.opt.scalar.dce import eliminate_dead_code, unname_dead_results
from autodiff_sct.compiler.opt.scalar.licm import hoist_invariants
from autodiff_sct.compiler.opt.scalar.loop_bounds import (
    fold_bounds,
    name_counters,
    normalize_direction,
    rematerialize_counters,
    rematerialize_lengths,
)
from autodiff_sct.compiler.opt.scalar.sinking import sink, sink_stores
from tests.compiler.opt.before_after import check

ARRAYS = "x.1: float64[n] @ 1\ny.2: float64[n] @ 2\nk.3: float\nn.4: int\n"


# -- dead code


def swept(s, block):
    return sweep_dead(s, block, strict=set(), shadows=set())


def test_dead_code_goes_with_what_only_it_reads():
    check(swept, ARRAYS + "t.5: float64[n] = np.exp(x.1)\nt.6: float64[n] = t.5 * 2\nreturn x.1", "return x.1")


def test_a_carry_that_nobody_reads_goes():
    loop = "for i.6 in range(n.4):\n    s.7: float = phi(k.3, t.8)\n    t.8: float = s.7 * 2.0\n    print(i.6)\n"
    after = "for i.6 in range(n.4):\n    print(i.6)\nreturn k.3"
    check(swept, ARRAYS + loop + "s.9: float = phi(s.7)\nreturn k.3", after)


def test_effects_stay():
    check(swept, ARRAYS + "t.5: int = print(x.1)  # effect\nreturn x.1")


def test_an_unread_result_that_cannot_fail_is_not_computed():
    check(lambda s, b: eliminate_dead_code(s, b, []), ARRAYS + "t.5: float = k.3 * 2.0\nprint(k.3)", "print(k.3)")


def test_what_may_raise_is_executed_without_a_name():
    before = ARRAYS + "t.5: float = np.linalg.det(x.1)  # may raise\nreturn x.1"
    check(lambda s, b: unname_dead_results(s, b, [], False), before, "np.linalg.det(x.1)\nreturn x.1")


# -- common subexpressions, invariant code


def shared(s, block):
    return number_values(s, regions_of_program(s, block), block, [])


def test_a_common_subexpression_is_computed_once():
    before = "t.5: float64[n] @ 5 = np.exp(x.1)\nt.6: float64[n] @ 6 = np.exp(x.1)\n"
    after = "t.5 = np.exp(x.1)\nt.7 = t.5 * y.2\nt.8 = t.5 * k.3\nreturn t.7, t.8"
    uses = "t.7: float64[n] @ 7 = t.5 * y.2\nt.8: float64[n] @ 8 = t.6 * k.3\nreturn t.7, t.8"
    check(shared, ARRAYS + before + uses, after)


def test_no_subexpression_is_shared_past_a_write():
    before = "t.5: float64[n] @ 5 = np.exp(x.1)\nx.1[0] = 1.0\nt.6: float64[n] @ 6 = np.exp(x.1)\n"
    check(shared, ARRAYS + before + "t.7: float64[n] @ 7 = t.5 * t.6\nreturn t.7")


def hoisted(s, block):
    hoist_invariants(s, regions_of_program(s, block), block, {"y.2", "t.7", "v.5"}, False)


def test_an_invariant_of_a_loop_is_computed_before_it():
    before = "v.5: float64[n] @ 5 = np.zeros(3)\n"
    invariant = "t.7: float64[n] @ 7 = y.2 * y.2\n"
    loop = "for i.6 in range(n.4):\n    {}t.8: float64[n] @ 8 = t.7 * k.3\n    v.5[...] += t.8\n"
    after = before + invariant + loop.format("") + "return v.5"
    check(hoisted, ARRAYS + before + loop.format(invariant + "    ") + "return v.5", after)


def test_what_a_loop_writes_is_no_invariant():
    before = "v.5: float64[n] @ 5 = np.zeros(3)\nfor i.6 in range(n.4):\n"
    check(hoisted, ARRAYS + before + "    t.7: float64[n] @ 7 = v.5 * v.5\n    v.5[...] += t.7\nreturn v.5")


# -- loops


def lengths(s, block):
    return rematerialize_lengths(s, regions_of_program(s, block), block, True)


def test_a_length_is_written_in_the_bounds():
    loop = "for i.6 in range(t.5):\n    print(i.6)"
    check(lengths, ARRAYS + "t.5: int = len(x.1)\n" + loop, loop.replace("t.5", "len(x.1)"))


def test_a_length_that_is_read_elsewhere_keeps_its_name():
    check(lengths, ARRAYS + "t.5: int = len(x.1)\nfor i.6 in range(t.5):\n    print(t.5)")


def test_the_numbers_of_a_bound_are_added_up():
    before = "for i.6 in range(n.4 - 1 - 1, -1, -1):\n    print(i.6)"
    check(lambda s, b: fold_bounds(b), ARRAYS + before, before.replace("n.4 - 1 - 1", "n.4 - 2"))


def test_a_loop_that_only_repeats_counts_up():
    before = "for t.6 in range(n.4 - 1, -1, -1):\n    print(k.3)"
    check(normalize_direction, ARRAYS + before, before.replace("n.4 - 1, -1, -1", "n.4"))
    check(normalize_direction, ARRAYS + before.replace("k.3", "t.6"))


def test_a_counter_with_a_number_added_is_written_where_it_is_read():
    before = "for i.6 in range(n.4):\n    t.7: int = i.6 - 1\n    y.2[i.6] = x.1[t.7]"
    check(rematerialize_counters, ARRAYS + before, "for i.6 in range(n.4):\n    y.2[i.6] = x.1[i.6 - 1]")


def test_a_counter_with_a_number_added_that_is_read_often_has_a_name():
    before = "for i.6 in range(n.4):\n" + "    y.2[i.6 - 1] += x.1[i.6 - 1]\n" * 3
    after = "for i.6 in range(n.4):\n    before.7 = i.6 - 1\n" + "    y.2[before.7] += x.1[before.7]\n" * 3
    check(name_counters, ARRAYS + before, after)


# -- places of statements


def test_the_next_cotangent_comes_after_the_last_use_of_the_one_before():
    before = "d_s.5: float = k.3 * 2.0\nd_s.6: float = d_s.5 * k.3\nd_v.7: float = d_s.5 * np.cos(k.3)\n"
    after = "d_s.5 = k.3 * 2.0\nd_v.7 = d_s.5 * np.cos(k.3)\nd_s.6 = d_s.5 * k.3\nreturn d_s.6, d_v.7"
    check(sink, ARRAYS + before + "return d_s.6, d_v.7", after)


def test_a_part_is_cleared_after_the_use_of_what_was_in_it():
    before = "t.5: float = x.1[3]\nx.1[3] = 0.0\nt.6: float = 2 * t.5\ny.2[4] += t.6\nreturn x.1"
    after = "t.5 = x.1[3]\nt.6 = 2 * t.5\ny.2[4] += t.6\nx.1[3] = 0.0\nreturn x.1"
    check(sink_stores, ARRAYS + before, after)


def test_a_part_is_cleared_before_it_is_read_again():
    check(sink_stores, ARRAYS + "t.5: float = x.1[3]\nx.1[3] = 0.0\nx.1[4] += 2 * t.5\nreturn x.1")
