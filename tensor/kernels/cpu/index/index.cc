// index_select, embedding and their adjoints, one_hot.
#include "tensor/ops/index.h"

#include "tensor/kernels/cpu/index/slices.h"
#include "tensor/kernels/cpu/pointwise/fill.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

/// Slices of `axis` of the table, listed along the same axis of `list`.
SliceLayout select_layout(const Operand& table, int64_t axis, const Operand& list) {
  if (table.rank() == 0) return {Nest{}, 0, 1, Nest{}};
  SliceLayout layout{Nest{}, table.stride(axis), table.size(axis), Nest{}};
  for (int64_t i = 0; i < table.rank(); ++i)
    if (i != axis) layout.slice.push({table.size(i), table.stride(i), list.stride(i)});
  layout.slice.sort_and_merge();
  layout.list.push({list.size(axis), 0, list.stride(axis)});
  return layout;
}

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
  const IndexList list(index, x.rank() == 0 ? 1 : x.size(axis), "rows");
  copy_slices(x, list, select_layout(x, axis, out), out);
}

void op::IndexAdd::cpu(const Operand& src, const Operand& index, const Operand& out) const {
  const IndexList list(index, out.rank() == 0 ? 1 : out.size(axis), "rows");
  fill(out, 0);
  add_slices(src, list, select_layout(out, axis, src), -1, out);
}

void op::Embedding::cpu(const Operand& indices, const Operand& weight, const Operand& out) const {
  const IndexList list(indices, weight.size(0), "rows");
  copy_slices(weight, list, embedding_layout(weight, out), out);
}

void op::EmbeddingBackward::cpu(const Operand& g, const Operand& indices, const Operand& out) const {
  const IndexList list(indices, out.size(0), "rows");
  fill(out, 0);
  add_slices(g, list, embedding_layout(out, g), padding_idx, out);
}

void op::OneHot::cpu(const Operand& indices, const Operand& out) const {
  const int64_t last = out.rank() - 1, classes = out.size(last), step = out.stride(last);
  const IndexList list(indices, [&](const int64_t* values, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      if (values[i] < 0 || values[i] >= classes)
        throw IndexError(text("class ", values[i], " is out of range for ", classes, " classes"));
  });
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
