// Cases of pooling over one to three axes.
#include <cmath>
#include <limits>

#include "tensor/adjoints/pool.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/pool.h"
#include "tensor/ops/pool.h"
#include "tests/ops/families.h"
#include "tests/reference/pool.h"
#include "tests/reference/rows.h"

namespace weft::testing {

namespace {

/// What the mean of window `y` divides by: its elements in the input and, where it counts, the padding.
template <class Sizes> double divisor(const Shape& in, const Index& y, const PoolOptionsOf<Sizes>& o) {
  if (o.divisor_override) return static_cast<double>(*o.divisor_override);
  double count = 1;
  for (int64_t i = 0; i < Sizes::kAxes; ++i) {
    const auto axis = static_cast<size_t>(i + 2);
    const int64_t begin = y[axis] * o.step()[i] - o.padding[i], edge = o.count_include_pad ? o.padding[i] : 0;
    int64_t inside = 0;
    for (int64_t at = begin; at < begin + o.kernel_size[i]; ++at) inside += at >= -edge && at < in[axis] + edge;
    count *= static_cast<double>(inside);
  }
  return count;
}

/// f of the elements of each window (those inside of x), in row-major order, and of what a mean divides by.
template <class Sizes> Reference pooled(const PoolOptionsOf<Sizes>& o, double (*f)(const Row&, double)) {
  return [=](const Arrays& x) {
    return build(reference::pool_shape(x[0].shape, o), [&](const Index& y) {
      std::vector<double> values;
      for (const auto& tap : reference::window_of(x[0].shape, y, o)) values.push_back(x[0].values[tap.offset]);
      return f(values, divisor(x[0].shape, y, o));
    });
  };
}

double largest(const Row& window, double) { return reference::max(window); }
double average(const Row& window, double count) { return reference::sum(window) / count; }

void add(Cases& cases, const std::string& name, const Pool2dOptions& o) {
  cases
      .add("max pool " + name,
           {{distinct({2, 3, 4, 5})},
            {distinct({1, 1, 5, 4})},
            {distinct({0, 2, 4, 4})},
            {distinct({2, 17, 4, 4})},
            {special({1, 2, 6, 6})}},
           CALL(max_pool2d(x[0], o)), pooled(o, largest))
      .accepts(kFloating);
  if (o.dilation == Size2(1))
    cases
        .add("avg pool " + name,
             {{normal({2, 3, 4, 5})}, {normal({1, 1, 5, 4})}, {normal({0, 2, 4, 4})}, {normal({2, 17, 4, 4})}},
             CALL(avg_pool2d(x[0], o)), pooled(o, average))
        .accepts(kFloating);
}

InputSpec frozen(const Shape& shape) {
  InputSpec spec = distinct(shape);
  spec.differentiable = false;
  return spec;
}

/// Where the first maximum of window `y` is.
template <class Sizes> size_t maximum_of(const Array& x, const Index& y, const PoolOptionsOf<Sizes>& o) {
  return reference::first_maximum(x, reference::window_of(x.shape, y, o)).value().offset;
}

/// The gradients as ops of their own, for inputs of these shapes.
void add_backward(Cases& cases, const std::string& name, const Pool2dOptions& o, const std::vector<Shape>& inputs) {
  std::vector<Sample> of_max, of_gather;
  for (const Shape& in : inputs) {
    of_max.push_back({frozen(in), normal(reference::pool_shape(in, o))});
    of_gather.push_back({frozen(in), normal(in)});
  }
  cases
      .add("max pool backward " + name, of_max,
           CALL(adjoint::max_pool2d_backward(x[1], dispatch::apply(op::MaxPool2d{o}, x[0])[1], x[0].shape(), o)),
           [o](const Arrays& x) {
             const auto share = [&](size_t y, const auto& window, const reference::Tap& tap) {
               return tap.number == first_maximum(x[0], window)->number ? x[1].values[y] : 0.0;
             };
             return reference::flowed_back(x[0].shape, x[1].shape, o, share);
           })
      .accepts(kFloating);
  cases
      .add("max pool gather " + name, of_gather,
           CALL(adjoint::max_pool2d_gather(x[1], dispatch::apply(op::MaxPool2d{o}, x[0])[1], o)),
           [o](const Arrays& x) {
             return build(reference::pool_shape(x[0].shape, o),
                          [&](const Index& y) { return x[1].values[maximum_of(x[0], y, o)]; });
           })
      .accepts(kFloating);
  if (!(o.dilation == Size2(1))) return;
  for (const Shape& in : inputs) {
    const std::string shape = in.to_string();
    cases
        .add("avg pool backward " + name + " of " + shape, {{normal(reference::pool_shape(in, o))}},
             CALL(adjoint::avg_pool2d_backward(x[0], in, o)),
             [o, in](const Arrays& x) {
               const auto share = [&](size_t y, const auto&, const reference::Tap&) {
                 return x[0].values[y] / static_cast<double>(o.kernel_size.height * o.kernel_size.width);
               };
               return reference::flowed_back(in, x[0].shape, o, share);
             })
        .accepts(kFloating);
  }
}

/// Means that do not count the padding.
void add_uncounted(Cases& cases) {
  const Pool2dOptions o = {.kernel_size = {3, 2}, .stride = Size2(2, 1), .padding = {1, 1}, .count_include_pad = false};
  cases
      .add("avg pool without padding", {{normal({2, 3, 4, 5})}, {normal({1, 1, 5, 4})}, {normal({0, 2, 4, 4})}},
           CALL(avg_pool2d(x[0], o)), pooled(o, average))
      .accepts(kFloating)
      .loose(2);
}

Outputs both(const ValuesAndIndices& result) { return {result.values, result.indices}; }
Tensor max_of(const Tensor& x, const Pool1dOptions& o) { return max_pool1d(x, o); }
Tensor max_of(const Tensor& x, const Pool2dOptions& o) { return max_pool2d(x, o); }
Tensor max_of(const Tensor& x, const Pool3dOptions& o) { return max_pool3d(x, o); }
Outputs found(const Tensor& x, const Pool1dOptions& o) { return both(max_pool1d_with_indices(x, o)); }
Outputs found(const Tensor& x, const Pool2dOptions& o) { return both(max_pool2d_with_indices(x, o)); }
Outputs found(const Tensor& x, const Pool3dOptions& o) { return both(max_pool3d_with_indices(x, o)); }
Tensor mean_of(const Tensor& x, const Pool1dOptions& o) { return avg_pool1d(x, o); }
Tensor mean_of(const Tensor& x, const Pool2dOptions& o) { return avg_pool2d(x, o); }
Tensor mean_of(const Tensor& x, const Pool3dOptions& o) { return avg_pool3d(x, o); }
Tensor norm_of(const Tensor& x, double p, const Pool1dOptions& o) { return lp_pool1d(x, p, o); }
Tensor norm_of(const Tensor& x, double p, const Pool2dOptions& o) { return lp_pool2d(x, p, o); }
Tensor norm_of(const Tensor& x, double p, const Pool3dOptions& o) { return lp_pool3d(x, p, o); }

/// Where in its plane (or line, or volume) the first maximum of each window is.
template <class Sizes> Reference maxima_and_indices(const PoolOptionsOf<Sizes>& o) {
  return [o](const Arrays& x) {
    const Shape& in = x[0].shape;
    const auto plane = static_cast<size_t>(checked_numel(Shape(in.begin() + 2, in.end())));
    const Shape out = reference::pool_shape(in, o);
    return Arrays{build(out, [&](const Index& y) { return x[0].values[maximum_of(x[0], y, o)]; }),
                  build(out, [&](const Index& y) { return static_cast<double>(maximum_of(x[0], y, o) % plane); })};
  };
}

/// Maxima with and without indices, of inputs of this shape.
template <class Sizes>
void add_max(Cases& cases, const std::string& name, const Shape& in, const PoolOptionsOf<Sizes>& o) {
  cases
      .add("max pool " + name, {{distinct(in)}, {integers(in, -3, 3)}, {special(in)}}, CALL(max_of(x[0], o)),
           pooled(o, largest))
      .accepts(kFloating);
  cases
      .add("max pool with indices " + name, {{distinct(in)}, {integers(in, -3, 3)}}, CALL(found(x[0], o)),
           maxima_and_indices(o))
      .accepts(kFloating)
      .gives({Result::same, Result::i64});
}

template <class Sizes>
void add_mean(Cases& cases, const std::string& name, const Shape& in, const PoolOptionsOf<Sizes>& o) {
  cases.add("avg pool " + name, {{normal(in)}}, CALL(mean_of(x[0], o)), pooled(o, average)).accepts(kFloating).loose(4);
}

template <class Sizes>
void add_norm(Cases& cases, const std::string& name, const Shape& in, double p, const PoolOptionsOf<Sizes>& o) {
  double size = 1;
  for (int64_t k : reference::kernel_of(o)) size *= static_cast<double>(k);
  cases
      .add("lp pool " + name, {{positive(in)}}, CALL(norm_of(x[0], p, o)),
           [=](const Arrays& x) {
             return build(reference::pool_shape(in, o), [&](const Index& y) {
               double sum = 0, top = 0;
               const std::vector<reference::Tap> window = reference::window_of(in, y, o);
               for (const reference::Tap& tap : window) {
                 sum += std::pow(x[0].values[tap.offset], p);
                 top = std::max(top, std::abs(x[0].values[tap.offset]));
               }
               return std::isinf(p) ? top : std::pow(sum * size / static_cast<double>(window.size()), 1 / p);
             });
           })
      .compares(kFloating)
      .loose(8);
}

/// One and three axes, and the options that PyTorch has beside kernel, stride, padding and dilation.
void add_axes(Cases& cases) {
  using One = Pool1dOptions;
  using Two = Pool2dOptions;
  using Three = Pool3dOptions;
  add_max(cases, "1d", {2, 3, 7}, One{.kernel_size = 3, .stride = 2, .padding = 1});
  add_max(cases, "1d tiles", {2, 17, 6}, One{.kernel_size = 2});
  add_max(cases, "1d dilated", {1, 2, 9}, One{.kernel_size = 3, .stride = 1, .dilation = 2});
  add_max(cases, "1d ceil", {2, 3, 8}, One{.kernel_size = 3, .stride = 3, .ceil_mode = true});
  add_max(cases, "1d wide", {1, 2, 70}, One{.kernel_size = 48, .stride = 9, .padding = 20});
  add_max(cases, "1d far apart", {2, 3, 90}, One{.kernel_size = 3, .stride = 4, .padding = 1, .dilation = 2});
  add_max(cases, "2d wide", {1, 2, 8, 40}, Two{.kernel_size = {6, 37}, .stride = 1, .padding = {2, 1}});
  add_max(cases, "2d with stride", {2, 3, 5, 6}, Two{.kernel_size = {2, 3}, .stride = {1, 2}, .padding = {1, 1}});
  add_max(cases, "2d ceil", {2, 2, 5, 6}, Two{.kernel_size = 2, .stride = 3, .ceil_mode = true});
  add_max(cases, "2d ceil, larger than the input", {1, 2, 2, 3}, Two{.kernel_size = 3, .stride = 2, .ceil_mode = true});
  add_max(cases, "3d", {2, 2, 4, 4, 5}, Three{.kernel_size = 2});
  add_max(cases, "3d padded", {1, 2, 3, 4, 5},
          Three{.kernel_size = {3, 2, 3}, .stride = Size3(2, 1, 2), .padding = {1, 0, 1}});
  add_max(cases, "3d ceil", {2, 1, 3, 5, 4}, Three{.kernel_size = 2, .stride = 2, .ceil_mode = true});
  add_max(cases, "3d dilated", {1, 2, 4, 5, 4}, Three{.kernel_size = 2, .stride = 1, .dilation = {2, 1, 3}});
  add_mean(cases, "1d", {2, 3, 7}, One{.kernel_size = 3, .stride = 2, .padding = 1});
  add_mean(cases, "1d ceil", {2, 3, 8}, One{.kernel_size = 3, .stride = 2, .padding = 1, .ceil_mode = true});
  add_mean(cases, "1d without padding", {1, 2, 6}, One{.kernel_size = 4, .padding = 2, .count_include_pad = false});
  add_mean(cases, "2d ceil", {2, 2, 5, 6}, Two{.kernel_size = 2, .stride = 3, .ceil_mode = true});
  add_mean(cases, "2d ceil padded", {1, 2, 5, 6}, Two{.kernel_size = 3, .stride = 2, .padding = 1, .ceil_mode = true});
  add_mean(cases, "2d ceil without padding", {1, 2, 6, 6},
           Two{.kernel_size = 3, .stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false});
  add_mean(cases, "2d divisor", {2, 2, 4, 5}, Two{.kernel_size = {2, 3}, .padding = {1, 1}, .divisor_override = 5});
  add_mean(cases, "3d", {2, 2, 4, 4, 5}, Three{.kernel_size = 2});
  add_mean(cases, "3d padded", {1, 2, 3, 4, 5},
           Three{.kernel_size = {3, 2, 3}, .stride = Size3(2, 1, 2), .padding = {1, 0, 1}});
  add_mean(cases, "3d ceil without padding", {1, 2, 3, 4, 4},
           Three{.kernel_size = 3, .stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false});
  add_mean(cases, "3d divisor", {1, 2, 3, 4, 5}, Three{.kernel_size = 2, .divisor_override = 3});
  add_norm(cases, "1d", {2, 3, 7}, 2, One{.kernel_size = 3, .stride = 2});
  add_norm(cases, "1d largest", {2, 3, 7}, std::numeric_limits<double>::infinity(), One{.kernel_size = 2});
  add_norm(cases, "2d", {2, 3, 5, 4}, 3, Two{.kernel_size = 2});
  add_norm(cases, "2d ceil", {1, 2, 5, 5}, 2, Two{.kernel_size = {2, 3}, .ceil_mode = true});
  add_norm(cases, "3d", {1, 2, 4, 4, 3}, 1.5, Three{.kernel_size = {2, 2, 3}});
}

/// An image without pixels: its windows hold padding alone.
void add_padding_alone(Cases& cases) {
  const Pool2dOptions o{.kernel_size = 2, .padding = 1};
  const Sample sample = {frozen({1, 2, 0, 4}), normal({1, 2, 1, 3})};
  cases
      .add("max pool backward of padding alone", {sample},
           CALL(adjoint::max_pool2d_backward(x[1], dispatch::apply(op::MaxPool2d{o}, x[0])[1], x[0].shape(), o)),
           [](const Arrays& x) { return build(x[0].shape, [](const Index&) { return 0.0; }); })
      .no_gradient();
}

}  // namespace

void add_pool_cases(Cases& cases) {
  add(cases, "2x2", {.kernel_size = 2});
  add(cases, "3x2 overlapping", {.kernel_size = {3, 2}, .stride = Size2(1)});
  add(cases, "padded", {.kernel_size = 3, .stride = Size2(2, 1), .padding = 1});
  add(cases, "dilated", {.kernel_size = 2, .stride = Size2(1), .dilation = {2, 1}});
  add_backward(cases, "2x2", {.kernel_size = 2}, {{1, 2, 4, 4}, {2, 1, 3, 6}, {0, 2, 4, 4}});
  add_backward(cases, "3x2 overlapping", {.kernel_size = {3, 2}, .stride = Size2(1)}, {{2, 3, 4, 5}, {1, 17, 4, 3}});
  add_backward(cases, "padded", {.kernel_size = 3, .stride = Size2(2, 1), .padding = 1}, {{2, 2, 4, 5}, {1, 1, 2, 2}});
  add_padding_alone(cases);
  add_backward(cases, "dilated", {.kernel_size = 2, .stride = Size2(1), .dilation = {2, 1}}, {{2, 2, 4, 5}});
  add_backward(cases, "ceil", {.kernel_size = 3, .stride = 2, .ceil_mode = true}, {{2, 2, 6, 4}, {1, 1, 2, 5}});
  add_uncounted(cases);
  add_axes(cases);
}

}  // namespace weft::testing
