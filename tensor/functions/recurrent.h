// One direction of a recurrent layer over all its time steps: what nn::RNN, nn::LSTM and nn::GRU are made of.
#pragma once

#include "tensor/core/recurrence.h"
#include "tensor/tensor.h"

namespace weft {

struct RecurrentOptions {
  Tensor bias = {};      // (G H), of the states' part of the gates
  Tensor h = {};         // (N, H): the first state; zeros where absent
  Tensor c = {};         // (N, H): the first cell state of an LSTM; zeros where absent
  Tensor lengths = {};   // (N), integers: how many steps of each row count; all where absent
  bool reverse = false;  // from the last step that counts to the first
};

/// The hidden states of all steps, and the last states; c is undefined where there is no cell.
struct RecurrentResult {
  Tensor output, h, c;
};

/// Runs a cell along axis 1 of `projected` (N, L, G H), the inputs' part of the gates (see Recurrence), from which the
/// step before adds h weight^T + bias: output (N, L, H), h and c (N, H). weight is (G H, H). Steps beyond a row's
/// length give zeros and leave its state as it is. Dtypes promote; bf16 and f16 keep their state in f32. DtypeError
/// unless floating, ShapeError where sizes do not fit, IndexError for a length that is negative or beyond L.
RecurrentResult recurrent(Recurrence kind, const Tensor& projected, const Tensor& weight,
                          const RecurrentOptions& options = {});

}  // namespace weft
