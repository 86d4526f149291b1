// Singular value decompositions of low rank by random projection: Halko, Martinsson and Tropp 2009, "Finding structure
// with randomness", arXiv 0909.4061, algorithms 4.4 and 5.1. The last two axes are matrices, the others are batch axes.
// f32 and f64.
#pragma once

#include <optional>

#include "tensor/core/random.h"
#include "tensor/tensor.h"

namespace weft {

struct LowRankResult {
  Tensor u, s, v;  // (..., m, q), (..., q) and (..., n, q)
};
struct SvdLowrankOptions {
  int64_t q = 6;                   // singular values; more than min(m, n) count as min(m, n)
  int64_t niter = 2;               // multiplications with a a^T, which make the largest singular values more precise
  Tensor m = {};                   // if given, a - m is decomposed; it broadcasts with a
  Generator* generator = nullptr;  // draws the projection; default: the process's generator
};
/// The q largest singular values, descending, and their vectors, as columns: a ~ u diag(s) v^T. It takes
/// O((1 + niter) m n q) operations instead of svd()'s O(m n min(m, n)). The result is exact up to rounding if the rank
/// of a is at most q; otherwise it depends on the random numbers drawn, and the last values are the least precise: take
/// q a little larger than needed. Gradients are those of qr() and svd(), and an Error if the rank of a is below q.
/// Error unless q and niter are 0 or more. DtypeError unless f32 or f64.
LowRankResult svd_lowrank(const Tensor& a, const SvdLowrankOptions& options = {});

struct PcaLowrankOptions {
  std::optional<int64_t> q = {};  // default: min(6, m, n)
  bool center = true;             // the mean of the rows is subtracted first; false: they are centered already
  int64_t niter = 2;
  Generator* generator = nullptr;
};
/// Principal components of the rows of a (..., m, n): svd_lowrank() of the rows minus their mean. The columns of v are
/// the principal directions, s^2 / (m - 1) are their variances, and matmul(a, v) projects rows onto them. Error unless
/// q lies between 0 and min(m, n) and niter is 0 or more.
LowRankResult pca_lowrank(const Tensor& a, const PcaLowrankOptions& options = {});

}  // namespace weft
