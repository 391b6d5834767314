"""Writes through views seen by the base, and writes to the base seen by its views."""

import numpy as np

from tests.bank.registry import program

VIEW = {"inplace", "view"}


@program(args=lambda rng: (rng.normal(size=6), 1.7), wrt=(0, 1), tags=VIEW)
def damp_edges(a, k):
    b = a * 1.0
    edge = b[:2]
    edge *= k
    return np.sum(b**3)


@program(args=lambda rng: (rng.normal(size=6), 0.7), wrt=(0, 1), tags=VIEW)
def base_written_view_read(a, k):
    b = a * a
    tail = b[2:]
    before = np.sum(tail**2)
    b[3] = k
    b[:] *= a
    return before * np.sum(tail**3)


@program(args=lambda rng: (rng.normal(size=(3, 4)), rng.normal(size=3)), wrt=(0, 1), tags=VIEW)
def write_through_transpose(A, v):
    B = A * 2.0
    T = B.T
    T[1] = v
    T[2:] *= v**2
    B[0] += T[:, 1][0]
    return np.sum(B**2 * A)


@program(args=lambda rng: (rng.normal(size=(3, 4)), 0.6), wrt=(0, 1), tags=VIEW)
def write_through_reshape(A, t):
    B = np.sin(A)
    flat = B.reshape(-1)
    flat[::5] *= t
    flat[3] = flat[4] ** 2
    cube = B.reshape(2, 2, 3)
    cube[1, 0] = cube[0, 1] * t
    return np.sum(B**2)


@program(args=lambda rng: (rng.normal(size=(3, 4)), 0.6), wrt=(0, 1), tags=VIEW)
def reshape_that_copies(A, t):
    B = A * A
    flat = B.T.reshape(-1)
    flat *= t
    flat[0] = 1.0
    ravelled = B.T.ravel()
    ravelled[2] = t * 9.0
    return np.sum(B * A) * np.sum(flat) + ravelled[2]


@program(args=lambda rng: (rng.normal(size=(4, 4)), rng.normal(size=4)), wrt=(0, 1), tags=VIEW)
def write_through_ravel(A, d):
    B = A + 1.0
    flat = B.ravel()
    flat[::5] = d
    flat[-3:] *= 2.0
    flat -= d[0]
    return np.sum(B**3)


@program(args=lambda rng: (rng.normal(size=(2, 3, 2)), 0.8), wrt=(0, 1), tags=VIEW)
def write_through_swapaxes(T, k):
    U = T * k
    V = U.swapaxes(0, 2)
    V[0] *= k
    W = np.moveaxis(U, 1, 0)
    W[2, 1] = V[1, 2, 1] ** 2
    X = np.transpose(U, (1, 2, 0))
    X[0] -= k
    return np.sum(U**2 * T)


@program(args=lambda rng: (rng.normal(size=(4, 4)), rng.normal(size=4)), wrt=(0, 1), tags=VIEW)
def diagonal_views(A, v):
    B = A * A
    d = np.einsum("ii->i", B)
    d *= v
    off = np.diagonal(B, 1)
    B[0, 1] = v[2]
    return np.sum(B * A) + np.sum(off**2) + np.trace(B) ** 2


@program(args=lambda rng: (rng.normal(size=(3, 4)),), tags=VIEW)
def rows_written_in_loop(A):
    B = A.copy()
    for row in B:
        row *= row[0]
        row[1:] += np.sin(row[:-1])
    return np.sum(B**2)


@program(args=lambda rng: (rng.normal(size=(3, 3)), rng.normal(size=(3, 3))), wrt=(0, 1), tags=VIEW)
def zipped_rows_written(A, B):
    C = A * B
    for i, (c, a) in enumerate(zip(C, A)):
        c -= a[i] * c
        c[i] = a @ a
    for column in C.T:
        column /= 2.0 + column[0] ** 2
    return np.sum(C * B)


@program(args=lambda rng: (rng.normal(size=8), 0.4), wrt=(0, 1), tags=VIEW)
def view_of_view(x, t):
    y = x * x
    outer = y[1:7]
    inner = outer[::2][1:]
    inner *= t
    outer[3:] += inner[0]
    y[4] = inner[1] * 2.0
    return np.sum(y**2) + np.sum(outer * inner[1])


