"""Golden values of convolutions, pools and resampling: python3 tests/golden/window.py > tests/nn/window_values.h"""

from torch import nn
from torch.nn import functional as F

from golden import digest, header, wave

values = {}


def layer(name, module, shape):
    for k, p in enumerate(module.parameters()):
        p.data.copy_(wave(p.shape, 0.1 * (k + 1), 0.5))
    x = wave(shape, 0.3).requires_grad_()
    y = module(x)
    values[name + ".y"] = digest(y)
    (y * wave(y.shape, 0.9)).sum().backward()
    for key, t in {"x": x, **dict(module.named_parameters())}.items():
        values[f"{name}.{key}.grad"] = digest(t.grad)


class Function(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.forward = f


layer("conv1d", nn.Conv1d(3, 4, 3), (2, 3, 7))
layer("conv1d_same", nn.Conv1d(3, 4, 4, padding="same", dilation=3), (2, 3, 9))
layer("conv1d_depthwise", nn.Conv1d(6, 6, 5, padding=2, groups=6), (2, 6, 9))
layer("conv1d_strided", nn.Conv1d(4, 6, 3, stride=2, padding=2, dilation=2, groups=2, bias=False), (2, 4, 8))
layer("conv2d_same", nn.Conv2d(2, 3, (2, 4), padding="same"), (2, 2, 5, 6))
layer("conv2d_unbatched", nn.Conv2d(2, 3, 3, padding=(1, 0)), (2, 5, 6))
layer("conv3d", nn.Conv3d(2, 3, 2), (2, 2, 3, 4, 3))
layer("conv3d_all", nn.Conv3d(2, 4, (3, 2, 1), stride=(2, 1, 2), padding=(1, 1, 0), groups=2), (1, 2, 4, 3, 5))
layer("conv3d_dilated", nn.Conv3d(1, 2, 2, dilation=(1, 2, 3), bias=False), (2, 1, 3, 4, 5))
layer("conv3d_same", nn.Conv3d(1, 2, (3, 2, 4), padding="same"), (1, 1, 3, 3, 4))
layer("transpose1d", nn.ConvTranspose1d(3, 4, 3), (2, 3, 4))
layer("transpose1d_strided", nn.ConvTranspose1d(4, 6, 4, stride=3, padding=1, output_padding=2, groups=2), (2, 4, 3))
layer("transpose1d_dilated", nn.ConvTranspose1d(2, 3, 2, dilation=3, bias=False), (2, 2, 4))
layer("transpose1d_unbatched", nn.ConvTranspose1d(2, 3, 3, stride=2), (2, 4))
layer("transpose2d", nn.ConvTranspose2d(3, 2, 3), (2, 3, 3, 4))
layer("transpose2d_strided", nn.ConvTranspose2d(3, 2, 4, stride=2, padding=1), (2, 3, 3, 4))
uneven = dict(stride=(2, 3), output_padding=(1, 2), groups=2)
layer("transpose2d_output", nn.ConvTranspose2d(2, 4, (3, 2), **uneven), (1, 2, 3, 2))
layer("transpose2d_dilated", nn.ConvTranspose2d(2, 3, 2, padding=(1, 0), dilation=2, bias=False), (2, 2, 3, 3))
layer("transpose3d", nn.ConvTranspose3d(2, 3, 2), (1, 2, 2, 3, 2))
uneven = dict(stride=2, padding=(0, 1, 0), output_padding=1)
layer("transpose3d_strided", nn.ConvTranspose3d(2, 2, (2, 3, 2), **uneven), (2, 2, 2, 2, 2))
layer("transpose3d_groups", nn.ConvTranspose3d(4, 2, 2, groups=2, dilation=(2, 1, 1), bias=False), (1, 4, 2, 2, 2))
layer("transpose3d_unbatched", nn.ConvTranspose3d(2, 1, 2, stride=(1, 2, 1)), (2, 2, 3, 2))

for axes, size in [(1, (9,)), (2, (7, 6)), (3, (5, 4, 6))]:
    shape = (2, 3, *size)
    pools = {name: getattr(nn, f"{name}{axes}d") for name in
             ("MaxPool", "AvgPool", "LPPool", "AdaptiveAvgPool", "AdaptiveMaxPool")}
    layer(f"max_pool{axes}d", pools["MaxPool"](2), shape)
    layer(f"max_pool{axes}d_padded", pools["MaxPool"](3, stride=2, padding=1), shape)
    layer(f"max_pool{axes}d_dilated", pools["MaxPool"](2, stride=1, dilation=2), shape)
    layer(f"max_pool{axes}d_ceil", pools["MaxPool"](2, stride=3, ceil_mode=True), shape)
    layer(f"avg_pool{axes}d", pools["AvgPool"](2), shape)
    layer(f"avg_pool{axes}d_padded", pools["AvgPool"](3, stride=2, padding=1), shape)
    layer(f"avg_pool{axes}d_uncounted", pools["AvgPool"](3, stride=2, padding=1, count_include_pad=False), shape)
    layer(f"avg_pool{axes}d_ceil", pools["AvgPool"](3, stride=2, padding=1, ceil_mode=True), shape)
    squares = lambda p, **o: Function(lambda x, m=pools["LPPool"](p, **o): m(x * x + 0.5))
    layer(f"lp_pool{axes}d", squares(2, kernel_size=2), shape)
    layer(f"lp_pool{axes}d_three", squares(3, kernel_size=3, stride=2), shape)
    layer(f"lp_pool{axes}d_half", squares(0.5, kernel_size=2, stride=1), shape)
    layer(f"lp_pool{axes}d_ceil", squares(2, kernel_size=3, stride=2, ceil_mode=True), shape)
    for name in ("Avg", "Max"):
        for target in (1, 2, 3, 4):
            layer(f"adaptive_{name.lower()}_pool{axes}d.{target}", pools[f"Adaptive{name}Pool"](target), shape)

linear = {1: "linear", 2: "bilinear", 3: "trilinear"}
for axes, size in [(1, (5,)), (2, (4, 5)), (3, (2, 4, 3))]:
    shape = (2, 3, *size)
    for mode in ["nearest", "nearest-exact", "area", linear[axes]] + (["bicubic"] if axes == 2 else []):
        name = f"upsample{axes}d." + (mode if mode != "nearest-exact" else "nearest_exact")
        layer(name + ".double", nn.Upsample(scale_factor=2.0, mode=mode), shape)
        layer(name + ".size", nn.Upsample(size=(3, 7, 4)[:axes], mode=mode), shape)
        layer(name + ".factor", nn.Upsample(scale_factor=1.6, mode=mode), shape)
        if mode in ("bicubic", linear[axes]):
            layer(name + ".aligned", nn.Upsample(size=(3, 7, 4)[:axes], mode=mode, align_corners=True), shape)

for i, options in enumerate(
    [
        dict(kernel_size=2),
        dict(kernel_size=(3, 2), padding=1),
        dict(kernel_size=2, stride=(2, 1), dilation=(1, 2)),
        dict(kernel_size=3, stride=2, padding=(1, 0)),
    ]
):
    unfold = nn.Unfold(**options)
    layer(f"unfold.{i}", unfold, (2, 3, 5, 6))
    rows, columns = unfold(wave((2, 3, 5, 6), 0)).shape[1:]
    layer(f"fold.{i}", nn.Fold((5, 6), **options), (2, rows, columns))
for i, shape in enumerate([(2, 8, 3, 2), (1, 4, 2, 2), (8, 2, 3), (3, 12, 1, 4)]):
    layer(f"pixel_shuffle.{i}", nn.PixelShuffle(2), shape)
for i, shape in enumerate([(2, 2, 4, 6), (1, 1, 2, 2), (2, 4, 2), (3, 2, 6, 4)]):
    layer(f"pixel_unshuffle.{i}", nn.PixelUnshuffle(2), shape)
for i, (groups, shape) in enumerate([(2, (2, 6, 3, 3)), (3, (1, 6, 2, 2)), (1, (2, 4, 2, 2)), (4, (1, 8, 1, 3))]):
    layer(f"channel_shuffle.{i}", nn.ChannelShuffle(groups), shape)
pads = [(1, (2, 3, 3, 2)), ((0, 2, 1, 0), (1, 2, 3, 4)), ((1, 2, 3, 4), (2, 2, 2)), (0, (1, 1, 2, 2))]
for i, (pad, shape) in enumerate(pads):
    layer(f"zero_pad.{i}", nn.ZeroPad2d(pad), shape)
pads_by_axes = [(1, (2, 1), (2, 3, 4)), (2, (1, 2, 0, 1), (2, 2, 3, 4)), (3, (1, 0, 2, 1, 1, 1), (1, 2, 3, 4, 2))]
for axes, pad, shape in pads_by_axes:
    for name in ("Zero", "Reflection", "Replication", "Circular"):
        pad_layer = getattr(nn, f"{name}Pad{axes}d")
        layer(f"{name}Pad{axes}d", pad_layer(pad), shape)
        layer(f"{name}Pad{axes}d_all", pad_layer(1), shape)
        layer(f"{name}Pad{axes}d_single", pad_layer(pad), shape[1:])
        layer(f"{name}Pad{axes}d_cut", pad_layer((-1, *pad[1:])), shape)
    constant = getattr(nn, f"ConstantPad{axes}d")
    layer(f"ConstantPad{axes}d", constant(pad, 0.7), shape)
    layer(f"ConstantPad{axes}d_all", constant(2, -1.5), shape)
    layer(f"ConstantPad{axes}d_single", constant(pad, 2.0), shape[1:])
    layer(f"ConstantPad{axes}d_cut", constant((-1, *pad[1:]), 3.0), shape)
for mode in ("reflect", "replicate", "circular"):
    for axes, size in [(1, (7,)), (2, (5, 4)), (3, (4, 3, 5))]:
        conv = getattr(nn, f"Conv{axes}d")
        layer(f"conv{axes}d_{mode}", conv(2, 3, 3, padding=(2, 1, 2)[:axes], padding_mode=mode), (2, 2, *size))
        layer(f"conv{axes}d_{mode}_same", conv(2, 2, 2, padding="same", groups=2, padding_mode=mode), (1, 2, *size))
for axes, size in [(1, (8,)), (2, (6, 4)), (3, (4, 4, 2))]:
    pool = getattr(nn, f"MaxPool{axes}d")(2, return_indices=True)
    unpool = getattr(nn, f"MaxUnpool{axes}d")(2)
    for i, shape in enumerate([(2, 3, *size), (1, 2, *size), (3, *size), (2, 1, *size)]):
        layer(f"max_unpool{axes}d.{i}", Function(lambda x: unpool(*pool(x))), shape)
for axes, size in [(2, (7, 9)), (3, (6, 7, 4))]:
    pool = getattr(F, f"fractional_max_pool{axes}d")
    kernel, target, ratio = (2, 3, 2)[:axes], (4, 3, 2)[:axes], (0.6, 0.5, 0.7)[:axes]
    for name, options in [("size", dict(output_size=target)), ("ratio", dict(output_ratio=ratio))]:
        for shape in [(2, 3, *size), (2, *size)]:
            samples = 0.5 + 0.45 * wave((1, *shape)[-axes - 2:-axes] + (axes,), 0.4)
            pooled = lambda x: pool(x, kernel, **options, return_indices=True, _random_samples=samples)
            full = f"fractional_max_pool{axes}d.{name}.{len(shape)}"
            layer(full, Function(lambda x: pooled(x)[0]), shape)
            values[full + ".indices"] = digest(pooled(wave(shape, 0.3))[1])
grid, image = wave((2, 4, 3, 2), 0.7, 1.2), wave((2, 3, 5, 4), 0.2)
for mode in ("bilinear", "nearest", "bicubic"):
    for padding in ("zeros", "border", "reflection"):
        for align in (False, True):
            name = f"grid_sample.{mode}.{padding}." + ("aligned" if align else "plain")
            layer(name, Function(lambda x: F.grid_sample(x, grid, mode, padding, align)), (2, 3, 5, 4))
            of_grid = Function(lambda g: F.grid_sample(image, g * 1.2, mode, padding, align))
            layer(name + ".grid", of_grid, (2, 4, 3, 2))
for align in (False, True):
    name = "affine_grid" + ("_aligned" if align else "")
    layer(name, Function(lambda t: F.affine_grid(t, (2, 3, 4, 5), align)), (2, 2, 3))
    layer(name + "_3d", Function(lambda t: F.affine_grid(t, (1, 3, 2, 4, 3), align)), (1, 3, 4))

what = "Sums of results and gradients of convolutions, pools and resampling"
print(header("window.py", what, "kWindowGolden", values))
