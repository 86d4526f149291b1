// Signature: identifies the collective that a rank is in. It is a plain struct that fits in shared memory and in a
// message.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "distributed/reduce.h"
#include "tensor/core/shape.h"

namespace weft::distributed {

enum class Call : uint8_t {
  none,
  all_reduce,
  broadcast,
  all_gather,
  reduce_scatter,
  all_to_all,
  reduce,
  gather,
  scatter,
  row_counts,  // the first exchange of all_gather_rows; its shape is that of a row
  all_gather_rows,
  barrier,
  send,
  recv,
  /// The reduction at the end of DataParallel's backward; its shape is the number of samples so far.
  gradients,
  leave,  // the end of the group
  count_
};

struct Signature {
  Call call = Call::none;
  DType dtype = DType::f32;
  ReduceOp op = ReduceOp::sum;
  uint8_t axes = 0;
  int32_t root = 0;     // of broadcast, reduce, gather and scatter; the peer rank of send and recv
  uint64_t number = 0;  // the number of earlier calls of this kind; the tag of send and recv
  int64_t shape[kMaxAxes] = {};

  static Signature of(Call call, const Shape& shape, DType dtype, int root = 0, ReduceOp op = ReduceOp::sum);
  bool operator==(const Signature&) const = default;
  /// For example `all_reduce([3] f32, mean), call 5`.
  std::string to_string() const;
};

/// Whether the waits can end when rank r waits in calls[r]: all calls are the same, or some rank sends what another
/// receives.
bool can_go_on(const std::vector<Signature>& calls);

}  // namespace weft::distributed
