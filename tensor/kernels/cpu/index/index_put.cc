// Writes by index: slices replaced or added to, and the flat index of several index tensors.
#include "tensor/ops/index_put.h"

#include <atomic>

#include "tensor/kernels/cpu/index/axis_slices.h"
#include "tensor/kernels/cpu/loops/elementwise.h"
#include "tensor/kernels/cpu/pointwise/copy.h"

namespace weft::kernels::cpu {
namespace {

/// out = x, unless the op writes in place.
void start_from(const Operand& x, const Operand& out) {
  if (x.base != out.base) copy(x, out);
}

[[noreturn]] void throw_first_bad(const Operand& index, int64_t size) {
  const IndexList list(index, [&](const int64_t* values, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      if (values[i] < -size || values[i] >= size)
        throw IndexError(text("index ", values[i], " is out of range for an axis of size ", size));
  });
  throw IndexError("an index changed while it was read");
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::FlatIndex::cpu(Operands indices, const Operand& out) const {
  for (size_t axis = 0; axis < indices.size(); ++axis) {
    const int64_t size = sizes[axis];
    std::atomic<bool> bad = false;
    const auto checked = [&bad, size](int64_t index) {
      const int64_t inside = index < 0 ? index + size : index;
      if (inside >= 0 && inside < size) return inside;
      bad.store(true, std::memory_order_relaxed);
      return int64_t{0};  // what is bad may be too large for a sum
    };
    visit_integer(indices[axis].dtype, [&]<class T>() {
      if (axis == 0)
        elementwise<int64_t, T>(
            kCheapGrain, [&](T index) { return checked(static_cast<int64_t>(index)); }, out, indices[axis]);
      else
        elementwise<int64_t, int64_t, T>(
            kCheapGrain, [&](int64_t sum, T index) { return sum * size + checked(static_cast<int64_t>(index)); }, out,
            out, indices[axis]);
    });
    if (bad) throw_first_bad(indices[axis], size);
  }
}

void op::IndexCopy::cpu(const Operand& x, const Operand& index, const Operand& src, const Operand& out) const {
  const AxisSlices slices(out, axis, axes, index, src);
  start_from(x, out);
  put_slices(src, slices.rows(), slices.offsets(), slices.layout(), unique, out);
}

void op::IndexAccumulate::cpu(const Operand& x, const Operand& index, const Operand& src, const Operand& out) const {
  const AxisSlices slices(out, axis, axes, index, src);
  const bool alike = x.strides() == out.strides();
  if (!alike) start_from(x, out);
  add_rows(src, slices.rows(), slices.offsets(), slices.layout(), alike ? x : out, out);
}

}  // namespace weft
