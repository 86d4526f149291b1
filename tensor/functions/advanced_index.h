// x.index({...}): integers, slices, new axes, an ellipsis, bools, masks and index tensors, with NumPy's and PyTorch's
// meaning.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/core/scalar.h"
#include "tensor/tensor.h"

#ifdef None
#error "weft: a header above has a macro `None` (X11 does); include weft.h before it"
#endif

namespace weft {

/// In a Slice: no bound. As an index: a new axis of size 1.
inline constexpr std::nullopt_t None = std::nullopt;  // NOLINT(readability-identifier-naming): Python's name
struct EllipsisType {};
/// As an index: every axis that no other index refers to, unchanged.
inline constexpr EllipsisType Ellipsis{};  // NOLINT(readability-identifier-naming): Python's name

/// Python's start:end:step, for example `Slice(1, None, 2)`; `Slice()` is the whole axis. Negative bounds count from
/// the end, bounds out of range are clamped, and a negative step gives a reversed view.
struct Slice {
  Slice(std::optional<int64_t> first = None, std::optional<int64_t> last = None, std::optional<int64_t> by = None)
      : start(first), end(last), step(by.value_or(1)) {}
  std::optional<int64_t> start;
  std::optional<int64_t> end;
  int64_t step;
};

/// One index of the list that x.index({...}) takes. It converts from None, Ellipsis, Slice, integers, bool and Tensor.
class TensorIndex {
 public:
  enum class Kind : uint8_t { new_axis, ellipsis, integer, slice, truth_value, tensor };
  TensorIndex(std::nullopt_t) : kind_(Kind::new_axis) {}
  TensorIndex(EllipsisType) : kind_(Kind::ellipsis) {}
  TensorIndex(const Slice& slice) : kind_(Kind::slice), slice_(slice) {}
  TensorIndex(const Tensor& tensor) : kind_(Kind::tensor), tensor_(tensor) {}
  TensorIndex(std::initializer_list<int64_t>) = delete;      // tensor({a, b}) gathers, Slice(a, b) is a range
  template <std::floating_point T> TensorIndex(T) = delete;  // an index is an integer
  template <class T>
    requires(std::integral<T> || (std::is_enum_v<T> && std::convertible_to<T, int64_t>))
  TensorIndex(T value)
      : kind_(std::same_as<T, bool> ? Kind::truth_value : Kind::integer), integer_(static_cast<int64_t>(value)) {}

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

/// Indexes `x` as PyTorch's x[...] does; the indices apply to the axes of x from the first axis on.
/// An integer removes its axis, a Slice keeps it, None adds an axis of size 1, Ellipsis skips the axes that no index
/// refers to. If all indices are of these kinds, the result is a view.
/// Integer tensors (negative values count from the end) broadcast together and gather. A bool mask is replaced by the
/// positions of its true elements, one index tensor for each axis of the mask. true and false add an axis of size 1 and
/// 0. The gathered axes take the place of the index tensors if these are adjacent, otherwise they come first.
/// IndexError for an index out of range, ShapeError for a mask whose shape does not match.
Tensor index(const Tensor& x, const std::vector<TensorIndex>& indices);
/// A copy of `x` in which the elements that index(x, indices) selects are set to `value`, which is broadcast and cast
/// to x's dtype. With `accumulate`, value is added to these elements instead. If value has more axes than the
/// selection, leading axes of size 1 are dropped, as in `x[0] = value`. If a position is selected several times, the
/// last value is kept; `accumulate` adds all of them.
Tensor index_put(const Tensor& x, const std::vector<TensorIndex>& indices, const Tensor& value,
                 bool accumulate = false);
Tensor index_put(const Tensor& x, const std::vector<TensorIndex>& indices, const Scalar& value,
                 bool accumulate = false);
namespace detail {
/// `x` without leading axes of size 1, of which as many are dropped as x has axes beyond `rank`.
Tensor without_leading_ones(const Tensor& x, int64_t rank);
}  // namespace detail

}  // namespace weft
