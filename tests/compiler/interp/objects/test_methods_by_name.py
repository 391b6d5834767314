"""Methods and properties that classes call by the names of other classes, and that have two names themselves."""

import pytest

from tests.compiler.checked import V, check_gradient, check_tangent, names, registrar

CASES: list = []
case = registrar(CASES)


class Base:
    scale = 2.0

    def __init__(self, size):
        self.inner, self.calls = size, 0

    @property
    def size(self):
        return self.inner * self.scale

    @size.setter
    def size(self, size):
        self.inner = size
        self.calls += 1


class Shifted(Base):
    scale = 3.0

    def __init__(self, size, shift):
        super().__init__(size)
        self.shift = shift

    @property
    def size(self):
        return Base.size.fget(self) + self.shift

    @size.setter
    def size(self, size):
        Base.size.fset(self, size * 0.5)


@case(V)
def property_of_the_base(x):
    shifted = Shifted(x[0], x[1])
    total = shifted.size**2
    for v in x[2:]:
        shifted.size = v * shifted.size
        total += shifted.size**2 + shifted.calls
    return total


@case(V)
def operators_under_two_names(x):
    class Dual:
        def __init__(self, value, slope=0.0):
            self.value, self.slope = value, slope

        def __add__(self, other):
            other = other if isinstance(other, Dual) else Dual(other)
            return Dual(self.value + other.value, self.slope + other.slope)

        def __mul__(self, other):
            other = other if isinstance(other, Dual) else Dual(other)
            return Dual(self.value * other.value, self.slope * other.value + self.value * other.slope)

        __radd__ = __add__
        __rmul__ = __mul__

        def __neg__(self):
            return self * -1

    a = Dual(x[0], 1.0)
    b = 2.0 * a * a + 1.0 + Dual(x[1]) * a
    c = sum([a, b, -a])
    return b.value * b.slope + c.value


@case(V)
def name_of_what_is_defined_again(x):
    class Pair:
        def read(self):
            return x[0]

        first = read

        def read(self):
            return x[1]

    pair = Pair()
    return pair.read() * 2 + pair.first() * 3


@pytest.mark.parametrize(("fn", "args"), CASES, ids=names(CASES))
def test_gradients(fn, args):
    check_gradient(fn, args)
    check_tangent(fn, args)
