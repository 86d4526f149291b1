// Joining tensors.
#pragma once

#include "tensor/apply.h"

namespace weft {

/// Along an existing axis; the other sizes are equal, dtypes promote, the memory order is the first's.
Tensor cat(const std::vector<Tensor>& tensors, int64_t axis = 0);
/// Along a new axis; all shapes are equal.
Tensor stack(const std::vector<Tensor>& tensors, int64_t axis = 0);

namespace op {

/// Tensors of one dtype joined along an axis.
struct Cat {
  int64_t axis;
  static constexpr std::string_view name = "cat";
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const Cat&) const = default;
  Spec infer(std::span<const Tensor> tensors) const;
  void run(std::span<const Tensor> tensors, Tensor& out) const;
};

}  // namespace op
}  // namespace weft
