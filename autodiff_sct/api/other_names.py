"""Names that users of HIPS autograd, JAX, PyTorch and TensorFlow type, and what to write here."""

from __future__ import annotations

__all__ = ["HINTS", "KEYWORDS"]

RULE = "register a derivative with `rule`, as in `@autodiff_sct.rule(f)` above `def f_rule(y, d, x): ...`"
CONTROL = "write `if`, `for` and `while`: Python's own control flow is differentiated"
TREES = "pass lists, tuples, dicts, dataclasses or objects of arrays: a gradient has the structure of its argument"

# What to write in the place of a name that is not there.
HINTS = {
    "GradientTape": "`tape.GradientTape` does not exist: record with `tape.tensor(..., requires_grad=True)`",
    "Module": "write `nn.Cell`, with `construct` for `forward`",
    "Variable": "write `tape.tensor(value, requires_grad=True)`",
    "backward": "write `tape.backward(...)`, or `grad(f)` of a function",
    "compile": "write `grad(f, backend='numba')` for machine code",
    "cond": CONTROL,
    "custom_gradient": RULE,
    "custom_jvp": RULE,
    "custom_root": "write `implicit_root(solve, residual)`",
    "custom_vjp": RULE,
    "defjvp": RULE,
    "defvjp": RULE,
    "deriv": "write `grad(f)`",
    "detach": "write `stop_gradient(value)`; tensors of the tape have `t.detach()`",
    "elementwise_grad": "write `grad`: outputs that are not scalar are summed",
    "enable_grad": "write `tape.enable_grad()`",
    "fixed_point": "write `implicit_root(solve, lambda x, *args: f(x, *args) - x)`",
    "flatten": TREES,
    "fori_loop": CONTROL,
    "functional": "write `jacrev(f)`, `jvp(f, inputs, v)`, `vjp(f, *inputs)`, `hessian(f)`, `vmap(f)`",
    "grad_and_value": "write `value_and_grad(f)`, which returns the value first",
    "grad_named": "write `grad(f, grad_position=k)`, or call `grad(f)` with the arguments by name",
    "gradcheck": "write `check_grads(f, args)`",
    "gradients": "write `tape.gradients(...)`, or `grad(f)` of a function",
    "hessian_vector_product": "write `hvp(f, inputs, v)`",
    "holomorphic_grad": "write `grad(f)`: arguments may be complex",
    "jacobian_vector_product": "write `jvp(f, inputs, v)`",
    "jet": "write `jvp` of `jvp`",
    "lax": CONTROL,
    "make_hvp": "write `hvp(f, inputs, v)`",
    "make_jaxpr": "write `adjoint_source(f, *args)` for the text of the adjoint",
    "make_jvp": "write `jvp(f, inputs, v)`",
    "make_vjp": "write `vjp(f, *inputs)`",
    "multigrad": "write `grad(f, (0, 1))`",
    "multigrad_dict": "write `grad(f)`: a dict of arrays as an argument has a dict of gradients",
    "no_grad": "write `stop_gradient(value)`, or `tape.no_grad()` for the tape",
    "numpy": "write `import numpy as np`: NumPy's own functions are differentiated",
    "odeint": "write `scipy.integrate.odeint` or `solve_ivp`: they have derivatives",
    "opaque": "write `constant(f)` for a function that carries no derivative",
    "optim": "write `scipy.optimize.minimize(value_and_grad(f), x, jac=True)`, or an optimizer of `nn`",
    "pmap": "write `vmap(f)` for the examples of a batch",
    "primitive": RULE,
    "random": "write `numpy.random`: what it draws is a constant to derivatives",
    "ravel_pytree": TREES,
    "remat": "write `checkpoint(f)`",
    "requires_grad": "write `tape.tensor(value, requires_grad=True)`, or `grad(f, grad_position=k)`",
    "scan": CONTROL,
    "scipy": "write `import scipy`: SciPy's own functions have rules",
    "tree_map": TREES,
    "tree_util": TREES,
    "unflatten": TREES,
    "value_and_jacobian": "write `jacrev(lambda x: (f(x), f(x)), has_aux=True)` for the Jacobian and the value",
    "vector_jacobian_product": "write `vjp(f, *inputs)`",
    "while_loop": CONTROL,
}

POSITIONS = "write `grad_position=k` (or JAX's `argnums=k`)"
# What to write in the place of a keyword of `grad` that it does not have.
KEYWORDS = {
    "allow_int": "leave it out: pass floats",
    "argnum": POSITIONS,
    "argnames": POSITIONS,
    "create_graph": "leave it out: `grad(grad(f))` is of second order",
    "holomorphic": "leave it out: arguments may be complex",
    "retain_graph": "leave it out: a gradient function may be called many times",
    "wrt": POSITIONS,
}
