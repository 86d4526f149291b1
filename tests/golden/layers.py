"""Golden values of further layers: python3 tests/golden/layers.py > tests/nn/layers_golden_values.h"""

import torch
from torch import nn
from torch.nn import functional as F

from golden import header, wave
from modules import backward, fill, layer, loss, put, running_statistics, values

# ---- recurrent layers: output, h and c side by side ----


class Joined(nn.Module):
    """The results of a recurrent layer as one vector, without a prefix in its names."""

    def __init__(self, inner, states=True, lengths=None):
        super().__init__()
        self.inner, self.states, self.lengths = inner, states, lengths

    def named_parameters(self, *args, **kwargs):
        return self.inner.named_parameters(*args, **kwargs)

    def forward(self, x, *states):
        state = states if len(states) == 2 else states[0] if states else None
        if self.lengths is not None:
            length = x.shape[1]
            x = nn.utils.rnn.pack_padded_sequence(x, self.lengths, batch_first=True, enforce_sorted=False)
        y, h = self.inner(x, state)
        if self.lengths is not None:
            y = nn.utils.rnn.pad_packed_sequence(y, batch_first=True, total_length=length)[0]
        parts = [y, h] if torch.is_tensor(h) else [y, *h]
        return torch.cat([p.flatten() for p in parts])


for name, cls, options in [
    ("rnn", nn.RNN, {}),
    ("rnn_relu", nn.RNN, dict(nonlinearity="relu")),
    ("lstm", nn.LSTM, {}),
    ("gru", nn.GRU, {}),
]:
    layer(name, Joined(cls(3, 4, batch_first=True, **options)), (2, 5, 3))
    layer(f"{name}_no_bias", Joined(cls(3, 4, batch_first=True, bias=False, **options)), (2, 5, 3))
    deep = cls(3, 4, num_layers=2, bidirectional=True, batch_first=True, **options)
    states = [(4, 2, 4)] * (2 if cls is nn.LSTM else 1)
    layer(f"{name}_deep", Joined(deep), (2, 5, 3), *states)
    deep = cls(3, 4, num_layers=2, bidirectional=True, batch_first=True, **options)
    layer(f"{name}_lengths", Joined(deep, lengths=torch.tensor([2, 5, 3])), (3, 5, 3))


