#include "tensor/kernels/cpu/loops/nest.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "tensor/kernels/cpu/base/merge_axes.h"

namespace weft::kernels::cpu {

int64_t Nest::count() const {
  int64_t product = 1;
  for (int i = 0; i < rank; ++i) product *= axes[i].size;
  return product;
}

Nest Nest::outer() const {
  Nest result = *this;
  if (result.rank > 0) --result.rank;
  return result;
}

NestWalk::NestWalk(const Nest& nest, int64_t linear) : nest_(nest) {
  for (int i = nest.rank - 1; i >= 0; --i) {
    const NestAxis& axis = nest.axes[i];
    index_[i] = 0;
    if (linear == 0) continue;  // also where the axis is empty
    index_[i] = linear % axis.size;
    linear /= axis.size;
    in_ += index_[i] * axis.in;
    out_ += index_[i] * axis.out;
  }
}

void NestWalk::take(int64_t count, int64_t* in) {
  for (int64_t i = 0; i < count; ++i, next()) in[i] = in_;
}

void Nest::merge() {
  int last = 0;
  for (int i = 1; i < rank; ++i) {
    NestAxis& outer = axes[last];
    const NestAxis& inner = axes[i];
    const int64_t steps[][2] = {{outer.in, outer.out}, {inner.in, inner.out}};
    if (merges(steps[0], steps[1], inner.size, 2))
      outer = {outer.size * inner.size, inner.in, inner.out};
    else
      axes[++last] = inner;
  }
  if (rank > 0) rank = last + 1;
}

void Nest::sort_and_merge() {
  const auto distance = [](const NestAxis& axis) {
    return axis.in == 0 ? std::numeric_limits<int64_t>::max() : std::abs(axis.in);
  };
  std::stable_sort(axes, axes + rank, [&](const NestAxis& a, const NestAxis& b) { return distance(a) > distance(b); });
  merge();
}

}  // namespace weft::kernels::cpu
