"""Script of somebody who comes from MindSpore and PyTorch: a network for two moons, by Cells and by the tape."""

import numpy as np

import autodiff_sct as ms
from autodiff_sct import Parameter, Tensor, nn, ops, tape


def moons(count, rng):
    angle = rng.uniform(0, np.pi, count)
    label = rng.integers(0, 2, count)
    x = np.where(label, 1 - np.cos(angle), np.cos(angle))
    y = np.where(label, 0.5 - np.sin(angle), np.sin(angle))
    return np.stack([x, y], 1) + 0.1 * rng.standard_normal((count, 2)), label


class Classifier(nn.Cell):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Dense(2, width)
        self.blocks = nn.CellList([nn.Dense(width, width) for _ in range(2)])
        self.last = nn.Dense(width, 2)
        self.scale = Parameter(Tensor(np.ones(width), ms.float32), name="scale")

    def construct(self, x):
        x = ops.tanh(self.first(x))
        for block in self.blocks:
            x = x + ops.relu(block(x)) * self.scale
        return self.last(x)


ms.set_seed(3)
rng = np.random.default_rng(3)
points, labels = moons(256, rng)
points, labels = Tensor(points, ms.float32), Tensor(labels, ms.int32)

net = Classifier(16)
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.02)


def forward(x, target):
    logits = net(x)
    return loss_fn(logits, target), logits


step = ms.value_and_grad(forward, None, optimizer.parameters, has_aux=True)
for epoch in range(120):
    (loss, logits), gradients = step(points, labels)
    optimizer(gradients)
accuracy = float((ops.argmax(logits, 1) == labels).astype(ms.float32).mean())
print(f"loss {float(loss):.4f}, accuracy {accuracy:.3f}")
assert accuracy > 0.97
assert [p.name for p in net.trainable_params()][:3] == ["scale", "first.weight", "first.bias"]
assert "blocks.0.weight" in {p.name for p in net.trainable_params()}

# The same loss by the tape, as PyTorch has it.
weights = {p.name: tape.tensor(p.asnumpy(), requires_grad=True) for p in net.trainable_params()}


def linear(x, name):
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


x = np.tanh(linear(tape.tensor(points.asnumpy()), "first"))
for name in ("blocks.0", "blocks.1"):
    x = x + np.maximum(linear(x, name), 0.0) * weights["scale"]
scores = linear(x, "last")
shifted = scores - np.max(scores.detach().numpy(), axis=1, keepdims=True)
chosen = shifted[np.arange(256), labels.asnumpy()]
value = np.mean(np.log(np.sum(np.exp(shifted), axis=1)) - chosen)
value.backward()
(compiled, _), gradients = step(points, labels)
np.testing.assert_allclose(value.item(), float(compiled), rtol=1e-6)
for parameter, gradient in zip(optimizer.parameters, gradients, strict=True):
    np.testing.assert_allclose(weights[parameter.name].grad, gradient.asnumpy(), rtol=1e-4, atol=1e-6)
