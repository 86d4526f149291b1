// Functions that create tensors from numbers.
#pragma once

#include <initializer_list>
#include <optional>
#include <type_traits>
#include <vector>

#include "tensor/core/scalar.h"
#include "tensor/tensor.h"

namespace weft {

/// A row-major tensor of `shape` filled with 0 or 1. ShapeError if a size is negative or the number of bytes overflows,
/// MemoryError if there is not enough memory.
Tensor zeros(const Shape& shape, DType dtype = f32, Device device = {});
Tensor ones(const Shape& shape, DType dtype = f32, Device device = {});
/// Every element is `value`. The default dtype is f32, i64 or bool, depending on the type of the value. Error for a
/// number that an integer dtype cannot hold (300 in u8, infinity, NaN).
Tensor full(const Shape& shape, const Scalar& value, std::optional<DType> dtype = std::nullopt, Device device = {});
/// Uninitialized memory.
Tensor empty(const Shape& shape, DType dtype = f32, Device device = {});
/// A tensor with the shape, device and memory order of `x`, and with x's dtype unless `dtype` is given.
Tensor zeros_like(const Tensor& x, std::optional<DType> dtype = std::nullopt);
Tensor ones_like(const Tensor& x, std::optional<DType> dtype = std::nullopt);
Tensor full_like(const Tensor& x, const Scalar& value, std::optional<DType> dtype = std::nullopt);
Tensor empty_like(const Tensor& x, std::optional<DType> dtype = std::nullopt);
/// The values start, start + step, ... that are below `end` (above it for a negative step). The default dtype is i64 if
/// all arguments are integers, else f32. Error for a step of 0, ShapeError for too many values.
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step = 1, std::optional<DType> dtype = std::nullopt,
              Device device = {});
Tensor arange(const Scalar& end);
Tensor arange(const Scalar& start, const Scalar& end, DType dtype, Device device = {});
Tensor arange(const Scalar& end, DType dtype, Device device = {});
/// `count` evenly spaced values from `start` to `end`, both included, computed in f64 (integers beyond 2^53 are
/// rounded). Error if an integer dtype cannot hold them.
Tensor linspace(const Scalar& start, const Scalar& end, int64_t count, DType dtype = f32, Device device = {});
/// `count` values base^e, where e is evenly spaced from `start` to `end`, both included.
Tensor logspace(const Scalar& start, const Scalar& end, int64_t count, double base = 10, DType dtype = f32);
/// A (rows, columns) matrix with ones on the main diagonal and zeros elsewhere. columns defaults to rows.
Tensor eye(int64_t rows, std::optional<int64_t> columns = std::nullopt, DType dtype = f32, Device device = {});
template <std::same_as<DType> D> Tensor eye(int64_t rows, D dtype, Device device = {}) {
  return eye(rows, std::nullopt, dtype, device);
}

// Sizes are one argument: zeros(2, 3) does not compile.
#define WEFT_SIZES_IN_BRACES(function) \
  template <std::integral T, std::integral... More> Tensor function(T, More...) = delete;  // write function({2, 3})
WEFT_SIZES_IN_BRACES(zeros)
WEFT_SIZES_IN_BRACES(ones)
WEFT_SIZES_IN_BRACES(empty)
WEFT_SIZES_IN_BRACES(rand)
WEFT_SIZES_IN_BRACES(randn)
#undef WEFT_SIZES_IN_BRACES

/// A tensor from a number or from nested braces: `tensor({{1.0, 2.0}, {3.0, 4.0}})`. Floating values give f32, integers
/// i64, booleans bool, unless `dtype` is given. ShapeError if rows differ in length, Error for a number that an integer
/// dtype cannot hold.
template <class T>
  requires std::is_arithmetic_v<T> Tensor tensor(T value, std::optional<DType> dtype = std::nullopt);
template <class T> Tensor tensor(std::initializer_list<T> values, std::optional<DType> dtype = std::nullopt);
template <class T>
Tensor tensor(std::initializer_list<std::initializer_list<T>> values, std::optional<DType> dtype = std::nullopt);
template <class T>
Tensor tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>> values,
              std::optional<DType> dtype = std::nullopt);
template <class T>
Tensor tensor(std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<T>>>> values,
              std::optional<DType> dtype = std::nullopt);
/// The same for numbers of different types, `tensor({1.5, 2})`: f32 if one of them is floating, else i64.
/// (A template, so that {{1}, {2.5}} is a column: other overloads are preferred.)
template <class = void> Tensor tensor(std::initializer_list<Scalar> values, std::optional<DType> dtype = std::nullopt);
Tensor tensor(std::initializer_list<std::initializer_list<Scalar>> values, std::optional<DType> dtype = std::nullopt);
/// A tensor from a vector: 1-D, or of `shape` (ShapeError if the number of values differs). The default dtype follows
/// the element type as in tensor(), even for an empty vector.
template <class T>
Tensor from_vector(const std::vector<T>& values, std::optional<Shape> shape = std::nullopt,
                   std::optional<DType> dtype = std::nullopt);
