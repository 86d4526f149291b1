"""The cases of bench/layer_cases.cc in PyTorch, under the same names; families.py runs them."""

import torch
from torch import nn, rand, randn
from torch.nn import functional as F

FORWARD, BOTH = False, True  # BOTH: with gradients of the floating inputs as a case of its own


def floats(*shapes):
    return lambda: [randn(*shape) for shape in shapes]


def floats_and_integers(shapes, limit, integers):
    return lambda: [randn(*shape) for shape in shapes] + [torch.randint(limit, integers)]


def floats_and_mask(shapes, mask):
    return lambda: [randn(*shape) for shape in shapes] + [rand(*mask) > 0.5]


def parameters(count, size):
    out = [nn.Parameter(randn(size)) for _ in range(count)]
    for p in out:
        p.grad = randn(size)
    return out


def step_of(optimizer, count, size, **options):
    optimizer = optimizer(parameters(count, size), **options)
    return lambda x: optimizer.step()


def clip_of(count, size):
    clipped = parameters(count, size)
    return lambda x: nn.utils.clip_grad_norm_(clipped, 1)


def batch_norm(x, w, b):
    return F.batch_norm(x, None, None, w, b, training=True)


def split_multiplied(x):
    a, b, c = torch.split(x, 256, 1)
    return a * b * c


