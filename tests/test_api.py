"""The calls: return structures, kinds, errors, and gradient functions as objects."""

from __future__ import annotations

import copy
import inspect
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import autodiff_sct as ad
import autodiff_sct.nn as nn
from autodiff_sct import GradFunction, Parameter, Tensor, errors, get_grad, grad, jvp, value_and_grad


def product(x, y):
    """A product."""
    return x * x * y


class Scaled(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([2.0, 3.0]), name="w")
        self.b = Parameter(Tensor([1.0, 1.0]), name="b")

    def construct(self, x, y):
        return x * y * self.w + self.b


def with_aux(x, y):
    return x * y, x + y, y


X, Y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])


def plain(value):
    """Tensors as lists, containers kept."""
    if isinstance(value, Tensor):
        return value.tolist()
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    return value


# -- structures


@pytest.mark.parametrize(
    "position, expected",
    [(0, 12.0), (1, 9.0), ((1,), 9.0), ((0, 1), (12.0, 9.0)), ((1, 0), (9.0, 12.0))],
)
def test_positions(position, expected):
    assert grad(product, position)(3.0, 2.0) == expected
    assert value_and_grad(product, position)(3.0, 2.0) == (18.0, expected)


def test_weights():
    net = Scaled()
    by_w, by_b = [3.0, 8.0], [1.0, 1.0]
    assert plain(grad(net, None, net.trainable_params())(X, Y)) == (by_w, by_b)
    assert plain(grad(net, None, ad.ParameterTuple([net.b]))(X, Y)) == (by_b,)
    assert plain(grad(net, None, net.w)(X, Y)) == by_w
    assert plain(grad(net, None, ())(X, Y)) == ()
    assert plain(grad(net, 0, net.w)(X, Y)) == ([6.0, 12.0], by_w)
    assert plain(grad(net, (0, 1), (net.b,))(X, Y)) == (([6.0, 12.0], [2.0, 6.0]), (by_b,))
    assert plain(value_and_grad(net, None, net.w)(X, Y)) == ([7.0, 25.0], by_w)


def test_weights_named_twice_foreign_and_frozen():
    net, foreign = Scaled(), Parameter([1.0], "w")
    assert plain(grad(net, None, [net.w, net.w, foreign])(X, Y)) == ([3.0, 8.0], [3.0, 8.0], [0.0])
    net.w.requires_grad = False
    assert plain(grad(net, None, [net.w, net.b])(X, Y)) == ([0.0, 0.0], [1.0, 1.0])


def test_has_aux():
    assert plain(grad(with_aux, has_aux=True)(X, Y)) == ([3.0, 4.0], ([4.0, 6.0], [3.0, 4.0]))
    value, gradient = value_and_grad(with_aux, (0, 1), has_aux=True)(X, Y)
    assert plain(value) == ([3.0, 8.0], [4.0, 6.0], [3.0, 4.0])
    assert plain(gradient) == ([3.0, 4.0], [1.0, 2.0])
    gradient, aux = grad(lambda x: (x * x, x), has_aux=True)(3.0)
    assert (gradient, aux) == (6.0, (3.0,))


def test_return_ids():
    net = Scaled()
    w, b = [3.0, 8.0], [1.0, 1.0]
    x, y = [6.0, 12.0], [2.0, 6.0]
    assert plain(grad(net, 1, return_ids=True)(X, Y)) == (1, y)
    assert plain(grad(net, (1, 0), return_ids=True)(X, Y)) == ((1, y), (0, x))
    assert plain(grad(net, None, [net.w, net.b], return_ids=True)(X, Y)) == (("w", w), ("b", b))
    assert plain(grad(net, None, net.w, return_ids=True)(X, Y)) == ("w", w)
    assert plain(grad(net, 0, [net.w], return_ids=True)(X, Y)) == ((0, x), (("w", w),))
    assert plain(grad(net, 0, net.w, return_ids=True)(X, Y)) == ((0, x), ("w", w))
    assert plain(grad(net, (0, 1), [net.w], return_ids=True)(X, Y)) == (((0, x), (1, y)), (("w", w),))


