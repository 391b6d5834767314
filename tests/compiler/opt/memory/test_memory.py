"""Memory passes, each on a program before and after it."""

from autodiff_sct.compiler.opt.memory.accumulation.first_touch import assign_first_contributions
from autodiff_sct.compiler.opt.memory.dse import eliminate_dead_stores
from tests.compiler.opt.before_after import check

ARRAYS = "x.1: float64[n] @ 1\ny.2: float64[n] @ 2\nd_t.3: float\nn.4: int\n"
ZEROS = "d_x.5: float64[n] @ 5 = np.zeros_like(x.1)\n"


def touched(s, block):
    assign_first_contributions(s, block, block)


def test_the_last_clearing_of_an_array_is_dead():
    before = "d_u.5: float64[n] @ 5 = y.2 * d_t.3\nx.1[1:-1] += d_u.5[1:-1]\nd_u.5[1:-1] = 0.0\nreturn x.1"
    check(eliminate_dead_stores, ARRAYS + before, before.replace("d_u.5[1:-1] = 0.0\n", ""))


def test_a_clearing_that_is_read_stays():
    check(eliminate_dead_stores, ARRAYS + "d_u.5: float64[n] @ 5 = y.2 * d_t.3\nd_u.5[1:-1] = 0.0\nreturn d_u.5")


def test_what_is_added_to_fresh_zeros_is_assigned():
    before = ZEROS + "d_x.5[...] += y.2 * d_t.3\nd_x.5[...] += y.2\nreturn d_x.5"
    check(touched, ARRAYS + before, "d_x.5 = y.2 * d_t.3\nd_x.5[...] += y.2\nreturn d_x.5")


def test_what_is_added_to_a_cleared_part_is_assigned():
    before = "x.1[1:-1] = 0.0\nx.1[1:-1] += y.2[1:-1] * 2\nreturn x.1"
    check(touched, ARRAYS + before, "x.1[1:-1] = y.2[1:-1] * 2\nreturn x.1")
