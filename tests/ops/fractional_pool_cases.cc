// Cases of max-pooling with windows at random positions.
#include <cmath>

#include "tensor/functions/fill.h"
#include "tensor/functions/fractional_pool.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

/// Where window `i` of an axis begins.
int64_t begin_of(double u, int64_t i, int64_t size, int64_t out, int64_t kernel) {
  if (i == out - 1) return size - kernel;
  const double step = static_cast<double>(size - kernel) / static_cast<double>(out - 1);
  return static_cast<int64_t>((static_cast<double>(i) + u) * step) - static_cast<int64_t>(u * step);
}

/// The offset in x of the first maximum of window `y` of the result; samples (N, C, axes).
size_t maximum_of(const Array& x, const Array& samples, const Index& y, const Shape& out, const Shape& kernel) {
  const int64_t axes = kernel.rank();
  Index begins;
  for (int64_t i = 0; i < axes; ++i) {
    const auto axis = static_cast<size_t>(i);
    const double u = samples.at({y[0], y[1], axes == 2 ? 1 - i : i});
    begins.push_back(begin_of(u, y[axis + 2], x.shape[axis + 2], out[axis], kernel[axis]));
  }
  bool found = false;
  size_t best = 0;
  for (const Index& tap : indices_of(kernel)) {
    Index at = {y[0], y[1]};
    for (size_t i = 0; i < tap.size(); ++i) at.push_back(begins[i] + tap[i]);
    const size_t offset = reference::offset_of(x.shape, at);
    const double value = x.values[offset];
    if (!found || value > x.values[best] || (std::isnan(value) && !std::isnan(x.values[best]))) best = offset;
    found = true;
  }
  return best;
}

Shape with_channels(const Array& x, const Shape& out) {
  Shape shape = {x.size(0), x.size(1)};
  for (int64_t size : out) shape.push_back(size);
  return shape;
}

Reference pooled(const Shape& out, const Shape& kernel) {
  return [=](const Arrays& x) {
    return build(with_channels(x[0], out),
                 [&](const Index& y) { return x[0].values[maximum_of(x[0], x[1], y, out, kernel)]; });
  };
}

Reference pooled_with_indices(const Shape& out, const Shape& kernel) {
  return [=](const Arrays& x) {
    size_t plane = 1;
    for (int64_t i = 0; i < kernel.rank(); ++i) plane *= static_cast<size_t>(x[0].shape[static_cast<size_t>(i + 2)]);
    const Array indices = build(with_channels(x[0], out), [&](const Index& y) {
      return static_cast<double>(maximum_of(x[0], x[1], y, out, kernel) % plane);
    });
    return Arrays{pooled(out, kernel)(x)[0], indices};
  };
}

InputSpec samples(const Shape& shape) {
  InputSpec spec = uniform(shape, 0.01, 0.99);
  spec.differentiable = false;
  return spec;
}

Outputs both(const ValuesAndIndices& found) { return {found.values, found.indices}; }

void add_values(Cases& cases) {
  const FractionalMaxPool2dOptions tiles = {.kernel_size = 2, .output_size = {3, 4}};
  cases
      .add("fractional max pool",
           {{distinct({2, 3, 7, 9}), samples({2, 3, 2})},
            {distinct({1, 1, 4, 5}), samples({1, 1, 2})},
            {special({1, 2, 8, 6}), samples({1, 2, 2})},
            {distinct({0, 2, 6, 6}), samples({0, 2, 2})}},
           CALL(fractional_max_pool2d(x[0], tiles, x[1])), pooled({3, 4}, {2, 2}))
      .accepts(kFloating);
  const FractionalMaxPool2dOptions wide = {.kernel_size = {3, 2}, .output_ratio = {0.5, 0.4}};
  cases
      .add("fractional max pool by ratio", {{distinct({2, 2, 8, 5}), samples({2, 2, 2})}},
           CALL(fractional_max_pool2d(x[0], wide, x[1])), pooled({4, 2}, {3, 2}))
      .accepts(kFloating);
  cases
      .add("fractional max pool to one", {{distinct({2, 3, 4, 3}), samples({2, 3, 2})}},
           CALL(fractional_max_pool2d(x[0], {.kernel_size = 2, .output_size = 1}, x[1])), pooled({1, 1}, {2, 2}))
      .accepts(kFloating);
  cases
      .add("fractional max pool 3d", {{distinct({2, 2, 4, 6, 5}), samples({2, 2, 3})}},
           CALL(fractional_max_pool3d(x[0], {.kernel_size = {2, 3, 2}, .output_size = {3, 4, 2}}, x[1])),
           pooled({3, 4, 2}, {2, 3, 2}))
      .accepts(kFloating);
}

