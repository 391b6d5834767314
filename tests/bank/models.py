"""Statistical and neural models in plain NumPy."""

import numpy as np

from tests.bank.registry import program


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def logsumexp(x, axis=None):
    top = np.max(x, axis=axis, keepdims=True)
    return np.squeeze(top, axis=axis) + np.log(np.sum(np.exp(x - top), axis=axis))


@program(
    args=lambda rng: (
        rng.normal(size=(3, 4)),
        rng.normal(size=4),
        rng.normal(size=(4, 2)),
        rng.normal(size=2),
        rng.normal(size=(5, 3)),
        rng.normal(size=(5, 2)),
    ),
    wrt=(0, 1, 2, 3),
    tags={"second"},
)
def mlp_loss(w1, b1, w2, b2, x, y):
    h = np.tanh(x @ w1 + b1)
    prediction = h @ w2 + b2
    return np.mean((prediction - y) ** 2)


@program(
    args=lambda rng: (rng.normal(size=3), 0.2, rng.normal(size=(8, 3)), rng.integers(0, 2, 8)),
    wrt=(0, 1),
    tags={"second"},
)
def logistic_regression(w, b, X, labels):
    p = sigmoid(X @ w + b)
    likelihood = labels * np.log(p) + (1 - labels) * np.log(1 - p)
    return -np.mean(likelihood) + 0.01 * w @ w


@program(args=lambda rng: (rng.normal(size=(4, 3)), rng.normal(size=(6, 4)), np.array([0, 2, 1, 1, 0, 2])), wrt=(0, 1))
def softmax_cross_entropy(W, X, labels):
    logits = X @ W
    log_p = logits - logsumexp(logits, axis=1)[:, None]
    return -np.mean(log_p[np.arange(len(labels)), labels])


@program(
    args=lambda rng: (
        rng.normal(size=(3, 16)) * 0.5,
        rng.normal(size=(4, 16)) * 0.5,
        rng.normal(size=16) * 0.1,
        rng.normal(size=(5, 3)),
    ),
    wrt=(0, 1, 2, 3),
)
def lstm_loop(Wx, Wh, b, sequence):
    h = np.zeros(4)
    c = np.zeros(4)
    outputs = []
    for x in sequence:
        gates = x @ Wx + h @ Wh + b
        i, f, o, g = np.split(gates, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return np.sum(np.stack(outputs) ** 2)


@program(
    args=lambda rng: (
        rng.normal(size=(4, 6)),
        rng.normal(size=(6, 6)),
        rng.normal(size=(6, 6)),
        rng.normal(size=(6, 6)),
    ),
    wrt=(0, 1, 2, 3),
)
def self_attention(X, Wq, Wk, Wv):
    q, k, v = X @ Wq, X @ Wk, X @ Wv
    scores = q @ k.T / np.sqrt(q.shape[-1])
    mask = np.triu(np.ones(scores.shape, dtype=bool), 1)
    scores[mask] = -1e9
    return softmax(scores) @ v


@program(args=lambda rng: (rng.normal(size=(2, 5, 4)), rng.normal(size=(4, 12)) * 0.5), wrt=(0, 1))
def multi_head_attention(X, W):
    batch, length, width = X.shape
    q, k, v = np.split((X @ W).reshape(batch, length, 2, -1).transpose(0, 2, 1, 3), 3, axis=-1)
    weights = softmax(q @ np.swapaxes(k, -1, -2) / width**0.5)
    joined = (weights @ v).transpose(0, 2, 1, 3).reshape(batch, length, -1)
    return np.mean((joined + X) ** 2)


@program(args=lambda rng: (rng.normal(size=(3, 5)), rng.normal(size=5), rng.normal(size=5)), wrt=(0, 1, 2))
def layer_norm(x, gain, shift):
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(var + 1e-5) * gain + shift


@program(
    args=lambda rng: (rng.normal(size=3), rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), rng.normal(size=(7, 2))),
    wrt=(0, 1, 2),
)
def gaussian_mixture(weights, means, log_scales, data):
    log_w = weights - logsumexp(weights)
    total = 0.0
    for x in data:
        z = (x - means) * np.exp(-log_scales)
        log_p = log_w - np.sum(log_scales, axis=1) - 0.5 * np.sum(z**2, axis=1)
        total = total + logsumexp(log_p)
    return -total / len(data)


@program(args=lambda rng: (rng.normal(size=(6, 2)), rng.normal(size=6), 0.4, -0.3), wrt=(0, 1, 2, 3))
def gaussian_process(X, y, log_length, log_noise):
    d2 = np.sum((X[:, None, :] - X[None, :, :]) ** 2, axis=-1)
    K = np.exp(-0.5 * d2 / np.exp(2 * log_length)) + np.exp(2 * log_noise) * np.eye(len(X))
    L = np.linalg.cholesky(K)
    alpha = np.linalg.solve(L.T, np.linalg.solve(L, y))
    return 0.5 * y @ alpha + np.log(np.diag(L)).sum()


