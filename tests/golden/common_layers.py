"""Golden values of common layers and losses in their usual configurations; layers.py has the others.

python3 tests/golden/common_layers.py > tests/nn/common_layers_values.h
"""

import torch
from torch import nn
from torch.nn import functional as F

from golden import header, wave
from modules import BasicBlock, backward, fill, layer, loss, running_statistics, values

layer("linear", nn.Linear(5, 3), (4, 5))
layer("linear_no_bias", nn.Linear(5, 3, bias=False), (2, 3, 5))
layer("conv", nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2), (2, 4, 7, 6))
layer("conv_dilated", nn.Conv2d(2, 3, (3, 2), stride=(1, 2), padding=(2, 1), dilation=(2, 1), bias=False), (2, 2, 6, 5))
layer("layer_norm", nn.LayerNorm((4, 5)), (3, 4, 5))
layer("max_pool", nn.MaxPool2d(3, stride=2, padding=1), (2, 3, 7, 6))
layer("avg_pool", nn.AvgPool2d(2, stride=1, padding=1), (2, 3, 4, 5))
layer("relu", nn.ReLU(), (5, 7), scale=3)
layer("leaky_relu", nn.LeakyReLU(0.1), (5, 7), scale=3)
layer("gelu", nn.GELU(), (5, 7), scale=3)
layer("gelu_tanh", nn.GELU("tanh"), (5, 7), scale=3)
layer("silu", nn.SiLU(), (5, 7), scale=3)
layer("sigmoid", nn.Sigmoid(), (5, 7), scale=3)
layer("tanh", nn.Tanh(), (5, 7), scale=3)
layer("softplus", nn.Softplus(), (5, 7), scale=3)
layer("softmax", nn.Softmax(-1), (5, 7), scale=3)
layer("log_softmax", nn.LogSoftmax(0), (5, 7), scale=3)

layer("basic_block", BasicBlock(3, 3, 1), (2, 3, 5, 4))
layer("basic_block_down", BasicBlock(2, 4, 2), (2, 2, 5, 4))



class SelfAttention(nn.Module):
    """MultiheadAttention of one tensor, without a prefix in its names."""

    def __init__(self, causal, **options):
        super().__init__()
        self.inner = nn.MultiheadAttention(6, 2, batch_first=True, **options)
        self.causal = causal

    def named_parameters(self, *args, **kwargs):
        return self.inner.named_parameters(*args, **kwargs)

    def forward(self, x):
        hidden = torch.ones(x.shape[-2], x.shape[-2], dtype=torch.bool).triu(1) if self.causal else None
        return self.inner(x, x, x, attn_mask=hidden, need_weights=False)[0]


layer("self_attention", SelfAttention(False), (2, 5, 6))
layer("self_attention_causal", SelfAttention(True, bias=False), (2, 5, 6))

attention = nn.MultiheadAttention(6, 3, batch_first=True)
fill(attention)
query, key, value = (wave(s, 0.2 * i).requires_grad_() for i, s in enumerate([(2, 3, 6), (2, 4, 6), (2, 4, 6)]))
backward(
    "cross_attention",
    attention(query, key, value, need_weights=False)[0],
    {"query": query, "key": key, "value": value, **dict(attention.named_parameters())},
)

for name, options in [
    ("encoder_post", dict(activation="relu")),
    ("encoder_pre", dict(activation="gelu", norm_first=True)),
]:
    layer(name, nn.TransformerEncoderLayer(6, 2, 8, dropout=0.0, batch_first=True, **options), (2, 5, 6))

for name, options in [
    ("plain", {}),
    ("causal", dict(is_causal=True)),
    ("mask", dict(attn_mask=wave((5, 4), 0.4, 2.0))),
    ("bool_mask", dict(attn_mask=wave((5, 4), 0.4) > -0.5, scale=0.3)),
]:
    q, k, v = (wave(s, 0.2 * i).requires_grad_() for i, s in enumerate([(2, 3, 5, 2), (2, 3, 4, 2), (2, 3, 4, 3)]))
    backward(
        f"attention_{name}", F.scaled_dot_product_attention(q, k, v, **options), {"query": q, "key": k, "value": v}
    )

embedding = nn.Embedding(7, 4, padding_idx=2)
fill(embedding)
indices = torch.tensor([[1, 2, 6], [2, 1, 0]])
backward("embedding", embedding(indices), {"weight": embedding.weight})

for name, module, shape in [
    ("batch_norm_1d", nn.BatchNorm1d(3), (6, 3)),
    ("batch_norm_1d_length", nn.BatchNorm1d(3, momentum=0.3, eps=1e-3), (4, 3, 5)),
    ("batch_norm_2d", nn.BatchNorm2d(3), (2, 3, 4, 5)),
    ("batch_norm_average", nn.BatchNorm2d(3, momentum=None), (2, 3, 4, 5)),
]:
    running_statistics(name, module, shape)

targets = torch.tensor([2, 0, 4, 1, 2, 3])
images = torch.tensor([[[0, 1, 2], [2, 1, 0]], [[1, 1, 1], [0, 2, 0]]])
weight = wave((5,), 2.0).abs() + 0.1
for reduction in ("none", "mean", "sum"):
    loss(f"cross_entropy.{reduction}", lambda x: F.cross_entropy(x, targets, reduction=reduction), (6, 5))
    loss(
        f"cross_entropy_all.{reduction}",
        lambda x: F.cross_entropy(
            x, targets, weight=weight, ignore_index=2, label_smoothing=0.1, reduction=reduction
        ),
        (6, 5),
    )
    loss(
        f"nll.{reduction}",
        lambda x: F.nll_loss(x, targets, weight=weight, ignore_index=1, reduction=reduction),
        (6, 5),
    )
    y = wave((4, 3), 1.7, 2.0)
    loss(f"mse.{reduction}", lambda x: F.mse_loss(x, y, reduction=reduction), (4, 3))
    loss(f"l1.{reduction}", lambda x: F.l1_loss(x, y, reduction=reduction), (4, 3))
    loss(f"huber.{reduction}", lambda x: F.huber_loss(x, y, reduction=reduction, delta=0.7), (4, 3))
    p = wave((4, 3), 0.2).abs()
    loss(
        f"bce.{reduction}",
        lambda x: F.binary_cross_entropy_with_logits(x, p, reduction=reduction),
        (4, 3),
        scale=30.0,
    )
    loss(
        f"bce_weighted.{reduction}",
        lambda x: F.binary_cross_entropy_with_logits(
            x, p, weight=wave((4, 1), 0.4).abs(), pos_weight=wave((3,), 0.6).abs() + 1, reduction=reduction
        ),
        (4, 3),
    )
loss("cross_entropy_images", lambda x: F.cross_entropy(x, images), (2, 3, 2, 3))
loss("nll_images", lambda x: F.nll_loss(x, images), (2, 3, 2, 3))

print(header("common_layers.py", "Sums of results and gradients of common layers and losses", "kGolden", values))
