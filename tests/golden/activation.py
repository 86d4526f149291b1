"""Golden values of activation layers: python3 tests/golden/activation.py > tests/nn/activation_values.h"""

import torch
from torch import nn
from torch.nn import functional as F

from golden import digest, header, wave

values = {}
SHAPES = [(6,), (5, 4), (2, 4, 3), (2, 4, 3, 2)]


def put(name, y, inputs):
    values[name + ".y"] = digest(y)
    (y * wave(y.shape, 0.9)).sum().backward()
    for key, x in inputs.items():
        values[f"{name}.{key}.grad"] = digest(x.grad)


def layer(name, *modules, shapes=SHAPES):
    """Every shape with every choice of options."""
    for k, module in enumerate(modules):
        for shape in shapes:
            module.zero_grad()
            x = wave(shape, 0.3, 4).requires_grad_()
            put(f"{name}.{k}.{len(shape)}", module(x), {"x": x, **dict(module.named_parameters())})


class Hardsigmoid(nn.Module):
    """PyTorch's own multiplies its gradient by a 1 / 6 in single precision."""

    def forward(self, x):
        return F.hardtanh(x + 3, 0, 6) / 6


layer("relu", nn.ReLU())
layer("leaky_relu", nn.LeakyReLU(), nn.LeakyReLU(0.3))
layer("gelu", nn.GELU(), nn.GELU("tanh"))
layer("silu", nn.SiLU())
layer("sigmoid", nn.Sigmoid())
layer("tanh", nn.Tanh())
layer("elu", nn.ELU(), nn.ELU(0.3))
layer("selu", nn.SELU())
layer("celu", nn.CELU(), nn.CELU(2.5))
layer("mish", nn.Mish())
layer("hardswish", nn.Hardswish())
layer("hardsigmoid", Hardsigmoid())
layer("hardtanh", nn.Hardtanh(), nn.Hardtanh(-0.5, 2.5))
layer("relu6", nn.ReLU6())
layer("logsigmoid", nn.LogSigmoid())
layer("softsign", nn.Softsign())
layer("softshrink", nn.Softshrink(), nn.Softshrink(1.25))
layer("hardshrink", nn.Hardshrink(), nn.Hardshrink(1.25))
layer("tanhshrink", nn.Tanhshrink())
layer("threshold", nn.Threshold(0.4, -7), nn.Threshold(-1, 0))
layer("softplus", nn.Softplus(), nn.Softplus(2), nn.Softplus(0.5, 1))
layer("glu", nn.GLU(), shapes=[(6,), (5, 4), (2, 3, 4), (2, 4, 3, 2)])
layer("glu_first", nn.GLU(0), shapes=[(6,), (4, 3), (2, 4, 3), (2, 4, 3, 2)])
layer("softmin", nn.Softmin(-1), nn.Softmin(0))
layer("softmax", nn.Softmax(-1), nn.Softmax(0))
layer("log_softmax", nn.LogSoftmax(-1), nn.LogSoftmax(0))
layer("rrelu", nn.RReLU().eval(), nn.RReLU(0.1, 0.9).eval())
layer("prelu", nn.PReLU())
layer("prelu_channels", nn.PReLU(4, 0.1), shapes=SHAPES[1:])

for k, shape in enumerate(SHAPES):
    x, y = wave(shape, 0.3, 2).requires_grad_(), wave(shape, 1.1, 2).requires_grad_()
    both = {"x": x, "y": y}

    def function(name, result):
        x.grad = y.grad = None
        put(f"{name}.{k}", result, both if y.grad_fn is None and "pair" in name else {"x": x})

    function("normalize", F.normalize(x, dim=-1))
    function("normalize_first", F.normalize(x, p=3.0, dim=0))
    function("pair.cosine_similarity", F.cosine_similarity(x, y, dim=-1))
    function("pair.cosine_similarity_first", F.cosine_similarity(x, y, dim=0))
    function("pair.pairwise_distance", F.pairwise_distance(x, y))
    function("pair.pairwise_distance_all", F.pairwise_distance(x, y, p=3.0, eps=1e-3, keepdim=True))

print(header("activation.py", "Sums of results and gradients of activations", "kActivationGolden", values))
