#include "tools/docs/composed.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "tensor/dispatch/observer.h"
#include "tensor/dispatch/op_info.h"
#include "tensor/functions_all.h"

namespace weft {
namespace {

/// The names of the ops that ran, each once.
struct Names : Observer {
  void begin(const ObserverEvent& event) override {
    if (event.kind != ObserverEvent::Kind::op) return;
    const std::string name(event.info->name);
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  }
  std::vector<std::string> list;
};

void row(const char* call, const std::function<void()>& run) {
  Names names;
  {
    const ObserverScope scope(names);
    run();
  }
  std::sort(names.list.begin(), names.list.end());  // compilers evaluate arguments in different orders
  std::string ops;
  for (const std::string& name : names.list) ops += (ops.empty() ? "`" : ", `") + name + "`";
  std::printf("| `%s` | %s |\n", call, ops.c_str());
}
#define WEFT_CALL(...) row(#__VA_ARGS__, [&] { (void)(__VA_ARGS__); })

/// A symmetric positive definite matrix.
Tensor definite() { return eye(3) * 4.0 + ones({3, 3}); }

void reductions(const Tensor& x) {
  WEFT_CALL(mean(x, 0));
  WEFT_CALL(stddev(x, 0));
  WEFT_CALL(var_mean(x, 0));
  WEFT_CALL(nansum(x, 0));
  WEFT_CALL(nanmean(x, 0));
  WEFT_CALL(count_nonzero(x, 0));
  WEFT_CALL(mode(x, 0));
  WEFT_CALL(quantile(x, 0.5, {.axis = 0}));
  WEFT_CALL(cov(x));
  WEFT_CALL(corrcoef(x));
  WEFT_CALL(dist(x, x * 2.0));
  WEFT_CALL(cdist(x, x));
  WEFT_CALL(histc(x, 4));
  WEFT_CALL(unique(x));
  WEFT_CALL(diff(x));
  WEFT_CALL(trapezoid(x));
}

void products(const Tensor& x) {
  const Tensor v = x[0], square = matmul(x, x.t());
  WEFT_CALL(einsum("ij,kj->ik", {x, x}));
  WEFT_CALL(tensordot(x, x.t(), 1));
  WEFT_CALL(outer(v, v));
  WEFT_CALL(kron(x, x));
  WEFT_CALL(cross(x, x * 2.0));
  WEFT_CALL(trace(square));
  WEFT_CALL(addmm(square, x, x.t()));
  WEFT_CALL(matrix_power(square, 3));
  WEFT_CALL(vander(v));
}

void matrices(const Tensor& a) {
  const Tensor b = ones({3, 2}), l = cholesky(a);
  const LuFactorResult f = lu_factor(a);
  const GeqrfResult r = geqrf(a);
  WEFT_CALL(solve(a, b));
  WEFT_CALL(inv(a));
  WEFT_CALL(solve_ex(a, b));
  WEFT_CALL(inv_ex(a));
  WEFT_CALL(lu(a));
  WEFT_CALL(lu_solve(f.lu, f.pivots, b));
  WEFT_CALL(det(a));
  WEFT_CALL(lstsq(a, b));
  WEFT_CALL(householder_product(r.a, r.tau));
  WEFT_CALL(ormqr(r.a, r.tau, b));
  WEFT_CALL(svd_lowrank(a));
  WEFT_CALL(pca_lowrank(a));
  WEFT_CALL(cholesky_solve(b, l));
  WEFT_CALL(cholesky_inverse(l));
  WEFT_CALL(matrix_rank(a));
  WEFT_CALL(matrix_norm(a));
  WEFT_CALL(matrix_norm(a, MatrixNorm::nuclear));
  WEFT_CALL(matrix_norm(a, 1.0));
  WEFT_CALL(matrix_norm(a, 2.0));
  WEFT_CALL(cond(a));
}

void parts(const Tensor& x) {
  const Tensor index = tensor({0, 2}), mask = x > 0.0;
  WEFT_CALL(x.index({index, Slice()}));
  WEFT_CALL(index_put(x, {index}, 0));
  WEFT_CALL(take(x, index));
  WEFT_CALL(take_along_dim(x, index.view({1, 2}), 1));
  WEFT_CALL(scatter_reduce(x, 0, zeros({3, 3}, i64), x, "mean"));
  WEFT_CALL(masked_fill(x, mask, tensor(1.0)));
  WEFT_CALL(pad(x, {{1, 1}, {0, 0}}, PadMode::constant, 2.0));
  WEFT_CALL(pad(x, {{1, 1}, {0, 0}}, PadMode::reflect));
  WEFT_CALL(pad(x, {{1, 1}, {0, 0}}, PadMode::replicate));
  WEFT_CALL(pad(x, {{1, 1}, {0, 0}}, PadMode::circular));
  WEFT_CALL(roll(x, {1}, {0}));
  WEFT_CALL(tile(x, {2, 2}));
  WEFT_CALL(repeat_interleave(x, 2, 0));
  WEFT_CALL(rot90(x));
  WEFT_CALL(diag_embed(x));
  WEFT_CALL(rearrange(x, "a b -> (b a)"));
  WEFT_CALL(reduce(x, "a b -> a", "mean"));
}

void elements(const Tensor& x) {
  WEFT_CALL(lerp(x, x * 2.0, 0.5));
  WEFT_CALL(addcmul(x, x, x));
  WEFT_CALL(logit(x));
  WEFT_CALL(sinc(x));
  WEFT_CALL(mvlgamma(x, 2));
  WEFT_CALL(glu(x.t().index({Slice(0, 2)}), 0));
  WEFT_CALL(normalize(x));
  WEFT_CALL(cosine_similarity(x, x * 2.0));
  WEFT_CALL(bernoulli(x * 0.0));
  WEFT_CALL(weft::normal(x, 1.0));
}

void images() {
  const Tensor x = ones({1, 4, 6, 6}), weight = ones({2, 4, 3, 3});
  WEFT_CALL(conv2d(x, weight, {.padding = SamePadding()}));
  WEFT_CALL(conv2d(x, weight, {.padding = 1, .padding_mode = PadMode::reflect}));
  WEFT_CALL(conv_transpose2d(x, ones({4, 2, 3, 3}), ones({2})));
  WEFT_CALL(adaptive_avg_pool2d(x, 3));
  WEFT_CALL(lp_pool2d(x, 2, {.kernel_size = 2}));
  WEFT_CALL(fractional_max_pool2d(x, {.kernel_size = 2, .output_size = 3}));
  WEFT_CALL(interpolate(x, {.size = {12, 12}}));
  WEFT_CALL(pixel_shuffle(x, 2));
  WEFT_CALL(im2col(x, {.kernel_size = 3}));
}

}  // namespace

void print_composed() {
  std::printf(
      "\n# Functions composed of ops\n\n"
      "The ops of one call by name, found by running it with x (3, 3), a symmetric and positive definite "
      "and images x (1, 4, 6, 6), in f32\n"
      "without a gradient.\n\n"
      "| call | ops |\n|---|---|\n");
  const Tensor x = tensor({{1.0, -2.0, 3.0}, {-4.0, 5.0, 6.0}, {7.0, 8.0, -9.0}});
  reductions(x);
  products(x);
  matrices(definite());
  parts(x);
  elements(x);
  images();
}

}  // namespace weft
