"""Golden values of norms; layers.py adds them to its own."""

import torch
from torch import nn

from golden import wave
from modules import backward, layer, running_statistics

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
