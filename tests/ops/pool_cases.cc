// Cases of 2-D pooling.
#include <cmath>
#include <limits>

#include "tensor/ops/fill.h"
#include "tensor/ops/pool.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

/// f of the elements of each window (those inside of x), in row-major order, and their number with padding.
Reference pooled(const Pool2dOptions& o, double (*f)(const std::vector<double>&, double)) {
  return [=](const Arrays& x) {
    const Pair stride = o.stride.value_or(o.kernel_size);
    auto size = [](int64_t in, int64_t kernel, int64_t step, int64_t padding, int64_t dilation) {
      return (in + 2 * padding - dilation * (kernel - 1) - 1) / step + 1;
    };
    const Shape& in = x[0].shape;
    const Shape out = {in[0], in[1],
                       size(in[2], o.kernel_size.height, stride.height, o.padding.height, o.dilation.height),
                       size(in[3], o.kernel_size.width, stride.width, o.padding.width, o.dilation.width)};
    return build(out, [&](const Index& y) {
      std::vector<double> window;
      for (const Index& tap : indices_of({o.kernel_size.height, o.kernel_size.width})) {
        const int64_t row = y[2] * stride.height - o.padding.height + tap[0] * o.dilation.height;
        const int64_t column = y[3] * stride.width - o.padding.width + tap[1] * o.dilation.width;
        if (row >= 0 && row < in[2] && column >= 0 && column < in[3])
          window.push_back(x[0].at({y[0], y[1], row, column}));
      }
      return f(window, static_cast<double>(o.kernel_size.height * o.kernel_size.width));
    });
  };
}

double largest(const std::vector<double>& window, double) {
  double out = -std::numeric_limits<double>::infinity();
  for (double v : window) out = std::isnan(v) || std::isnan(out) ? v + out : std::max(out, v);
  return out;
}
double average(const std::vector<double>& window, double count) {
  double sum = 0;
  for (double v : window) sum += v;
  return sum / count;
}

void add(Cases& cases, const std::string& name, const Pool2dOptions& o) {
  cases
      .add(
          "max pool " + name,
          {{distinct({2, 3, 4, 5})},
           {distinct({1, 1, 5, 4})},
           {distinct({0, 2, 4, 4})},
           {distinct({2, 17, 4, 4})},
           {special({1, 2, 6, 6})}},
          [o](const Inputs& x) { return max_pool2d(x[0], o); }, pooled(o, largest))
      .accepts(kFloating);
  if (o.dilation == Pair(1))
    cases
        .add(
            "avg pool " + name,
            {{normal({2, 3, 4, 5})}, {normal({1, 1, 5, 4})}, {normal({0, 2, 4, 4})}, {normal({2, 17, 4, 4})}},
            [o](const Inputs& x) { return avg_pool2d(x[0], o); }, pooled(o, average))
        .accepts(kFloating);
}

/// The values of x[1] where the windows of x[0] have their maxima.
void add_gather(Cases& cases) {
  auto frozen = [](const Shape& shape) {
    InputSpec spec = distinct(shape);
    spec.differentiable = false;
    return spec;
  };
  cases
      .add(
          "max pool gather",
          {{frozen({1, 2, 4, 4}), normal({1, 2, 4, 4})}, {frozen({2, 1, 2, 6}), normal({2, 1, 2, 6})}},
          [](const Inputs& x) {
    const Pool2dOptions o{.kernel_size = 2};
    return max_pool2d_gather(x[1], apply(op::MaxPool2d{o}, x[0])[1], o);
          },
          [](const Arrays& x) {
    const Shape& in = x[0].shape;
    return build({in[0], in[1], in[2] / 2, in[3] / 2}, [&](const Index& y) {
      Index best{y[0], y[1], 2 * y[2], 2 * y[3]};
      for (const Index& tap : indices_of({2, 2})) {
        const Index at{y[0], y[1], 2 * y[2] + tap[0], 2 * y[3] + tap[1]};
        if (x[0].at(at) > x[0].at(best)) best = at;
      }
      return x[1].at(best);
    });
      })
      .accepts(kFloating)
      .no_layouts();
}

