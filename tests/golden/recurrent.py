"""Golden values of recurrent layers: output, h and c side by side; layers.py adds them to its own."""

import torch
from torch import nn

from modules import layer


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
