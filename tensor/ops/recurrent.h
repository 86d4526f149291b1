// Descriptors of one direction of a recurrent layer over all time steps, and of its gradient.
//
// With G gates (see Recurrence) and H hidden features: projected (N, L, G H) is the inputs' part of the gates; weight
// (G H, H) and bias (G H) give the states' part, h weight^T + bias; h0 and c0 (N, H) are the initial states (zero if
// absent; c0 only for an LSTM); lengths (N), integers, are the numbers of valid steps of the rows (default: all). A
// step beyond its row's length gives zeros and does not change the state.
#pragma once

#include <array>

#include "tensor/core/recurrence.h"
#include "tensor/ops/infer.h"

namespace weft::op {

/// The attributes of both ops.
struct RecurrentSetting {
  Recurrence kind;
  bool reverse;  // run from the last valid step to the first
  void attributes(auto visit) const { visit("kind", kind), visit("reverse", reverse); }
  bool operator==(const RecurrentSetting&) const = default;
};

/// The number of values (each of H features) that are saved for backward per step: the activated gates and, for a GRU,
/// also W_n h + b_n. 0 for cells whose gate can be computed from h'.
constexpr int64_t kept_gates(Recurrence kind) { return kind == Recurrence::lstm || kind == Recurrence::gru ? 4 : 0; }

/// y (N, L, H), the final states h and c (N, H), and the values saved for backward: gates (N, L, kept_gates H) and
/// cells (N, L, H). c and cells have no elements unless the layer is an LSTM. gates and cells have shape [0] unless
/// `keeps`.
struct Recurrent : RecurrentSetting {
  bool keeps = true;
  static constexpr std::string_view name = "recurrent";
  static constexpr std::string_view cost = "2 gates hidden^2 operations a step and sample";
  static constexpr int outputs = 5;
  static constexpr Policy policy = {
      .accepts = kFloating, .numeric = 0b11111, .optional = 0b111100, .autocast = Autocasting::lower};
  void attributes(auto visit) const { RecurrentSetting::attributes(visit), visit("keeps", keeps); }
  bool operator==(const Recurrent&) const = default;
  std::array<Spec, 5> infer(const Operand& projected, const Operand& weight, const Operand& bias, const Operand& h0,
                            const Operand& c0, const Operand& lengths) const;
  void cpu(const Operand& projected, const Operand& weight, const Operand& bias, const Operand& h0, const Operand& c0,
           const Operand& lengths, const Operand& y, const Operand& h, const Operand& c, const Operand& gates,
           const Operand& cells) const;
};

/// The gradients of projected, weight, bias, h0 and c0, given those of y, h and c (each may be absent). Gradients whose
/// bit is not in `wanted` are not computed and have shape [0]. projected and bias are inputs only for the gradient of
/// this op.
struct RecurrentBackward : RecurrentSetting {
  int wanted = 0b11111;
  static constexpr std::string_view name = "recurrent_backward";
  static constexpr std::string_view cost = "4 gates hidden^2 operations a step and sample";
  static constexpr int outputs = 5;
  static constexpr Policy policy = {.accepts = kFloating, .numeric = 0b111011111111, .optional = 0b000111100111};
  void attributes(auto visit) const { RecurrentSetting::attributes(visit), visit("wanted", wanted); }
  bool operator==(const RecurrentBackward&) const = default;
  std::array<Spec, 5> infer(const Operand& gy, const Operand& gh, const Operand& gc, const Operand& projected,
                            const Operand& weight, const Operand& bias, const Operand& h0, const Operand& c0,
                            const Operand& lengths, const Operand& y, const Operand& gates, const Operand& cells) const;
  void cpu(const Operand& gy, const Operand& gh, const Operand& gc, const Operand& projected, const Operand& weight,
           const Operand& bias, const Operand& h0, const Operand& c0, const Operand& lengths, const Operand& y,
           const Operand& gates, const Operand& cells, const Operand& dprojected, const Operand& dweight,
           const Operand& dbias, const Operand& dh0, const Operand& dc0) const;
};

}  // namespace weft::op
