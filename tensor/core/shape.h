// Shape: a list of sizes. It does not check them; ops do, so that errors name the op.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>  // and iterators; <iterator> would bring streams
#include <string>
#include <vector>

namespace weft {

/// The maximum number of axes of a tensor.
inline constexpr int kMaxAxes = 8;

/// A list of 64-bit integers. Up to kMaxAxes of them are stored without a heap allocation.
class IntList {
 public:
  IntList() noexcept {}
  IntList(std::initializer_list<int64_t> values) : IntList(values.begin(), values.end()) {}
  IntList(const std::vector<int64_t>& values) : IntList(values.begin(), values.end()) {}
  explicit IntList(std::span<const int64_t> values) : IntList(values.begin(), values.end()) {}
  /// `count` times `value`. (No constructor: Shape(2, 3) would read as the shape [2, 3].)
  static IntList filled(size_t count, int64_t value) {
    IntList out;
    out.resize(count);
    for (int64_t& v : out) v = value;
    return out;
  }
  /// Iterators over integers, which are read twice. (Two string literals in braces are iterators over characters.)
  template <std::forward_iterator It>
    requires(!std::same_as<std::iter_value_t<It>, char>)
  IntList(It first, It last) {
    resize(static_cast<size_t>(std::distance(first, last)));
    for (int64_t* out = data(); first != last; ++first) *out++ = static_cast<int64_t>(*first);
  }
  IntList(const IntList& other) { assign(other); }
  IntList(IntList&& other) noexcept { steal(other); }
  IntList& operator=(const IntList& other) {
    if (this != &other) assign(other);
    return *this;
  }
  IntList& operator=(IntList&& other) noexcept {
    if (this != &other) {
      if (is_heap()) delete[] heap_;
      capacity_ = kMaxAxes;
      steal(other);
    }
    return *this;
  }
  ~IntList() {
    if (is_heap()) delete[] heap_;
  }

  size_t size() const noexcept { return size_; }
  /// size() as a signed number.
  int64_t rank() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  int64_t* data() noexcept { return is_heap() ? heap_ : inline_; }
  const int64_t* data() const noexcept { return is_heap() ? heap_ : inline_; }
  int64_t& operator[](size_t i) noexcept { return data()[i]; }
  int64_t operator[](size_t i) const noexcept { return data()[i]; }
  /// A negative position counts from the end: shape[-1] is the last size. IndexError if there is no such position.
  template <std::signed_integral Int> int64_t& operator[](Int i) { return data()[position_of(i)]; }
  template <std::signed_integral Int> int64_t operator[](Int i) const { return data()[position_of(i)]; }
  int64_t front() const noexcept { return data()[0]; }
  int64_t back() const noexcept { return data()[size_ - 1]; }
  int64_t* begin() noexcept { return data(); }
  int64_t* end() noexcept { return data() + size_; }
  const int64_t* begin() const noexcept { return data(); }
  const int64_t* end() const noexcept { return data() + size_; }
  std::vector<int64_t> to_vector() const { return {begin(), end()}; }

  void resize(size_t count) {
    if (count > capacity_) grow(count);
    int64_t* values = data();
    for (size_t i = size_; i < count; ++i) values[i] = 0;
    size_ = static_cast<uint32_t>(count);
  }
  void push_back(int64_t value) {
    resize(size_ + 1);
    data()[size_ - 1] = value;
  }
  /// Positions as for [], which size() too is for insert(). IndexError if there is no such position.
  void insert(int64_t position, int64_t value) {
    const size_t at = position == rank() ? size_ : position_of(position);
    push_back(value);
    for (size_t i = size_ - 1; i > at; --i) data()[i] = data()[i - 1];
    data()[at] = value;
  }
  void erase(int64_t position) {
    for (size_t i = position_of(position); i + 1 < size_; ++i) data()[i] = data()[i + 1];
    --size_;
  }
  void clear() noexcept { size_ = 0; }

