// Extrema with their positions.
#pragma once

#include "tensor/apply.h"

namespace weft {

/// The extremum along one axis and its first position (i64), which alone gets the gradient.
ValuesAndIndices max_with_indices(const Tensor& x, int64_t axis, KeepDim keep = {});
ValuesAndIndices min_with_indices(const Tensor& x, int64_t axis, KeepDim keep = {});
/// The first position of the extremum (i64) along an axis, or in row-major order of all.
Tensor argmax(const Tensor& x, std::optional<int64_t> axis = std::nullopt, KeepDim keep = {});
Tensor argmin(const Tensor& x, std::optional<int64_t> axis = std::nullopt, KeepDim keep = {});

namespace op {

/// Values (x's dtype) and first positions (i64) of the extremum along one axis.
struct ExtremumWithIndices {
  int64_t axis;
  bool largest;
  bool keepdim;
  static constexpr std::string_view name = "max_with_indices";
  static constexpr int outputs = 2;
  void attributes(auto visit) const { visit("axis", axis), visit("largest", largest), visit("keepdim", keepdim); }
  bool operator==(const ExtremumWithIndices&) const = default;
  std::array<Spec, 2> infer(const Tensor& x) const;
  void run(const Tensor& x, std::array<Tensor, 2>& out) const;
};

/// Positions alone.
template <class Self>
struct ArgExtremum {
  int64_t axis;
  bool keepdim;
  void attributes(auto visit) const { visit("axis", axis), visit("keepdim", keepdim); }
  bool operator==(const ArgExtremum&) const = default;
  Spec infer(const Tensor& x) const;
  void run(const Tensor& x, Tensor& out) const;
};
struct Argmax : ArgExtremum<Argmax> {
  static constexpr std::string_view name = "argmax";
};
struct Argmin : ArgExtremum<Argmin> {
  static constexpr std::string_view name = "argmin";
};

}  // namespace op
}  // namespace weft
