"""Golden values of layers and losses with options that other scripts leave at their defaults; layers.py adds them."""

import torch
from torch import nn
from torch.nn import functional as F

from golden import wave
from modules import BasicBlock, backward, fill, layer, loss, put, values

# ---- linear layers, norms ----

layer("linear_row", nn.Linear(4, 3), (4,))
layer("linear_images", nn.Linear(3, 2), (2, 2, 4, 3))
layer("layer_norm_row", nn.LayerNorm(5), (5,))
layer("layer_norm_no_bias", nn.LayerNorm(5, eps=1e-2, bias=False), (2, 3, 5))
layer("layer_norm_plain", nn.LayerNorm((3, 2), elementwise_affine=False), (4, 3, 2))


def statistics(name, module, shape):
    """Two batches of training, then evaluation; with the running statistics where there are any."""
    layer(name, module, shape)
    module(wave(shape, 1.1, 2.0) + 0.5)
    if module.running_mean is not None:
        put(name + ".running_mean", module.running_mean)
        put(name + ".running_var", module.running_var)
        put(name + ".num_batches_tracked", module.num_batches_tracked)
    module.eval()
    put(name + ".eval", module(wave(shape, 0.3)))


for axes, shape in [(1, (4, 3, 5)), (2, (2, 3, 4, 5)), (3, (2, 3, 2, 4, 3))]:
    batch_norm, instance_norm = getattr(nn, f"BatchNorm{axes}d"), getattr(nn, f"InstanceNorm{axes}d")
    for name, options in [
        ("plain", dict(affine=False)),
        ("untracked", dict(track_running_stats=False, eps=1e-2)),
        ("bare", dict(affine=False, track_running_stats=False)),
        ("average", dict(momentum=None, eps=0.1)),
    ]:
        statistics(f"batch_norm_{axes}d_{name}", batch_norm(3, **options), shape)
    for name, options in [
        ("affine", dict(affine=True, eps=0.1)),
        ("tracked", dict(track_running_stats=True, momentum=0.4)),
        ("all", dict(affine=True, track_running_stats=True, eps=1e-2)),
    ]:
        statistics(f"instance_norm_{axes}d_{name}", instance_norm(3, **options), shape)
    layer(f"instance_norm_{axes}d_unbatched", instance_norm(3, affine=True), shape[1:])

# ---- tables ----

many = torch.tensor([[1, 2, 6], [2, 1, 0]])
for name, options, indices in [
    ("row", {}, torch.tensor([3, 3, 1])),
    ("one", {}, torch.tensor(4)),
    ("padding", dict(padding_idx=-1), many),
    ("frequency", dict(scale_grad_by_freq=True), many),
    ("max_norm", dict(max_norm=0.6), many),
    ("max_norm_1", dict(max_norm=0.9, norm_type=1.0, padding_idx=2), many),
]:
    table = nn.Embedding(7, 4, **options)
    fill(table)
    backward(f"embedding_{name}", table(indices), {"weight": table.weight})
    put(f"embedding_{name}.after", table.weight)
row, offsets = torch.tensor([1, 2, 4, 5, 4, 3]), torch.tensor([0, 2, 2, 5])
for name, options, inputs in [
    ("frequency", dict(scale_grad_by_freq=True), (row, offsets)),
    ("frequency_sum", dict(mode="sum", scale_grad_by_freq=True), (many,)),
    ("max_norm", dict(mode="max", max_norm=0.5), (many,)),
    ("last_offset", dict(include_last_offset=True), (row, torch.tensor([0, 2, 2, 6]))),
]:
    # PyTorch 2.13 divides by the counts of other indices (index 6 of `many` gets a half): its gradient is divided here.
    by_frequency = options.pop("scale_grad_by_freq", False)
    bag = nn.EmbeddingBag(7, 3, **options)
    fill(bag)
    if by_frequency:
        counts = torch.bincount(inputs[0].flatten(), minlength=7).clamp(1)
        bag.weight.register_hook(lambda g: g / counts.unsqueeze(1))
    backward(f"bag_{name}", bag(*inputs), {"weight": bag.weight})
    put(f"bag_{name}.after", bag.weight)

# ---- recurrent layers ----


class Inner(nn.Module):
    """A module without a prefix in its names."""

    def __init__(self, inner, run):
        super().__init__()
        self.inner, self.run = inner, run

    def named_parameters(self, *args, **kwargs):
        return self.inner.named_parameters(*args, **kwargs)

    def forward(self, *inputs):
        return self.run(self.inner, *inputs)


def projected(lstm, x, *states):
    y, (h, c) = lstm(x, states or None)
    return torch.cat([t.flatten() for t in (y, h, c)])


