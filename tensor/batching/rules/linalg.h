// Batching of factorizations. These ops accept batches of matrices.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/functions/fill.h"
#include "tensor/ops/eig.h"
#include "tensor/ops/lu.h"
#include "tensor/ops/matrix_exp.h"
#include "tensor/ops/qr.h"
#include "tensor/ops/svd.h"
#include "tensor/ops/triangular.h"

namespace weft::batching {

WEFT_BATCHING(LuFactor) = same_op;
WEFT_BATCHING(PivotOrder) = same_op;
WEFT_BATCHING(LuSolve) = same_op;
WEFT_BATCHING(Det) = same_op;
WEFT_BATCHING(Slogdet) = same_op;
WEFT_BATCHING(Cholesky) = same_op;
WEFT_BATCHING(SolveTriangular) = same_op;
WEFT_BATCHING(Geqrf) = same_op;
WEFT_BATCHING(Pinv) = same_op;
WEFT_BATCHING(Eig) = same_op;
WEFT_BATCHING(MatrixExp) = same_op;

namespace detail {
/// Vectors that are not computed have shape [0], whatever the batch.
inline constexpr auto with_vectors = [](const auto& op, const Call& call) {
  std::vector<Tensor> out = call.run(op, call.whole());
  for (Tensor& x : out)
    if (!op.vectors && x.shape() == Shape{0}) x = zeros({call.size(), 0}, x.dtype(), x.device());
  return out;
};
}  // namespace detail
WEFT_BATCHING(Qr) = detail::with_vectors;
WEFT_BATCHING(Svd) = detail::with_vectors;
WEFT_BATCHING(Eigh) = detail::with_vectors;

}  // namespace weft::batching
