// Normalized vectors, and the similarity and distance of pairs of vectors; statistics.h has dist, cdist and pdist.
#pragma once

#include <concepts>

#include "tensor/tensor.h"

namespace weft {

struct NormalizeOptions {
  double p = 2;
  int64_t axis = 1;
  double eps = 1e-12;
};
/// x / max(norm, eps), where norm is the p-norm of x along `axis`. The shape stays the same.
Tensor normalize(const Tensor& x, const NormalizeOptions& options = {});
/// The same with separate arguments. A template, so that normalize(x, {}) means default options and not p = 0.
template <std::convertible_to<double> T> Tensor normalize(const Tensor& x, T p, int64_t axis = 1, double eps = 1e-12) {
  return normalize(x, NormalizeOptions{static_cast<double>(p), axis, eps});
}
/// sum(a b) / (max(|a|, eps) max(|b|, eps)), with sums and norms along `axis`. The result does not have that axis.
/// a and b broadcast, and their dtypes promote. DtypeError unless the promoted dtype is floating.
Tensor cosine_similarity(const Tensor& a, const Tensor& b, int64_t axis = 1, double eps = 1e-8);
/// The p-norm of a - b + eps along the last axis; a and b broadcast.
Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p = 2, double eps = 1e-6, KeepDim keep = {});

}  // namespace weft
