"""Golden values of weight norm and spectral norm; layers.py adds them to its own."""

from torch import nn

from golden import wave
from modules import layer, put


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
