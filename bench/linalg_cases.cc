#include "bench/linalg_cases.h"

#include <utility>

namespace weft::bench {
namespace {

using X = const Tensors&;

/// Positive definite matrices, then normal numbers in the other shapes.
Inputs positive_and_floats(const Shape& matrices, const std::vector<Shape>& others) {
  return [=] {
    const Tensor a = randn(matrices);
    const int64_t n = a.size(-1);
    Tensors out{matmul(a, a.transpose(-1, -2)) + eye(n) * static_cast<double>(n)};
    for (Tensor& other : floats(others)()) out.push_back(std::move(other));
    return out;
  };
}
Inputs positive(const Shape& matrices) { return positive_and_floats(matrices, {}); }

}  // namespace

// NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks): the analyzer loses the functions that the list copies
std::vector<Case> linalg_cases() {
  return {
      {"einsum bij,bjk->bik 32x128", both, floats({{32, 128, 128}, {32, 128, 128}}),
       [](X x) {
         return einsum("bij,bjk->bik", {x[0], x[1]});
       }},
      {"einsum bqhd,bkhd->bhqk 8x128x8x64", both, floats({{8, 128, 8, 64}, {8, 128, 8, 64}}),
       [](X x) {
         return einsum("bqhd,bkhd->bhqk", {x[0], x[1]});
       }},
      {"einsum ij,jk,kl->il 512", both, floats({{512, 512}, {512, 512}, {512, 512}}),
       [](X x) {
         return einsum("ij,jk,kl->il", {x[0], x[1], x[2]});
       }},
      {"einsum bi,bj,ijk->bk 64", both, floats({{64, 64}, {64, 64}, {64, 64, 64}}),
       [](X x) {
         return einsum("bi,bj,ijk->bk", {x[0], x[1], x[2]});
       }},
      {"solve 512, 512 right sides", both, positive_and_floats({512, 512}, {{512, 512}}),
       [](X x) { return solve(x[0], x[1]); }},
      {"solve 512, 1 right side", forward, positive_and_floats({512, 512}, {{512, 1}}),
       [](X x) { return solve(x[0], x[1]); }},
      {"solve 1000 of 8x8", forward, positive_and_floats({1000, 8, 8}, {{1000, 8, 4}}),
       [](X x) { return solve(x[0], x[1]); }},
      {"inv 512", forward, positive({512, 512}), [](X x) { return inv(x[0]); }},
      {"cholesky 512", both, positive({512, 512}), [](X x) { return cholesky(x[0]); }},
      {"cholesky 1000 of 8x8", forward, positive({1000, 8, 8}), [](X x) { return cholesky(x[0]); }},
      {"qr 512", both, floats({{512, 512}}), [](X x) { return qr(x[0]).q; }},
      {"qr 1000 of 8x8", forward, floats({{1000, 8, 8}}), [](X x) { return qr(x[0]).q; }},
      {"svd 512", forward, floats({{512, 512}}), [](X x) { return svd(x[0], false).s; }},
      {"svd 1000x100", forward, floats({{1000, 100}}), [](X x) { return svd(x[0], false).s; }},
      {"svd 100 of 16x16", forward, floats({{100, 16, 16}}), [](X x) { return svd(x[0], false).s; }},
      {"svdvals 512", forward, floats({{512, 512}}), [](X x) { return svdvals(x[0]); }},
      {"eigh 512", forward, positive({512, 512}), [](X x) { return eigh(x[0]).eigenvalues; }},
      {"eigvalsh 512", forward, positive({512, 512}), [](X x) { return eigvalsh(x[0]); }},
      {"eigh 100 of 16x16", forward, positive({100, 16, 16}), [](X x) { return eigh(x[0]).eigenvalues; }},
  };
}
// NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)

}  // namespace weft::bench
