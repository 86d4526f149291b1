#include "distributed/signature.h"

#include <algorithm>
#include <iterator>

#include "tensor/core/error.h"

namespace weft::distributed {

Signature Signature::of(Call call, const Shape& shape, DType dtype, int root, ReduceOp op) {
  Signature out;
  out.call = call;
  out.dtype = dtype;
  out.op = op;
  out.axes = static_cast<uint8_t>(shape.size());
  out.root = root;
  std::copy_n(shape.data(), std::min<size_t>(shape.size(), kMaxAxes), out.shape);
  return out;
}

std::string Signature::to_string() const {
  constexpr const char* kNames[] = {"nothing",
                                    "all_reduce",
                                    "broadcast",
                                    "all_gather",
                                    "reduce_scatter",
                                    "all_to_all",
                                    "reduce",
                                    "gather",
                                    "scatter",
                                    "all_gather_rows",
                                    "all_gather_rows",
                                    "barrier",
                                    "send",
                                    "recv",
                                    "backward of DataParallel",
                                    "the end of the group"};
  static_assert(std::size(kNames) == static_cast<size_t>(Call::count_));
  const char* name = kNames[static_cast<size_t>(call)];
  if (call == Call::none || call == Call::leave) return name;
  if (call == Call::gradients) return text(name, ", call ", number + 1, ", after ", shape[0], " samples");
  if (call == Call::barrier) return text(name, "(), call ", number + 1);
  const char* const rows = call == Call::row_counts ? "rows of " : "";
  std::string out = text(name, "(", rows, Shape(shape, shape + axes), " ", dtype);
  if (call == Call::all_reduce || call == Call::reduce_scatter || call == Call::reduce) out += text(", ", name_of(op));
  if (call == Call::reduce || call == Call::gather || call == Call::send) out += text(", to rank ", root);
  if (call == Call::broadcast || call == Call::scatter || call == Call::recv) out += text(", from rank ", root);
  if (call == Call::send || call == Call::recv) return out + text("), tag ", number);
  return out + text("), call ", number + 1);
}

bool can_go_on(const std::vector<Signature>& calls) {
  if (std::all_of(calls.begin(), calls.end(), [&](const Signature& call) { return call == calls[0]; })) return true;
  for (size_t rank = 0; rank < calls.size(); ++rank) {
    if (calls[rank].call != Call::send) continue;
    Signature received = calls[rank];
    received.call = Call::recv;
    received.root = static_cast<int32_t>(rank);
    if (calls[static_cast<size_t>(calls[rank].root)] == received) return true;
  }
  return false;
}

}  // namespace weft::distributed