void add_backward(Cases& cases) {
  const Pool2dOptions o{.kernel_size = 2, .stride = 1};
  cases
      .add(
          "avg pool backward", {{normal({1, 2, 2, 3})}, {normal({2, 1, 2, 3})}},
          [o](const Inputs& x) {
    return avg_pool2d_backward(x[0], {x[0].size(0), x[0].size(1), 3, 4}, o);
          },
          [](const Arrays& x) {
    const Shape& out = x[0].shape;
    return build({out[0], out[1], 3, 4}, [&](const Index& at) {
      double sum = 0;
      for (const Index& y : indices_of({out[2], out[3]}))
        if (at[2] - y[0] >= 0 && at[2] - y[0] < 2 && at[3] - y[1] >= 0 && at[3] - y[1] < 2)
          sum += x[0].at({at[0], at[1], y[0], y[1]}) / 4;
      return sum;
    });
      })
      .accepts(kFloating);
}

void add_errors(Cases& cases) {
  using Function = Tensor (*)(const Tensor&, const Pool2dOptions&);
  for (const auto& [name, f] :
       {std::pair<std::string, Function>{"max_pool2d", max_pool2d}, {"avg_pool2d", avg_pool2d}}) {
    cases.error<ShapeError>(
        name + " rank",
        [f = f] {
      f(ones({3, 4, 4}), {.kernel_size = 2});
        },
        name + "([3, 4, 4] f32): x must be (N, C, H, W), not [3, 4, 4]");
    cases.error<Error>(
        name + " kernel",
        [f = f] {
      f(ones({1, 1, 4, 4}), {});
        },
        name + "([1, 1, 4, 4] f32): kernel size 0 must be at least 1");
    cases.error<Error>(
        name + " stride",
        [f = f] {
      f(ones({1, 1, 4, 4}), {.kernel_size = 2, .stride = Pair(1, 0)});
        },
        name + "([1, 1, 4, 4] f32): stride 0 must be at least 1");
    cases.error<Error>(
        name + " padding",
        [f = f] {
      f(ones({1, 1, 4, 4}), {.kernel_size = 2, .padding = 2});
        },
        name + "([1, 1, 4, 4] f32): padding 2 must lie between 0 and half the kernel size 2");
    cases.error<ShapeError>(
        name + " window",
        [f = f] {
      f(ones({1, 1, 2, 4}), {.kernel_size = 3});
        },
        name + "([1, 1, 2, 4] f32): the window of 3 is larger than the padded input [1, 1, 2, 4]");
    cases.error<DtypeError>(
        name + " of integers",
        [f = f] {
      f(ones({1, 1, 2, 2}, i64), {.kernel_size = 2});
        },
        name + "([1, 1, 2, 2] i64): i64 is not accepted here; it takes floating dtypes");
  }
  cases.error<Error>(
      "max_pool2d dilation",
      [] {
    max_pool2d(ones({1, 1, 2, 2}), {.kernel_size = 2, .dilation = 0});
      },
      "max_pool2d([1, 1, 2, 2] f32): dilation 0 must be at least 1");
  cases.error<Error>(
      "avg_pool2d dilation",
      [] {
    avg_pool2d(ones({1, 1, 5, 5}), {.kernel_size = 2, .dilation = 2});
      },
      "avg_pool2d([1, 1, 5, 5] f32): dilation is for max_pool2d only");
  cases.error<ShapeError>(
      "avg_pool2d_backward shape",
      [] {
    avg_pool2d_backward(ones({1, 1, 2, 2}), {1, 1, 2, 2}, {.kernel_size = 2});
      },
      "avg_pool2d_backward([1, 1, 2, 2] f32): the gradient must have shape [1, 1, 1, 1], not [1, 1, 2, 2]");
}

}  // namespace

void add_pool_cases(Cases& cases) {
  add(cases, "2x2", {.kernel_size = 2});
  add(cases, "3x2 overlapping", {.kernel_size = {3, 2}, .stride = Pair(1)});
  add(cases, "padded", {.kernel_size = 3, .stride = Pair(2, 1), .padding = 1});
  add(cases, "dilated", {.kernel_size = 2, .stride = Pair(1), .dilation = {2, 1}});
  add_gather(cases);
  add_backward(cases);
  add_errors(cases);
}

}  // namespace weft::testing