template <class T>
Tensor from_vector(const std::vector<T>& values, std::initializer_list<int64_t> shape,
                   std::optional<DType> dtype = std::nullopt) {
  return from_vector(values, shape.size() == 0 ? std::nullopt : std::optional<Shape>(shape), dtype);  // {}: 1-D
}
template <class T> Tensor tensor(const std::vector<T>& values, std::optional<DType> dtype = std::nullopt);

namespace detail {
/// Reads nested braces: collects the values in order and the shape, and checks that rows have equal length.
class BraceReader {
 public:
  template <class T> void read(const T& value, size_t) {
    static_assert(std::is_arithmetic_v<T>, "tensor() takes numbers in nested braces; stack({x, y}) joins tensors");
    note<T>();
    if constexpr (std::is_floating_point_v<T>)
      reals_.push_back(static_cast<double>(value));
    else
      integers_.push_back(std::is_signed_v<T> || sizeof(T) < 8 ? static_cast<int64_t>(value) : checked_integer(value));
  }
  /// A number from a list whose numbers have different types.
  void read(const Scalar& value, size_t);
  template <class T> void read(const std::initializer_list<T>& values, size_t depth) {
    note<T>();
    level(depth, static_cast<int64_t>(values.size()));
    for (const auto& value : values) read(value, depth + 1);
  }
  template <class T> void read(const std::vector<T>& values, size_t depth) {
    note<T>();
    level(depth, static_cast<int64_t>(values.size()));
    for (auto&& value : values) read(static_cast<const T&>(value), depth + 1);
  }
  Tensor finish(std::optional<DType> dtype, std::optional<Shape> shape = std::nullopt) const;
  /// Makes room for a list of all numbers.
  template <class T> void reserve(size_t count) {
    if constexpr (std::is_floating_point_v<T>)
      reals_.reserve(count);
    else if constexpr (std::is_integral_v<T>)
      integers_.reserve(count);
  }
  void kind(DType dtype) { kind_ = dtype; }

 private:
  /// Sets the default dtype from the type T, also for an empty list.
  template <class T> void note() {
    if constexpr (std::is_same_v<T, bool>)
      kind_ = DType::boolean;
    else if constexpr (std::is_integral_v<T>)
      kind_ = DType::i64;
  }
  static int64_t checked_integer(const Scalar& value);
  void level(size_t depth, int64_t size);
  Shape shape_;
  std::vector<double> reals_;
  std::vector<int64_t> integers_;
  DType kind_ = DType::f32;
};
/// ShapeError unless the shape has `count` elements.
void check_count(const Shape& shape, size_t count);
/// The numbers in `values`, a tensor on borrowed memory, in `dtype`.
Tensor from_numbers(const Tensor& values, DType dtype);
/// A type of numbers whose vectors are the memory of a tensor.
template <class T>
concept Element = std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && requires {
  DTypeOf<T>::value;
};
template <class T> Tensor from_braces(const T& values, std::optional<DType> dtype) {
  ErrorFrame frame("tensor");
  BraceReader reader;
  reader.read(values, 0);
  return reader.finish(dtype);
}
}  // namespace detail

template <class T>
  requires std::is_arithmetic_v<T> Tensor tensor(T value, std::optional<DType> dtype) {
    return detail::from_braces(value, dtype);
  }
template <class> Tensor tensor(std::initializer_list<Scalar> values, std::optional<DType> dtype) {
  return detail::from_braces(values, dtype);
}
template <class T> Tensor tensor(std::initializer_list<T> values, std::optional<DType> dtype) {
  return detail::from_braces(values, dtype);
}
template <class T> Tensor tensor(std::initializer_list<std::initializer_list<T>> values, std::optional<DType> dtype) {
  return detail::from_braces(values, dtype);
}
template <class T>
Tensor tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>> values,
              std::optional<DType> dtype) {
  return detail::from_braces(values, dtype);
}
template <class T>
Tensor tensor(std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<T>>>> values,
              std::optional<DType> dtype) {
  return detail::from_braces(values, dtype);
}
template <class T>
Tensor from_vector(const std::vector<T>& values, std::optional<Shape> shape, std::optional<DType> dtype) {
  ErrorFrame frame("from_vector");
  if constexpr (detail::Element<T>) {
    const Shape filled = shape ? *shape : Shape{static_cast<int64_t>(values.size())};
    detail::check_count(filled, values.size());
    return detail::from_numbers(Tensor::wrap(const_cast<T*>(values.data()), filled),
                                dtype.value_or(std::is_floating_point_v<T> ? f32 : i64));
  } else {
    detail::BraceReader reader;
    reader.reserve<T>(values.size());
    reader.read(values, 0);
    return reader.finish(dtype, std::move(shape));
  }
}
template <class T> Tensor tensor(const std::vector<T>& values, std::optional<DType> dtype) {
  ErrorFrame frame("tensor");
  return from_vector(values, std::nullopt, dtype);
}

}  // namespace weft
