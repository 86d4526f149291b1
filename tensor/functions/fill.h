// Constructors: tensors made from numbers.
#pragma once

#include <initializer_list>
#include <optional>
#include <type_traits>
#include <vector>

#include "tensor/core/scalar.h"
#include "tensor/tensor.h"

namespace weft {

/// Tensors of `shape` (row-major). ShapeError where a size is negative or the number of bytes overflows, MemoryError
/// where there is not enough memory.
Tensor zeros(const Shape& shape, DType dtype = f32, Device device = {});
Tensor ones(const Shape& shape, DType dtype = f32, Device device = {});
/// Every element is `value`. Without a dtype it follows the value: f32, i64 or bool. Error for a number that an
/// integer dtype cannot hold (300 in u8, infinity, NaN).
Tensor full(const Shape& shape, const Scalar& value, std::optional<DType> dtype = std::nullopt, Device device = {});
/// Uninitialised memory.
Tensor empty(const Shape& shape, DType dtype = f32, Device device = {});
/// The shape, dtype (unless given), device and memory order of `x`.
Tensor zeros_like(const Tensor& x, std::optional<DType> dtype = std::nullopt);
Tensor ones_like(const Tensor& x, std::optional<DType> dtype = std::nullopt);
Tensor full_like(const Tensor& x, const Scalar& value, std::optional<DType> dtype = std::nullopt);
Tensor empty_like(const Tensor& x, std::optional<DType> dtype = std::nullopt);
/// start, start + step, ... below `end` (above it for a negative step). The dtype follows the arguments (i64 or f32).
/// Error for a step of 0, ShapeError where there are too many.
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step = 1, std::optional<DType> dtype = std::nullopt,
              Device device = {});
Tensor arange(const Scalar& end);
Tensor arange(const Scalar& start, const Scalar& end, DType dtype, Device device = {});
Tensor arange(const Scalar& end, DType dtype, Device device = {});
/// `count` values from `start` to `end`, both included. Error where an integer dtype cannot hold them.
Tensor linspace(const Scalar& start, const Scalar& end, int64_t count, DType dtype = f32, Device device = {});
/// Ones on the diagonal of (rows, columns); columns = rows where absent.
Tensor eye(int64_t rows, std::optional<int64_t> columns = std::nullopt, DType dtype = f32, Device device = {});

/// A tensor from a number or from nested braces: `tensor({{1.0, 2.0}, {3.0, 4.0}})`. Floating values give f32, integers
/// i64, booleans bool, unless `dtype` says otherwise. ShapeError where rows differ in length, Error for a number that
/// an integer dtype cannot hold.
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
/// Of numbers of unlike types, `tensor({1.5, 2})`: f32 where one of them is floating, else i64.
Tensor tensor(std::initializer_list<Scalar> values, std::optional<DType> dtype = std::nullopt);
Tensor tensor(std::initializer_list<std::initializer_list<Scalar>> values, std::optional<DType> dtype = std::nullopt);
/// A tensor from a vector: 1-D, or of `shape` (ShapeError where the number of values differs). The dtype is that of
/// tensor(), also where the vector is empty.
template <class T>
Tensor from_vector(const std::vector<T>& values, std::optional<Shape> shape = std::nullopt,
                   std::optional<DType> dtype = std::nullopt);
template <class T> Tensor tensor(const std::vector<T>& values, std::optional<DType> dtype = std::nullopt);

namespace detail {
/// Collects nested braces: values in order, and the shape, checked for ragged rows.
class BraceReader {
 public:
  template <class T> void read(const T& value, size_t) {
    note<T>();
    if constexpr (std::is_floating_point_v<T>)
      reals_.push_back(static_cast<double>(value));
    else
      integers_.push_back(checked_integer(value));
  }
  /// Of several kinds in one list.
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
  void kind(DType dtype) { kind_ = dtype; }

 private:
  /// The type says what the numbers are, also of a list that has none.
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
  detail::BraceReader reader;
  reader.read(values, 0);
  return reader.finish(dtype, std::move(shape));
}
template <class T> Tensor tensor(const std::vector<T>& values, std::optional<DType> dtype) {
  ErrorFrame frame("tensor");
  return from_vector(values, std::nullopt, dtype);
}

}  // namespace weft
