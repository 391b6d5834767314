"""Algebraic passes, each on a program before and after it."""

import pytest

from autodiff_sct.compiler.opt.rewrite.canonicalize import canonicalize
from autodiff_sct.compiler.opt.rewrite.signs import propagate_negations, reduce_powers
from tests.compiler.opt.before_after import check

ARRAYS = "x.1: float64[n, m] @ 1\nd_y.2: float64[n, m] @ 2\nd_x.3: float64[n, m] @ 3\nk.4: float\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("-d_y.2 * 0.5 * (2 * x.1)", "-(d_y.2 * x.1)"),
        ("np.sum(d_y.2, axis=0)", "d_y.2.sum(axis=0)"),
        ("np.sum(-d_y.2, axis=0)", "-d_y.2.sum(axis=0)"),
        ("np.expand_dims(d_y.2, 1)", "d_y.2[:, None]"),
        ("d_y.2 * -k.4", "-k.4 * d_y.2"),
        ("(x.1.T @ d_y.2).T", "d_y.2.T @ x.1"),
    ],
)
def test_a_cotangent_costs_fewer_passes_over_arrays(before, after):
    check(canonicalize, f"{ARRAYS}d_z.5: float64[n, m] @ 5 = {before}", f"d_z.5 = {after}")


def test_the_sign_of_what_is_added_is_that_of_the_store():
    check(canonicalize, ARRAYS + "d_x.3[...] += -d_y.2", "d_x.3[...] -= d_y.2")


@pytest.mark.parametrize("before", ["--d_y.2[0]", "0.5 * (2 * d_y.2[0])"])
def test_a_variable_keeps_memory_of_its_own(before):
    text = f"{ARRAYS}d_z.5: float64[m] @ 5 = {before}\nd_y.2[...] += d_x.3\nreturn d_z.5"
    check(canonicalize, text, "d_z.5 = d_y.2[0].copy()\nd_y.2[...] += d_x.3\nreturn d_z.5")
    if before.startswith("--"):
        check(
            lambda s, b: propagate_negations(s, [], b),
            text,
            "d_z.5 = d_y.2[0].copy()\nd_y.2[...] += d_x.3\nreturn d_z.5",
        )


@pytest.mark.parametrize(
    ("power", "product"), [(3, "x.1 ** 2 * x.1"), (6, "(x.1 ** 2 * x.1) ** 2"), (2, "x.1 ** 2"), (2.5, "x.1 ** 2.5")]
)
def test_small_powers_are_products_of_squares(power, product):
    before = f"{ARRAYS}t.5: float64[n, m] @ 5 = x.1 ** {power}"
    check(lambda s, b: reduce_powers(s, b), before, f"t.5 = {product}")


def test_a_negative_is_subtracted_where_it_would_be_added():
    before = "t.5: float64[n, m] @ 5 = -d_y.2\nt.6: float64[n, m] @ 6 = d_x.3 + t.5 * x.1\nreturn t.6"
    check(lambda s, b: propagate_negations(s, [], b), ARRAYS + before, "t.6 = d_x.3 - d_y.2 * x.1\nreturn t.6")