def layer_cases():
    attention = F.scaled_dot_product_attention
    encoder = nn.TransformerEncoderLayer(256, 8, 1024, 0.0, batch_first=True)
    million, square, images = (1000000,), (1000, 1000), (16, 64, 56, 56)
    quarter, heads = [(512, 512)] * 4, [(8, 8, 256, 64)] * 3
    momentum = {"lr": 1e-3, "momentum": 0.9}
    return [
        # Softmax and losses.
        ("softmax 256x32000", BOTH, floats((256, 32000)), lambda x: F.softmax(x, -1)),
        ("log_softmax 128x50000", BOTH, floats((128, 50000)), lambda x: F.log_softmax(x, -1)),
        ("softmax 64x100x1000 axis 1", BOTH, floats((64, 100, 1000)), lambda x: F.softmax(x, 1)),
        ("cross_entropy 256x50257", BOTH, floats_and_integers([(256, 50257)], 50257, (256,)), F.cross_entropy),
        ("cross_entropy 8x21x128x128", BOTH, floats_and_integers([(8, 21, 128, 128)], 21, (8, 128, 128)),
         F.cross_entropy),
        ("bce_with_logits 1000000", BOTH, floats(million, million), F.binary_cross_entropy_with_logits),
        ("mse 1000000", BOTH, floats(million, million), F.mse_loss),
        ("smooth_l1 1000000", BOTH, floats(million, million), F.smooth_l1_loss),
        ("cosine_similarity 4096x256", BOTH, floats((4096, 256), (4096, 256)), F.cosine_similarity),
        ("normalize 4096x256", BOTH, floats((4096, 256)), F.normalize),
        ("cdist 1000x1000x64", BOTH, floats((1000, 64), (1000, 64)), torch.cdist),
        # Embeddings and norms.
        ("embedding 4096 of 50257x256", BOTH, floats_and_integers([(50257, 256)], 50257, (8, 512)),
         lambda w, i: F.embedding(i, w)),
        ("embedding 65536 of 1000x64", BOTH, floats_and_integers([(1000, 64)], 1000, (65536,)),
         lambda w, i: F.embedding(i, w)),
        ("one_hot 10000 of 100", FORWARD, floats_and_integers([], 100, (10000,)), lambda i: F.one_hot(i, 100)),
        ("layer_norm 4096x768", BOTH, floats((4096, 768), (768,), (768,)),
         lambda x, w, b: F.layer_norm(x, (768,), w, b)),
        ("rms_norm 4096x768", BOTH, floats((4096, 768), (768,)), lambda x, w: F.rms_norm(x, (768,), w)),
        ("group_norm 16x64x56x56", BOTH, floats(images, (64,), (64,)), lambda x, w, b: F.group_norm(x, 32, w, b)),
        ("instance_norm 16x64x56x56", BOTH, floats(images), F.instance_norm),
        ("batch_norm 16x64x56x56", BOTH, floats(images, (64,), (64,)), batch_norm),
        ("batch_norm 4096x512", BOTH, floats((4096, 512), (512,), (512,)), batch_norm),
        # Attention and layers.
        ("attention causal 1x8x2048x64", BOTH, floats(*[(1, 8, 2048, 64)] * 3),
         lambda q, k, v: attention(q, k, v, is_causal=True)),
        ("attention 8x8x256x64", BOTH, floats(*heads), attention),
        ("attention masked 8x8x256x64", BOTH, floats_and_mask(heads, (8, 1, 1, 256)), attention),
        ("TransformerEncoderLayer 8x128x256", BOTH, floats((8, 128, 256)), encoder),
        ("linear 512x1024 to 1024", BOTH, floats((512, 1024), (1024, 1024), (1024,)), F.linear),
        ("linear 32x64 to 64", BOTH, floats((32, 64), (64, 64), (64,)), F.linear),
        ("linear 1x1024 to 4096", BOTH, floats((1, 1024), (4096, 1024), (4096,)), F.linear),
        ("linear 256x256 to 2", BOTH, floats((256, 256), (2, 256), (2,)), F.linear),
        ("linear 50000x5 to 1", BOTH, floats((50000, 5), (1, 5), (1,)), F.linear),
        ("matmul 3x20000 by 20000, transposed", BOTH, floats((20000, 3), (20000,)), lambda a, b: a.t() @ b),
        ("matmul 5x1000000 by 1000000, transposed", BOTH, floats((1000000, 5), (1000000,)), lambda a, b: a.t() @ b),
        ("bmm 4096 of 16x16", BOTH, floats((4096, 16, 16), (4096, 16, 16)), torch.bmm),
        ("bmm 10000 of 4x4", BOTH, floats((10000, 4, 4), (10000, 4, 4)), torch.bmm),
        ("bmm 512 of 32x64 64x48", BOTH, floats((512, 32, 64), (512, 64, 48)), torch.bmm),
        ("mv 2048x2048", BOTH, floats((2048, 2048), (2048,)), torch.mv),
        ("outer 2000x2000", BOTH, floats((2000,), (2000,)), torch.outer),
        ("conv1d 8x64x4096 k3 dilation 64", BOTH, floats((8, 64, 4096), (64, 64, 3)),
         lambda x, w: F.conv1d(x, w, padding=64, dilation=64)),
        ("conv2d 16x64x56x56 k1 to 128 s2", BOTH, floats(images, (128, 64, 1, 1)),
         lambda x, w: F.conv2d(x, w, stride=2)),
        ("conv2d 8x3x112x112 k7 s2", BOTH, floats((8, 3, 112, 112), (64, 3, 7, 7)),
         lambda x, w: F.conv2d(x, w, stride=2, padding=3)),
        ("conv2d 16x128x28x28 k3 groups 32", BOTH, floats((16, 128, 28, 28), (128, 4, 3, 3)),
         lambda x, w: F.conv2d(x, w, padding=1, groups=32)),
        ("conv2d 16x64x28x28 k3 dilation 2", BOTH, floats((16, 64, 28, 28), (64, 64, 3, 3)),
         lambda x, w: F.conv2d(x, w, padding=2, dilation=2)),
        ("avg_pool2d 16x64x56x56 k3 s2", BOTH, floats(images), lambda x: F.avg_pool2d(x, 3, 2, 1)),
        ("adaptive_avg_pool2d 16x512x7x7 to 1", BOTH, floats((16, 512, 7, 7)), lambda x: F.adaptive_avg_pool2d(x, 1)),
        ("max_pool2d 16x64x56x56 k2 s2", BOTH, floats(images), lambda x: F.max_pool2d(x, 2)),
        # Element by element.
        ("dropout 1000000", BOTH, floats(million), lambda x: F.dropout(x, 0.1)),
        ("gelu 1000000", BOTH, floats(million), F.gelu),
        ("gelu tanh 1000000", BOTH, floats(million), lambda x: F.gelu(x, approximate="tanh")),
        ("silu 1000000", BOTH, floats(million), F.silu),
        ("tanh 1000000", BOTH, floats(million), torch.tanh),
        ("sigmoid 1000000", BOTH, floats(million), torch.sigmoid),
        ("softplus 1000000", BOTH, floats(million), F.softplus),
        ("exp 1000000", BOTH, floats(million), torch.exp),
        ("sin 1000000", BOTH, floats(million), torch.sin),
        ("pow 3 1000000", BOTH, floats(million), lambda x: x ** 3),
        ("clamp 1000000", BOTH, floats(million), lambda x: torch.clamp(x, -1, 1)),
        ("add 1000x1000 and a row", BOTH, floats(square, (1000,)), torch.add),
        ("multiply 1000x1000 by a column", BOTH, floats(square, (1000, 1)), torch.mul),
        ("add 1000x1000 and a transposed", BOTH, floats(square, square), lambda x, y: x + y.T),
        ("lerp 1000000", BOTH, floats(million, million), lambda x, y: torch.lerp(x, y, 0.3)),
        ("addcmul 1000000", BOTH, floats(million, million, million), torch.addcmul),
        ("cast 1000000 to bf16", FORWARD, floats(million), lambda x: x.bfloat16()),
        ("cast 1000000 to f64", FORWARD, floats(million), lambda x: x.double()),
        ("cast 1000000 to i64", FORWARD, floats(million), lambda x: x.long()),
        ("where 1000000", BOTH, floats_and_mask([million, million], million), lambda x, y, m: torch.where(m, x, y)),
        ("masked_fill 64x128x128 by 128x128", BOTH, floats_and_mask([(64, 128, 128)], (128, 128)),
         lambda x, m: x.masked_fill(m, -1e9)),
        ("index 1000x1000 by mask", BOTH, floats_and_mask([square], square), lambda x, m: x[m]),
        ("triu 1000x1000", BOTH, floats(square), torch.triu),
        # Copies.
        ("contiguous 2000x2000 transposed", FORWARD, floats((2000, 2000)), lambda x: x.T.contiguous()),
        ("contiguous 16x64x56x56 to channels-last", FORWARD, floats(images),
         lambda x: x.permute(0, 2, 3, 1).contiguous()),
        ("contiguous heads 8x512x8x64", FORWARD, floats((8, 512, 8, 64)), lambda x: x.transpose(1, 2).contiguous()),
        ("cat 4 of 512x512 axis 0", BOTH, floats(*quarter), lambda *x: torch.cat(x, 0)),
        ("cat 4 of 512x512 axis 1", BOTH, floats(*quarter), lambda *x: torch.cat(x, 1)),
        ("cat 200 of 100", BOTH, floats(*[(100,)] * 200), lambda *x: torch.cat(x, 0)),
        ("stack 4 of 250000", BOTH, floats(*[(250000,)] * 4), lambda *x: torch.stack(x, 0)),
        ("stack 4 of 250000 axis 1", BOTH, floats(*[(250000,)] * 4), lambda *x: torch.stack(x, 1)),
        ("split 1024x768 in 3, multiplied", BOTH, floats((1024, 768)), split_multiplied),
        ("flip 1000x1000", BOTH, floats(square), lambda x: torch.flip(x, (1,))),
        ("pad reflect 16x32x56x56", BOTH, floats((16, 32, 56, 56)), lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect")),
        ("pixel_shuffle 8x64x32x32 by 2", BOTH, floats((8, 64, 32, 32)), lambda x: F.pixel_shuffle(x, 2)),
        # Reductions.
        ("sum 1000000", BOTH, floats(million), torch.sum),
        ("sum 1000x1000 axis 0", BOTH, floats(square), lambda x: x.sum(0)),
        ("sum 1000x1000 axis 1", BOTH, floats(square), lambda x: x.sum(1)),
        ("sum 64x128x128 axes 0 2", BOTH, floats((64, 128, 128)), lambda x: x.sum((0, 2))),
        ("sum 100000x8 axis 1", BOTH, floats((100000, 8)), lambda x: x.sum(1)),
        ("var 1000x1000 axis 1", BOTH, floats(square), lambda x: x.var(1)),
        ("var 1000x1000 axis 0", BOTH, floats(square), lambda x: x.var(0)),
        ("norm 1000000", BOTH, floats(million), torch.linalg.vector_norm),
        ("max 1000000", BOTH, floats(million), torch.max),
        ("max with indices 1000x1000 axis 1", BOTH, floats(square), lambda x: torch.max(x, 1)[0]),
        ("argmax 1000x1000 axis 1", FORWARD, floats(square), lambda x: torch.argmax(x, 1)),
        ("argmax 1000x1000 axis 0", FORWARD, floats(square), lambda x: torch.argmax(x, 0)),
        ("argmax 1000000", FORWARD, floats(million), torch.argmax),
        ("prod 1000x1000 axis 1", BOTH, floats(square), lambda x: torch.prod(x, 1)),
        ("logsumexp 1000x1000 axis 1", BOTH, floats(square), lambda x: torch.logsumexp(x, 1)),
        ("any 1000000", FORWARD, floats_and_mask([], million), lambda x: torch.any(x != x)),
        # Random numbers, optimizers.
        ("randn 1000000", FORWARD, floats(), lambda: randn(million)),
        ("rand 1000000", FORWARD, floats(), lambda: rand(million)),
        ("randint 1000000", FORWARD, floats(), lambda: torch.randint(1000, million)),
        ("randperm 100000", FORWARD, floats(), lambda: torch.randperm(100000)),
        ("AdamW step, 500 of 64", FORWARD, floats((1,)), step_of(torch.optim.AdamW, 500, 64)),
        ("AdamW step, 100 of 10000", FORWARD, floats((1,)), step_of(torch.optim.AdamW, 100, 10000)),
        ("SGD step with momentum, 500 of 64", FORWARD, floats((1,)), step_of(torch.optim.SGD, 500, 64, **momentum)),
        ("SGD step with momentum, 100 of 10000", FORWARD, floats((1,)),
         step_of(torch.optim.SGD, 100, 10000, **momentum)),
        ("clip_grad_norm, 500 of 64", FORWARD, floats((1,)), clip_of(500, 64)),
        ("clip_grad_norm, 100 of 10000", FORWARD, floats((1,)), clip_of(100, 10000)),
    ]
