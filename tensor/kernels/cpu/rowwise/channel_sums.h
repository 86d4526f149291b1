// What batch norm's gradient sums per channel, and the small per-channel operands it reads and writes.
#pragma once

#include "tensor/core/operand.h"
#include "tensor/kernels/cpu/base/scratch.h"

namespace weft::kernels::cpu {

/// g counts only where (x - mean) * scale + shift is not below or at 0 (the relu that it came through); (C) each.
struct ChannelGate {
  const double* scale;
  const double* shift;
};

/// sums[c] = sum(g) and dots[c] = sum(g * (x - means[c])) over all axes but 1. Fixed blocks, a fixed tree. `gate` may
/// be null.
void channel_sums(const Operand& g, const Operand& x, const double* means, const ChannelGate* gate, double* sums,
                  double* dots);

/// An operand of shape (C), of any floating dtype, in double; `absent` everywhere where it is undefined.
class ChannelValues {
 public:
  ChannelValues(const Operand& x, int64_t channels, double absent);
  const double* data() const { return values_.data(); }
  double operator[](int64_t c) const { return values_.data()[c]; }

 private:
  Scratch<double> values_;
};

/// Writes values to an operand of shape (C) of any floating dtype.
void write_channels(const double* values, const Operand& out);

}  // namespace weft::kernels::cpu