@pytest.mark.parametrize("position, weights", [(0, "w"), ((0, 1), "w"), (0, ["w", "b"]), ((0, 1), ["w", "b"])])
def test_get_grad(position, weights):
    net = Scaled()
    chosen = [getattr(net, name) for name in weights] if isinstance(weights, list) else getattr(net, weights)
    gradients = grad(net, position, chosen, return_ids=True)(X, Y)
    assert plain(get_grad(gradients, 0)) == [6.0, 12.0]
    assert plain(get_grad(gradients, net.w)) == [3.0, 8.0]


def test_get_grad_tells_parameters_of_one_name_apart():
    net = Scaled()
    net.b.name = "w"
    gradients = grad(net, None, [net.w, net.b], return_ids=True)(X, Y)
    assert plain(get_grad(gradients, net.b)) == [1.0, 1.0]


def test_get_grad_errors():
    gradients = grad(product, (0, 1), return_ids=True)(3.0, 2.0)
    with pytest.raises(RuntimeError):
        get_grad(gradients, 2)
    with pytest.raises(RuntimeError):
        get_grad(gradients, Parameter([1.0], "w"))
    with pytest.raises(TypeError):
        get_grad(gradients, "x")
    with pytest.raises(TypeError):
        get_grad([1], 0)


def test_sens_param():
    gradient = grad(lambda x: x * x, sens_param=True)(X, Tensor([10.0, 100.0]))
    assert plain(gradient) == [20.0, 400.0]
    assert grad(product, (0, 1), sens_param=True)(3.0, 2.0, 2.0) == (24.0, 18.0)
    with pytest.raises(TypeError, match="seed"):
        grad(product, sens_param=True)()


def test_keyword_arguments_are_further_positions():
    assert grad(product, (0, 1))(3.0, y=2.0) == (12.0, 9.0)
    assert grad(product, (0, 1))(x=3.0, y=2.0) == (12.0, 9.0)
    assert grad(product)(3.0, y=2.0) == 12.0


def test_positions_count_in_the_order_of_the_signature():
    gradient = 12.0, 9.0
    for kwargs in ({"x": 3.0, "y": 2.0}, {"y": 2.0, "x": 3.0}):
        assert grad(product)(**kwargs) == gradient[0]
        assert grad(product, 1)(**kwargs) == gradient[1]
        assert value_and_grad(product, (1, 0))(**kwargs) == (18.0, gradient[::-1])
        assert ad.jacrev(product, 1)(**kwargs) == ad.jacfwd(product, 1)(**kwargs) == gradient[1]
        assert grad(lambda a, kw=kwargs: grad(product, 1)(**kw) * a)(1.0) == gradient[1]
        assert grad(lambda y: grad(product)(y=y, x=3.0))(2.0) == 6.0

    def with_defaults(a, b=2.0, *, c=1.0, **others):
        return a * b * c + sum(others.values())

    assert grad(with_defaults, 1)(3.0, c=5.0) == 15.0
    assert grad(with_defaults, (2, 3))(3.0, 2.0, z=1.0, c=5.0) == (6.0, 1.0)


@pytest.mark.parametrize(
    "make",
    [
        float,
        np.float64,
        np.float32,
        lambda v: np.array([v, v]),
        lambda v: np.array([v], np.float32),
        lambda v: Tensor([v]),
    ],
)
def test_kinds_are_kept(make):
    x, y = make(3.0), make(2.0)
    value, (d_x, d_y) = value_and_grad(product, (0, 1))(x, y)
    assert type(d_x) is type(x) and type(d_y) is type(y)
    assert np.asarray(d_x).dtype == np.asarray(x).dtype
    assert np.allclose(d_x, 12.0) and np.allclose(d_y, 9.0)
    assert np.array_equal(value, product(x, y)) and type(value) is type(product(x, y))


def test_one_object_for_two_arguments():
    assert plain(grad(product, (0, 1))(X, X)) == ([2.0, 8.0], [1.0, 4.0])


def test_outputs_are_summed():
    assert plain(grad(lambda x: (x, [x * x, {"a": x}]))(X)) == [4.0, 6.0]


def test_unused_input_gives_zeros():
    assert plain(grad(lambda x, y: x, 1)(X, Y)) == [0.0, 0.0]
    assert grad(lambda x: 3.0)(2.0) == 0.0


# -- errors of grad itself