void add_indices(Cases& cases) {
  cases
      .add("fractional max pool with indices",
           {{distinct({2, 3, 7, 9}), samples({2, 3, 2})}, {integers({2, 2, 6, 5}, -2, 2), samples({2, 2, 2})}},
           CALL(both(fractional_max_pool2d_with_indices(x[0], {.kernel_size = 2, .output_size = {3, 4}}, x[1]))),
           pooled_with_indices({3, 4}, {2, 2}))
      .accepts(kFloating)
      .gives({Result::same, Result::i64});
  cases
      .add("fractional max pool 3d with indices", {{distinct({1, 2, 5, 4, 6}), samples({1, 2, 3})}},
           CALL(both(fractional_max_pool3d_with_indices(x[0], {.kernel_size = 2, .output_size = {2, 3, 3}}, x[1]))),
           pooled_with_indices({2, 3, 3}, {2, 2, 2}))
      .accepts(kFloating)
      .gives({Result::same, Result::i64});
}

void add_errors(Cases& cases) {
  cases.error<ShapeError>(
      "fractional_max_pool2d axes",
      [] {
        fractional_max_pool2d(ones({4, 4}), {.kernel_size = 2, .output_size = 2});
      },
      "fractional_max_pool2d([4, 4] f32): x must be (N, C, H, W) or (C, H, W), not [4, 4]");
  cases.error<DtypeError>(
      "fractional_max_pool3d of integers",
      [] {
        fractional_max_pool3d(ones({1, 4, 4, 4}, i64), {.kernel_size = 2, .output_size = 2});
      },
      "fractional_max_pool3d([1, 4, 4, 4] i64): i64 is not accepted here; it takes floating dtypes; cast first, e.g. "
      "x.to(f32)");
  const auto of = [](const FractionalMaxPool2dOptions& options) {
    return [=] { fractional_max_pool2d(ones({1, 4, 4}), options); };
  };
  const std::string call = "fractional_max_pool2d([1, 4, 4] f32): ";
  cases.error<Error>("fractional_max_pool2d neither", of({.kernel_size = 2}),
                     call + "it takes one of output_size and output_ratio");
  cases.error<Error>("fractional_max_pool2d both", of({.kernel_size = 2, .output_size = 2, .output_ratio = 0.5}),
                     call + "it takes one of output_size and output_ratio");
  cases.error<Error>("fractional_max_pool2d ratio", of({.kernel_size = 2, .output_ratio = 1.5}),
                     call + "output_ratio 1.5 must lie between 0 and 1");
  cases.error<Error>("fractional_max_pool2d ratios", of({.kernel_size = 2, .output_ratio = {0.5, 0.5, 0.5}}),
                     call + "3 ratios for 2 axes; give one, or one for each");
  cases.error<ShapeError>("fractional_max_pool2d kernel", of({.output_size = 2}),
                          call + "kernel_size 0 must be 1 or more");
  cases.error<ShapeError>("fractional_max_pool2d room", of({.kernel_size = 3, .output_size = 3}),
                          call + "3 windows of 3 do not fit an axis of size 4");
  cases.error<ShapeError>("fractional_max_pool2d size", of({.kernel_size = 2, .output_ratio = 0.2}),
                          call + "output size 0 must be 1 or more");
  cases.error<ShapeError>(
      "fractional_max_pool2d samples",
      [] {
        fractional_max_pool2d(ones({3, 4, 4}), {.kernel_size = 2, .output_size = 2}, ones({3, 2}));
      },
      "fractional_max_pool2d([3, 4, 4] f32): random_samples must be [1, 3, 2], not [3, 2]");
  cases.error<Error>(
      "fractional_max_pool2d samples' range",
      [] {
        fractional_max_pool2d(ones({1, 4, 4}), {.kernel_size = 2, .output_size = 2}, full({1, 1, 2}, 1.5));
      },
      "fractional_max_pool2d([1, 4, 4] f32): random_samples must lie between 0 and 1, not 1.5");
}

}  // namespace

void add_fractional_pool_cases(Cases& cases) {
  add_values(cases);
  add_indices(cases);
  add_errors(cases);
}

}  // namespace weft::testing
