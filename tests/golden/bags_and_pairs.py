"""Golden values of bags, bilinear forms and distances; layers.py adds them to its own."""

import torch
from torch import nn

from golden import wave
from modules import backward, fill, layer

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
