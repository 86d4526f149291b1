// Recurrent layers of bf16 that are wide enough for products of bf16, against f64: results and gradients, and that bits
// do not depend on the number of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "autograd/backward.h"
#include "autograd/leaf.h"
#include "nn/layers/recurrent.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/random.h"
#include "tensor/functions/recurrent.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/runtime/threads.h"

namespace weft {
namespace {

struct Size {
  int64_t rows, steps, hidden;
};

/// Inputs that are numbers of bf16: projected, weight, bias, h and c.
std::vector<Tensor> inputs_of(Recurrence kind, const Size& s) {
  const int64_t width = gates_of(kind) * s.hidden;
  const double scale = 1.0 / std::sqrt(static_cast<double>(s.hidden));
  return {randn({s.rows, s.steps, width}).to(bf16), (randn({width, s.hidden}) * scale).to(bf16),
          randn({width}).to(bf16), randn({s.rows, s.hidden}).to(bf16), randn({s.rows, s.hidden}).to(bf16)};
}

/// The results, and the gradients of all inputs.
std::vector<Tensor> run(Recurrence kind, const std::vector<Tensor>& values, DType dtype, const Tensor& lengths) {
  std::vector<Tensor> in;
  for (const Tensor& x : values) in.push_back(parameter(x.to(dtype).clone()));
  if (kind != Recurrence::lstm) in.pop_back();
  const RecurrentResult result = recurrent(kind, in[0], in[1],
                                           {.bias = in[2],
                                            .h = in[3],
                                            .c = kind == Recurrence::lstm ? in[4] : Tensor(),
                                            .lengths = lengths,
                                            .reverse = lengths.defined()});
  std::vector<Tensor> out = {result.output, result.h};
  const Tensor loss = sum(square(result.output.to(f64))) + sum(result.h.to(f64));
  for (const Tensor& g : grad({loss}, in)) out.push_back(g);
  return out;
}

/// The length of the difference, relative to that of `expected`.
double relative_error(const Tensor& x, const Tensor& expected) {
  const Tensor difference = x.to(f64) - expected;
  return std::sqrt(sum(square(difference)).item<double>() / sum(square(expected)).item<double>());
}

void check(Recurrence kind, const Size& size, const Tensor& lengths) {
  manual_seed(3);
  const std::vector<Tensor> values = inputs_of(kind, size);
  const std::vector<Tensor> expected = run(kind, values, f64, lengths);
  const int threads = num_threads();
  set_num_threads(1);
  const std::vector<Tensor> out = run(kind, values, bf16, lengths);
  set_num_threads(3);
  const std::vector<Tensor> same = run(kind, values, bf16, lengths);
  set_num_threads(threads);
  for (size_t i = 0; i < out.size(); ++i) {
    // A number of bf16 is within 2^-9 of what it stands for; a few such errors meet, in f32 as well.
    EXPECT_LT(relative_error(out[i], expected[i]), 8.0 / 512) << attribute_text(kind) << ", result " << i;
    EXPECT_EQ(out[i].to(f64).to_vector<double>(), same[i].to(f64).to_vector<double>()) << i;
  }
}

TEST(RecurrentHalf, FollowsF64) {
  for (const Recurrence kind : {Recurrence::rnn_tanh, Recurrence::lstm, Recurrence::gru}) {
    for (const Size& size : {Size{1, 5, 32}, {3, 4, 33}, {16, 3, 64}, {17, 2, 65}, {50, 4, 100}, {33, 1, 40}})
      check(kind, size, Tensor());
    check(kind, {5, 4, 72}, tensor({4, 0, 3, 1, 2}));
  }
}

}  // namespace
}  // namespace weft
