// Shapes by name, as the einops library has them: `rearrange(x, "b (h d) t -> b h t d", {{"h", 2}})`.
//
// A pattern names the axes from left to right. Parentheses merge several into one; a number is an axis of that size
// without a name; ... stands for all axes that no name stands for. Sizes that x's shape does not tell are given beside
// it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// Sizes of named axes: `{{"h", 2}, {"w", 3}}`.
using AxisSizes = std::vector<std::pair<std::string, int64_t>>;

/// The same elements with the axes in another order, split and merged. Both sides name the same axes. Copies only
/// where strides cannot express the result.
Tensor rearrange(const Tensor& x, std::string_view pattern, const AxisSizes& sizes = {});
/// Axes that the right side leaves out, and numbers on the left side, are reduced: "sum", "mean", "max", "min", "prod",
/// "any" or "all": `reduce(x, "b c (h 2) (w 2) -> b c h w", "max")`.
Tensor reduce(const Tensor& x, std::string_view pattern, std::string_view reduction, const AxisSizes& sizes = {});
/// Axes that only the right side names are repeated; their sizes are given, or stand in place of names:
/// `repeat(x, "h w -> h w 3")`.
Tensor repeat(const Tensor& x, std::string_view pattern, const AxisSizes& sizes = {});

}  // namespace weft
