"""Each invariant of the intermediate form refuses what breaks it, and programs of the bank keep all of them."""

import zlib

import numpy as np
import pytest

import autodiff_sct as ad
from autodiff_sct.compiler.ir import verifier
from autodiff_sct.compiler.ir.parser import parse
from autodiff_sct.compiler.ir.verifier import Malformed, Program
from tests.bank.checks import position_of
from tests.bank.limits import within
from tests.bank.registry import load_bank

BANK = [p for p in within(load_bank()[0].values()) if zlib.crc32(p.name.encode()) % 6 == 0]


def check(text: str) -> None:
    """Verify a program whose arguments are `x.1` and `n.1`."""
    read = parse(text)
    program = Program(read.s, read.block, outside=frozenset(["x.1", "n.1"]))
    for invariant in verifier.INVARIANTS:
        invariant(program)


GOOD = """
x.1: float64[n]
t.2: float64[n] = np.sin(x.1)
if x.1[0] > 0.0:
    t.3: float64[n] = t.2 * 2
else:
    raise ValueError("negative")
t.4: float64[n] = t.3 + t.2
return t.4
"""


def test_a_well_formed_program_passes():
    check(GOOD)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("return x.1\nt.2: float = 1.0", "tree: statements follow a return"),
        ("t.2: float = 1.0\nt.2: float = 2.0", "defined_once: t.2 is defined more than once"),
        ("x.1: float = 1.0", "defined_once: x.1"),
        ("t.2 = f(x.1)", "known: t.2 has no facts"),
        ("t.2: float = t.3 * 2.0", "defined_before_read: t.3"),
        ("if n.1 > 0:\n    t.2: float = 1.0\nreturn t.2", "defined_before_read: t.2"),
        ("if n.1 > 0:\n    pass\nt.3: float = phi(t.2, n.1)", "defined_before_read: t.2"),
        ("for i.2 in range(n.1):\n    t.3: float = 1.0\nreturn t.3", "defined_before_read: t.3"),
        ("for i.2 in range(n.1):\n    s.3: float = phi(n.1, s.4)\ns.5: float = phi(s.3)", "defined_before_read: s.4"),
        ("try:\n    t.2: float = f(n.1)\nexcept ValueError:\n    pass\nreturn t.2", "defined_before_read: t.2"),
        ("a.2: float64[n] = np.zeros(n.1)\nt.3: float64[n, n] = a.2 * 2.0", "facts_agree: t.3 has rank 2"),
        ("a.2: float32[n] = f(n.1)\nt.3: float64[n] = np.exp(a.2)", "facts_agree: t.3 is float64"),
        (
            "saved.2: list @ 1 = []  # saves\nsaved.2.append(x.1)\nsaved.2.append(x.1)\nt.3: float = saved.2.pop()",
            "saves_match: saved.2 is filled at 2 places",
        ),
    ],
)
def test_what_breaks_an_invariant_is_refused(text, said):
    with pytest.raises(Malformed, match=said.replace(".", r"\.")):
        check(text)


def test_an_operation_has_the_operands_of_its_expression():
    read = parse("t.2: float = x.1 * n.1")
    read.block[0].expr = parse("t.2 = x.1 * 2").block[0].expr
    with pytest.raises(Malformed, match="n.1 is an operand that the expression does not read"):
        verifier.operands_agree(Program(read.s, read.block, is_primal=True))


def test_a_statement_stands_in_one_place():
    read = parse("t.2: float = f(x.1)")
    with pytest.raises(Malformed, match="two places"):
        verifier.tree(Program(read.s, read.block * 2))


def test_literals_are_those_of_python():
    read = parse("t.2: float = x.1 * 0.5")
    read.block[0].expr.right.value = np.float64(0.5)
    with pytest.raises(Malformed, match="number of NumPy's"):
        verifier.tree(Program(read.s, read.block))


def test_the_reverse_of_a_branch_reads_what_the_branch_defines():
    text = "if n.1 > 0:\n    t.2: float = f(x.1)\nif n.1 > 0:\n    t.3: float = t.2 * 2.0\n"
    read = parse(text)
    read.block[1].primal = read.block[0]
    verifier.defined_before_read(Program(read.s, read.block[:1], read.block[1:], frozenset(["n.1", "x.1"])))


def test_before_saves_the_reverse_sweep_reads_any_variable():
    forward = parse("for i.2 in range(n.1):\n    t.3: float = f(x.1)").block
    read = parse("t.4: float = t.3 * 2.0")
    outside = frozenset(["n.1", "x.1"])
    verifier.defined_before_read(Program(read.s, forward, read.block, outside, is_recorded=False))
    with pytest.raises(Malformed, match="t.3"):
        verifier.defined_before_read(Program(read.s, forward, read.block, outside))


def test_the_message_names_the_pass():
    read = parse("t.2: float = t.3 * 2.0")
    with pytest.raises(Malformed, match="after sink: defined_before_read"):
        verifier.verify(Program(read.s, read.block), "sink")


@pytest.mark.parametrize("program", [pytest.param(p, id=p.name) for p in BANK])
def test_programs_of_the_bank_are_well_formed_after_each_pass(program):
    with verifier.verifying():
        ad.adjoint_source(program.function, *program.args(), grad_position=position_of(program.wrt))
