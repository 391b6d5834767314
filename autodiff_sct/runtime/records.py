"""Structured arrays that a program makes: each field is an array, which lies in memory as NumPy's field does."""

from __future__ import annotations

from typing import Any

__all__ = ["Record", "Records"]


class Records:
    """A structured array of one axis, by its fields."""

    stands_for = "a structured array"
    __array_ufunc__ = None

    def __init__(self, fields: Any, dtype: Any) -> None:
        self.columns = fields
        self.dtype = dtype

    @property
    def shape(self) -> Any:
        return (len(self),)

    @property
    def size(self) -> Any:
        return len(self)

    @property
    def ndim(self) -> Any:
        return 1

    def __len__(self) -> Any:
        return len(self.columns[self.dtype.names[0]])

    def __iter__(self) -> Any:
        for place in range(len(self)):
            yield self[place]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self.columns[key]
        if isinstance(key, list) and len(key) > 0 and isinstance(key[0], str):
            return Records({name: self.columns[name] for name in key}, self.dtype[key])
        if is_place(key):
            return Record(self.columns, key, self.dtype)
        return Records({name: column[key] for name, column in self.columns.items()}, self.dtype)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            self.columns[key][...] = value
        elif isinstance(value, tuple):
            for (_, column), part in zip(self.columns.items(), value):
                column[key] = part
        else:
            for name, column in self.columns.items():
                column[key] = value[name]

    def copy(self) -> Any:
        return Records({name: column.copy() for name, column in self.columns.items()}, self.dtype)


class Record:
    """One element of a structured array, which writes into the array."""

    stands_for = "an element of a structured array"
    __array_ufunc__ = None

    def __init__(self, columns: Any, place: Any, dtype: Any) -> None:
        self.columns = columns
        self.place = place
        self.dtype = dtype

    def __len__(self) -> Any:
        return len(self.columns)

    def __getitem__(self, key: Any) -> Any:
        return self.columns[key if isinstance(key, str) else self.dtype.names[key]][self.place]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.columns[key if isinstance(key, str) else self.dtype.names[key]][self.place] = value


def is_place(key: Any) -> Any:
    """True for the number of one element."""
    raise NotImplementedError("the compiler answers")