def ragged(lstm, x):
    packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([2, 5, 3]), batch_first=True, enforce_sorted=False)
    y, (h, c) = lstm(packed)
    y = nn.utils.rnn.pad_packed_sequence(y, batch_first=True, total_length=5)[0]
    return torch.cat([t.flatten() for t in (y, h, c)])


both = dict(num_layers=2, bidirectional=True)
layer("lstm_projected", Inner(nn.LSTM(3, 4, proj_size=2, batch_first=True), projected), (2, 5, 3))
layer("lstm_projected_no_bias", Inner(nn.LSTM(3, 4, proj_size=3, bias=False, batch_first=True), projected), (2, 5, 3))
deep = nn.LSTM(3, 4, proj_size=2, batch_first=True, **both)
layer("lstm_projected_deep", Inner(deep, projected), (2, 5, 3), (4, 2, 2), (4, 2, 4))
deep = nn.LSTM(3, 4, proj_size=2, batch_first=True, **both)
layer("lstm_projected_lengths", Inner(deep, ragged), (3, 5, 3))

# ---- attention ----


def attend(**options):
    """Attention of one, two or three tensors, and its weights where they are wanted."""

    def run(module, x, memory=None, more=None):
        memory = x if memory is None else memory
        y, weights = module(x, memory, memory if more is None else more, **{"need_weights": False, **options})
        return y if weights is None else torch.cat([y.flatten(), weights.flatten()])

    return run


hidden = wave((3, 4), 0.4) < -0.5
later = torch.ones(4, 4, dtype=torch.bool).triu(1)
by_head = wave((4, 3, 4), 0.8) > 0.2
padding = torch.tensor([[False, False, True, True], [False, False, False, True]])
self_shape, cross_shapes = [(2, 4, 6)], [(2, 3, 6), (2, 4, 6)]
for name, options, call, shapes in [
    ("bool_mask", {}, dict(attn_mask=hidden), cross_shapes),
    ("head_mask", {}, dict(attn_mask=by_head), cross_shapes),
    ("sizes", dict(kdim=5, vdim=3), {}, [(2, 3, 6), (2, 4, 5), (2, 4, 3)]),
    ("sizes_no_bias", dict(kdim=5, vdim=6, bias=False), dict(attn_mask=hidden), [(2, 3, 6), (2, 4, 5), (2, 4, 6)]),
    ("sizes_one", dict(vdim=4), dict(key_padding_mask=padding), [(2, 3, 6), (2, 4, 6), (2, 4, 4)]),
    ("bias_kv", dict(add_bias_kv=True), {}, self_shape),
    ("bias_kv_masked", dict(add_bias_kv=True), dict(attn_mask=hidden, key_padding_mask=padding), cross_shapes),
    ("zero_attn", dict(add_zero_attn=True), dict(attn_mask=later), self_shape),
    ("both_attn", dict(add_zero_attn=True, add_bias_kv=True, bias=False), {}, cross_shapes),
    ("weights", {}, dict(need_weights=True), cross_shapes),
    ("weights_heads", {}, dict(need_weights=True, average_attn_weights=False), cross_shapes),
    ("weights_masked", {}, dict(need_weights=True, attn_mask=hidden), cross_shapes),
    ("weights_causal", dict(add_zero_attn=True), dict(need_weights=True, attn_mask=later), self_shape),
]:
    layer(f"attention_{name}", Inner(nn.MultiheadAttention(6, 2, batch_first=True, **options), attend(**call)), *shapes)


class Grouped(nn.Module):
    """Attention whose 4 heads of queries share one or two of keys and values."""

    def __init__(self, heads, bias):
        super().__init__()
        self.sizes = [8, 2 * heads, 2 * heads]
        self.in_proj_weight = nn.Parameter(torch.empty(sum(self.sizes), 8))
        if bias:
            self.in_proj_bias = nn.Parameter(torch.empty(sum(self.sizes)))
        self.out_proj = nn.Linear(8, 8, bias=bias)
        self.bias = bias

    def forward(self, x):
        parts = F.linear(x, self.in_proj_weight, self.in_proj_bias if self.bias else None).split(self.sizes, -1)
        q, k, v = (p.unflatten(-1, (-1, 2)).transpose(1, 2) for p in parts)
        mask = None if self.bias else ~(wave((5, 5), 0.4) > 0.5)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
        return self.out_proj(y.transpose(1, 2).flatten(-2))


layer("attention_one_group", Grouped(1, True), (2, 5, 8))
layer("attention_grouped_masked", Grouped(2, False), (2, 5, 8))

# ---- transformers: masks, and options beside those of attention.py ----

