// Reshaping with named axes, as in the einops library: `rearrange(x, "b (h d) t -> b h t d", {{"h", 2}})`.
//
// A pattern names the axes from left to right. Parentheses group several names into one axis. A number is an unnamed
// axis of that size. ... stands for all axes that have no name. Sizes that do not follow from x's shape are passed in
// `sizes`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// Sizes of named axes: `{{"h", 2}, {"w", 3}}`.
using AxisSizes = std::vector<std::pair<std::string, int64_t>>;

/// Permutes, splits and merges axes. Both sides of the pattern name the same axes. Copies only if strides cannot
/// express the result.
Tensor rearrange(const Tensor& x, std::string_view pattern, const AxisSizes& sizes = {});
/// Reduces the axes that the right side does not name and the numbered axes of the left side. The reduction is "sum",
/// "mean", "max", "min", "prod", "any" or "all". Example: `reduce(x, "b c (h 2) (w 2) -> b c h w", "max")`.
Tensor reduce(const Tensor& x, std::string_view pattern, std::string_view reduction, const AxisSizes& sizes = {});
/// Repeats x along the axes that only the right side has. Their sizes are in `sizes`, or they are numbers in the
/// pattern: `repeat(x, "h w -> h w 3")`.
Tensor repeat(const Tensor& x, std::string_view pattern, const AxisSizes& sizes = {});

}  // namespace weft
