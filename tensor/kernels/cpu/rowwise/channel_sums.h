// What batch norm's gradient sums per channel.
#pragma once

#include "tensor/core/operand.h"

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

}  // namespace weft::kernels::cpu
