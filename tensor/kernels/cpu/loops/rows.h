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

/// What RowReader and RowWriter do not know of their type: where rows [first, end) lie, and a buffer for those that are
/// not contiguous values of the type that is computed in. Most rows are dense and need none: what works on rows is
/// compiled for many types and ops, and what moves others is compiled once.
class RowCursor {
 public:
  /// How elements are stored: as bits of some size, which are copied, or as halves, which are computed in f32.
  enum class Element : uint8_t { bits8, bits16, bits32, bits64, bf16, f16 };
  template <class T> static constexpr Element element_of() {
    if (std::is_same_v<T, BFloat16>) return Element::bf16;
    if (std::is_same_v<T, Float16>) return Element::f16;
    return sizeof(T) == 1   ? Element::bits8
           : sizeof(T) == 2 ? Element::bits16
           : sizeof(T) == 4 ? Element::bits32
                            : Element::bits64;
  }
  static Element element_of(DType dtype);

 protected:
  /// Rows that are interleaved in memory (softmax over the channels of NCHW) are moved this many at a time, so that
  /// every cache line that is touched is used whole.
  static constexpr int64_t kBatch = 16;

  RowCursor(const RowView& view, int64_t first, int64_t end, Element element);
  char* buffered(int64_t row) const { return buffer_.data() + row * row_bytes_; }
  /// Notes where the next rows lie; as many as fit the buffer.
  void take_rows();
  /// Fills the buffer with the next rows.
  void fetch();
  /// Writes the rows in the buffer.
  void store();
  /// The current row in memory.
  char* in_place() const { return data_ + (walk_.in() << log_size_); }

  char* data_;
  const Nest& inner_;
  NestWalk walk_;
  int64_t length_;
  int64_t left_;  // rows that were not taken yet
  Element element_;
  bool direct_;
  int64_t batch_;
  int64_t row_bytes_;  // of a row in the buffer
  int log_size_;       // of the bytes of an element that is stored
  int64_t held_ = 0;
  int64_t at_ = 0;  // the current row among those held
  char* rows_[kBatch];
  Scratch<char> buffer_;

 private:
  template <class T> void fetch_as();
  template <class T> void store_as();
  template <class T, class F, class Run> void each_element(const F& f, const Run& run);
};

/// Reads rows [first, end) one after the other. The view must outlive it.
class AnyRowReader : protected RowCursor {
 public:
  AnyRowReader(const RowView& view, int64_t first, int64_t end, Element element)
      : RowCursor(view, first, end, element) {}
  /// The current row; valid until next().
  void* row() {
    if (direct_) return in_place();
    if (at_ == held_) fetch();
    return buffered(at_);
  }
  void next() {
    if (direct_) return walk_.next();
    if (at_ == held_) fetch();  // a row that was not read
    ++at_;
  }
};

/// Writes rows [first, end) one after the other.
class AnyRowWriter : protected RowCursor {
 public:
  AnyRowWriter(const RowView& view, int64_t first, int64_t end, Element element)
      : RowCursor(view, first, end, element) {}
  /// Where the caller writes the current row; next() marks it as written.
  void* row() {
    if (direct_) return in_place();
    if (held_ == 0) take_rows();
    return buffered(at_);
  }
  void next() {
    if (direct_) return walk_.next();
    if (++at_ >= held_) store();
  }
};

/// The same with rows of a type that is known, as values that are computed in.
template <class T> struct RowReader : AnyRowReader {
  RowReader(const RowView& view, int64_t first, int64_t end) : AnyRowReader(view, first, end, element_of<T>()) {}
  const Compute<T>* row() { return static_cast<const Compute<T>*>(AnyRowReader::row()); }
};
template <class T> struct RowWriter : AnyRowWriter {
  RowWriter(const RowView& view, int64_t first, int64_t end) : AnyRowWriter(view, first, end, element_of<T>()) {}
  Compute<T>* row() { return static_cast<Compute<T>*>(AnyRowWriter::row()); }
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
