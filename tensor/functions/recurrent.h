// One direction of a recurrent layer over all time steps; nn::RNN, nn::LSTM and nn::GRU are built on it.
#pragma once

#include "tensor/core/recurrence.h"
#include "tensor/tensor.h"

namespace weft {

struct RecurrentOptions {
  Tensor bias = {};      // (G H): added to h weight^T
  Tensor h = {};         // (N, H): initial hidden state; default: zeros
  Tensor c = {};         // (N, H): initial cell state of an LSTM; default: zeros
  Tensor lengths = {};   // (N), integers: number of valid steps of each row; default: all
  bool reverse = false;  // run from the last valid step to the first
};

/// The hidden states of all steps, and the final states. c is undefined unless the layer is an LSTM.
struct RecurrentResult {
  Tensor output, h, c;
};

/// Runs a recurrent cell along axis 1 of `projected` (N, L, G H), the inputs already multiplied by the input weights of
/// the G gates (see Recurrence). Each step adds h weight^T + bias, with the hidden state h of the step before and
/// weight (G H, H). Gives output (N, L, H), h and c (N, H). Steps beyond a row's length give zeros and do not change
/// its state. Dtypes promote; for bf16 and f16 the state is kept in f32. DtypeError unless floating, ShapeError if
/// sizes do not match, IndexError for a length that is negative or larger than L.
RecurrentResult recurrent(Recurrence kind, const Tensor& projected, const Tensor& weight,
                          const RecurrentOptions& options = {});

}  // namespace weft