@pytest.mark.parametrize("make", [grad, value_and_grad])
@pytest.mark.parametrize(
    "settings, error",
    [
        ({"grad_position": None}, ValueError),
        ({"grad_position": -1}, ValueError),
        ({"grad_position": (0, -1)}, ValueError),
        ({"grad_position": (0, 0)}, ValueError),
        ({"grad_position": [0]}, TypeError),
        ({"grad_position": 0.0}, TypeError),
        ({"grad_position": "0"}, TypeError),
        ({"grad_position": (0, 1.0)}, TypeError),
        ({"grad_position": True}, TypeError),
        ({"has_aux": 1}, TypeError),
        ({"has_aux": None}, TypeError),
        ({"return_ids": "a"}, TypeError),
        ({"sens_param": 1}, TypeError),
        ({"weights": 3}, TypeError),
        ({"weights": "w"}, TypeError),
        ({"weights": True}, TypeError),
    ],
)
def test_errors_of_grad_itself(make, settings, error):
    with pytest.raises(error) as caught:
        make(product, **settings)
    assert isinstance(caught.value, errors.AutodiffError)
    with pytest.raises(error):
        make(**settings)


@pytest.mark.parametrize(
    "gradient, args, error",
    [
        (grad(product, ()), (1.0, 2.0), RuntimeError),
        (grad(product, 2), (1.0, 2.0), RuntimeError),
        (grad(product, 0, weights=[1.0]), (1.0, 2.0), TypeError),
        (grad(None), (1.0,), TypeError),
        (grad(3), (1.0,), TypeError),
        (grad(product), (1.0,), TypeError),
        (grad(product), (), TypeError),
        (grad(product), (1.0, 2.0, 3.0), TypeError),
        (grad(product, has_aux=True), (1.0, 2.0), ValueError),
        (grad(lambda x: [x, x], has_aux=True), (1.0,), ValueError),
        (grad(lambda x: (x,), has_aux=True), (1.0,), ValueError),
    ],
)
def test_errors_of_the_gradient_function(gradient, args, error):
    with pytest.raises(error):
        gradient(*args)


def test_unknown_keyword():
    with pytest.raises(TypeError):
        grad(product)(1.0, 2.0, z=3.0)
    with pytest.raises(TypeError):
        grad(product)(1.0, z=3.0)


def test_integer_inputs():
    with pytest.raises(TypeError):
        grad(product)(3, 2.0)
    with pytest.raises(TypeError):
        grad(product)(np.array([1, 2]), 2.0)
    assert grad(product)(3.0, 2) == 12.0
    gradient = grad(lambda x: x * x)(Tensor([1, 2], ad.int32))
    assert plain(gradient) == [2, 4] and gradient.dtype == ad.int32
    with pytest.raises(TypeError, match=r"test_api.py:\d+(?s:.*)by x"):
        grad(lambda x: x * 0.25)(Tensor([1, 2]))
    mixed = grad(lambda x, y: x * y, (0, 1))(Tensor([2, 3]), Tensor([1.0, 2.0]))
    assert plain(mixed) == ([1, 2], [2.0, 3.0]) and [g.dtype for g in mixed] == [ad.int64, ad.float32]


def squared_after_print(x):
    print("once")
    return x * x


def overwritten(x):
    x[0] = x[1] * 3
    return x * x


def test_value_for_integer_tensors(capsys):
    """The value is that of the function for integers; where calling it again would show, it is refused."""
    value, gradient = value_and_grad(lambda x: (x * x * 0.5).sum())(Tensor([2, 4], ad.int32))
    assert plain((value, gradient)) == (10.0, [2, 4])
    assert (value.dtype, gradient.dtype) == (ad.float32, ad.int32)
    value, gradient = value_and_grad(lambda x, y: (x * y, x + 1), (0, 1), has_aux=True)(Tensor([1, 2]), Tensor([3, 4]))
    assert plain((value, gradient)) == (([3, 8], [2, 3]), ([3, 4], [1, 2]))
    assert value[1].dtype == ad.int64
    gradient, aux = grad(lambda x: (x * x, x + 1), has_aux=True)(Tensor([1, 2]))
    assert plain((gradient, aux)) == ([2, 4], ([2, 3],))
    x = Tensor([1, 2])
    assert plain(value_and_grad(overwritten)(x)) == ([36, 4], [0, 40]) and plain(x) == [1, 2]
    with pytest.raises(TypeError, match=r"test_api.py:\d+(?s:.*)'x'"):
        value_and_grad(squared_after_print)(x)
    assert capsys.readouterr().out == ""
    assert plain(grad(squared_after_print)(x)) == [2, 4]
    assert capsys.readouterr().out == "once\n"


