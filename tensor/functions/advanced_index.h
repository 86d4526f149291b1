// x.index({...}): integers, slices, new axes, an ellipsis, bools, masks and index tensors, with NumPy's and PyTorch's
// meaning.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/core/scalar.h"
#include "tensor/tensor.h"

namespace weft {

/// An open bound of a Slice, or a new axis.
inline constexpr std::nullopt_t None = std::nullopt;  // NOLINT(readability-identifier-naming): Python's name
struct EllipsisType {};
/// All axes that the other indices leave over.
inline constexpr EllipsisType Ellipsis{};  // NOLINT(readability-identifier-naming): Python's name

/// Python's start:end:step: `Slice(1, None, 2)`, `Slice()` for a whole axis. Bounds clamp and count from the end where
/// negative; a negative step gives a reversed view.
struct Slice {
  Slice(std::optional<int64_t> first = None, std::optional<int64_t> last = None, std::optional<int64_t> by = None)
      : start(first), end(last), step(by.value_or(1)) {}
  std::optional<int64_t> start;
  std::optional<int64_t> end;
  int64_t step;
};

/// One of the indices of x.index({...}).
class TensorIndex {
 public:
  enum class Kind : uint8_t { new_axis, ellipsis, integer, slice, boolean, tensor };
  TensorIndex(std::nullopt_t) : kind_(Kind::new_axis) {}
  TensorIndex(EllipsisType) : kind_(Kind::ellipsis) {}
  TensorIndex(const Slice& slice) : kind_(Kind::slice), slice_(slice) {}
  TensorIndex(const Tensor& tensor) : kind_(Kind::tensor), tensor_(tensor) {}
  template <std::integral T>
  TensorIndex(T value)
      : kind_(std::same_as<T, bool> ? Kind::boolean : Kind::integer), integer_(static_cast<int64_t>(value)) {}

  Kind kind() const { return kind_; }
  int64_t integer() const { return integer_; }
  const Slice& slice() const { return slice_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  Kind kind_;
  int64_t integer_ = 0;
  Slice slice_;
  Tensor tensor_;
};

/// The part of `x` that the indices name, from the first axis on. Integers drop an axis, slices keep one, None adds
/// one of size 1, Ellipsis skips; these alone give a view. Integer tensors (negative values count from the end)
/// broadcast together and gather; a bool mask counts as the positions where it holds, one index tensor for each of its
/// axes; true and false add an axis of size 1 or 0. The gathered axes stand where the index tensors stood, or in front
/// where something stood between them. IndexError for what is out of range, ShapeError for a mask that does not fit.
Tensor index(const Tensor& x, const std::vector<TensorIndex>& indices);
/// A copy of `x` with `value` (broadcast, cast to x's dtype) at index(x, indices); with `accumulate`, added to what is
/// there. Axes of size 1 in front that value has too many of do not count, as in `x[0] = value`. Where several values
/// have one position the last one stays; `accumulate` adds them all.
Tensor index_put(const Tensor& x, const std::vector<TensorIndex>& indices, const Tensor& value,
                 bool accumulate = false);
Tensor index_put(const Tensor& x, const std::vector<TensorIndex>& indices, const Scalar& value,
                 bool accumulate = false);
namespace detail {
/// `x` without the axes of size 1 in front that make more than `rank`.
Tensor without_leading_ones(const Tensor& x, int64_t rank);
}  // namespace detail

}  // namespace weft