options = dict(dropout=0.0, batch_first=True)
hide_src = wave((4, 4), 0.4) > 0.5
hide_memory = hidden
hide_tgt = torch.ones(3, 3, dtype=torch.bool).triu(1)
added = wave((4, 4), 0.4, 2.0)
pad_tgt = torch.tensor([[False, False, True], [False, False, False]])
pad_src = torch.tensor([[False, False, False, True], [False, False, True, True]])
kinds = [
    ("masked", dict()),
    ("no_bias", dict(bias=False, layer_norm_eps=1e-2)),
    ("gelu", dict(activation="gelu")),
]
src_calls = [dict(src_mask=hide_src), dict(src_key_padding_mask=pad_src), dict(src_mask=added)]
stack_calls = [dict(mask=hide_src), dict(src_key_padding_mask=pad_src), dict(mask=added)]
tgt_calls = [
    dict(tgt_mask=hide_tgt, memory_mask=hide_memory),
    dict(tgt_key_padding_mask=pad_tgt, memory_key_padding_mask=pad_src),
    dict(tgt_mask=hide_tgt, memory_key_padding_mask=pad_src),
]
both_calls = [
    dict(src_mask=hide_src, tgt_mask=hide_tgt, memory_mask=hide_memory),
    dict(src_key_padding_mask=pad_src, tgt_key_padding_mask=pad_tgt, memory_key_padding_mask=pad_src),
    dict(src_mask=added, tgt_mask=hide_tgt, memory_key_padding_mask=pad_src),
]


def called(module, keywords):
    return Inner(module, lambda inner, *x: inner(*x, **keywords))


for (name, more), src, stack, tgt, all_of_them in zip(kinds, src_calls, stack_calls, tgt_calls, both_calls):
    more = {**options, **more}
    encoder = lambda: nn.TransformerEncoderLayer(6, 2, 8, **more)
    decoder = lambda: nn.TransformerDecoderLayer(6, 2, 8, **more)
    norm = nn.LayerNorm(6, eps=more.get("layer_norm_eps", 1e-5), bias=more.get("bias", True))
    layer(f"encoder_{name}", called(encoder(), src), (2, 4, 6))
    layer(f"decoder_{name}", called(decoder(), tgt), (2, 3, 6), (2, 4, 6))
    stacked = nn.TransformerEncoder(encoder(), 2, norm=norm, enable_nested_tensor=False)
    layer(f"encoder_stack_{name}", called(stacked, stack), (2, 4, 6))
    layer(f"decoder_stack_{name}", called(nn.TransformerDecoder(decoder(), 2), tgt), (2, 3, 6), (2, 4, 6))
    whole = nn.Transformer(6, 2, 1, 2, 8, **more)
    layer(f"transformer_{name}", called(whole, all_of_them), (2, 4, 6), (2, 3, 6))

# ---- residual blocks ----

for name, sizes, shape in [
    ("same", (2, 2, 3), (1, 2, 7, 4)),
    ("wider", (2, 5, 1), (2, 2, 3, 4)),
    ("one_pixel", (3, 3, 2), (4, 3, 1, 1)),
]:
    block = BasicBlock(*sizes)
    layer(f"basic_block_{name}", block, shape)
    put(f"basic_block_{name}.running_var", block.bn2.running_var)
    put(f"basic_block_{name}.eval", block.eval()(wave(shape, 0.6)))

# ---- pools that divide by a number of their own ----

layer("avg_pool2d_divisor", nn.AvgPool2d(2, divisor_override=3), (2, 3, 4, 6))
layer("avg_pool2d_divisor_padded", nn.AvgPool2d(3, stride=2, padding=1, divisor_override=5), (2, 3, 5, 6))
layer("avg_pool3d_divisor", nn.AvgPool3d(2, divisor_override=7), (1, 2, 4, 4, 2))
layer("avg_pool3d_divisor_ceil", nn.AvgPool3d((2, 1, 2), stride=2, ceil_mode=True, divisor_override=1), (1, 2, 3, 4, 5))
layer("adaptive_avg_kept", nn.AdaptiveAvgPool2d((None, 2)), (2, 3, 4, 5))
layer("adaptive_max_kept", nn.AdaptiveMaxPool2d((3, None)), (2, 3, 4, 5))
layer("adaptive_avg_kept_3d", nn.AdaptiveAvgPool3d((None, 2, None)), (1, 2, 3, 4, 5))
layer("adaptive_max_kept_3d", nn.AdaptiveMaxPool3d((2, None, 3)), (1, 2, 3, 4, 5))

# ---- softmax over channels, and of many classes ----

for i, shape in enumerate([(2, 3, 4, 5), (3, 2, 2), (1, 1, 2, 2), (2, 5, 1, 3)]):
    layer(f"softmax2d_{i}", nn.Softmax2d(), shape, scale=2.0)