@program(args=lambda rng: (rng.normal(size=6), 0.4), wrt=(0, 1), tags=VIEW)
def view_outlives_name(x, t):
    y = x * 1.0
    head = y[:3]
    y = y * 2.0
    head *= t
    y[0] = head[1]
    return np.sum(y * y) + np.sum(head**2)


@program(args=lambda rng: (rng.normal(size=4), 0.4), wrt=(0, 1), tags=VIEW)
def added_axes(x, t):
    y = np.exp(0.1 * x)
    column = y[:, None]
    column *= t
    row = np.expand_dims(y, 0)
    row[0, 2] = t**2
    back = np.squeeze(column)
    back[1] += x[3]
    same = np.atleast_2d(y)
    same[:, -1] = x[0] * t
    return np.sum(column * row) + np.sum(y**3)


@program(args=lambda rng: (rng.normal(size=(2, 3)), 0.4), wrt=(0, 1), tags=VIEW)
def flat_iterator(A, t):
    B = A * t
    B.flat[4] = t**2
    B.flat[0] *= 3.0
    s = 0.0
    for v in B.flat:
        s = s + v**2
    return s * B.flat[2]


@program(args=lambda rng: (rng.normal(size=(2, 4)), 0.4), wrt=(0, 1), tags=VIEW)
def flat_masks(A, t):
    scaled = np.zeros_like(A)
    inside = np.abs(A.ravel()) < 1
    scaled.flat[inside] = np.arcsin(A.flat[inside]) * t
    scaled.flat[~inside] += t**2
    return np.sum(scaled**2) * A.flat[3]


@program(args=lambda rng: (rng.normal(size=12), 0.7), wrt=(0, 1), tags=VIEW)
def shapes_in_lists(x, k):
    n = len(x) // 3
    rows = np.reshape(x, [n, 3])
    shape = list(rows.shape)
    shape[-1] += 1
    padded = k * np.ones(tuple(shape))
    padded[..., 1:] = rows**2
    padded = padded / np.sum(padded, axis=-1)[..., None]
    return np.sum(padded * padded[..., -1:]) + np.sum(rows.sum(axis=-1) ** 2)


@program(args=lambda rng: (rng.normal(size=6),), tags=VIEW)
def split_views(x):
    y = x * x
    left, middle, right = np.split(y, 3)
    left += right
    middle[:] = left * x[:2]
    a, b = y[:3], y[3:]
    a *= b
    return np.sum(y * x)


@program(args=lambda rng: (rng.normal(size=7),), tags=VIEW)
def overlapping_views(x):
    y = x * 1.0
    left, right = y[:-1], y[1:]
    left += right
    right *= left
    middle = y[2:5]
    middle -= y[:3]
    return np.sum(left * right)


@program(args=lambda rng: (rng.normal(size=(4, 6)), 0.3), wrt=(0, 1), tags=VIEW)
def blocks_by_view(A, t):
    B = A.copy()
    for i in range(0, 4, 2):
        for j in range(0, 6, 3):
            block = B[i : i + 2, j : j + 3]
            block *= t + block[0, 0]
            block[1] = block[0] * A[i, j]
    return np.sum(B**2)


@program(args=lambda rng: (rng.normal(size=5),), tags=VIEW)
def reversed_view(x):
    y = np.sin(x)
    r = y[::-1]
    r[0] = x[0] * x[1]
    r[1:] *= y[1:]
    return np.sum(y * r)


@program(args=lambda rng: (rng.normal(size=(3, 4)),), tags=VIEW)
def view_method_and_asarray(A):
    B = A * 1.0
    V = B.view()
    W = np.asarray(B)
    V[0] = W[1] * W[2]
    W[1:] **= 2
    C = np.array(B)
    C *= 0.0
    D = np.array(B, copy=False) if False else np.ascontiguousarray(B)
    D[2, 2] = V[0, 0]
    return np.sum(B * A) + np.sum(C)


@program(args=lambda rng: (rng.normal(size=4) + 1j * rng.normal(size=4),), float32=False, tags=VIEW)
def real_and_imaginary_views(z):
    w = z * z
    w.real[1:] *= 2.0
    w.imag[0] = w.real[0]
    re = w.real
    re += w.imag**2
    return np.sum(np.abs(w) ** 2)


