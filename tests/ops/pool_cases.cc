// Cases of 2-D pooling.
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "tensor/adjoints/pool.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/pool.h"
#include "tensor/ops/pool.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

Shape output_of(const Shape& in, const Pool2dOptions& o) {
  const Pair stride = o.stride.value_or(o.kernel_size);
  auto size = [](int64_t in, int64_t kernel, int64_t step, int64_t padding, int64_t dilation) {
    return (in + 2 * padding - dilation * (kernel - 1) - 1) / step + 1;
  };
  return {in[0], in[1], size(in[2], o.kernel_size.height, stride.height, o.padding.height, o.dilation.height),
          size(in[3], o.kernel_size.width, stride.width, o.padding.width, o.dilation.width)};
}

/// The pixels of an input of shape `in` that window `y` holds, in row-major order.
std::vector<Index> window_of(const Shape& in, const Index& y, const Pool2dOptions& o) {
  const Pair stride = o.stride.value_or(o.kernel_size);
  std::vector<Index> out;
  for (const Index& tap : indices_of({o.kernel_size.height, o.kernel_size.width})) {
    const int64_t row = y[2] * stride.height - o.padding.height + tap[0] * o.dilation.height;
    const int64_t column = y[3] * stride.width - o.padding.width + tap[1] * o.dilation.width;
    if (row >= 0 && row < in[2] && column >= 0 && column < in[3]) out.push_back({y[0], y[1], row, column});
  }
  return out;
}

/// What a mean divides by.
double divisor(const std::vector<Index>& window, const Pool2dOptions& o) {
  return o.count_include_pad ? static_cast<double>(o.kernel_size.height * o.kernel_size.width)
                             : static_cast<double>(window.size());
}

