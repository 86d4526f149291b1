// Operands as rows: the row axes of an operand, whatever its strides and dtype, as contiguous runs of the type that is
// computed in. Rows are numbered row-major over the other axes, so operands of one shape agree on row i.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "tensor/core/operand.h"
#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/loops/nest.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

/// An operand split into `outer`, the position of a row, and `inner`, the elements of one.
struct RowView {
  /// Rows run along axes [first, last] together.
  RowView(const Operand& x, int64_t first, int64_t last);
  RowView(const Operand& x, int64_t axis) : RowView(x, axis, axis) {}
  /// Rows along `axis`, numbered in the memory order of `like`, an operand of the same shape. Operands whose rows
  /// belong together take the same `like`.
  RowView(const Operand& x, int64_t axis, const Operand& like);

  int64_t count() const { return outer.count(); }
  int64_t length() const { return inner.count(); }
  /// Whether the elements of a row are contiguous.
  bool dense() const { return inner.rank == 0 || (inner.rank == 1 && inner.inner().in == 1); }

  void* base;
  int64_t offset;
  Nest outer;
  Nest inner;
};

namespace detail {

/// Rows that are interleaved in memory (softmax over the channels of NCHW) are moved this many at a time, so that every
/// cache line that is touched is used whole.
inline constexpr int64_t kRowBatch = 16;

/// What readers and writers share: where rows [first, end) lie, and a buffer for those that are not contiguous values
/// of Compute<T>.
template <class T> class RowCursor {
 public:
  using C = Compute<T>;
  RowCursor(const RowView& view, int64_t first, int64_t end)
      : data_(static_cast<T*>(view.base) + view.offset),
        inner_(view.inner),
        walk_(view.outer, first),
        length_(view.length()),
        left_(end - first),
        direct_(std::is_same_v<T, C> && view.dense()),
        batch_(!direct_ && in_batches(view) ? std::min(kRowBatch, left_) : 1),
        buffer_(direct_ ? 0 : length_ * batch_) {}

 protected:
  /// Rows are nearer to each other than their elements, or so short that one by one takes longer.
  static bool in_batches(const RowView& view) {
    if (view.inner.rank != 1 || view.inner.inner().in == 1) return false;
    return view.length() <= 4 * kRowBatch ||
           (view.outer.rank > 0 && std::abs(view.outer.inner().in) < std::abs(view.inner.inner().in));
  }
  C* buffered(int64_t row) const { return buffer_.data() + row * length_; }

  /// Notes where the next rows lie; as many as fit the buffer.
  void take_rows() {
    held_ = std::min(batch_, left_);
    left_ -= held_;
    for (int64_t k = 0; k < held_; ++k, walk_.next()) rows_[k] = data_ + walk_.in();
  }

  /// f(element, buffered value) for all elements of the rows that are held; run(memory, buffer, count) for dense ones.
  template <class F, class Run> void each_element(const F& f, const Run& run) {
    if (batch_ > 1) {
      const int64_t step = inner_.inner().in;
      for (int64_t j = 0; j < length_; ++j)
        for (int64_t k = 0; k < held_; ++k) f(rows_[k][j * step], buffer_.data()[k * length_ + j]);
      return;
    }
    if (inner_.rank == 0 || (inner_.rank == 1 && inner_.inner().in == 1))  // a walk costs as much as a short row
      return run(rows_[0], buffer_.data(), length_);
    const NestAxis axis = inner_.inner();
    const Nest outer = inner_.outer();
    NestWalk walk(outer, 0);
    for (int64_t i = 0; i < length_; i += axis.size, walk.next()) {
      T* place = rows_[0] + walk.in();
      C* values = buffer_.data() + i;
      if (axis.in == 1) {
        run(place, values, axis.size);
      } else {
        for (int64_t j = 0; j < axis.size; ++j) f(place[j * axis.in], values[j]);
      }
    }
  }

  T* data_;
  const Nest& inner_;
  NestWalk walk_;
  int64_t length_;
  int64_t left_;  // rows that were not taken yet
  bool direct_;
  int64_t batch_;
  int64_t held_ = 0;
  int64_t at_ = 0;  // the current row among those held
  T* rows_[kRowBatch];
  Scratch<C> buffer_;
};

}  // namespace detail

/// Reads rows [first, end) one after the other. The view must outlive it.
template <class T> class RowReader : detail::RowCursor<T> {
 public:
  using detail::RowCursor<T>::RowCursor;
  /// The current row; valid until next().
  const Compute<T>* row() {
    if (this->direct_) return reinterpret_cast<const Compute<T>*>(this->data_ + this->walk_.in());
    if (this->at_ == this->held_) fetch();
    return this->buffered(this->at_);
  }
  void next() {
    if (this->direct_) return this->walk_.next();
    if (this->at_ == this->held_) fetch();  // a row that was not read
    ++this->at_;
  }

 private:
  /// A function of its own, as store(): what reads rows is compiled for many ops, and few of its rows are not dense.
  [[gnu::noinline]] void fetch() {
    this->take_rows();
    this->at_ = 0;
    this->each_element([](const T& from, Compute<T>& to) { to = static_cast<Compute<T>>(from); },
                       [](const T* from, Compute<T>* to, int64_t count) { copy_run(from, to, count); });
  }
};

