// Gradients where mathematics leaves a choice: kinks, ties, zeros. No finite difference can check them.
#include <cmath>

#include "autograd/autograd.h"
#include "tensor/functions/activation.h"
#include "tensor/functions/arg_reduce.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/ctc_loss.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/pool.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/scan.h"
#include "tensor/functions/sort.h"
#include "tensor/functions/special.h"
#include "tensor/functions/triangular.h"
#include "tensor/functions/unary.h"
#include "tests/device/simulated_device.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

/// The gradient of the sum of f at `at`, which must be `expected`.
void add(Cases& cases, const std::string& name, const Shape& shape, const std::vector<double>& at,
         const std::vector<double>& expected, const std::function<Tensor(const Tensor&)>& f) {
  const Call gradient = [f](const Inputs& x) {
    const Tensor leaf = parameter(x[0].detach());
    return grad({sum(f(leaf))}, {leaf})[0];
  };
  cases
      .add("gradient of " + name, {{given(shape, at)}}, gradient,
           [=](const Arrays&) {
             return Array{shape, expected};
           })
      .compares(kFloating)
      .no_gradient();
}

void add_kinks(Cases& cases) {
  add(cases, "relu at 0", {3}, {-1, 0, 1}, {0, 0, 1}, [](const Tensor& x) { return relu(x); });
  add(cases, "abs at 0", {3}, {-1, 0, 1}, {-1, 0, 1}, [](const Tensor& x) { return abs(x); });
  add(cases, "clip at its bounds", {5}, {-2, -1, 0, 1, 2}, {0, 1, 1, 1, 0},
      [](const Tensor& x) { return clip(x, -1.0, 1.0); });
  add(cases, "clip of NaN", {2}, {NAN, 0}, {0, 1}, [](const Tensor& x) { return clip(x, -1.0, 1.0); });
  add(cases, "clip at NaN", {2}, {-1, 1}, {0, 0}, [](const Tensor& x) { return clip(x, std::nullopt, NAN); });
  add(cases, "hardtanh of NaN", {2}, {NAN, 0}, {0, 1}, [](const Tensor& x) { return hardtanh(x); });
  // Of NaN, PyTorch gives 0 in whole registers and 1 in what is left of a row.
  add(cases, "softshrink of NaN", {2}, {NAN, 1}, {1, 1}, [](const Tensor& x) { return softshrink(x); });
  add(cases, "elu of NaN", {2}, {NAN, 1}, {1, 1}, [](const Tensor& x) { return elu(x); });
  add(cases, "hardswish at its kinks", {3}, {-3, 0, 3}, {0, 0.5, 1}, [](const Tensor& x) { return hardswish(x); });
  add(cases, "sqrt at 0", {2}, {0, 4}, {INFINITY, 0.25}, [](const Tensor& x) { return sqrt(x); });
  add(cases, "pow 2 at 0", {2}, {0, 3}, {0, 6}, [](const Tensor& x) { return pow(x, 2.0); });
  add(cases, "pow 0 at 0", {2}, {0, 3}, {0, 0}, [](const Tensor& x) { return pow(x, 0.0); });
  add(cases, "a power of 0", {3}, {0, 2, -1}, {0, 0, -INFINITY}, [](const Tensor& x) { return pow(0.0, x); });
  add(cases, "a power of a tensor's 0", {4}, {0, 0.25, 2, -1}, {0, 0, 0, -INFINITY},
      [](const Tensor& x) { return pow(zeros_like(x), x); });
  add(cases, "pow of 0 to a tensor", {2}, {0, 1}, {0, 0},
      [](const Tensor& x) { return pow(x * 0.0, x.detach() * 0.0); });
}

void add_ties(Cases& cases) {
  add(cases, "max with ties", {2, 3}, {1, 1, 0, 2, 2, 2}, {0.5, 0.5, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3},
      [](const Tensor& x) { return max(x, 1); });
  add(cases, "min with ties", {4}, {3, 1, 1, 2}, {0, 0.5, 0.5, 0}, [](const Tensor& x) { return min(x); });
  add(cases, "max with indices and ties", {3}, {2, 2, 1}, {1, 0, 0},
      [](const Tensor& x) { return max_with_indices(x, 0).values; });
  add(cases, "min with indices and ties", {3}, {2, 1, 1}, {0, 1, 0},
      [](const Tensor& x) { return min_with_indices(x, 0).values; });
  add(cases, "maximum with ties", {2}, {1, 3}, {0.5, 1}, [](const Tensor& x) { return maximum(x, ones_like(x)); });
  add(cases, "minimum with ties", {2}, {1, 3}, {0.5, 0}, [](const Tensor& x) { return minimum(x, ones_like(x)); });
  add(cases, "clip at bounds that are tensors", {5}, {-2, -1, 0, 1, 2}, {0, 1, 1, 1, 0},
      [](const Tensor& x) { return clip(x, full_like(x, -1), full_like(x, 1)); });
  add(cases, "a bound that is met", {3}, {-1, 0, 1}, {0, 0, 1},
      [](const Tensor& x) { return clamp_min(zeros_like(x), x); });
  add(cases, "median with ties", {5}, {1, 2, 2, 0, 3}, {0, 0.5, 0.5, 0, 0}, [](const Tensor& x) { return median(x); });
  add(cases, "nanmedian with ties", {6}, {1, 2, NAN, 2, 0, 3}, {0, 0.5, 0, 0.5, 0, 0},
      [](const Tensor& x) { return nanmedian(x); });
  add(cases, "maximum of a tensor and itself", {2}, {1, 3}, {1, 1}, [](const Tensor& x) { return maximum(x, x); });
  add(cases, "maximum at NaN", {3}, {NAN, 1, 2}, {1, 1, 1}, [](const Tensor& x) {
    return maximum(x, x.detach() * tensor({1.0, double{NAN}, 0.5}, x.dtype()).to(x.device()));
  });
  add(cases, "minimum at NaN", {3}, {NAN, 1, 2}, {1, 1, 0}, [](const Tensor& x) {
    return minimum(x, x.detach() * tensor({1.0, double{NAN}, 0.5}, x.dtype()).to(x.device()));
  });
  add(cases, "max pool with ties", {1, 1, 2, 2}, {5, 5, 5, 5}, {1, 0, 0, 0},
      [](const Tensor& x) { return max_pool2d(x, {.kernel_size = 2}); });
}

