#include "tensor/kernels/cpu/loops/rows.h"

#include <algorithm>
#include <cstdlib>

namespace weft::kernels::cpu {

RowView::RowView(const Operand& x, int64_t first, int64_t last) : base(x.base), offset(x.view->offset()) {
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (x.size(i) == 1) continue;
    (first <= i && i <= last ? inner : outer).push({x.size(i), x.stride(i), 0});
  }
  inner.merge();
  outer.merge();
}

RowView::RowView(const Operand& x, int64_t axis, const Operand& like) : base(x.base), offset(x.view->offset()) {
  int64_t order[kMaxAxes];
  int64_t count = 0;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (x.size(i) == 1) continue;
    if (i == axis)
      inner.push({x.size(i), x.stride(i), 0});
    else
      order[count++] = i;
  }
  const auto farther = [&](int64_t a, int64_t b) { return std::abs(like.stride(a)) > std::abs(like.stride(b)); };
  if (!std::is_sorted(order, order + count, farther)) std::stable_sort(order, order + count, farther);
  for (int64_t i = 0; i < count; ++i) outer.push({x.size(order[i]), x.stride(order[i]), 0});
  outer.merge();
}

RowCursor::Element RowCursor::element_of(DType dtype) {
  if (dtype == DType::bf16) return Element::bf16;
  if (dtype == DType::f16) return Element::f16;
  switch (size_of(dtype)) {
    case 1: return Element::bits8;
    case 2: return Element::bits16;
    case 4: return Element::bits32;
    default: return Element::bits64;
  }
}

namespace {

bool is_half_element(RowCursor::Element element) {
  return element == RowCursor::Element::bf16 || element == RowCursor::Element::f16;
}

/// The logarithm of the bytes of an element.
int log_size(RowCursor::Element element) { return is_half_element(element) ? 1 : static_cast<int>(element); }

/// Rows are nearer to each other than their elements, or so short that one by one takes longer.
bool in_batches(const RowView& view, int64_t batch) {
  if (view.inner.rank != 1 || view.inner.inner().in == 1) return false;
  return view.length() <= 4 * batch ||
         (view.outer.rank > 0 && std::abs(view.outer.inner().in) < std::abs(view.inner.inner().in));
}

}  // namespace

RowCursor::RowCursor(const RowView& view, int64_t first, int64_t end, Element element)
    : data_(static_cast<char*>(view.base) + (view.offset << log_size(element))),
      inner_(view.inner),
      walk_(view.outer, first),
      length_(view.length()),
      left_(end - first),
      element_(element),
      direct_(!is_half_element(element) && view.dense()),
      batch_(!direct_ && in_batches(view, kBatch) ? std::min(kBatch, left_) : 1),
      row_bytes_(length_ << (is_half_element(element) ? 2 : log_size(element))),
      log_size_(log_size(element)),
      buffer_(direct_ ? 0 : row_bytes_ * batch_) {}

void RowCursor::take_rows() {
  held_ = std::min(batch_, left_);
  left_ -= held_;
  for (int64_t k = 0; k < held_; ++k, walk_.next()) rows_[k] = in_place();
}

/// f(element, buffered value) for all elements of the rows that are held, where they are moved together; otherwise
/// run(memory, step, buffer, count) for elements `step` apart.
template <class T, class F, class Run> void RowCursor::each_element(const F& f, const Run& run) {
  using C = Compute<T>;
  C* const buffer = reinterpret_cast<C*>(buffer_.data());
  const int64_t length = length_, held = held_;  // not read again after each write of words, which may be any
  if (batch_ > 1) {
    const int64_t step = inner_.inner().in;
    for (int64_t j = 0; j < length; ++j)
      for (int64_t k = 0; k < held; ++k) f(reinterpret_cast<T*>(rows_[k])[j * step], buffer[k * length + j]);
    return;
  }
  T* const row = reinterpret_cast<T*>(rows_[0]);
  if (inner_.rank <= 1)  // a walk costs as much as a short row
    return run(row, inner_.rank == 0 ? 1 : inner_.inner().in, buffer, length);
  const NestAxis axis = inner_.inner();
  const Nest outer = inner_.outer();
  NestWalk walk(outer, 0);
  for (int64_t i = 0; i < length; i += axis.size, walk.next()) run(row + walk.in(), axis.in, buffer + i, axis.size);
}

template <class T> void RowCursor::fetch_as() {
  const auto convert_one = [](const T& from, Compute<T>& to) { to = static_cast<Compute<T>>(from); };
  each_element<T>(convert_one, [&](const T* from, int64_t step, Compute<T>* to, int64_t count) {
    if (step == 1) return copy_run(from, to, count);
    constexpr int64_t kSize = sizeof(T), kTogether = 256;
    if constexpr (is_half<T>) {
      T together[kTogether];
      for (int64_t j = 0; j < count; j += kTogether) {
        const int64_t some = std::min(kTogether, count - j);
        gather_elements<T>(from + j * step, step * kSize, together, some);
        widen(together, to + j, some);
      }
    } else {
      gather_elements<T>(from, step * kSize, to, count);
    }
  });
}
template <class T> void RowCursor::store_as() {
  const auto convert_one = [](T& to, const Compute<T>& from) { to = static_cast<T>(from); };
  each_element<T>(convert_one, [&](T* to, int64_t step, const Compute<T>* from, int64_t count) {
    if (step == 1) return copy_run(from, to, count);
    for (int64_t j = 0; j < count; ++j) convert_one(to[j * step], from[j]);
  });
}

void RowCursor::fetch() {
  take_rows();
  at_ = 0;
  switch (element_) {
    case Element::bits8: return fetch_as<uint8_t>();
    case Element::bits16: return fetch_as<uint16_t>();
    case Element::bits32: return fetch_as<uint32_t>();
    case Element::bits64: return fetch_as<uint64_t>();
    case Element::bf16: return fetch_as<BFloat16>();
    case Element::f16: return fetch_as<Float16>();
  }
}

void RowCursor::store() {
  switch (element_) {
    case Element::bits8: store_as<uint8_t>(); break;
    case Element::bits16: store_as<uint16_t>(); break;
    case Element::bits32: store_as<uint32_t>(); break;
    case Element::bits64: store_as<uint64_t>(); break;
    case Element::bf16: store_as<BFloat16>(); break;
    case Element::f16: store_as<Float16>(); break;
  }
  held_ = at_ = 0;
}

}  // namespace weft::kernels::cpu
