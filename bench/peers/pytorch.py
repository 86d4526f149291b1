"""The training steps of bench/models.h in PyTorch: eager, with channels-last memory, compiled, and under autocast.

bf16: eager, forward and loss under autocast; channels-last memory where there are convolutions.
"""

import torch
from torch import nn
from torch.nn import functional as F

from measure import arguments, report


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.output = nn.Linear(784, 256), nn.Linear(256, 10)

    def forward(self, x):
        return self.output(F.relu(self.hidden(x)))


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16)
        self.conv2, self.norm2 = nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32)
        self.head = nn.Linear(32 * 7 * 7, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.norm2(self.conv2(x))), 2)
        return self.head(x.flatten(1))


class Block(nn.Module):
    """torchvision's BasicBlock."""

    def __init__(self, channels, out, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(channels, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out)
        self.conv2, self.bn2 = nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out)
        self.downsample = None
        if stride != 1 or channels != out:
            self.downsample = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet18(nn.Module):
    """torchvision's resnet18."""

    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
        blocks, channels = [], 64
        for stage in range(4):
            out = 64 << stage
            blocks += [Block(channels, out, 2 if stage else 1), Block(out, out, 1)]
            channels = out
        self.blocks, self.fc = nn.Sequential(*blocks), nn.Linear(512, 1000)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        return self.fc(F.adaptive_avg_pool2d(self.blocks(x), 1).flatten(1))


class Layer(nn.Module):
    """A pre-norm transformer layer with causal attention."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        n, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(n, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(n, t, d))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self, vocabulary=256, context=128, width=256, heads=4, layers=6):
        super().__init__()
        self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.layers = nn.Sequential(*[Layer(width, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, 0, 0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, tokens):
        x = self.token(tokens) + self.position.weight[: tokens.shape[1]]
        return self.head(self.norm(self.layers(x))).flatten(0, 1)


def work(name):
    """The model, its optimizer and a batch."""
    sgd = lambda model: torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    adamw = lambda model: torch.optim.AdamW(model.parameters(), lr=1e-3)
    make, optimizer, x, targets = {
        "mlp": lambda: (Mlp, sgd, torch.randn(64, 784), torch.randint(10, (64,))),
        "cnn": lambda: (Cnn, adamw, torch.randn(64, 1, 28, 28), torch.randint(10, (64,))),
        "resnet18": lambda: (ResNet18, sgd, torch.randn(16, 3, 64, 64), torch.randint(1000, (16,))),
        "resnet18_224": lambda: (ResNet18, sgd, torch.randn(8, 3, 224, 224), torch.randint(1000, (8,))),
        "gpt": lambda: (Gpt, adamw, torch.randint(256, (8, 128)), torch.randint(256, (8 * 128,))),
    }[name]()
    model = make()
    return model, optimizer(model), x, targets


def main():
    options = arguments(["eager", "channels_last", "compile", "bf16"])
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    model, optimizer, x, targets = work(options.model)
    convolves = options.model.startswith(("cnn", "resnet18"))
    if options.mode == "channels_last" or (options.mode == "bf16" and convolves):
        model, x = model.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
    forward = torch.compile(model) if options.mode == "compile" else model

    def step():
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=options.mode == "bf16"):
            loss = F.cross_entropy(forward(x), targets)
        loss.backward()
        optimizer.step()
        return loss.detach()

    compiled = options.mode == "compile"
    if compiled:
        step()
    report("pytorch", options, step, compiled)


if __name__ == "__main__":
    main()
