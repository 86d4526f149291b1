// The product of rows with a weight plus a bias: what a linear layer computes.
#pragma once

#include "tensor/apply.h"

namespace weft {

/// x (..., in) times the transpose of weight (out, in), plus bias (out) or nothing where it is undefined: (..., out).
/// Dtypes promote. ShapeError `x has 3 features, weight [5, 4] takes 4`.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

namespace op {

/// x (rows, in), weight (out, in), bias (out) or undefined, one dtype.
struct Linear {
  static constexpr std::string_view name = "linear";
  static constexpr uint32_t optional_inputs = 1u << 2;  // the bias
  void attributes(auto) const {}
  bool operator==(const Linear&) const = default;
  Spec infer(const Tensor& x, const Tensor& weight, const Tensor& bias) const;
  void run(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor& out) const;
};

}  // namespace op
}  // namespace weft