/// f of the elements of each window (those inside of x), in row-major order, and of what a mean divides by.
Reference pooled(const Pool2dOptions& o, double (*f)(const std::vector<double>&, double)) {
  return [=](const Arrays& x) {
    return build(output_of(x[0].shape, o), [&](const Index& y) {
      const std::vector<Index> window = window_of(x[0].shape, y, o);
      std::vector<double> values;
      for (const Index& at : window) values.push_back(x[0].at(at));
      return f(values, divisor(window, o));
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

InputSpec frozen(const Shape& shape) {
  InputSpec spec = distinct(shape);
  spec.differentiable = false;
  return spec;
}

Index first_maximum(const Array& x, const std::vector<Index>& window) {
  Index best = window.at(0);
  for (const Index& at : window)
    if (x.at(at) > x.at(best)) best = at;
  return best;
}

/// What flows back to each pixel of an input of shape `in`: `share(y, pixel)` of each window that holds it.
Array flowed_back(const Shape& in, const Shape& out, const Pool2dOptions& o,
                  const std::function<double(const Index&, const Index&, const std::vector<Index>&)>& share) {
  std::map<Index, double> sums;
  for (const Index& y : indices_of(out)) {
    const std::vector<Index> window = window_of(in, y, o);
    for (const Index& at : window) sums[at] += share(y, at, window);
  }
  return build(in, [&](const Index& at) { return sums[at]; });
}

/// The gradients as ops of their own, for inputs of these shapes.
void add_backward(Cases& cases, const std::string& name, const Pool2dOptions& o, const std::vector<Shape>& inputs) {
  std::vector<Sample> of_max, of_gather;
  for (const Shape& in : inputs) {
    of_max.push_back({frozen(in), normal(output_of(in, o))});
    of_gather.push_back({frozen(in), normal(in)});
  }
  cases
      .add(
          "max pool backward " + name, of_max,
          [o](const Inputs& x) {
    return adjoint::max_pool2d_backward(x[1], dispatch::apply(op::MaxPool2d{o}, x[0])[1], x[0].shape(), o);
          },
          [o](const Arrays& x) {
    return flowed_back(x[0].shape, x[1].shape, o, [&](const Index& y, const Index& at, const auto& window) {
      return at == first_maximum(x[0], window) ? x[1].at(y) : 0.0;
    });
      })
      .accepts(kFloating);
  cases
      .add(
          "max pool gather " + name, of_gather,
          [o](const Inputs& x) {
    return adjoint::max_pool2d_gather(x[1], dispatch::apply(op::MaxPool2d{o}, x[0])[1], o);
          },
          [o](const Arrays& x) {
    return build(output_of(x[0].shape, o),
                 [&](const Index& y) { return x[1].at(first_maximum(x[0], window_of(x[0].shape, y, o))); });
      })
      .accepts(kFloating);
  if (!(o.dilation == Pair(1))) return;
  for (const Shape& in : inputs) {
    const std::string shape = in.to_string();
    cases
        .add(
            "avg pool backward " + name + " of " + shape, {{normal(output_of(in, o))}},
            [o, in](const Inputs& x) { return adjoint::avg_pool2d_backward(x[0], in, o); },
            [o, in](const Arrays& x) {
      return flowed_back(in, x[0].shape, o, [&](const Index& y, const Index&, const auto& window) {
        return x[0].at(y) / divisor(window, o);
      });
            })
        .accepts(kFloating);
  }
}

/// Means that do not count the padding.
void add_uncounted(Cases& cases) {
  const Pool2dOptions o = {.kernel_size = {3, 2}, .stride = Pair(2, 1), .padding = {1, 1}, .count_include_pad = false};
  cases
      .add(
          "avg pool without padding", {{normal({2, 3, 4, 5})}, {normal({1, 1, 5, 4})}, {normal({0, 2, 4, 4})}},
          [o](const Inputs& x) { return avg_pool2d(x[0], o); }, pooled(o, average))
      .accepts(kFloating)
      .loose(2);
  const Shape in = {2, 2, 4, 5};
  cases
      .add(
          "avg pool backward without padding", {{normal(output_of(in, o))}},
          [=](const Inputs& x) { return adjoint::avg_pool2d_backward(x[0], in, o); },
          [=](const Arrays& x) {
    return flowed_back(in, x[0].shape, o, [&](const Index& y, const Index&, const auto& window) {
      return x[0].at(y) / divisor(window, o);
    });
          })
      .accepts(kFloating)
      .loose(4);
}

void add_errors(Cases& cases) {
  using Function = Tensor (*)(const Tensor&, const Pool2dOptions&);
  for (const auto& [name, f] :
       {std::pair<std::string, Function>{"max_pool2d", max_pool2d}, {"avg_pool2d", avg_pool2d}}) {
    cases.error<ShapeError>(
        name + " rank",
        [f = f] {
      f(ones({4, 4}), {.kernel_size = 2});
        },
        name + "([4, 4] f32): x must be (N, C, H, W) or (C, H, W), not [4, 4]");
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
        name + "([1, 1, 2, 2] i64): i64 is not accepted here; it takes floating dtypes; cast first, e.g. x.to(f32)");
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
    adjoint::avg_pool2d_backward(ones({1, 1, 2, 2}), {1, 1, 2, 2}, {.kernel_size = 2});
      },
      "avg_pool2d_backward([1, 1, 2, 2] f32): the gradient must have shape [1, 1, 1, 1], not [1, 1, 2, 2]");
}

}  // namespace

void add_pool_cases(Cases& cases) {
  add(cases, "2x2", {.kernel_size = 2});
  add(cases, "3x2 overlapping", {.kernel_size = {3, 2}, .stride = Pair(1)});
  add(cases, "padded", {.kernel_size = 3, .stride = Pair(2, 1), .padding = 1});
  add(cases, "dilated", {.kernel_size = 2, .stride = Pair(1), .dilation = {2, 1}});
  add_backward(cases, "2x2", {.kernel_size = 2}, {{1, 2, 4, 4}, {2, 1, 3, 6}, {0, 2, 4, 4}});
  add_backward(cases, "3x2 overlapping", {.kernel_size = {3, 2}, .stride = Pair(1)}, {{2, 3, 4, 5}, {1, 17, 4, 3}});
  add_backward(cases, "padded", {.kernel_size = 3, .stride = Pair(2, 1), .padding = 1}, {{2, 2, 4, 5}, {1, 1, 2, 2}});
  add_backward(cases, "dilated", {.kernel_size = 2, .stride = Pair(1), .dilation = {2, 1}}, {{2, 2, 4, 5}});
  add_uncounted(cases);
  add_errors(cases);
}

}  // namespace weft::testing
