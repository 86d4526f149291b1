// The kinds of recurrent cells.
#pragma once

#include <cstdint>
#include <string>

namespace weft {

/// The step of each cell, given the gates p + W h + b, where p is the projected input. Gates are in PyTorch's order:
///   rnn_tanh, rnn_relu   h' = tanh(g), max(g, 0)
///   lstm   i, f, g, o:   c' = sigmoid(f) c + sigmoid(i) tanh(g), h' = sigmoid(o) tanh(c')
///   gru    r, z, n:      h' = (1 - sigmoid(z)) tanh(p_n + sigmoid(r) (W_n h + b_n)) + sigmoid(z) h
enum class Recurrence { rnn_tanh, rnn_relu, lstm, gru };

/// The number of gates of a cell: 1, 1, 4, 3.
constexpr int64_t gates_of(Recurrence kind) { return kind == Recurrence::lstm ? 4 : kind == Recurrence::gru ? 3 : 1; }
std::string attribute_text(Recurrence kind);

}  // namespace weft
