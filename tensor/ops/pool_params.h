// What kernels know of Pool2dOptions. For op families that pool; not for users.
#pragma once

#include "tensor/kernels/cpu/window/pool.h"
#include "tensor/ops/pool.h"

namespace weft {

inline kernels::cpu::PoolParams params_of(const Pool2dOptions& o) {
  const Pair stride = o.stride.value_or(o.kernel_size);
  return {{o.kernel_size.height, o.kernel_size.width},
          {stride.height, stride.width},
          {o.padding.height, o.padding.width},
          {o.dilation.height, o.dilation.width}};
}

}  // namespace weft
