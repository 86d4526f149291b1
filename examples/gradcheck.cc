// Gradient-checking your own code: a layer composed of weft's ops, a function with a hand-written gradient, and the
// report for a wrong gradient.
//
//   ./bazelw run //examples:gradcheck
#include <cstdio>
#include <cstdlib>

#include "weft.h"

using namespace weft;

/// A gated layer, out = (W x + b) sigmoid(V x + c), composed of weft's ops; autograd derives its gradient.
struct Gated : nn::Module {
  nn::Linear value, gate;
  Gated(int64_t in, int64_t out)
      : value(register_module("value", nn::Linear(in, out))), gate(register_module("gate", nn::Linear(in, out))) {}
  Tensor forward(const Tensor& x) { return value(x) * sigmoid(gate(x)); }
};

/// x / (1 + |x|) with the hand-written gradient g / (1 + |x|)^2.
struct Softsign : autograd::Function<Softsign> {
  static Tensor forward(autograd::Context& context, const Tensor& x) {
    context.save(x);
    return x / (1.0 + abs(x));
  }
  static std::vector<Tensor> backward(autograd::Context& context, const Tensor& g) {
    return {g / square(1.0 + abs(context.saved(0)))};
  }
};

/// The same function with a common mistake in the gradient: the square is missing.
struct WrongSoftsign : autograd::Function<WrongSoftsign> {
  static Tensor forward(autograd::Context& context, const Tensor& x) {
    context.save(x);
    return x / (1.0 + abs(x));
  }
  static std::vector<Tensor> backward(autograd::Context& context, const Tensor& g) {
    return {g / (1.0 + abs(context.saved(0)))};
  }
};

/// Prints the result of the check. Returns whether it is the expected one.
static bool show(const char* what, const GradcheckResult& result, bool expected) {
  std::printf("%-52s %s\n", what, result ? "gradients agree" : "gradients differ:");
  if (!result) std::printf("%s\n", result.report().c_str());
  return bool(result) == expected;
}

int main() {
  manual_seed(0);
  // Finite differences need f64: in f32 their own error is larger than many mistakes.
  const Tensor x = randn({3, 4}, f64);
  Gated layer(4, 2);
  layer.to(f64);

  // gradcheck makes the input and every parameter a leaf, and checks all of them.
  const auto gated = [&](const std::vector<Tensor>& in) {
    return (matmul(in[0], in[1].t()) + in[2]) * sigmoid(matmul(in[0], in[3].t()) + in[4]);
  };
  const std::vector<Tensor> inputs = {x, layer.value.parameters()[0], layer.value.parameters()[1],
                                      layer.gate.parameters()[0], layer.gate.parameters()[1]};
  bool good = show("a layer of weft's ops, input and parameters:", gradcheck(gated, inputs), true);
  good &= show("the same module, with respect to its input:",
               gradcheck([&](const std::vector<Tensor>& in) { return layer.forward(in[0]); }, {x}), true);
  good &= show("its gradients' gradients:", gradgradcheck(gated, inputs), true);

  const auto right = [](const std::vector<Tensor>& in) { return Softsign::apply(in[0]); };
  good &= show("a function with a gradient written by hand:", gradcheck(right, {x}), true);
  good &= show("its gradient's gradient:", gradgradcheck(right, {x}), true);

  std::printf("\nAnd a gradient with a mistake in it (the square is missing):\n");
  const auto wrong = [](const std::vector<Tensor>& in) { return WrongSoftsign::apply(in[0]); };
  good &= show("a wrong gradient:", gradcheck(wrong, {x}), false);
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
