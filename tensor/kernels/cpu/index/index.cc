// index_select, embedding and their adjoints, one_hot.
#include "tensor/ops/index.h"

#include "tensor/kernels/cpu/index/axis_slices.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

/// Rows of the table (V, D), listed over all but the last axis of `list`.
SliceLayout embedding_layout(const Operand& table, const Operand& list) {
  const int64_t last = list.rank() - 1;
  SliceLayout layout{Nest{}, table.stride(0), table.size(0), Nest{}};
  layout.slice.push({table.size(1), table.stride(1), list.stride(last)});
  for (int64_t i = 0; i < last; ++i) layout.list.push({list.size(i), 0, list.stride(i)});
  layout.list.merge();
  return layout;
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::IndexSelect::cpu(const Operand& x, const Operand& index, const Operand& out) const {
  const AxisSlices slices(x, axis, axes, index, out);
  copy_slices(x, slices.offsets(), slices.layout(), out);
}

void op::IndexAdd::cpu(const Operand& src, const Operand& index, const Operand& out) const {
  const AxisSlices slices(out, axis, 1, index, src);
  add_rows(src, slices.rows(), slices.offsets(), slices.layout(), {}, out);
}

void op::Embedding::cpu(const Operand& indices, const Operand& weight, const Operand& out) const {
  const IndexList list(indices, weight.size(0));
  copy_slices(weight, list, embedding_layout(weight, out), out);
}

void op::EmbeddingBackward::cpu(const Operand& g, const Operand& indices, const Operand& out) const {
  const IndexList list(indices, out.size(0));
  add_slices(g, list, list, embedding_layout(out, g), padding_idx, {}, out);
}

void op::OneHot::cpu(const Operand& indices, const Operand& out) const {
  const int64_t last = out.rank() - 1, classes = out.size(last), step = out.stride(last);
  const IndexList list = IndexList::of_classes(indices, classes);
  const RowView rows(out, last);
  visit_dtype(out.dtype, [&]<class T>() {
    T* to = out.data<T>();
    parallel_for(list.count(), row_grain(classes), [&](int64_t begin, int64_t end) {
      NestWalk walk(rows.outer, begin);
      for (int64_t i = begin; i < end; ++i, walk.next()) {
        T* row = to + walk.in();
        for (int64_t c = 0; c < classes; ++c) row[c * step] = convert<T>(0);
        row[list[i] * step] = convert<T>(1);
      }
    });
  });
}

}  // namespace weft
