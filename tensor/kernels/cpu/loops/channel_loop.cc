#include "tensor/kernels/cpu/loops/channel_loop.h"

#include <algorithm>

#include "tensor/kernels/cpu/base/merge_axes.h"

namespace weft::kernels::cpu {

ChannelNest::ChannelNest(const Operand* operands, int count) {
  const Operand& x = operands[0];
  int used = 0;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (x.size(i) == 1) continue;
    ChannelAxis& axis = axes[used++];
    axis.size = x.size(i);
    for (int k = 0; k < count; ++k) axis.strides[static_cast<size_t>(k)] = operands[k].stride(i);
    axis.channel = i == 1 ? 1 : 0;
  }
  std::stable_sort(axes, axes + used, [](const ChannelAxis& a, const ChannelAxis& b) {
    return std::abs(a.strides[0]) > std::abs(b.strides[0]);
  });
  rank = used > 0 ? 1 : 0;
  for (int i = 1; i < used; ++i) {
    ChannelAxis& outer = axes[rank - 1];
    const ChannelAxis& inner = axes[i];
    if (outer.channel == 0 && inner.channel == 0 &&
        merges(outer.strides.data(), inner.strides.data(), inner.size, count)) {
      const int64_t size = outer.size * inner.size;
      outer = inner;
      outer.size = size;
    } else {
      axes[rank++] = inner;
    }
  }
  for (; rank < 2; ++rank) {  // axes of one step in front
    for (int i = rank; i > 0; --i) axes[i] = axes[i - 1];
    axes[0] = ChannelAxis{};
  }
  if (axes[rank - 1].size == 1)  // a single element: let its row count as dense
    axes[rank - 1].strides.fill(1);
}

int64_t ChannelNest::repeat_channels(int count) {
  ChannelAxis &inner = axes[rank - 1], &rows = axes[rank - 2];
  bool dense = inner.channel == 1 && rows.channel == 0;
  for (size_t k = 0; k < static_cast<size_t>(count); ++k)
    dense &= inner.strides[k] == 1 && rows.strides[k] == inner.size;
  if (!dense) return 1;
  int64_t times = 1;
  while (times * inner.size < 128 && rows.size % (2 * times) == 0) times *= 2;
  inner.size *= times;
  rows.size /= times;
  for (int64_t& stride : rows.strides) stride *= times;
  return times;
}

}  // namespace weft::kernels::cpu