def test_integers_beside_floats_keep_the_floats_dtype():
    """Where NumPy would widen to float64, MindSpore does not, and compiled code neither."""

    def scaled(x, n):
        return (x * n).sum() + n.mean()

    n = Tensor([1, 2])
    value, gradient = value_and_grad(scaled)(X, n)
    assert value.dtype == scaled(X, n).dtype == gradient.dtype == ad.float32
    assert np.array_equal(value, scaled(X, n))


# -- nesting


def test_nesting():
    cube = lambda x: x**3
    assert grad(grad(cube))(2.0) == 12.0
    assert grad(grad(grad(cube)))(2.0) == 6.0
    assert jvp(grad(cube), 2.0, 1.0) == (12.0, 12.0)
    assert grad(lambda x: x * grad(cube)(x))(2.0) == 36.0
    assert plain(grad(lambda x: grad(product, (0, 1))(x, x)[1])(X)) == [2.0, 4.0]


def test_value_and_grad_inside():
    def outer(x):
        value, slope = value_and_grad(product)(x, 2.0)
        return value + slope

    assert grad(outer)(3.0) == pytest.approx(12.0 + 4.0)


def test_stop_gradient():
    assert ad.stop_gradient is ad.ops.stop_gradient
    assert ad.stop_gradient(X) is X
    assert grad(lambda x: x * ad.stop_gradient(x))(3.0) == 3.0


# -- decorators and objects


@grad
def slope(x, power=2):
    """The slope of a power."""
    return x**power


@grad(grad_position=(0, 1))
def slopes(x, y):
    return x * y


class Spring:
    stiffness = 2.0

    @grad
    def force(self, x):
        return self.stiffness * x * x

    def twice(self, x):
        return 2 * self.force(x)

    @value_and_grad(grad_position=(1, 0), return_ids=True)
    def work(self, x, y):
        return self.stiffness * x * y


def test_decorator():
    assert slope(3.0) == 6.0
    assert slope(3.0, power=3) == 27.0
    assert slopes(2.0, 3.0) == (3.0, 2.0)
    assert isinstance(slope, GradFunction)
    assert slope.__name__ == "slope" and slope.__doc__ == "The slope of a power."
    assert str(inspect.signature(slope)) == "(x, power=2)"


def test_method():
    spring = Spring()
    assert spring.force(3.0) == 12.0
    spring.stiffness = 3.0
    assert spring.force(3.0) == 18.0
    assert spring.work(2.0, 5.0) == (30.0, ((1, 6.0), (0, 15.0)))
    assert grad(spring.twice)(3.0) == 12.0


def test_attributes_and_text():
    net = Scaled()
    gradient = value_and_grad(net, (0, 1), net.trainable_params(), return_ids=True)
    assert gradient.fn is net and gradient.positions == (0, 1) and gradient.kind == "value_and_grad"
    assert (gradient.has_aux, gradient.return_ids, gradient.sens_param) == (False, True, False)
    assert repr(gradient) == "<value and gradient of Scaled by x, y, 2 weights, return_ids>"
    assert list(inspect.signature(gradient).parameters) == ["x", "y"]
    assert repr(grad(product, 1)) == "<gradient of product by y>"
    assert grad(None).fn is None
    assert "def " in grad(product).source
    assert grad(product)._repr_html_().startswith("<figure") and "d_product" in grad(product)._repr_html_()