/// Two sequences of three steps, of which the first has two, and no alignment that fits.
void add_impossible(Cases& cases) {
  const auto loss = [](bool zero_infinity) {
    return [=](const Tensor& x) {
      const Tensor targets = tensor({{1, 1}, {1, 2}}).to(x.device()), inputs = tensor({2, 2}).to(x.device());
      return ctc_loss(x, targets, inputs, tensor({2, 2}).to(x.device()),
                      {.reduction = Reduction::none, .zero_infinity = zero_infinity});
    };
  };
  const std::vector<double> at(18, -1);
  add(cases, "an impossible ctc loss", {3, 2, 3}, at,
      {NAN, NAN, NAN, 0, -1, 0, NAN, NAN, NAN, 0, 0, -1, 0, 0, 0, 0, 0, 0}, loss(false));
  add(cases, "a zeroed ctc loss", {3, 2, 3}, at, {0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0}, loss(true));
}

void add_zeros(Cases& cases) {
  add(cases, "prod with a zero", {3}, {2, 0, 4}, {0, 8, 0}, [](const Tensor& x) { return prod(x); });
  add(cases, "prod with two zeros", {3}, {0, 0, 4}, {0, 0, 0}, [](const Tensor& x) { return prod(x); });
  add(cases, "xlogy at 0", {3}, {0, 2, 0}, {0, -INFINITY, std::log(0.25)}, [](const Tensor& x) {
    return xlogy(x, tensor({0.0, 0.0, 0.25}, x.dtype()).to(x.device()));
  });
  add(cases, "copysign at 0", {3}, {-2, 0, 3}, {1, 0, -1}, [](const Tensor& x) { return copysign(x, -ones_like(x)); });
  add(cases, "var of fewer than the correction", {2}, {1, 2}, {-INFINITY, INFINITY},
      [](const Tensor& x) { return var(x, {}, 3); });
  add(cases, "i1 at 0", {1}, {0}, {0.5}, [](const Tensor& x) { return i1(x); });
  add(cases, "bessel_j1 at 0", {1}, {0}, {0.5}, [](const Tensor& x) { return bessel_j1(x); });
  add(cases, "i1e at 0", {1}, {0}, {0.5}, [](const Tensor& x) { return i1e(x); });
  add(cases, "atan2 at the origin", {3}, {0, 1, -1}, {0, 0.5, -0.5},
      [](const Tensor& x) { return atan2(x, x.detach()); });
  for (const double p : {0.0, 1.0, 2.0, 3.0})
    add(cases, "norm " + std::to_string(static_cast<int>(p)) + " at 0", {2}, {0, 0}, {0, 0},
        [p](const Tensor& x) { return norm(x, p); });
  add(cases, "norm 0.5 with a 0", {2}, {0, 4}, {0, 1}, [](const Tensor& x) { return norm(x, 0.5); });
  add(cases, "lp pool of zeros", {1, 1, 4}, {0, 0, 3, 4}, {0, 0, 0.6, 0.8},
      [](const Tensor& x) { return lp_pool1d(x, 2, {.kernel_size = 2}); });
  add(cases, "lp pool 0.5 with a 0", {1, 1, 2}, {0, 4}, {0, 1},
      [](const Tensor& x) { return lp_pool1d(x, 0.5, {.kernel_size = 2}); });
  add(cases, "logcumsumexp of -inf", {3}, {-INFINITY, -INFINITY, 1}, {0, 0, 1},
      [](const Tensor& x) { return logcumsumexp(x, 0); });
  add(cases, "logcumsumexp of inf", {4}, {-INFINITY, INFINITY, 1, 2}, {0, NAN, 0, 0},
      [](const Tensor& x) { return logcumsumexp(x, 0); });
  add(cases, "logsumexp of -inf", {2}, {-INFINITY, -INFINITY}, {0, 0}, [](const Tensor& x) { return logsumexp(x); });
  // Differences that keep the matrix symmetric cannot tell: each half takes its share.
  add(cases, "cholesky", {2, 2}, {0, 0, 0, 0}, {0.1875, 0.125, 0.125, 0.75}, [](const Tensor& x) {
    const Tensor a = tensor({4.0, 2.0, 2.0, 5.0}, f64).view({2, 2}), g = tensor({1.0, 0.0, 2.0, 3.0}, f64).view({2, 2});
    return cholesky(x.to(f64) + a.to(x.device())) * g.to(x.device());
  });
  add(cases, "embedding's padding row", {3, 1}, {1, 2, 3}, {1, 0, 2}, [](const Tensor& x) {
    return embedding(tensor({0, 1, 2, 2, 1}).to(x.device()), x, 1);
  });
}

}  // namespace

void add_convention_cases(Cases& cases) {
  (void)simulated_device();
  cases
      .add("to another device and back", {{normal({3, 4})}, {normal({0})}, {normal({})}},
           CALL(x[0].to(Device::extension(1)).to(x[0].device())), pointwise([](double a) { return a; }))
      .accepts(kAll)
      .no_vmap(1);
  add_kinks(cases);
  add_ties(cases);
  add_impossible(cases);
  add_zeros(cases);
}

}  // namespace weft::testing
