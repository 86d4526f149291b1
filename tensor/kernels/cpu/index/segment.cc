// Segments of an axis: reduced, or filled with one slice each.
#include "tensor/ops/segment.h"

#include <algorithm>
#include <cstring>

#include "tensor/core/error.h"
#include "tensor/kernels/cpu/index/index_list.h"
#include "tensor/kernels/cpu/pointwise/copy.h"
#include "tensor/kernels/cpu/reduce/reduce_plan.h"
#include "tensor/ops/index.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

/// Where each segment begins, and behind the last, where that ends.
class Bounds {
 public:
  Bounds(const Operand& lengths, int64_t size) : list_(lengths), bounds_(checked_add(list_.count(), 1)) {
    int64_t total = 0;
    for (int64_t i = 0; i < count(); ++i) {
      if (list_[i] < 0) throw ShapeError(text("the length ", list_[i], " is negative"));
      bounds_.data()[i] = total;
      total = checked_add(total, list_[i]);
    }
    if (total != size) throw ShapeError(text("the lengths add up to ", total, ", not to the size ", size));
    bounds_.data()[count()] = total;
  }
  int64_t count() const { return list_.count(); }
  const int64_t* data() const { return bounds_.data(); }
  int64_t operator[](int64_t i) const { return bounds_.data()[i]; }

 private:
  IndexList list_;
  Scratch<int64_t> bounds_;
};

/// The plan of all axes but `axis`, which all stay.
ReducePlan plan_of_others(const Operand& x, int64_t axis, const Operand& out) {
  const auto without = [axis](const Operand& operand) {
    return View::create(op::with_merged(operand.shape(), axis, 1, 1), operand.strides(), operand.view->offset());
  };
  const View of_x = without(x), of_out = without(out);
  return plan_reduction(x.with(of_x), {}, out.with(of_out));
}

void fold_segments(const Operand& x, int64_t axis, const Operand& lengths, const Operand& out,
                   void (*fold)(const ReducePlan& plan, const Operand& x, const Operand& out)) {
  const Bounds bounds(lengths, x.size(axis));
  if (out.numel() == 0) return;
  ReducePlan plan = plan_of_others(x, axis, out);
  plan.reduced.push({x.size(axis), x.stride(axis), 0});
  const Segments segments{bounds.data(), bounds.count(), out.stride(axis)};
  plan.segments = &segments;
  fold(plan, x, out);
}

/// Rows of `bytes` bytes, those of a segment alike. x is (outer, segments), out (outer, bounds of the last).
struct Rows {
  const char* x;
  char* out;
  int64_t outer, bytes;
};

/// Rows of the size of a T. They may hold several elements, so that they are not aligned as a T.
template <class T> void fill_segments(const Rows& rows, const Bounds& bounds, int64_t outer, int64_t from, int64_t to) {
  using Row [[gnu::aligned(1), gnu::may_alias]] = T;
  const Row* x = reinterpret_cast<const Row*>(rows.x) + outer * bounds.count();
  Row* out = reinterpret_cast<Row*>(rows.out) + outer * bounds[bounds.count()];
  for (int64_t s = from; s < to; ++s) {
    const int64_t begin = bounds[s], end = bounds[s + 1];
    if (begin == end) continue;
    const T row = x[s];
    out[begin] = row;
    for (int64_t i = begin + 1; i < end; ++i) out[i] = row;
  }
}

/// A call of memcpy() takes longer than a short row.
void copy_row(char* to, const char* from, int64_t bytes) {
  constexpr int64_t kPart = 16, kShort = 128;
  if (bytes < kPart || bytes > kShort) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return;
  }
  for (int64_t i = 0; i < bytes - kPart; i += kPart) std::memcpy(to + i, from + i, kPart);
  std::memcpy(to + bytes - kPart, from + bytes - kPart, kPart);
}

void copy_segments(const Rows& rows, const Bounds& bounds, int64_t outer, int64_t from, int64_t to) {
  const char* x = rows.x + outer * bounds.count() * rows.bytes;
  char* out = rows.out + outer * bounds[bounds.count()] * rows.bytes;
  for (int64_t s = from; s < to; ++s)
    for (int64_t i = bounds[s]; i < bounds[s + 1]; ++i) copy_row(out + i * rows.bytes, x + s * rows.bytes, rows.bytes);
}

void repeat_rows(const Rows& rows, const Bounds& bounds) {
  constexpr int64_t kGrain = 65536;  // bytes
  const int64_t count = bounds.count(), each = std::max<int64_t>(1, bounds[count] * rows.bytes / count);
  const auto repeat = rows.bytes == 1   ? fill_segments<uint8_t>
                      : rows.bytes == 2 ? fill_segments<uint16_t>
                      : rows.bytes == 4 ? fill_segments<uint32_t>
                      : rows.bytes == 8 ? fill_segments<uint64_t>
                                        : copy_segments;
  parallel_for(rows.outer * count, std::max<int64_t>(1, kGrain / each), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin, some = 0; i < end; i += some) {
      some = std::min(count - i % count, end - i);
      repeat(rows, bounds, i / count, i % count, i % count + some);
    }
  });
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::SegmentSum::cpu(const Operand& x, const Operand& lengths, const Operand& out) const {
  fold_segments(x, axis, lengths, out, fold_sum);
}

void op::SegmentReduce::cpu(const Operand& x, const Operand& lengths, const Operand& out) const {
  switch (reduction) {
    case ScatterReduction::product: return fold_segments(x, axis, lengths, out, fold_product);
    case ScatterReduction::largest: return fold_segments(x, axis, lengths, out, fold_largest);
    case ScatterReduction::smallest: return fold_segments(x, axis, lengths, out, fold_smallest);
  }
}

void op::RepeatInterleave::cpu(const Operand& x, const Operand& lengths, const Operand& out) const {
  const Bounds bounds(lengths, size);
  if (out.numel() == 0) return;
  const auto bytes = static_cast<int64_t>(size_of(x.dtype));
  const bool x_dense = x.view->is_contiguous(), out_dense = out.view->is_contiguous();
  const Scratch<char> x_copy(x_dense ? 0 : x.numel() * bytes), out_copy(out_dense ? 0 : out.numel() * bytes);
  const View x_view = View::contiguous(x.shape()), out_view = View::contiguous(out.shape());
  const Operand from = x_dense ? x : Operand{x_copy.data(), &x_view, x.dtype};
  const Operand to = out_dense ? out : Operand{out_copy.data(), &out_view, out.dtype};
  if (!x_dense) copy(x, from);
  Rows rows{from.first(), to.first(), 1, bytes};
  for (int64_t i = 0; i < x.rank(); ++i) (i < axis ? rows.outer : rows.bytes) *= i == axis ? 1 : x.size(i);
  repeat_rows(rows, bounds);
  if (!out_dense) copy(to, out);
}

}  // namespace weft