class Cell(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def named_parameters(self, *args, **kwargs):
        return self.inner.named_parameters(*args, **kwargs)

    def forward(self, x, *states):
        y = self.inner(x, states if len(states) == 2 else states[0] if states else None)
        return y if torch.is_tensor(y) else torch.cat([s.flatten() for s in y])


for name, cls in [("rnn_cell", nn.RNNCell), ("lstm_cell", nn.LSTMCell), ("gru_cell", nn.GRUCell)]:
    layer(name, Cell(cls(3, 4)), (2, 3))
    layer(f"{name}_state", Cell(cls(3, 4)), (2, 3), *[(2, 4)] * (2 if cls is nn.LSTMCell else 1))
    layer(f"{name}_single", Cell(cls(3, 4)), (3,))
    layer(f"{name}_no_bias", Cell(cls(3, 4, bias=False)), (2, 3))

for name, options, shapes in [
    ("", {}, [(2, 3)]),
    ("_state", {}, [(2, 3), (2, 4)]),
    ("_single", {}, [(3,)]),
    ("_no_bias", dict(bias=False), [(2, 3)]),
]:
    layer(f"rnn_relu_cell{name}", Cell(nn.RNNCell(3, 4, nonlinearity="relu", **options)), *shapes)

# ---- norms ----

layer("group_norm", nn.GroupNorm(2, 6), (2, 6, 3, 4))
layer("group_norm_rows", nn.GroupNorm(3, 6), (4, 6))
layer("group_norm_one", nn.GroupNorm(1, 4, eps=1e-2), (2, 4, 5))
layer("group_norm_plain", nn.GroupNorm(4, 4, affine=False), (2, 4, 5))
layer("instance_norm_1d", nn.InstanceNorm1d(3), (2, 3, 5))
layer("instance_norm_2d", nn.InstanceNorm2d(3, affine=True, eps=1e-3), (2, 3, 4, 5))
layer("instance_norm_3d", nn.InstanceNorm3d(2, affine=True), (2, 2, 3, 2, 4))
layer("instance_norm_single", nn.InstanceNorm1d(3), (3, 5))
for name, module, shape in [
    ("instance_norm_tracked", nn.InstanceNorm2d(3, affine=True, track_running_stats=True, momentum=0.3), (2, 3, 4, 5)),
    ("batch_norm_3d", nn.BatchNorm3d(3), (2, 3, 2, 4, 3)),
]:
    running_statistics(name, module, shape)
layer("rms_norm", nn.RMSNorm(5), (3, 4, 5))
layer("rms_norm_axes", nn.RMSNorm((4, 5), eps=1e-2), (3, 4, 5))
layer("rms_norm_plain", nn.RMSNorm(6, elementwise_affine=False), (2, 6))
layer("rms_norm_row", nn.RMSNorm(7, eps=1e-5), (7,))
layer("local_response_norm", nn.LocalResponseNorm(2), (2, 4, 3))
layer("local_response_norm_3", nn.LocalResponseNorm(3, alpha=0.5, beta=0.6, k=1.5), (2, 5, 3, 2))
layer("local_response_norm_5", nn.LocalResponseNorm(5, alpha=0.1), (2, 7, 3))
layer("local_response_norm_1", nn.LocalResponseNorm(1, alpha=1.0), (2, 4, 3))
for dim, shape in [(0, (3, 1)), (1, (1, 4))]:
    v, g = wave((3, 4), 0.3).requires_grad_(), (wave(shape, 0.5) + 2).requires_grad_()
    backward(f"weight_norm_{dim}", torch._weight_norm(v, g, dim), {"v": v, "g": g})

# ---- losses ----

signs = torch.tensor([1.0, -1, -1, 1])
matrix = torch.tensor([[1.0, -1, 1], [-1, -1, 1], [1, 1, 1], [-1, 1, -1]])
classes = torch.tensor([2, 0, 4, 1, 2, 3])
many = torch.tensor([[2, 0, -1, 1, 1], [-1, 0, 1, 2, 3], [4, 3, 2, 1, 0], [1, -1, -1, -1, -1]])
weight = wave((5,), 2.0).abs() + 0.1
for reduction in ("none", "mean", "sum"):
    r = dict(reduction=reduction)
    p = torch.sigmoid(wave((4, 3), 0.2))
    t = wave((4, 3), 0.7, 2.0).abs()
    loss(f"kl_div.{reduction}", lambda x: F.kl_div(x, p, **r), (4, 3))
    loss(f"kl_div_log.{reduction}", lambda x: F.kl_div(x, p.log(), log_target=True, **r), (4, 3))
    loss(f"bce_p.{reduction}", lambda x: F.binary_cross_entropy(torch.sigmoid(x), p, **r), (4, 3))
    loss(
        f"bce_p_weighted.{reduction}",
        lambda x: F.binary_cross_entropy(torch.sigmoid(x), p, weight=wave((4, 1), 0.4).abs(), **r),
        (4, 3),
    )
    loss(f"smooth_l1.{reduction}", lambda x: F.smooth_l1_loss(x, p, **r), (4, 3))
    loss(f"smooth_l1_beta.{reduction}", lambda x: F.smooth_l1_loss(x, p, beta=0.4, **r), (4, 3))
    loss(f"smooth_l1_zero.{reduction}", lambda x: F.smooth_l1_loss(x, p, beta=0.0, **r), (4, 3))
    loss(f"poisson.{reduction}", lambda x: F.poisson_nll_loss(x, t, **r), (4, 3))
    loss(f"poisson_full.{reduction}", lambda x: F.poisson_nll_loss(x, t, full=True, **r), (4, 3))
    loss(
        f"poisson_rate.{reduction}",
        lambda x: F.poisson_nll_loss(x.abs() + 0.1, t, log_input=False, eps=1e-3, **r),
        (4, 3),
    )
    loss(f"gaussian.{reduction}", lambda x, v: F.gaussian_nll_loss(x, p, v.abs() + 0.1, **r), (4, 3), (4, 3))
    loss(
        f"gaussian_full.{reduction}",
        lambda x, v: F.gaussian_nll_loss(x, p, v.abs(), full=True, eps=0.5, **r),
        (4, 3),
        (4, 1),
    )
    loss(f"soft_margin.{reduction}", lambda x: F.soft_margin_loss(x, matrix, **r), (4, 3))
    loss(f"hinge.{reduction}", lambda x: F.hinge_embedding_loss(x, matrix, margin=0.7, **r), (4, 3))
    loss(f"ranking.{reduction}", lambda a, b: F.margin_ranking_loss(a, b, matrix, margin=0.3, **r), (4, 3), (4, 3))
    loss(f"cosine.{reduction}", lambda a, b: F.cosine_embedding_loss(a, b, signs, margin=0.2, **r), (4, 3), (4, 3))
    loss(f"triplet.{reduction}", lambda a, b, c: F.triplet_margin_loss(a, b, c, **r), (4, 3), (4, 3), (4, 3))
    loss(
        f"triplet_swap.{reduction}",
        lambda a, b, c: F.triplet_margin_loss(a, b, c, margin=2.0, p=1.0, swap=True, **r),
        (4, 3),
        (4, 3),
        (4, 3),
    )
    loss(f"multi_margin.{reduction}", lambda x: F.multi_margin_loss(x, classes, **r), (6, 5))
    loss(
        f"multi_margin_all.{reduction}",
        lambda x: F.multi_margin_loss(x, classes, p=2, margin=0.6, weight=weight, **r),
        (6, 5),
    )
    loss(f"multilabel_margin.{reduction}", lambda x: F.multilabel_margin_loss(x, many, **r), (4, 5))
    loss(
        f"multilabel_soft.{reduction}",
        lambda x: F.multilabel_soft_margin_loss(x, torch.sigmoid(wave((4, 5), 0.1)), weight=weight, **r),
        (4, 5),
    )
    soft = torch.softmax(wave((6, 5), 0.4), -1)
    loss(f"soft_targets.{reduction}", lambda x: F.cross_entropy(x, soft, **r), (6, 5))
    loss(
        f"soft_targets_all.{reduction}",
        lambda x: F.cross_entropy(x, soft, weight=weight, label_smoothing=0.1, **r),
        (6, 5),
    )
    loss(
        f"ctc.{reduction}",
        lambda x: F.ctc_loss(
            x.log_softmax(-1),
            torch.tensor([[1, 2, 2], [3, 1, 4], [2, 0, 0]]),
            torch.tensor([7, 6, 5]),
            torch.tensor([3, 3, 1]),
            **r,
        ),
        (7, 3, 5),
    )
    loss(
        f"ctc_row.{reduction}",
        lambda x: F.ctc_loss(
            x.log_softmax(-1),
            torch.tensor([1, 2, 2, 0, 3]),
            torch.tensor([7, 3]),
            torch.tensor([3, 2]),
            blank=4,
            **r,
        ),
        (7, 2, 5),
    )


def focal(x, t, alpha, gamma, reduction):
    """torchvision's sigmoid_focal_loss."""
    p = torch.sigmoid(x)
    out = F.binary_cross_entropy_with_logits(x, t, reduction="none") * (1 - (p * t + (1 - p) * (1 - t))) ** gamma
    if alpha >= 0:
        out = (alpha * t + (1 - alpha) * (1 - t)) * out
    return {"none": lambda: out, "mean": out.mean, "sum": out.sum}[reduction]()


for reduction in ("none", "mean", "sum"):
    soft, hard = torch.sigmoid(wave((4, 3), 0.2)), (wave((4, 3), 0.7) > 0).double()
    options = [(hard, 0.25, 2.0), (soft, 0.25, 2.0), (hard, -1.0, 0.5), (soft, 0.6, 0.0)]
    for i, (target, alpha, gamma) in enumerate(options):
        loss(f"focal_{i}.{reduction}", lambda x: focal(x, target, alpha, gamma, reduction), (4, 3))
soft = torch.softmax(wave((2, 3, 2, 2), 0.4), 1)
loss("soft_targets_images", lambda x: F.cross_entropy(x, soft), (2, 3, 2, 2))
loss("kl_div_batch", lambda x: F.kl_div(x, torch.sigmoid(wave((4, 3), 0.2)), reduction="batchmean"), (4, 3))

# ---- computed weights ----


class Computed(nn.Module):
    """A parametrized layer whose vectors u and v, if it has them, are waves; without a prefix in its names."""

    def __init__(self, inner, evaluate=False):
        super().__init__()
        self.inner = inner.eval() if evaluate else inner
        for name, buffer in inner.named_buffers():
            buffer.copy_(wave(buffer.shape, 0.8 if name.endswith("_u") else 0.2))

    def named_parameters(self, *args, **kwargs):
        return self.inner.named_parameters(*args, **kwargs)

    def forward(self, x):
        return self.inner(x)


weight_norm, spectral_norm = nn.utils.parametrizations.weight_norm, nn.utils.parametrizations.spectral_norm
for name, inner, shape in [
    ("weight_normed", weight_norm(nn.Linear(4, 3)), (2, 4)),
    ("weight_normed_columns", weight_norm(nn.Linear(4, 3), dim=1), (2, 4)),
    ("weight_normed_whole", weight_norm(nn.Conv1d(4, 3, 2, bias=False), dim=None), (2, 4, 5)),
    ("weight_normed_bias", weight_norm(weight_norm(nn.Conv2d(2, 3, 2)), name="bias"), (1, 2, 4, 3)),
    ("spectral", spectral_norm(nn.Linear(4, 3)), (2, 4)),
    ("spectral_three", spectral_norm(nn.Conv2d(2, 3, 2), n_power_iterations=3), (1, 2, 4, 3)),
    ("spectral_transposed", spectral_norm(nn.ConvTranspose1d(2, 3, 2)), (1, 2, 4)),
    ("spectral_columns", spectral_norm(nn.Linear(4, 3, bias=False), dim=1, eps=0.5), (2, 4)),
    ("spectral_row", spectral_norm(nn.PReLU(3)), (2, 3)),
]:
    computed = Computed(inner)
    layer(name, computed, shape)
    for key, buffer in inner.named_buffers():
        put(f"{name}.{key}", buffer)
    put(f"{name}.eval", computed.eval()(wave(shape, 0.6)))

# ---- attention ----


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

# ---- bags, bilinear forms, distances ----

many = torch.tensor([[1, 2, 4], [3, 3, 6]])
for mode in ("sum", "mean", "max"):
    for name, options, inputs in [
        ("rows", {}, (many,)),
        ("offsets", {}, (torch.tensor([1, 2, 4, 5, 4, 3]), torch.tensor([0, 2, 2, 5]))),
        ("padding", dict(padding_idx=3), (many,)),
    ]:
        bag = nn.EmbeddingBag(7, 3, mode=mode, **options)
        fill(bag)
        backward(f"bag_{mode}_{name}", bag(*inputs), {"weight": bag.weight})
bag = nn.EmbeddingBag(7, 3, mode="sum")
fill(bag)
weights = wave((2, 3), 0.7).requires_grad_()
backward("bag_weighted", bag(many, per_sample_weights=weights), {"weight": bag.weight, "factors": weights})
layer("bilinear", nn.Bilinear(3, 4, 2), (5, 3), (5, 4))
layer("bilinear_no_bias", nn.Bilinear(3, 4, 2, bias=False), (2, 5, 3), (2, 5, 4))
layer("bilinear_row", nn.Bilinear(2, 2, 1), (1, 2), (1, 2))
layer("bilinear_single", nn.Bilinear(3, 2, 4), (3,), (2,))
layer("cosine_similarity", nn.CosineSimilarity(), (4, 3), (4, 3))
layer("cosine_similarity_0", nn.CosineSimilarity(dim=0), (4, 3), (4, 3))
layer("cosine_similarity_eps", nn.CosineSimilarity(dim=-1, eps=1.5), (2, 4, 3), (2, 4, 3))
layer("cosine_similarity_images", nn.CosineSimilarity(), (2, 3, 2, 2), (2, 3, 2, 2))
layer("pairwise_distance", nn.PairwiseDistance(), (4, 3), (4, 3))
layer("pairwise_distance_1", nn.PairwiseDistance(p=1.0, keepdim=True), (4, 3), (4, 3))
layer("pairwise_distance_3", nn.PairwiseDistance(p=3.0, eps=1e-3), (4, 3), (3,))
layer("pairwise_distance_row", nn.PairwiseDistance(), (3,), (3,))

import configurations  # noqa: E402, F401: adds its values behind those above

print(header("layers.py", "Sums of results and gradients of further layers and losses", "kGolden", values))