  friend bool operator==(const IntList& a, const IntList& b) noexcept {
    if (a.size_ != b.size_) return false;
    const int64_t* x = a.data();
    const int64_t* y = b.data();
    for (uint32_t i = 0; i < a.size_; ++i)
      if (x[i] != y[i]) return false;
    return true;
  }

  /// `[2, 3]`
  std::string to_string() const;

 private:
  size_t position_of(int64_t i) const {
    const int64_t count = size_;
    if (i < -count || i >= count) throw_no_position(i);
    return static_cast<size_t>(i < 0 ? i + count : i);
  }
  [[noreturn]] void throw_no_position(int64_t i) const;
  bool is_heap() const noexcept { return capacity_ > kMaxAxes; }
  void assign(const IntList& other) {
    if (other.size_ > capacity_) grow(other.size_);
    size_ = other.size_;
    copy_values(data(), other.data(), size_);
  }
  void steal(IntList& other) noexcept {
    size_ = other.size_;
    if (other.is_heap()) {
      capacity_ = other.capacity_;
      heap_ = other.heap_;
      other.capacity_ = kMaxAxes;
      other.size_ = 0;
    } else {
      copy_values(inline_, other.inline_, size_);
    }
  }
  /// Copies one by one. For so few values a call of memcpy is slower, and a wide load right after narrow stores stalls.
  static void copy_values(int64_t* out, const int64_t* in, uint32_t count) noexcept {
    switch (count) {
      default:
        for (uint32_t i = count; i-- > 8;) out[i] = in[i];
        [[fallthrough]];
      case 8: out[7] = in[7]; [[fallthrough]];
      case 7: out[6] = in[6]; [[fallthrough]];
      case 6: out[5] = in[5]; [[fallthrough]];
      case 5: out[4] = in[4]; [[fallthrough]];
      case 4: out[3] = in[3]; [[fallthrough]];
      case 3: out[2] = in[2]; [[fallthrough]];
      case 2: out[1] = in[1]; [[fallthrough]];
      case 1: out[0] = in[0]; [[fallthrough]];
      case 0: break;
    }
  }
  void grow(size_t count);

  uint32_t size_ = 0;
  uint32_t capacity_ = kMaxAxes;
  union {
    int64_t inline_[kMaxAxes];
    int64_t* heap_;
  };
};

/// `[2, 3]`
std::ostream& operator<<(std::ostream& out, const IntList& list);

/// The size of each axis; `{}` is the shape of a 0-d tensor.
using Shape = IntList;
/// For each axis, the distance in memory between consecutive elements, counted in elements.
using Strides = IntList;

namespace detail {
[[noreturn]] void throw_overflow(int64_t a, char operation, int64_t b);
[[noreturn]] void throw_axis(int64_t axis, int64_t rank);
}  // namespace detail
/// a * b and a + b. ShapeError if the result does not fit into 64 bits.
inline int64_t checked_multiply(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) [[unlikely]]
    detail::throw_overflow(a, '*', b);
  return product;
}
inline int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) [[unlikely]]
    detail::throw_overflow(a, '+', b);
  return sum;
}
/// The number of elements of `shape`. ShapeError for a negative size and for overflow, even if a later size is 0.
int64_t checked_numel(const Shape& shape);
/// `axis` in [0, rank); a negative axis counts from the end. IndexError `axis 5 is out of range for 2 axes`.
inline int64_t normalize_axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) [[unlikely]]
    detail::throw_axis(axis, rank);
  return axis < 0 ? axis + rank : axis;
}
/// The same for functions that accept an axis for a 0-d tensor: rank 0 counts as 1, so that axes 0 and -1 are valid.
inline int64_t normalize_axis_or_scalar(int64_t axis, int64_t rank) {
  return normalize_axis(axis, rank > 0 ? rank : 1);
}
/// The strides of a row-major layout: the last axis is contiguous.
Strides row_major_strides(const Shape& shape);
/// The shape that two operands broadcast to. ShapeError, naming both shapes, if they do not broadcast.
Shape broadcast_shapes(const Shape& a, const Shape& b);

}  // namespace weft
