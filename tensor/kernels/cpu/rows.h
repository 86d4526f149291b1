// Operands as rows: the row axes of an operand, whatever its strides and dtype, as contiguous runs of the type that is
// computed in. Rows are numbered row-major over the other axes, so operands of one shape agree on row i.
#pragma once

#include <algorithm>

#include "tensor/kernels/cpu/convert.h"
#include "tensor/kernels/cpu/nest.h"
#include "tensor/kernels/cpu/operand.h"
#include "tensor/kernels/cpu/scratch.h"
#include "tensor/kernels/cpu/simd.h"

namespace weft::kernels::cpu {

/// An operand split into `outer`, the position of a row, and `inner`, the elements of one.
struct RowView {
  /// Rows run along axes [first, last] together.
  RowView(const Operand& x, int64_t first, int64_t last);
  RowView(const Operand& x, int64_t axis) : RowView(x, axis, axis) {}

  int64_t count() const { return outer.count(); }
  int64_t length() const { return inner.count(); }

  void* base;
  int64_t offset;
  Nest outer;
  Nest inner;
};

namespace detail {

/// What readers and writers share: where row i lies, and a buffer for rows that are not contiguous values of Compute<T>.
template <class T>
class RowCursor {
 public:
  RowCursor(const RowView& view, int64_t first)
      : data_(static_cast<T*>(view.base) + view.offset),
        inner_(view.inner),
        walk_(view.outer, first),
        length_(view.length()),
        direct_(std::is_same_v<T, Compute<T>> && (inner_.rank == 0 || (inner_.rank == 1 && inner_.inner().in == 1))),
        buffer_(direct_ ? 0 : length_) {}

 protected:
  template <class F>
  void each_run(const F& f) {
    const NestAxis run = inner_.rank > 0 ? inner_.inner() : NestAxis{1, 1, 0};
    const Nest outer = inner_.outer();
    NestWalk walk(outer, 0);
    T* row = data_ + walk_.in();
    for (int64_t i = 0; i < length_; i += run.size, walk.next()) f(row + walk.in(), run.in, buffer_.data() + i, run.size);
  }

  T* data_;
  const Nest& inner_;
  NestWalk walk_;
  int64_t length_;
  bool direct_;
  Scratch<Compute<T>> buffer_;
};

}  // namespace detail

/// Reads rows one after the other, from row `first` on. The view must outlive it.
template <class T>
class RowReader : detail::RowCursor<T> {
 public:
  using detail::RowCursor<T>::RowCursor;
  /// The current row; valid until next().
  const Compute<T>* row() {
    if (this->direct_) return reinterpret_cast<const Compute<T>*>(this->data_ + this->walk_.in());
    this->each_run([](const T* from, int64_t step, Compute<T>* to, int64_t count) {
      if constexpr (is_half<T>) {
        if (step == 1) return widen(from, to, count);
      }
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<Compute<T>>(from[i * step]);
    });
    return this->buffer_.data();
  }
  void next() { this->walk_.next(); }
};

/// Writes rows one after the other.
template <class T>
class RowWriter : detail::RowCursor<T> {
 public:
  using detail::RowCursor<T>::RowCursor;
  /// Where the current row is to be put; it is written by next().
  Compute<T>* row() {
    if (this->direct_) return reinterpret_cast<Compute<T>*>(this->data_ + this->walk_.in());
    return this->buffer_.data();
  }
  void next() {
    if (!this->direct_) {
      this->each_run([](T* to, int64_t step, const Compute<T>* from, int64_t count) {
        if constexpr (is_half<T>) {
          if (step == 1) return narrow(from, to, count);
        }
        for (int64_t i = 0; i < count; ++i) to[i * step] = static_cast<T>(from[i]);
      });
    }
    this->walk_.next();
  }
};

/// f(j, count) for every register of a row: count lanes from j on. The last may be partial.
template <class C, class F>
[[gnu::always_inline]] inline void for_lanes(int64_t length, F&& f) {
  constexpr int kWidth = simd::kLanes<C>;
  int64_t j = 0;
  for (; j + kWidth <= length; j += kWidth) f(j, std::integral_constant<int, kWidth>{});
  if (j < length) f(j, static_cast<int>(length - j));
}

/// The lanes of a full or partial register.
template <class C>
[[gnu::always_inline]] inline simd::Vec<C> lanes_at(const C* p, std::integral_constant<int, simd::kLanes<C>>) {
  return simd::load<C>(p);
}
template <class C>
[[gnu::always_inline]] inline simd::Vec<C> lanes_at(const C* p, int count) {
  return simd::load_part<C>(p, count);
}
template <class C>
[[gnu::always_inline]] inline void put_lanes(C* p, simd::Vec<C> v, std::integral_constant<int, simd::kLanes<C>>) {
  simd::store<C>(p, v);
}
template <class C>
[[gnu::always_inline]] inline void put_lanes(C* p, simd::Vec<C> v, int count) {
  simd::store_part<C>(p, v, count);
}

/// Rows a thread should at least get.
inline int64_t row_grain(int64_t length) { return std::max<int64_t>(1, 8192 / std::max<int64_t>(1, length)); }

}  // namespace weft::kernels::cpu