@program(args=lambda rng: (rng.normal(size=8),), tags=VIEW)
def sliding_windows(x):
    y = x * x
    windows = np.lib.stride_tricks.sliding_window_view(y, 3)
    y[2] = x[0]
    return np.sum(np.sin(windows) @ np.array([0.2, -0.5, 0.3]))


@program(args=lambda rng: (rng.normal(size=(3, 1)), rng.normal(size=4)), wrt=(0, 1), tags=VIEW)
def broadcast_views_read(c, r):
    big = np.broadcast_to(c, (3, 4))
    a, b = np.broadcast_arrays(c, r)
    first = np.sum(big * r)
    return first * np.sum(a * b**2)


@program(args=lambda rng: (rng.normal(size=5), 3), tags=VIEW)
def view_index_from_loop(x, n):
    y = np.tanh(x)
    for k in range(1, n + 1):
        part = y[k:]
        part -= 0.3 * y[k - 1] * part
    return y


@program(args=lambda rng: (rng.normal(size=6),), tags=VIEW)
def gather_is_a_copy(x):
    y = x * x
    picked = y[[0, 2, 4]]
    picked *= 10.0
    masked = y[y > 0.0]
    masked += 1.0
    y[1:3] += picked[0]
    return np.sum(y * x) + np.sum(masked) * picked[1]


@program(args=lambda rng: (rng.normal(size=(3, 4)),), tags={"inplace", "view"})
def elements_by_flat(a):
    b = a.T * 1.0
    b.flat[3] *= 2
    first = b.flat[0:4]
    first[0] = 100.0
    b.flat[::2] += 1.5 * a[0, 0]
    b.flat[[0, -1]] = [a[1, 1], 3.0]
    total = sum(v * i for i, v in enumerate(b.flat))
    b.flat = np.arange(5.0) * a[1, 2]
    return np.sum(b * b) + np.sum(first) + total + np.dot(a.flat, a.flat)


@program(args=lambda rng: (rng.normal(size=4),), tags={"inplace", "view"}, float32=False)
def real_part_assigned(x):
    z = x * (1 + 2j)
    z.real *= 3
    z.real = x**2
    z[0] = 2 * z[1]
    part = z.imag
    return np.sum(np.abs(z) ** 2 * part)


@program(args=lambda rng: (rng.normal(size=(3, 4)), rng.normal(size=4), 0.7), tags={"inplace", "view"}, float32=False)
def imaginary_part_assigned(x, y, s):
    z = np.empty(np.shape(x), dtype=complex)
    z.real = s * x
    z.imag = y
    w = z / z.conj() * np.abs(z)
    z.imag = s
    z.imag = z.real**2 + z.imag
    return np.sum(np.abs(w - z) ** 2) + np.sum(z[1].imag * w[2].real)


@program(args=lambda rng: (rng.normal(size=4), 0.7), tags={"inplace", "view"}, float32=False)
def imaginary_items_assigned(x, s):
    z = x * np.ones((2, 1)) * (1.0 + s * 1j)
    z.imag[:, 1:] = x[1:] ** 2
    z.imag[0, 0] -= s
    z.imag[z.real > 0.5] = s
    for k in range(4):
        z.imag[1, k] *= x[k]
    return np.sum(np.abs(z) ** 2 * x)


@program(args=lambda rng: (rng.normal(size=6),), tags={"inplace", "view"})
def windows_of_what_was_written(x):
    y = x * 1.0
    total = 0.0
    for i in range(3):
        y[i] *= 2
        windows = np.lib.stride_tricks.sliding_window_view(y, 2)
        total = total + np.sum(windows.sum(axis=1) ** 2)
    return total


