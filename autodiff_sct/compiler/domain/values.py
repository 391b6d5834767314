"""Abstract values: what the specialiser knows a name to stand for, foreign objects among them.

Abstract values: what the specialiser knows a name to stand for.

Numbers and arrays live in variables of the emitted program (`Leaf`).  Everything whose structure is known at compile
time exists only here: tuples, objects and dicts with constant keys are taken apart into leaves, functions are inlined
where they are called, constants are literals.  So the emitted code contains the arithmetic and nothing else.

Foreign objects, which the program passes on and calls methods of, and whose attributes the compiler does not read.

Theirs are classes of the standard library (a logger, a path), compiled ones (a connection, an HDF5 file), and those of
installed packages that keep their data in a compiled object (a pandas frame).  What their methods return is of a kind
that only the run knows, and carries no derivative.
"""

from __future__ import annotations

import builtins
import os
import sys
import sysconfig
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from types import BuiltinFunctionType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

__all__ = ["PACKAGES", "extends_builtin", "home_of", "is_compiled", "is_foreign", "is_packaged", "python_of"]

PLAIN = (int, float, complex, str, bytes, bool, tuple, slice)


@dataclass(frozen=True)
class Leaf:
    """A value that lives in a variable of the emitted program."""

    name: str


@dataclass(frozen=True, eq=False)
class Const:
    """A Python object known at compile time; `expr` is how the user wrote it, where it is not a plain literal."""

    value: Any
    expr: Any = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Const):
            return False
        if self.value is other.value:
            return True
        if type(self.value) is not type(other.value):
            return False
        return isinstance(self.value, PLAIN) and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash(type(self.value))


@dataclass(frozen=True)
class TupleV:
    """A tuple, or a namedtuple where `cls` is its class; `expr` writes the whole of it, such as ``x.shape``.

    `listed` is the place of a call of NumPy's that returns a list, as ``np.split`` does: where the program uses it as
    one, it is specialised again, and makes a list there.
    """

    items: tuple[Any, ...]
    cls: type | None = None
    expr: Any = field(default=None, compare=False)
    listed: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class Rest:
    """The last arguments of a call, ``*items``, of which only the run tells how many there are."""

    items: Any


@dataclass(frozen=True)
class MaybeV:
    """A tuple or None, of which only the run tells which: all its items are None then.

    `witness` is the number of an item that is None only then.
    """

    items: tuple[Any, ...]
    cls: type | None
    witness: int


@dataclass(frozen=True)
class ListV:
    """A list display that has not been given a name: its items are still known."""

    items: tuple[Any, ...]
    site: Any = field(default=None, compare=False)


@dataclass(frozen=True, eq=False)
class Later:
    """An item that an iterator such as ``map(f, [a, b])`` makes when it is reached."""

    item: Any
    compute: Callable[[], Any]


@dataclass(frozen=True)
class SliceV:
    """A slice whose bounds are not all constant."""

    start: Any
    stop: Any
    step: Any


@dataclass(frozen=True)
class Obj:
    """An object whose fields are variables of the specialiser, under the key ``(id, field)``.

    `cls` is the object's class; a dict with constant keys is an `Obj` of `dict`, a list of objects one of `list`.
    """

    id: Any
    cls: type


@dataclass(eq=False)
class Frame:
    """One activation of a function: `cells` maps its free variables to where they live."""

    id: int
    parsed: Any
    globals: dict[str, Any]
    free: dict[Any, Any] = field(default_factory=dict)
    locals: frozenset[str] = frozenset()
    nonlocals: frozenset[str] = frozenset()
    parent: Frame | None = None  # the lexically enclosing activation
    caller: Frame | None = None
    call: Any = None  # the statement of the caller's that it is called in
    rule: bool = False  # the text of a rule, not the user's
    wanted: list[bool] | None = None  # of a rule: which of its entries somebody asks for
    pick: int | None = None  # of those of its starred parameter, the one that is asked for
    site: Any = None
    tree: Any = None  # its text, desugared
    cls: type | None = None  # the class whose method this is, for super()
    self: Any = None
    bound: dict[str, Any] = field(default_factory=dict)  # its arguments by parameter
    branches: int = 0  # sides of branches around its call
    loops: int = 0  # loops around its call
    result: str | None = None  # the variable that holds what it returns, which the user's text does not have
    resume: Any = None  # what is done with each value that it yields
    left: str | None = None  # the variable of a generator that tells, after each value, whether another is wanted

    def origin(self, node: Any) -> Any:
        """The line of the user's that a statement is on: the compiler's own text stands for the line that calls it."""
        own = not self.rule and str(self.globals.get("__name__")).startswith("autodiff_sct.compiler.")
        if own and self.caller is not None and self.caller.parsed is not None:
            return self.caller.origin(self.call)
        return self.parsed.origin(node)


@dataclass(eq=False)
class Closure:
    """A function or lambda defined inside the program."""

    node: Any
    frame: Frame
    defaults: tuple[Any, ...] = ()
    kw_defaults: tuple[Any, ...] = ()
    name: str = "lambda_"


@dataclass(frozen=True)
class Bound:
    """A method and the object that it was taken from."""

    function: Any
    self: Any


@dataclass(eq=False)
class PartialV:
    """``functools.partial(function, *args, **keywords)``."""

    function: Any
    args: tuple[Any, ...]
    keywords: dict[str, Any]


