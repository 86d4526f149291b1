// Descriptors of one direction of a recurrent layer over all its time steps, and its gradient.
//
// With G gates (see Recurrence) and H hidden features: projected (N, L, G H) is the inputs' part of the gates, weight
// (G H, H) and bias (G H) make the states' part; h0 and c0 (N, H) are the first states (zero where absent, c0 of an
// LSTM only); lengths (N), of integers, are how many steps of each row count (all where absent). A step beyond its
// row's length gives zeros and leaves the state as it is.
#pragma once

#include <array>

#include "tensor/core/recurrence.h"
#include "tensor/ops/infer.h"

namespace weft::op {

/// What both ops carry.
struct RecurrentSetting {
  Recurrence kind;
  bool reverse;  // from the last step that counts to the first
  void attributes(auto visit) const { visit("kind", kind), visit("reverse", reverse); }
  bool operator==(const RecurrentSetting&) const = default;
};

/// What backward reads per step: the gates after their functions and, for a GRU, W_n h + b_n; nothing where h' tells
/// it.
constexpr int64_t kept_gates(Recurrence kind) { return kind == Recurrence::lstm || kind == Recurrence::gru ? 4 : 0; }

/// y (N, L, H), the last states h and c (N, H), and what backward reads: gates (N, L, kept_gates H), cells (N, L, H). c
/// and cells have no elements where there is no cell, and what backward reads has shape [0] unless `keeps`.
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

/// The gradients of projected, weight, bias, h0 and c0 from those of y, h and c (any may be absent). Those whose bit is
/// not in `wanted` are not computed and have shape [0]. projected and bias are for the gradient of this op.
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