/// Writes rows [first, end) one after the other.
template <class T> class RowWriter : detail::RowCursor<T> {
 public:
  using detail::RowCursor<T>::RowCursor;
  /// Where the caller writes the current row; next() marks it as written.
  Compute<T>* row() {
    if (this->direct_) return reinterpret_cast<Compute<T>*>(this->data_ + this->walk_.in());
    if (this->held_ == 0) this->take_rows();
    return this->buffered(this->at_);
  }
  void next() {
    if (this->direct_) return this->walk_.next();
    if (++this->at_ >= this->held_) store();
  }

 private:
  [[gnu::noinline]] void store() {
    this->each_element([](T& to, const Compute<T>& from) { to = static_cast<T>(from); },
                       [](T* to, const Compute<T>* from, int64_t count) { copy_run(from, to, count); });
    this->held_ = this->at_ = 0;
  }
};

/// Rows of a dense view one after the other, as they are stored: a RowReader or RowWriter without a buffer.
template <class T> class StoredRows {
 public:
  StoredRows(const RowView& view, int64_t first, int64_t)
      : data_(static_cast<T*>(view.base) + view.offset), walk_(view.outer, first) {}
  T* row() const { return data_ + walk_.in(); }
  void next() { walk_.next(); }

 private:
  T* data_;
  NestWalk walk_;
};

/// f.operator()<Reader, Writer>(begin, end) on parts of [0, count), which are read and written as rows of T: those of
/// dense 16-bit views need no buffer. Where f reads a row several times by one reader, rows longer than kMost are
/// converted once all the same.
template <class T, int64_t kMost = 512, class F, class... View>
void for_row_ranges(int64_t count, int64_t grain, const F& f, const View&... views) {
  [[maybe_unused]] const bool stored = ((views.dense() && views.length() <= kMost) && ...);
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    if constexpr (is_half<T>)
      if (stored) return f.template operator()<StoredRows<const T>, StoredRows<T>>(begin, end);
    f.template operator()<RowReader<T>, RowWriter<T>>(begin, end);
  });
}

/// f(j, count) for every register of a row: count lanes from j on. The last may be partial.
template <class C, class F> WEFT_SIMD void for_lanes(int64_t length, F&& f) {
  constexpr int kWidth = simd::kLanes<C>;
  int64_t j = 0;
  for (; j + kWidth <= length; j += kWidth) f(j, std::integral_constant<int, kWidth>{});
  if (j < length) f(j, static_cast<int>(length - j));
}

/// The lanes of a full or partial register.
template <class T>
WEFT_SIMD simd::Vec<Compute<T>> lanes_at(const T* p, std::integral_constant<int, simd::kLanes<Compute<T>>>) {
  return simd::load<Compute<T>>(p);
}
template <class T> WEFT_SIMD simd::Vec<Compute<T>> lanes_at(const T* p, int count) {
  return simd::load_part<Compute<T>>(p, count);
}
template <class T>
WEFT_SIMD void put_lanes(T* p, simd::Vec<Compute<T>> v, std::integral_constant<int, simd::kLanes<Compute<T>>>) {
  simd::store<Compute<T>>(p, v);
}
template <class T> WEFT_SIMD void put_lanes(T* p, simd::Vec<Compute<T>> v, int count) {
  simd::store_part<Compute<T>>(p, v, count);
}

/// Memory with room for whole registers, for what is read again soon: the processor does not forward masked stores.
template <class C> struct WholeLanes {
  C* data;
  WholeLanes operator+(int64_t j) const { return {data + j}; }
  C* get() const {
    if (data == nullptr) __builtin_unreachable();  // the analyzer takes the row for one without elements
    return data;
  }
};
template <class C> WEFT_SIMD simd::Vec<C> lanes_at(WholeLanes<C> p, auto) { return simd::load<C>(p.get()); }
template <class C> WEFT_SIMD void put_lanes(WholeLanes<C> p, simd::Vec<C> v, auto) { simd::store<C>(p.get(), v); }

/// Where a row is worked out in C: the row itself, or if that is of 16 bits, a buffer.
template <class T> class RowBuffer {
 public:
  using C = Compute<T>;
  explicit RowBuffer(int64_t length) : length_(length), buffer_(is_half<T> ? round_up(length, simd::kLanes<C>) : 0) {}
  C* elements(C* row) const { return row; }
  C* lanes(C* row) const { return row; }
  void write_to(C*) const {}
  C* elements(T*) const requires(is_half<T>) { return buffer_.data(); }
  WholeLanes<C> lanes(T*) const requires(is_half<T>) { return {buffer_.data()}; }
  void write_to(T* row) const requires(is_half<T>) { narrow(buffer_.data(), row, length_); }

 private:
  int64_t length_;
  Scratch<C> buffer_;
};

/// Rows a thread should at least get.
inline int64_t row_grain(int64_t length) { return std::max<int64_t>(1, 8192 / std::max<int64_t>(1, length)); }

}  // namespace weft::kernels::cpu
