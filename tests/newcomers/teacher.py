"""Script of a teacher: an adjoint is shown, saved, stepped through, and compared with a tape and with forward mode."""

import pathlib
import tempfile

import numpy as np

import autodiff_sct as ad
from autodiff_sct import tape


def newton_root(a, steps):
    x = a
    for _ in range(steps):
        x = 0.5 * (x + a / x)
    return x


def energy(q, k):
    total = 0.0
    for i in range(len(q) - 1):
        stretch = q[i + 1] - q[i]
        if stretch > 0:
            total += 0.5 * k * stretch**2
        else:
            total += 0.25 * k * stretch**4
    return total


# The derivative of an iteration is an iteration.
root = ad.grad(newton_root)
np.testing.assert_allclose(root(2.0, 6), 0.5 / np.sqrt(2.0), rtol=1e-12)
text = ad.adjoint_source(newton_root, 2.0, 6)
print(text)
assert "def d_newton_root" in text and "for _" in text
assert len(text.splitlines()) < 25

# Three ways to one gradient.
q = np.array([0.0, 0.4, 0.3, 1.1])
reverse = ad.grad(energy)(q, 2.0)
forward = [ad.jvp(energy, (q, 2.0), (e, 0.0))[1] for e in np.eye(4)]
np.testing.assert_allclose(reverse, forward, rtol=1e-12)
leaf = tape.tensor(q, requires_grad=True)
energy(leaf, 2.0).backward()
np.testing.assert_allclose(leaf.grad, reverse, rtol=1e-12)

# The Hessian of a chain of springs is a band.
hessian = ad.hessian(energy)(q, 2.0)
assert np.allclose(hessian, hessian.T) and hessian[0, 3] == 0.0 and hessian[0, 0] == 2.0

with tempfile.TemporaryDirectory() as folder:
    page = pathlib.Path(folder, "energy.html")
    page.write_text(ad.show(energy, q, 2.0)._repr_html_(), encoding="utf-8")
    assert "stretch" in page.read_text(encoding="utf-8")
    file = pathlib.Path(folder, "d_energy.py")
    gradient = ad.grad(energy)
    gradient.save(file, q, 2.0)
    np.testing.assert_array_equal(gradient(q, 2.0), reverse)
    assert gradient.compiled(q, 2.0).__code__.co_filename == str(file)
    alone: dict = {}
    exec(gradient.source, alone)
    np.testing.assert_array_equal(alone["d_energy"](q, 2.0), reverse)


# The first line that makes a NaN is named.
def normalise(v):
    length = np.sqrt(np.sum(v**2))
    return np.sum(v / length)


try:
    ad.debug_nans(normalise)(np.zeros(3))
except FloatingPointError as error:
    print(error)
    assert "v / length" in str(error)
else:
    raise AssertionError("no NaN was found")
print(ad.profile(ad.grad(energy))(q, 2.0))
