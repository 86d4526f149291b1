// What tests on several ranks share.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "distributed/distributed.h"
#include "weft.h"

namespace weft::test {

/// The group of the whole program: MPI can be started once. The main function leaves it.
inline std::optional<distributed::Group> whole_group;
inline distributed::Group& group() {
  if (!whole_group) whole_group = distributed::init();
  return *whole_group;
}

/// What rank r holds: values that tell ranks and places apart.
inline Tensor values(int64_t rank, const Shape& shape, DType dtype = f32) {
  int64_t count = 1;
  for (const int64_t n : shape) count *= n;
  return ((arange(count) * 3 + rank * 5) % 11).reshape(shape).to(dtype);
}

/// The reduction of what all ranks hold, in rank order.
inline Tensor reduced(const std::vector<Tensor>& all, distributed::ReduceOp op) {
  Tensor out = all[0].clone();
  for (size_t rank = 1; rank < all.size(); ++rank)
    out = op == distributed::ReduceOp::max   ? maximum(out, all[rank])
          : op == distributed::ReduceOp::min ? minimum(out, all[rank])
                                             : out + all[rank];
  return op == distributed::ReduceOp::mean ? out / double(all.size()) : out;
}

}  // namespace weft::test
