"""What the scripts of layers and losses share: values by name, of results and of gradients."""

from torch import nn
from torch.nn import functional as F

from golden import digest, wave

values = {}


def put(name, tensor):
    values[name] = digest(tensor)


def backward(name, y, inputs):
    put(name + ".y", y)
    (y * wave(y.shape, 0.9)).sum().backward()
    for key, x in inputs.items():
        put(f"{name}.{key}.grad", x.grad)


def fill(module):
    for k, p in enumerate(module.parameters()):
        p.data.copy_(wave(p.shape, 0.1 * (k + 1), 0.5))


def layer(name, module, *shapes, scale=1.0):
    """A layer of one or more tensors, named x, x1, x2, ..."""
    fill(module)
    inputs = {f"x{i}" if i else "x": wave(s, 0.3 + 0.2 * i, scale).requires_grad_() for i, s in enumerate(shapes)}
    backward(name, module(*inputs.values()), {**inputs, **dict(module.named_parameters())})


def running_statistics(name, module, shape):
    """A layer that is trained on two batches, and its results in evaluation."""
    layer(name, module, shape)
    module(wave(shape, 1.1, 2.0) + 0.5)
    put(name + ".running_mean", module.running_mean)
    put(name + ".running_var", module.running_var)
    put(name + ".num_batches_tracked", module.num_batches_tracked)
    module.eval()
    put(name + ".eval", module(wave(shape, 0.3)))


def loss(name, f, *shapes, scale=2.0):
    """A function of one or more tensors, named x, x1, x2, ..."""
    inputs = [wave(s, 0.3 + 0.2 * i, scale).requires_grad_() for i, s in enumerate(shapes)]
    backward(name, f(*inputs), {f"x{i}" if i else "x": x for i, x in enumerate(inputs)})


class BasicBlock(nn.Module):
    """torchvision's BasicBlock."""

    def __init__(self, channels, out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.downsample = None
        if stride != 1 or channels != out:
            self.downsample = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (self.downsample(x) if self.downsample else x))
