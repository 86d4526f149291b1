// Pools of long signals: images of one line and few channels. A table of its windows would take longer than the pool,
// so the inner windows are cut into blocks. Their pixels are taken as the lines of an image, which overlap in memory:
// one table of a block's windows serves all of them.
#pragma once

#include <array>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/window/pool_loops.h"

namespace weft::kernels::cpu {

/// Calls pool(x, outs, options) for parts of x (N, C, 1, W) and outs (N, C, 1, windows) that cover all windows; `outs`
/// are operands like the given ones, of which all but the first may be undefined. False, without a call, where x has
/// other heights, more channels or too few windows.
template <size_t K, class F>
bool pool_in_blocks(const Operand& x, const std::array<Operand, K>& outs, const Pool2dOptions& o, F&& pool) {
  constexpr int64_t kBlock = 128, kFewestBlocks = 4;
  const AxisWindows w = windows_of(o, 1);
  const int64_t width = x.size(3), windows = outs[0].size(3), reach = (w.kernel - 1) * w.dilation + 1;
  if (x.size(2) != 1 || o.kernel_size.height != 1 || outs[0].size(2) != 1 || x.size(1) >= kFewChannels) return false;
  if (windows < kFewestBlocks * kBlock || reach > width) return false;
  // The windows without padding: [first, first + blocks * kBlock).
  const int64_t first = ceil_div(w.padding, w.stride), last = (width + w.padding - reach) / w.stride;
  const int64_t blocks = (std::min(last + 1, windows) - first) / kBlock;
  if (blocks < kFewestBlocks) return false;

  const auto part = [](const Operand& from, int64_t begin, int64_t lines, int64_t columns, int64_t apart) {
    return View::create({from.size(0), from.size(1), lines, columns},
                        {from.stride(0), from.stride(1), apart * from.stride(3), from.stride(3)},
                        from.view->offset() + begin * from.stride(3));
  };
  /// `lines` lines of `count` windows each, from window `begin` on, whose pixels begin at pixel `at`.
  const auto run = [&](int64_t begin, int64_t lines, int64_t count, int64_t at, int64_t padding) {
    if (count <= 0) return;
    const int64_t end = begin * w.stride - w.padding + (count - 1) * w.stride + reach;
    const View pixels = part(x, at, lines, std::min(end, width) - at, kBlock * w.stride);
    std::array<View, K> views;
    std::array<Operand, K> parts;
    for (size_t i = 0; i < K; ++i) {
      if (!outs[i].defined()) continue;
      views[i] = part(outs[i], begin, lines, count, kBlock);
      parts[i] = outs[i].with(views[i]);
    }
    Pool2dOptions across = o;
    across.stride = {1, w.stride};
    across.padding = {0, padding};
    pool(x.with(pixels), parts, across);
  };
  const int64_t after = first + blocks * kBlock;
  run(0, 1, first, 0, w.padding);
  run(first, blocks, kBlock, first * w.stride - w.padding, 0);
  run(after, 1, windows - after, after * w.stride - w.padding, 0);
  return true;
}

}  // namespace weft::kernels::cpu