def test_a_text_that_needs_arguments_asks_for_them():
    def by_size(x, count):
        x[: x.size // count] *= 2.0
        return np.sum(x)

    assert "example arguments" in grad(by_size)._repr_html_()
    for ask in (lambda: grad(by_size).source, lambda: ad.adjoint_source(by_size)):
        with pytest.raises(
            ad.errors.Refused, match=r"give example arguments: `ad.adjoint_source\(by_size, x, count\)`"
        ):
            ask()
    assert "def " in ad.adjoint_source(by_size, np.ones(4), 2)


def test_a_gradient_whose_text_needs_arguments_is_shown():
    def heat(rod, steps):
        for _ in range(steps):
            rod[1:-1] = 0.25 * (rod[:-2] + 2 * rod[1:-1] + rod[2:])
        return np.sum(rod**2)

    shown = grad(heat)._repr_html_()
    assert shown.startswith("<figure") and "needs example arguments" in shown
    assert "np" not in ad.adjoint_source(product, 1.0, 2.0)


def test_adjoint_source_checks_like_grad():
    with pytest.raises(ValueError):
        ad.adjoint_source(product, grad_position=-1)
    with pytest.raises(TypeError):
        ad.adjoint_source(None)


def square_of_helper(x):
    return helper(x) ** 2


def helper(x):
    return np.sin(x)


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
def test_copies_of_gradient_functions(make):
    factor = 3.0
    assert make(grad(lambda x: factor * x * x))(2.0) == 12.0
    assert make(slope)(3.0) == 6.0
    assert make(grad(square_of_helper))(1.0) == grad(square_of_helper)(1.0)
    assert make(value_and_grad(product, (0, 1)))(3.0, 2.0) == (18.0, (12.0, 9.0))


def test_pickled_weights_are_those_of_the_pickled_network():
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")

    def forward(x):
        y = net(x)
        return y * y

    other = pickle.loads(pickle.dumps(value_and_grad(forward, None, net.weight)))
    other.weights.set_data(np.zeros((1, 2)))
    value, gradient = other(Tensor([[1.0, 2.0]]))
    assert value.item() == 0 and gradient.tolist() == [[0.0, 0.0]]
    assert net.weight.tolist() == [[1.0, 1.0]]


def test_pickle_reaches_another_process(tmp_path):
    path = tmp_path / "gradient.pickle"
    path.write_bytes(pickle.dumps(slope))
    script = f"import pickle; print(pickle.loads(open({str(path)!r}, 'rb').read())(3.0))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "6.0\n"


def test_threads():
    gradient = grad(square_of_helper)
    found: list[float] = []
    threads = [threading.Thread(target=lambda: found.append(gradient(1.0))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [grad(square_of_helper)(1.0)] * 8


# -- the package


def test_all_exported():
    assert len(set(ad.__all__)) == len(ad.__all__)
    for module in (ad, ad.nn, ad.ops):
        for name in module.__all__:
            assert hasattr(module, name), name
    public = {name for name, value in vars(ad).items() if not name.startswith("_") and not inspect.ismodule(value)}
    assert public - {"Any", "TYPE_CHECKING", "annotations", "importlib", "LATER"} <= set(ad.__all__)
    with pytest.raises(AttributeError):
        ad.nothing_of_this_name


def test_importing_reads_neither_compiler_nor_rules():
    script = (
        "import sys, autodiff_sct; print([m for m in sys.modules if m.startswith('autodiff_sct.') and 'rules' in m])"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize("fn", [np.sum, np.sin, np.mean, np.linalg.norm], ids=lambda fn: fn.__name__)
def test_functions_of_numpy_themselves(fn):
    x = np.array([0.3, -1.2, 2.0])
    np.testing.assert_allclose(ad.grad(fn)(x), ad.grad(lambda x: fn(x))(x))


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("exponent", [0.5, -1.5])
def test_powers_that_python_makes_complex_are_refused(exponent):
    def f(x, e):
        return abs(x**e)

    with pytest.raises(ValueError):
        ad.grad(f)(-1.0, exponent)
    assert ad.grad(f)(4.0, exponent) == pytest.approx(exponent * 4.0 ** (exponent - 1))


WITHOUT_SCIPY = """
import sys
sys.modules["scipy"] = None
import numpy as np
import autodiff_sct as ad

def f(x):
    return np.sum(np.sin(x) ** 2)

x = np.ones(2)
ad.grad(f)(x), ad.vjp(f, x)[1](1.0), ad.jvp(f, (x,), (x,)), ad.hessian(f)(x), ad.linearize(f, x)[1](x)
ad.vmap(ad.grad(f))(np.ones((3, 2))), ad.grad(lambda x: ad.grad(f)(x)[0])(x), ad.check_grads(f, (x,))
ad.show(f, x), ad.tape.tensor(x, requires_grad=True).sum().backward()
"""


def test_derivatives_do_not_need_scipy(tmp_path):
    (tmp_path / "script.py").write_text(WITHOUT_SCIPY)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run([sys.executable, tmp_path / "script.py"], env=env, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
