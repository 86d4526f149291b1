// Matrix products.
#pragma once

#include "tensor/apply.h"

namespace weft {

/// (..., M, K) times (..., K, N) gives (..., M, N); leading axes broadcast. A 1-D operand is a row (first) or a column
/// (second) and loses that axis in the result; two of them give their dot product. Dtypes promote; integers multiply
/// exactly. ShapeError `inner sizes differ: 3 and 4`.
Tensor matmul(const Tensor& a, const Tensor& b);

namespace op {

/// (batch..., M, K) times (batch..., K, N): equal batch axes, rank at least 2, one dtype.
struct Matmul {
  static constexpr std::string_view name = "matmul";
  void attributes(auto) const {}
  bool operator==(const Matmul&) const = default;
  Spec infer(const Tensor& a, const Tensor& b) const;
  void run(const Tensor& a, const Tensor& b, Tensor& out) const;
};

}  // namespace op
}  // namespace weft