@program(args=lambda rng: (rng.normal(size=(3, 4, 2)),))
def slices_by_name(x):
    total = 0.0
    for axis in range(x.ndim):
        before, after = [slice(None)] * x.ndim, [slice(None)] * x.ndim
        before[axis] = slice(None, -1)
        after[axis] = slice(1, None)
        total = total + np.sum((x[tuple(after)] - x[tuple(before)]) ** 2)
    half = slice(0, x.shape[1] // 2)
    y = x.copy()
    y[:, half] *= 2.0
    y[np.s_[0, half.start]] = x[1, 1]
    return total + np.sum(y**3)


@program(args=lambda rng: (rng.normal(size=(3, 4)),), tags={"inplace"})
def filled_through_a_view(a):
    flux = np.zeros_like(a)
    line = flux.reshape(-1)
    line[1:] = a.ravel()[:-1] ** 2
    line[::5] *= a[0, 0]
    return flux


@program(args=lambda rng: (rng.normal(size=(3, 3)),), tags={"inplace", "second"})
def diagonal_added_to(a):
    b = a.copy()
    b[np.diag_indices(len(b))] += a.diagonal() ** 2
    b[0] *= b[1]
    return np.triu(b, 1).sum() * np.trace(b) + np.diag(b) @ np.diag(a)


@program(args=lambda rng: (rng.normal(size=(5, 6)), rng.normal(size=(2, 3))), wrt=(0, 1), tags={"second"})
def convolution_by_strides(image, kernel):
    rows, columns = kernel.shape
    shape = (image.shape[0] - rows + 1, image.shape[1] - columns + 1, rows, columns)
    patches = np.lib.stride_tricks.as_strided(image, shape, image.strides + image.strides)
    return np.einsum("ijkl,kl->ij", patches, kernel) ** 2


@program(args=lambda rng: (rng.uniform(0.2, 0.9, size=3), 0.7), wrt=(0, 1), tags=VIEW)
def scattering_matrix(mu, m):
    mu = np.atleast_1d(mu)
    phase = np.zeros((4, 4, mu.size))
    phase[0, 0] = m * mu
    phase[1, 0] = phase[0, 0] ** 2
    phase[2, 2] = np.cos(mu)
    matrix = phase.squeeze()
    first = matrix[:1]
    first *= m
    picked = matrix[matrix > 0.5]
    picked += mu[0]
    matrix.T[...] += mu[1]
    return np.sum(phase**2) + np.sum(picked**3) + np.sum(matrix)


@program(args=lambda rng: (rng.uniform(0.2, 0.9, size=(1, 3)), rng.uniform(0.2, 0.9, size=2)), wrt=(0, 1))
def angles_before_layers(layers, angles):
    layers = layers.squeeze()
    upper, lower = layers[:-1], layers[1:]
    new_shape = [-1] + upper.ndim * [1]
    angles = angles.reshape(*new_shape)
    long = [length for length in layers.shape if length > 1]
    axes = list(range(layers.ndim))[::-1]
    scaled = layers.reshape(*long) * layers.transpose(*axes).T
    return np.sum((lower - upper) * np.sin(angles)) + np.sum(scaled**2)


@program(args=lambda rng: (rng.uniform(0.2, 0.9, size=(2, 3, 4)),))
def axes_in_lists(x):
    order = list(range(x.ndim))
    order[0], order[-1] = order[-1], order[0]
    others = tuple(axis for axis in range(x.ndim) if axis != 1)
    weights = np.sum(x, axis=others, keepdims=True)
    shape = [1] * x.ndim
    shape[1] = x.shape[1]
    y = (x * np.arange(x.shape[1]).reshape(shape)).transpose(order)
    moved = np.moveaxis(y, [0, 1], [1, 0])
    product = np.tensordot(x, y, [(1,), (1,)])
    return np.sum(y * weights[0, 0, 0]) + np.sum(moved[tuple([0] * 2)] ** 2) + np.sum(product**2)


@program(args=lambda rng: (rng.uniform(0.2, 0.9, size=(3, 3)),))
def places_in_lists_that_are_gone_over(x):
    places = list(range(3))
    total = 0.0
    for step in range(2):
        places[step], places[step + 1] = places[step + 1], places[step]
        for row, column in enumerate(places):
            total = total + x[row, column] ** (step + 2)
    marks = [0, 2]
    marks.append(1)
    return total + sum(x[0, k] * (k + 1) for k in marks)


@program(args=lambda rng: (rng.uniform(0.2, 0.9, size=3),))
def rows_of_known_integers(x):
    last = [0, 0, 1]
    first = [1, 2, 0]
    first[1] = x[1]
    turned = np.array([first, [-x[0], 1, x[2]], last])
    return np.sum((turned @ x) ** 2) + np.sum(np.stack([x, last]) ** 3)