targets = torch.tensor([0, 9, 4, 2, 5, 7])
for name, options in [
    ("", dict(cutoffs=[3, 6], div_value=2.8)),
    ("_bias", dict(cutoffs=[2], head_bias=True)),
    ("_deep", dict(cutoffs=[2, 4, 8], div_value=1.5)),
    ("_narrow", dict(cutoffs=[5, 9], div_value=2.0)),
]:
    module = nn.AdaptiveLogSoftmaxWithLoss(8, 10, **options)
    run = lambda m, x: torch.cat([m(x, targets).output, m(x, targets).loss.reshape(1), m.log_prob(x).flatten()])
    layer(f"adaptive_softmax{name}", Inner(module, run), (6, 8))

# ---- losses ----

y, p = wave((4, 3), 1.7, 2.0), torch.sigmoid(wave((4, 3), 0.2))
matrix = torch.tensor([[1.0, -1, 1], [-1, -1, 1], [1, 1, 1], [-1, 1, -1]])
signs = torch.tensor([1.0, -1, -1, 1])
many = torch.tensor([[2, 0, -1, 1, 1], [-1, 0, 1, 2, 3], [4, 3, 2, 1, 0], [1, -1, -1, -1, -1]])
weight = wave((5,), 2.0).abs() + 0.1
for reduction in ("none", "mean", "sum"):
    r = dict(reduction=reduction)
    for i, shape in enumerate([(5,), (2, 3, 4), (1, 6)]):
        other = wave(shape, 1.7, 2.0)
        loss(f"mse_{i}.{reduction}", lambda x: F.mse_loss(x, other, **r), shape)
        loss(f"l1_{i}.{reduction}", lambda x: F.l1_loss(x, other, **r), shape)
        loss(f"soft_margin_{i}.{reduction}", lambda x: F.soft_margin_loss(x, other.sign(), **r), shape)
    loss(f"mse_both.{reduction}", lambda a, b: F.mse_loss(a, b, **r), (4, 3), (4, 3))
    loss(f"l1_both.{reduction}", lambda a, b: F.l1_loss(a, b, **r), (4, 3), (4, 3))
    loss(f"soft_margin_large.{reduction}", lambda x: F.soft_margin_loss(20 * x, matrix, **r), (4, 3))
    for i, delta in enumerate([1.0, 0.1, 3.0]):
        loss(f"huber_{i}.{reduction}", lambda x: F.huber_loss(x, y, delta=delta, **r), (4, 3))
    for i, margin in enumerate([1.0, 0.0, 2.5]):
        loss(f"hinge_{i}.{reduction}", lambda x: F.hinge_embedding_loss(x, matrix, margin=margin, **r), (4, 3))
    for i, margin in enumerate([0.0, 1.0, -0.5]):
        f = lambda a, b: F.margin_ranking_loss(a, b, matrix, margin=margin, **r)
        loss(f"ranking_{i}.{reduction}", f, (4, 3), (4, 3))
        f = lambda a, b: F.cosine_embedding_loss(a, b, signs, margin=margin, **r)
        loss(f"cosine_{i}.{reduction}", f, (4, 3), (4, 3))
    f = lambda a, b: F.cosine_embedding_loss(a, b, torch.tensor(-1.0), margin=-0.9, **r)
    loss(f"cosine_row.{reduction}", f, (3,), (3,))
    loss(f"multilabel_margin_row.{reduction}", lambda x: F.multilabel_margin_loss(x, many[0], **r), (5,))
    loss(f"multilabel_margin_two.{reduction}", lambda x: F.multilabel_margin_loss(3 * x, many[1:3], **r), (2, 5))
    loss(f"multilabel_margin_one.{reduction}", lambda x: F.multilabel_margin_loss(x, many[3:], **r), (1, 5))
    t = torch.sigmoid(wave((4, 5), 0.1))
    f = lambda x: F.multilabel_soft_margin_loss(x, t, **r)
    loss(f"multilabel_soft_plain.{reduction}", f, (4, 5))
    f = lambda x: F.multilabel_soft_margin_loss(x, t[0], weight=weight, **r)
    loss(f"multilabel_soft_row.{reduction}", f, (5,))
    f = lambda x: F.multilabel_soft_margin_loss(20 * x, t.round(), **r)
    loss(f"multilabel_soft_large.{reduction}", f, (4, 5))
    ctc = lambda x, *rest, **more: F.ctc_loss(x.log_softmax(-1), *map(torch.tensor, rest), **more, **r)
    f = lambda x: ctc(x, [[1, 2, 2], [3, 1, 4]], [3, 7], [3, 3], zero_infinity=True)
    loss(f"ctc_zero_infinity.{reduction}", f, (7, 2, 5))
    f = lambda x: ctc(x, [1, 2, 2], 7, 3)
    loss(f"ctc_unbatched.{reduction}", f, (7, 5))
    f = lambda x: ctc(x, [2, 2, 2], 3, 3, zero_infinity=True)
    loss(f"ctc_unbatched_zero.{reduction}", f, (4, 5))
