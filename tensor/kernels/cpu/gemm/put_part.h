// put_part: results in the lanes of a register to their places in c.
#pragma once

#include <cstdint>
#include <cstring>

#include "tensor/kernels/cpu/base/simd.h"

namespace weft::kernels::cpu {

/// The first `count` lanes to (or added to) elements `step` apart, rounded to their type.
template <class C, int N, class Out>
inline void put_part(simd::Vec<C, N> values, Out* out, int64_t step, int count, bool accumulate) {
  if (step == 1) {
    if (accumulate) values += simd::load_part<C, N>(out, count);
    return simd::store_part<C, N>(out, values, count);
  }
  C lanes[N];
  std::memcpy(lanes, &values, sizeof lanes);
  for (int s = 0; s < count; ++s) {
    Out& to = out[s * step];
    to = static_cast<Out>(accumulate ? static_cast<C>(to) + lanes[s] : lanes[s]);
  }
}

}  // namespace weft::kernels::cpu
