"""Golden values of losses beside those of common_layers.py; layers.py adds them to its own."""

import torch
from torch.nn import functional as F

from golden import wave
from modules import loss

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