@program(
    args=lambda rng: (rng.normal(size=(2, 6, 6)), rng.normal(size=(3, 2, 3, 3)) * 0.3), wrt=(0, 1), tags={"inplace"}
)
def convolution_layer(image, kernels):
    out = np.zeros((3, 4, 4))
    for c in range(3):
        for i in range(3):
            for j in range(3):
                out[c] += np.einsum("k,kxy->xy", kernels[c, :, i, j], image[:, i : i + 4, j : j + 4])
    out = np.where(out > 0, out, 0.1 * out)
    pooled = out.reshape(3, 2, 2, 2, 2).max(axis=(2, 4))
    return np.sum(pooled**2)


@program(args=lambda rng: (rng.normal(size=(6, 3)), rng.normal(size=(3, 2)), np.array([3, 0, 3, 5])), wrt=(0, 1))
def embedding_bag(table, W, tokens):
    vectors = table[tokens]
    pooled = vectors.mean(axis=0) + vectors[-1] * vectors[0]
    return np.log(softmax(pooled @ W))[1]


@program(args=lambda rng: (rng.normal(size=(4, 3)), rng.normal(size=(3, 3)) * 0.4, rng.normal(size=3)), wrt=(0, 1, 2))
def gru_with_lists(xs, U, h):
    states = [h]
    for x in xs:
        previous = states[-1]
        z = sigmoid(previous @ U + x)
        states.append((1 - z) * previous + z * np.tanh(x + previous * U[0]))
    return sum(np.sum(s**2) for s in states[1:])


class Dense:
    def __init__(self, weight, bias, activation=np.tanh):
        self.weight = weight
        self.bias = bias
        self.activation = activation

    def forward(self, x):
        return self.activation(x @ self.weight + self.bias)


class Network:
    def __init__(self, layers):
        self.layers = layers

    def __call__(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x


@program(
    args=lambda rng: (
        [(rng.normal(size=(3, 4)), rng.normal(size=4)), (rng.normal(size=(4, 1)), rng.normal(size=1))],
        rng.normal(size=(5, 3)),
    ),
    wrt=(0, 1),
)
def network_of_objects(params, x):
    network = Network([Dense(w, b) for w, b in params])
    network.layers[-1].activation = lambda v: v
    return np.mean(network(x) ** 2)


@program(
    args=lambda rng: (rng.normal(size=3), rng.normal(size=(10, 3)), rng.normal(size=10), 0.1),
    wrt=(0, 3),
    tags={"inplace"},
)
def unrolled_gradient_descent(w, X, y, rate):
    w = w.copy()
    velocity = np.zeros_like(w)
    for _ in range(5):
        residual = X @ w - y
        velocity *= 0.9
        velocity -= rate * X.T @ residual / len(y)
        w += velocity
    return np.mean((X @ w - y) ** 2)


@program(args=lambda rng: (rng.normal(size=3), rng.normal(size=3)), wrt=(0, 1))
def adam_steps(w, target):
    m, v = np.zeros(3), np.zeros(3)
    for t in range(1, 4):
        g = 2 * (w - target) * w**2
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        w = w - 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-3)
    return np.sum(w**2)


@program(
    args=lambda rng: (rng.normal(size=(2, 2)) * 0.3 + np.eye(2), rng.uniform(0.5, 1, size=2), 0.3, rng.normal(size=5)),
    wrt=(0, 1, 2, 3),
)
def kalman_filter(F, q, r, measurements):
    H = np.array([[1.0, 0.0]])
    x, P = np.zeros(2), np.eye(2)
    log_likelihood = 0.0
    for z in measurements:
        x = F @ x
        P = F @ P @ F.T + np.diag(q)
        S = H @ P @ H.T + r
        K = P @ H.T / S[0, 0]
        innovation = z - H @ x
        x = x + (K @ innovation)
        P = (np.eye(2) - K @ H) @ P
        log_likelihood -= 0.5 * (np.log(S[0, 0]) + innovation[0] ** 2 / S[0, 0])
    return log_likelihood


@program(
    args=lambda rng: (rng.normal(size=(5, 2)), rng.normal(size=(2, 3)), rng.normal(size=3), np.array([0, 2, 1, 2, 0])),
    wrt=(1, 2),
)
def step_of_a_softmax_classifier(X, W, b, labels):
    n = X.shape[0]
    scores = np.exp(X @ W + b)
    d_scores = scores / scores.sum(axis=1, keepdims=True)
    d_scores[range(n), labels] -= 1
    moved = np.exp(X @ (W - 0.5 * X.T @ d_scores / n) + b)
    shares = moved / moved.sum(axis=1, keepdims=True)
    return -np.log(shares[range(n), labels]).sum() / n + 0.01 * np.sum(W * W)
