// Slices along one axis of a table, or along several adjacent axes that count as one in row-major order.
#pragma once

#include "tensor/kernels/cpu/index/slices.h"

namespace weft::kernels::cpu {

/// Slices of `axes` axes of the table from `axis` on, listed along axis `axis` of `list`. With several axes the rows of
/// `index` are not in one stride, and `offsets` says where they are.
class AxisSlices {
 public:
  AxisSlices(const Operand& table, int64_t axis, int64_t axes, const Operand& index, const Operand& list);
  const SliceLayout& layout() const { return layout_; }
  /// The rows that are listed, checked.
  const IndexList& rows() const { return rows_; }
  /// Where they are, in units of the layout's table_stride.
  std::span<const int64_t> offsets() const {
    if (several_) return {offsets_.data(), static_cast<size_t>(rows_.count())};
    return rows_;
  }

 private:
  bool several_;
  SliceLayout layout_;
  IndexList rows_;
  Scratch<int64_t> offsets_;
};

}  // namespace weft::kernels::cpu
