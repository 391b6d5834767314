"""The error tree: what it derives from, what it prints, that it travels between processes."""

import copy
import pickle

import pytest

from autodiff_sct import errors
from autodiff_sct.errors import AutodiffError, Origin, Refused, SourceUnavailable, UnsupportedSyntax

ERRORS = [getattr(errors, name) for name in errors.__all__ if name not in ("Origin", "REMEDIES", "REPEATABLE")]
HERE = Origin("model.py", 7, 8, 20, "    y = x ** spam(1)", "loss")


@pytest.mark.parametrize("error", ERRORS)
def test_message_alone_is_enough_and_pickles(error):
    first = error("a reason")
    assert isinstance(first, AutodiffError)
    assert str(first).splitlines()[0] == "a reason"
    for again in (pickle.loads(pickle.dumps(first)), copy.copy(first)):
        assert type(again) is error and str(again) == str(first) and again.args == ("a reason",)


@pytest.mark.parametrize("error", [e for e in ERRORS if issubclass(e, Refused)])
def test_refusals_pickle_whole(error):
    first = error("a reason", "a remedy", HERE, "dict-key")
    first.add_note("a note")
    again = pickle.loads(pickle.dumps(first))
    assert (again.reason, again.remedy, again.origin, again.code) == ("a reason", "a remedy", HERE, "dict-key")
    assert str(again) == str(first) and again.__notes__ == ["a note"]


@pytest.mark.parametrize(
    ("name", "builtin"),
    [
        ("UnsupportedSyntax", NotImplementedError),
        ("NoRule", NotImplementedError),
        ("SourceUnavailable", OSError),
        ("NotDifferentiable", TypeError),
        ("ArgumentTypeError", TypeError),
        ("ArgumentValueError", ValueError),
        ("ArgumentRuntimeError", RuntimeError),
        ("ArgumentIndexError", IndexError),
        ("ArgumentAttributeError", AttributeError),
    ],
)
def test_each_is_also_the_builtin_that_a_caller_would_catch(name, builtin):
    assert issubclass(getattr(errors, name), builtin)


def test_a_refusal_shows_place_reason_and_remedy():
    error = UnsupportedSyntax("`spam` is not understood.", "Write `eggs`.", HERE)
    assert str(error).splitlines() == [
        "model.py:7: in loss",
        "    y = x ** spam(1)",
        "        ^^^^^^^^^^^^",
        "`spam` is not understood.",
        "What to do: Write `eggs`.",
        "More: docs/errors.md#unsupported-syntax",
    ]


def test_a_kind_of_refusal_has_a_remedy_where_none_is_given():
    error = UnsupportedSyntax("`zip` of what has no end", code="unknown-length")
    assert error.remedy == errors.REMEDIES["unknown-length"]
    assert str(error).splitlines()[1:] == [f"What to do: {error.remedy}", "More: docs/errors.md#unknown-length"]


def test_carets_stay_on_the_line():
    beyond = HERE._replace(column=15, end_column=400)
    assert beyond.show().splitlines()[2] == "    " + " " * 11 + "^" * 5
    assert HERE._replace(column=0, end_column=0).show().splitlines()[2] == "    ^"
    tabbed = Origin("m.py", 1, 2, 3, "\tx\ty", "f")
    assert tabbed.show().splitlines()[1:] == ["    x\ty", "     ^"]
    assert Origin("m.py", 1, 0, 0, "", "f").show() == "m.py:1: in f"


def test_oserror_arguments_are_not_misread():
    error = SourceUnavailable("no text", "from_source", HERE)
    assert error.errno is None and error.filename is None


def test_the_tree_at_the_top_of_the_file_is_complete():
    assert all(error.__name__ in errors.__doc__ for error in ERRORS)
    classes = {name: value for name, value in vars(errors).items() if isinstance(value, type)}
    defined = {name for name, value in classes.items() if value.__module__ == errors.__name__}
    assert defined | {"REMEDIES", "REPEATABLE"} == set(errors.__all__)
