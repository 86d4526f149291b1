"""The cases of bench/family_cases.cc and bench/linalg_cases.cc in PyTorch, under the same names: one JSON line each."""

import argparse
import json
import os
import time

import torch
from torch import nn
from torch.nn import functional as F

from torch import randn

from layer_families import BOTH, FORWARD, layer_cases


def below(limit, *shape):
    return torch.randint(limit, shape)


def positive(*shape):
    a = randn(*shape)
    return a @ a.mT + shape[-1] * torch.eye(shape[-1])


def in_nhwc(x):
    return x.contiguous(memory_format=torch.channels_last)


def recurrent(layer, inputs, hidden):
    layer = layer(inputs, hidden, batch_first=True)
    return lambda x: layer(x)[0]


def all_cases():
    """Name, passes, inputs, call."""
    return [
        # Convolution, resampling, normalization.
        ("conv1d 16x64x1024 k3", BOTH, lambda: [randn(16, 64, 1024), randn(64, 64, 3)],
         lambda x, w: F.conv1d(x, w, padding=1)),
        ("conv1d 8x1x16000 k25 s4", BOTH, lambda: [randn(8, 1, 16000), randn(32, 1, 25)],
         lambda x, w: F.conv1d(x, w, stride=4, padding=12)),
        ("depthwise 16x128x28x28 k3", BOTH, lambda: [randn(16, 128, 28, 28), randn(128, 1, 3, 3)],
         lambda x, w: F.conv2d(x, w, padding=1, groups=128)),
        ("depthwise 16x128x1024 k7", BOTH, lambda: [randn(16, 128, 1024), randn(128, 1, 7)],
         lambda x, w: F.conv1d(x, w, padding=3, groups=128)),
        ("conv_transpose2d 16x64x16x16 k4 s2", BOTH, lambda: [randn(16, 64, 16, 16), randn(64, 32, 4, 4)],
         lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1)),
        ("conv3d 4x16x16x16x16 k3", BOTH, lambda: [randn(4, 16, 16, 16, 16), randn(32, 16, 3, 3, 3)],
         lambda x, w: F.conv3d(x, w, padding=1)),
        ("interpolate bilinear 8x32x32x32 x2", BOTH, lambda: [randn(8, 32, 32, 32)],
         lambda x: F.interpolate(x, scale_factor=2, mode="bilinear")),
        ("interpolate nearest 8x32x32x32 x2", BOTH, lambda: [randn(8, 32, 32, 32)],
         lambda x: F.interpolate(x, scale_factor=2)),
        ("interpolate bicubic 8x32x32x32 x2", BOTH, lambda: [randn(8, 32, 32, 32)],
         lambda x: F.interpolate(x, scale_factor=2, mode="bicubic")),
        ("grid_sample 8x16x64x64", BOTH, lambda: [randn(8, 16, 64, 64), randn(8, 64, 64, 2) * 0.5],
         lambda x, g: F.grid_sample(x, g, align_corners=False)),
        ("max_pool2d 16x64x56x56 k3 s2", BOTH, lambda: [randn(16, 64, 56, 56)], lambda x: F.max_pool2d(x, 3, 2, 1)),
        ("fractional_max_pool2d 16x64x56x56 k2 to 28", BOTH, lambda: [randn(16, 64, 56, 56)],
         lambda x: F.fractional_max_pool2d(x, 2, 28)),
        ("fractional_max_pool3d 4x32x16x28x28 k2 to 8x14x14", BOTH, lambda: [randn(4, 32, 16, 28, 28)],
         lambda x: F.fractional_max_pool3d(x, 2, (8, 14, 14))),
        ("group_norm 16x64x56x56 channels-last", BOTH, lambda: [in_nhwc(randn(16, 64, 56, 56)), randn(64), randn(64)],
         lambda x, w, b: F.group_norm(x, 32, w, b)),
        # Recurrent layers.
        ("LSTM 32x64x128 h128", BOTH, lambda: [randn(32, 64, 128)], recurrent(nn.LSTM, 128, 128)),
        ("LSTM 64x100x256 h256", BOTH, lambda: [randn(64, 100, 256)], recurrent(nn.LSTM, 256, 256)),
        ("GRU 32x64x128 h128", BOTH, lambda: [randn(32, 64, 128)], recurrent(nn.GRU, 128, 128)),
        ("GRU 64x100x256 h256", BOTH, lambda: [randn(64, 100, 256)], recurrent(nn.GRU, 256, 256)),
        # Order.
        ("sort 1000000", BOTH, lambda: [randn(1000000)], lambda x: torch.sort(x)[0]),
        ("sort 1000x1000", FORWARD, lambda: [randn(1000, 1000)], lambda x: torch.sort(x)[0]),
        ("sort 1000x1000 axis 0", FORWARD, lambda: [randn(1000, 1000)], lambda x: torch.sort(x, 0)[0]),
        ("sort 1000000 i64", FORWARD, lambda: [below(1000000, 1000000)], lambda x: torch.sort(x)[0]),
        ("argsort 1000000", FORWARD, lambda: [randn(1000000)], torch.argsort),
        ("topk 100 of 1000000", BOTH, lambda: [randn(1000000)], lambda x: torch.topk(x, 100)[0]),
        ("topk 10 of 128x10000", FORWARD, lambda: [randn(128, 10000)], lambda x: torch.topk(x, 10)[0]),
        ("kthvalue 1000000", FORWARD, lambda: [randn(1000000)], lambda x: torch.kthvalue(x, 300000)[0]),
        ("median 1000000", FORWARD, lambda: [randn(1000000)], torch.median),
        ("median 1000x1000", FORWARD, lambda: [randn(1000, 1000)], lambda x: torch.median(x, 1)[0]),
        ("quantile 1000000", FORWARD, lambda: [randn(1000000)], lambda x: torch.quantile(x, 0.9)),
        ("quantile 1000x1000", FORWARD, lambda: [randn(1000, 1000)], lambda x: torch.quantile(x, 0.9, 1)),
        ("mode 1000x1000 i64", FORWARD, lambda: [below(100, 1000, 1000)], lambda x: torch.mode(x)[0]),
        ("unique 1000000 i64 of 1000", FORWARD, lambda: [below(1000, 1000000)], torch.unique),
        ("unique 1000000", FORWARD, lambda: [randn(1000000)], torch.unique),
        ("unique 1000000 i64 with inverse and counts", FORWARD, lambda: [below(1000, 1000000)],
         lambda x: torch.unique(x, return_inverse=True, return_counts=True)[1]),
        ("searchsorted 100000 in 1000", FORWARD, lambda: [torch.arange(0, 1, 0.001), torch.rand(100000)],
         torch.searchsorted),
        # Scans and counts.
        ("cumsum 1000000", BOTH, lambda: [randn(1000000)], lambda x: torch.cumsum(x, 0)),
        ("cumsum 1000x1000", BOTH, lambda: [randn(1000, 1000)], lambda x: torch.cumsum(x, 1)),
        ("cumsum 1000x1000 axis 0", BOTH, lambda: [randn(1000, 1000)], lambda x: torch.cumsum(x, 0)),
        ("cumsum 1000x1000 i64", FORWARD, lambda: [below(10, 1000, 1000)], lambda x: torch.cumsum(x, 1)),
        ("cumprod 1000x1000", FORWARD, lambda: [randn(1000, 1000)], lambda x: torch.cumprod(x, 1)),
        ("logcumsumexp 1000x1000", FORWARD, lambda: [randn(1000, 1000)], lambda x: torch.logcumsumexp(x, 1)),
        ("cummax 1000x1000", FORWARD, lambda: [randn(1000, 1000)], lambda x: torch.cummax(x, 1)[0]),
        ("bincount 1000000 of 1000", FORWARD, lambda: [below(1000, 1000000)], torch.bincount),
        ("histc 1000000", FORWARD, lambda: [randn(1000000)], lambda x: torch.histc(x, 100)),
        # Reads and writes by index.
        ("gather 1000x1000 axis 1", BOTH, lambda: [randn(1000, 1000), below(1000, 1000, 1000)],
         lambda x, i: torch.gather(x, 1, i)),
        ("gather 1000x1000 axis 0", BOTH, lambda: [randn(1000, 1000), below(1000, 1000, 1000)],
         lambda x, i: torch.gather(x, 0, i)),
        ("scatter_add 1000x1000 axis 1", BOTH, lambda: [randn(1000, 1000), randn(1000, 1000), below(1000, 1000, 1000)],
         lambda x, v, i: torch.scatter_add(x, 1, i, v)),
        ("scatter_add 1000x1000 axis 0", BOTH, lambda: [randn(1000, 1000), randn(1000, 1000), below(1000, 1000, 1000)],
         lambda x, v, i: torch.scatter_add(x, 0, i, v)),
        ("index_select 10000x128", BOTH, lambda: [randn(10000, 128), below(10000, 10000)],
         lambda x, i: torch.index_select(x, 0, i)),
        ("index 1000000 by 1000000", BOTH, lambda: [randn(1000000), below(1000000, 1000000)], lambda x, i: x[i]),
        ("index 1000x1000 by two of 100000", BOTH,
         lambda: [randn(1000, 1000), below(1000, 100000), below(1000, 100000)],
         lambda x, i, j: x[i, j]),
        ("index_put 1000x1000 at 100000", BOTH,
         lambda: [randn(1000, 1000), randn(100000), below(1000, 100000), below(1000, 100000)],
         lambda x, v, i, j: torch.index_put(x, (i, j), v)),
        ("index_put_ 1000000 at 100000", FORWARD, lambda: [randn(1000000), randn(100000), below(1000000, 100000)],
         lambda x, v, i: x.index_put_((i,), v)),
        ("index_put_ 1000000 at 100000 accumulate", FORWARD,
         lambda: [randn(1000000), randn(100000), below(1000000, 100000)],
         lambda x, v, i: x.index_put_((i,), v, True)),
        ("index_add 10000x128", FORWARD, lambda: [randn(10000, 128), randn(10000, 128), below(10000, 10000)],
         lambda x, v, i: torch.index_add(x, 0, i, v)),
        ("masked_select 1000000", BOTH, lambda: [randn(1000000), torch.rand(1000000) > 0.5], torch.masked_select),
        ("nonzero 1000x1000", FORWARD, lambda: [torch.rand(1000, 1000) > 0.5], torch.nonzero),
        ("tile 256x256 by 4x4", BOTH, lambda: [randn(256, 256)], lambda x: torch.tile(x, (4, 4))),
        ("repeat_interleave 1000x256 by 4", BOTH, lambda: [randn(1000, 256)],
         lambda x: torch.repeat_interleave(x, 4, 0)),
        ("roll 1000x1000", BOTH, lambda: [randn(1000, 1000)], lambda x: torch.roll(x, (300, 500), (0, 1))),
        # Products and linear algebra.
        ("einsum bij,bjk->bik 32x128", BOTH, lambda: [randn(32, 128, 128), randn(32, 128, 128)],
         lambda a, b: torch.einsum("bij,bjk->bik", a, b)),
        ("einsum bqhd,bkhd->bhqk 8x128x8x64", BOTH, lambda: [randn(8, 128, 8, 64), randn(8, 128, 8, 64)],
         lambda a, b: torch.einsum("bqhd,bkhd->bhqk", a, b)),
        ("einsum ij,jk,kl->il 512", BOTH, lambda: [randn(512, 512), randn(512, 512), randn(512, 512)],
         lambda a, b, c: torch.einsum("ij,jk,kl->il", a, b, c)),
        ("einsum bi,bj,ijk->bk 64", BOTH, lambda: [randn(64, 64), randn(64, 64), randn(64, 64, 64)],
         lambda a, b, c: torch.einsum("bi,bj,ijk->bk", a, b, c)),
        ("solve 512, 512 right sides", BOTH, lambda: [positive(512, 512), randn(512, 512)], torch.linalg.solve),
        ("solve 512, 1 right side", FORWARD, lambda: [positive(512, 512), randn(512, 1)], torch.linalg.solve),
        ("solve 1000 of 8x8", FORWARD, lambda: [positive(1000, 8, 8), randn(1000, 8, 4)], torch.linalg.solve),
        ("inv 512", FORWARD, lambda: [positive(512, 512)], torch.linalg.inv),
        ("cholesky 512", BOTH, lambda: [positive(512, 512)], torch.linalg.cholesky),
        ("cholesky 1000 of 8x8", FORWARD, lambda: [positive(1000, 8, 8)], torch.linalg.cholesky),
        ("qr 512", BOTH, lambda: [randn(512, 512)], lambda a: torch.linalg.qr(a)[0]),
        ("qr 1000 of 8x8", FORWARD, lambda: [randn(1000, 8, 8)], lambda a: torch.linalg.qr(a)[0]),
        ("svd 512", FORWARD, lambda: [randn(512, 512)], lambda a: torch.linalg.svd(a, False)[1]),
        ("svd 1000x100", FORWARD, lambda: [randn(1000, 100)], lambda a: torch.linalg.svd(a, False)[1]),
        ("svd 100 of 16x16", FORWARD, lambda: [randn(100, 16, 16)], lambda a: torch.linalg.svd(a, False)[1]),
        ("svdvals 512", FORWARD, lambda: [randn(512, 512)], torch.linalg.svdvals),
        ("eigh 512", FORWARD, lambda: [positive(512, 512)], lambda a: torch.linalg.eigh(a)[0]),
        ("eigvalsh 512", FORWARD, lambda: [positive(512, 512)], torch.linalg.eigvalsh),
        ("eigh 100 of 16x16", FORWARD, lambda: [positive(100, 16, 16)], lambda a: torch.linalg.eigh(a)[0]),
    ]


def measure(name, options, call):
    """Calls for some time and at least three times, after two unmeasured ones."""
    call(), call()
    times, cpu, total = [], [], 0
    while total < options.seconds or len(times) < 3:
        cpu_start, start = time.process_time(), time.perf_counter()
        call()
        spent = time.perf_counter() - start
        cpu.append(1e3 * (time.process_time() - cpu_start))
        times.append(1e3 * spent)
        total += spent
    times.sort()
    line = {"case": name, "threads": options.threads, "ms": times[len(times) // 2], "min_ms": times[0]}
    print(json.dumps({**line, "cpu_ms": min(cpu)}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--filter", default="")
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    for name, passes, make, call in all_cases() + layer_cases():
        if options.filter not in name:
            continue
        torch.manual_seed(1)
        inputs = make()
        with torch.no_grad():
            measure(name, options, lambda: call(*inputs))
        if passes == FORWARD:
            continue
        wanted = [x.requires_grad_() for x in inputs if x.is_floating_point()]
        seed = torch.ones_like(call(*inputs))
        measure(name + ", with gradients", options, lambda: torch.autograd.grad(call(*inputs), wanted, seed))


main()
