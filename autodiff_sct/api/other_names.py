"""Names that users of HIPS autograd, JAX, PyTorch and TensorFlow type, and what to write here."""

from __future__ import annotations

__all__ = ["HINTS"]

RULE = "register a derivative with `rule`, as in `@autodiff_sct.rule(f)` above `def f_rule(y, d, x): ...`"

# What to write in the place of a name that is not there.
HINTS = {
    "GradientTape": "`tape.GradientTape` does not exist: record with `tape.tensor(..., requires_grad=True)`",
    "backward": "write `tape.backward(...)`, or `grad(f)` of a function",
    "custom_gradient": RULE,
    "custom_jvp": RULE,
    "custom_root": "write `implicit_root(solve, residual)`",
    "custom_vjp": RULE,
    "defjvp": RULE,
    "defvjp": RULE,
    "elementwise_grad": "write `grad`: outputs that are not scalar are summed",
    "fixed_point": "write `implicit_root(solve, lambda x, *args: f(x, *args) - x)`",
    "gradients": "write `tape.gradients(...)`, or `grad(f)` of a function",
    "hessian_vector_product": "write `hvp(f, inputs, v)`",
    "jit": "write `grad(f, backend='numba')` for machine code",
    "make_hvp": "write `hvp(f, inputs, v)`",
    "make_jaxpr": "write `adjoint_source(f, *args)` for the text of the adjoint",
    "make_jvp": "write `jvp(f, inputs, v)`",
    "make_vjp": "write `vjp(f, *inputs)`",
    "multigrad_dict": "write `grad(f)`: a dict of arrays as an argument has a dict of gradients",
    "no_grad": "write `stop_gradient(value)`, or `tape.no_grad()` for the tape",
    "opaque": "write `constant(f)` for a function that carries no derivative",
    "primitive": RULE,
    "remat": "write `checkpoint(f)`",
    "value_and_jacobian": "write `jacrev(lambda x: (f(x), f(x)), has_aux=True)` for the Jacobian and the value",
}
