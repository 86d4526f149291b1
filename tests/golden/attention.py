"""Golden values of attention and transformer layers; layers.py adds them to its own."""

import torch
from torch import nn
from torch.nn import functional as F

from golden import wave
from modules import layer, values


class Attention(nn.Module):
    """MultiheadAttention, without a prefix in its names."""

    def __init__(self, **options):
        super().__init__()
        self.inner = nn.MultiheadAttention(6, 2, batch_first=True)
        self.options = options

    def named_parameters(self, *args, **kwargs):
        return self.inner.named_parameters(*args, **kwargs)

    def forward(self, x, memory=None):
        memory = x if memory is None else memory
        return self.inner(x, memory, memory, need_weights=False, **self.options)[0]


padding = torch.tensor([[False, False, True, True], [False, False, False, True]])
later = torch.ones(4, 4, dtype=torch.bool).triu(1)
layer("attention_padding", Attention(key_padding_mask=padding), (2, 4, 6))
layer("attention_padding_causal", Attention(key_padding_mask=padding, attn_mask=later), (2, 4, 6))
layer("attention_padding_cross", Attention(key_padding_mask=padding), (2, 3, 6), (2, 4, 6))
added = wave((3, 4), 0.4, 2.0)
layer(
    "attention_padding_added",
    Attention(key_padding_mask=torch.zeros(2, 4).masked_fill(padding, -torch.inf), attn_mask=added),
    (2, 3, 6),
    (2, 4, 6),
)


class Grouped(nn.Module):
    """Attention whose 4 heads of queries share 2 of keys and values."""

    def __init__(self, causal):
        super().__init__()
        self.in_proj_weight = nn.Parameter(torch.empty(16, 8))
        self.in_proj_bias = nn.Parameter(torch.empty(16))
        self.out_proj = nn.Linear(8, 8)
        self.causal = causal

    def forward(self, x):
        parts = F.linear(x, self.in_proj_weight, self.in_proj_bias).split([8, 4, 4], -1)
        q, k, v = (p.unflatten(-1, (-1, 2)).transpose(1, 2) for p in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal, enable_gqa=True)
        return self.out_proj(y.transpose(1, 2).flatten(-2))


layer("attention_grouped", Grouped(False), (2, 5, 8))
layer("attention_grouped_causal", Grouped(True), (2, 5, 8))

for name, options in [("post", {}), ("pre", dict(activation="gelu", norm_first=True))]:
    options = dict(dropout=0.0, batch_first=True, **options)
    layer(f"decoder_{name}", nn.TransformerDecoderLayer(6, 2, 8, **options), (2, 3, 6), (2, 4, 6))
    stack = nn.TransformerEncoder(nn.TransformerEncoderLayer(6, 2, 8, **options), 2, enable_nested_tensor=False)
    layer(f"encoder_stack_{name}", stack, (2, 4, 6))
    stack = nn.TransformerDecoder(nn.TransformerDecoderLayer(6, 2, 8, **options), 2, norm=nn.LayerNorm(6))
    layer(f"decoder_stack_{name}", stack, (2, 3, 6), (2, 4, 6))
    layer(f"transformer_{name}", nn.Transformer(6, 2, 2, 1, 8, **options), (2, 4, 6), (2, 3, 6))
