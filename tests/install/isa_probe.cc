// Prints which kernels run, and what they compute: one number for each line, for workspace_test.sh to compare.
#include <cstdio>

#include "tensor/kernels/cpu/base/instruction_set.h"
#include "weft.h"

using namespace weft;

namespace {

void print(const char* name, const Tensor& x) {
  std::printf("%s %.6f %.6f\n", name, (x * x).mean().item<double>(), x.flatten()[3].item<double>());
}

/// The value and the gradient of f(x).
template <class F> void print_both(const char* name, const Tensor& x, F&& f) {
  const Tensor leaf = parameter(x.clone());
  const Tensor y = f(leaf);
  print(name, y);
  (y * y).sum().backward();
  print(name, leaf.grad());
}

}  // namespace

int main() {
  manual_seed(1);
  std::printf("%s\n", kernels::cpu::instruction_set());
  const Tensor x = randn({96, 257});
  const Tensor w = randn({257, 130});
  const Tensor images = randn({4, 8, 19, 19});
  const Tensor filters = randn({16, 8, 3, 3});
  print_both("matmul", x, [&](const Tensor& a) { return matmul(a, w); });
  print_both("matmul_f64", x.to(f64), [&](const Tensor& a) { return matmul(a, w.to(f64)); });
  print_both("conv2d", images, [&](const Tensor& a) { return conv2d(a, filters, {}, {.padding = 1}); });
  print_both("gelu", x, [](const Tensor& a) { return gelu(a); });
  print_both("exp", x, [](const Tensor& a) { return exp(a); });
  print_both("log_softmax", x, [](const Tensor& a) { return log_softmax(a, 1); });
  print_both("layer_norm", x, [](const Tensor& a) { return layer_norm(a, {a.size(-1)}) * a; });
  print_both("bf16", x, [](const Tensor& a) { return a.to(bf16).to(f32) * 3.0; });
}
