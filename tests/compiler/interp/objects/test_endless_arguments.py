"""Arguments that hold themselves, and containers one in the other without end, are refused with their name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_sct as ad

X = np.array([1.0, 2.0])


class Node:
    def __init__(self, value: Any) -> None:
        self.value = value
        self.parent: Any = None
        self.children: list[Any] = []


def with_parent() -> Node:
    root, leaf = Node(2.0), Node(3.0)
    root.children.append(leaf)
    leaf.parent = root
    return root


def of_node(x: Any, node: Any) -> Any:
    return np.sum(x * node.value)


def unread(x: Any, held: Any) -> Any:
    return np.sum(x)


def itself() -> list[Any]:
    result: list[Any] = [1.0]
    result.append(result)
    return result


def deep(levels: int) -> dict[str, Any]:
    result: dict[str, Any] = {"v": 2.0}
    for _ in range(levels):
        result = {"inside": result}
    return result


@pytest.mark.parametrize(
    ("fn", "value", "reason"),
    [
        (unread, itself(), "'held' of unread holds itself"),
        (unread, deep(2000), "'held' of unread has more than 100 containers"),
    ],
)
def test_refused(fn: Any, value: Any, reason: str) -> None:
    for derivative in (
        lambda: ad.grad(fn)(X, value),
        lambda: ad.grad(fn, 1)(X, value),
        lambda: ad.vjp(fn, X, value),
        lambda: ad.jacrev(fn)(X, value),
        lambda: ad.adjoint_source(fn, X, value),
    ):
        with pytest.raises(ad.errors.ArgumentError, match=reason):
            derivative()


def test_an_object_that_holds_itself_is_read_by_its_attributes() -> None:
    np.testing.assert_array_equal(ad.grad(of_node)(X, with_parent()), [2.0, 2.0])
    with pytest.raises(ad.errors.AutodiffError):
        ad.grad(of_node, 1)(X, with_parent())


def test_containers_that_are_not_too_deep() -> None:
    np.testing.assert_array_equal(ad.grad(unread)(X, deep(40)), [1.0, 1.0])


def test_one_object_in_two_places() -> None:
    shared = Node(2.0)
    np.testing.assert_array_equal(
        ad.grad(lambda x, p: np.sum(x * p[0].value * p[1].value))(X, (shared, shared)), [4, 4]
    )


def test_an_object_with_a_parent_is_read_from_outside() -> None:
    root = with_parent()
    np.testing.assert_array_equal(ad.grad(lambda x: np.sum(x * root.children[0].value))(X), [3.0, 3.0])
