"""Golden values of jacobian and hessian: python3 tests/golden/transforms.py > tests/autograd/transform_values.h"""

import torch
from torch.autograd.functional import hessian, jacobian

from golden import digest, header, wave

values = {}
a, b, w = wave((3,), 0.3), wave((2,), 1.1), wave((2, 3), 0.5)


def outputs(a, b, w):
    return torch.tanh(w @ a) * b, (w * a).sum(0), torch.exp(a.sum()) * b.prod()


def number(a, b, w):
    return (torch.tanh(w @ a) * b).square().sum() * torch.exp(a[0]) + b[0]


names = "abw"
for i, row in enumerate(jacobian(outputs, (a, b, w))):
    for j, block in enumerate(row):
        values[f"jacobian.{i}.{names[j]}"] = digest(block)
for i, row in enumerate(hessian(number, (a, b, w))):
    for j, block in enumerate(row):
        values[f"hessian.{names[i]}.{names[j]}"] = digest(block)

print(header("transforms.py", "Sums of Jacobians and Hessians of several arguments", "kTransforms", values))