@dataclass(eq=False)
class Suspended:
    """A generator: a function with ``yield``, and its arguments.

    `site` is where it was made. Of one that is `kept`, the variable ``(site, BEGUN)`` tells whether it has been gone
    through.
    """

    fn: Any
    args: list[Any]
    kwargs: dict[str, Any]
    site: Any = None
    kept: bool = False


@dataclass(eq=False)
class Wrapped:
    """A function of the program as a library wraps it: a gradient, a manager, a function with a cache."""

    fn: Any

    def captured(self, carry: Callable[[Any], Any]) -> Wrapped:
        """The same of the function as another program sees it."""
        return replace(self, fn=carry(self.fn))


BEGUN = "begun"  # the variable of a generator that is kept


@dataclass(frozen=True)
class Choice:
    """One of two callables, told by a variable: a call of it is a branch."""

    test: Leaf
    then: Any
    orelse: Any


@dataclass(frozen=True)
class Super:
    """The result of ``super()`` inside a method of `cls`."""

    cls: type
    self: Any


@dataclass(frozen=True)
class Poison:
    """A name that stands for different things on different paths; using it is refused, with this reason."""

    reason: str
    classes: tuple[type, ...] = ()  # of the objects that it may stand for
    containers: tuple[Any, ...] = ()  # the places of dicts or lists that it may stand for, beside others of other keys


@dataclass(eq=False)
class External:
    """A value that the emitted function receives beside the user's arguments, read anew for each call.

    `read` gets it: a global, a closure cell, an attribute of an object, a Parameter.
    """

    name: str
    read: Callable[[], Any]
    symbol: str
    facts: Any
    key: Any = None


Value = Any


PACKAGES = tuple({sysconfig.get_path(name) for name in ("purelib", "platlib")})
FOLDERS = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))  # of users, of systems
# Modules of the standard library whose objects are made of values that can be followed.
FOLLOWED = set("_thread argparse builtins collections dataclasses enum fractions functools threading types".split())
KNOWN: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def is_foreign(value: Any) -> bool:
    """True if an object is of a class whose attributes are not read; the first object of a class decides for all."""
    cls = type(value)
    if cls not in KNOWN:
        KNOWN[cls] = is_opaque(cls) or (is_installed(cls) and holds_opaque(value))
    return KNOWN[cls]


def is_opaque(cls: type) -> bool:
    """True for a class of the standard library, and for one that is compiled or extends such a class."""
    root = cls.__module__.split(".")[0]
    if root in sys.stdlib_module_names:
        return root not in FOLLOWED
    return any(is_compiled(base) and not is_basic(base) for base in cls.__mro__)


def extends_builtin(cls: type) -> bool:
    """True if a class extends one of Python's own, such as dict."""
    return any(base.__module__ == "builtins" for base in cls.__mro__[1:-1])


def is_compiled(cls: type) -> bool:
    """True if a class is not written in Python, so that its objects hold more than can be seen of them."""
    return isinstance(vars(cls).get("__new__"), BuiltinFunctionType)


def is_basic(cls: type) -> bool:
    """True for a class of Python itself or of NumPy."""
    return getattr(builtins, cls.__name__, None) is cls or cls.__module__.split(".")[0] in ("numpy", *FOLLOWED)


def is_installed(cls: type) -> bool:
    """True if the module of a class is in an installed package."""
    return is_packaged(getattr(sys.modules.get(cls.__module__), "__file__", None) or "")


def is_packaged(text: Any) -> bool:
    """True for a file of an installed package, and for a function whose text is in one."""
    file = text.__code__.co_filename if isinstance(text, FunctionType) else text
    return isinstance(file, str) and (file.startswith(PACKAGES) or any(folder in file for folder in FOLDERS))


def holds_opaque(value: Any) -> bool:
    """True if an attribute of an object is a compiled object, or one that extends such."""
    held = [getattr(value, name, None) for cls in type(value).__mro__ for name in slots_of(cls)]
    return any(is_opaque(type(each)) for each in [*held, *getattr(value, "__dict__", {}).values()])


def slots_of(cls: type) -> tuple[str, ...]:
    """The names of the slots of a class."""
    names = vars(cls).get("__slots__", ())
    return (names,) if isinstance(names, str) else tuple(names)


def python_of(fn: Any) -> FunctionType | None:
    """The Python function behind one that was compiled (`numba.njit`) or is remembered (`functools.lru_cache`).

    Of numba's vectorized functions, it is that of their elements.
    """
    if isinstance(fn, (FunctionType, type)) or not callable(fn):
        return None
    own = getattr(fn._dispatcher if is_vectorized(fn) else fn, "__dict__", {})
    behind = own.get("__wrapped__") if hasattr(type(fn), "cache_info") else own.get("py_func")
    return behind if isinstance(behind, FunctionType) else None


def is_vectorized(fn: Any) -> bool:
    """True for a function that `numba.vectorize` made."""
    return type(fn).__name__ == "DUFunc" and type(fn).__module__.startswith("numba.")


def home_of(fn: Any) -> str:
    """The name of the module whose text makes a callable: a wrapper's ``__module__`` is that of what it wraps."""
    if isinstance(fn, FunctionType):
        return str(fn.__globals__.get("__name__", ""))
    return getattr(fn, "__module__", None) or ""


def parts(value: Value) -> Iterable[Value]:
    """The values that a value is made of, but for the fields of objects, which the environment has."""
    if isinstance(value, (TupleV, ListV, MaybeV)):
        return value.items
    if isinstance(value, SliceV):
        return (value.start, value.stop, value.step)
    if isinstance(value, Bound):
        return (value.self,)
    if isinstance(value, Suspended):
        return (*value.args, *value.kwargs.values())
    return ()
