#include "bench/family_cases.h"

#include <memory>

#include "bench/layer_cases.h"
#include "bench/linalg_cases.h"

namespace weft::bench {

Inputs floats(const std::vector<Shape>& shapes) {
  return [shapes] {
    Tensors out;
    for (const Shape& shape : shapes) out.push_back(randn(shape));
    return out;
  };
}

Inputs floats_and_integers(const std::vector<Shape>& shapes, int64_t limit, const std::vector<Shape>& integers) {
  return [=] {
    Tensors out = floats(shapes)();
    for (const Shape& shape : integers) out.push_back(randint(0, limit, shape));
    return out;
  };
}

Inputs floats_and_mask(const std::vector<Shape>& shapes, const Shape& mask) {
  return [=] {
    Tensors out = floats(shapes)();
    out.push_back(rand(mask) > 0.5);
    return out;
  };
}

std::vector<Case> joined(std::initializer_list<std::vector<Case>> lists) {
  std::vector<Case> all;
  for (const std::vector<Case>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

namespace {

using X = const Tensors&;

Tensor in_nhwc(const Tensor& x) { return x.permute({0, 2, 3, 1}).contiguous().permute({0, 3, 1, 2}); }

template <class Layer> std::function<Tensor(const Tensors&)> recurrent(int64_t inputs, int64_t hidden) {
  return [layer = std::make_shared<Layer>(inputs, hidden)](const Tensors& x) { return (*layer)(x[0]).output; };
}

// NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks): the analyzer loses the functions that the lists copy
/// Convolution, resampling, normalization.
std::vector<Case> windows() {
  return {
      {"conv1d 16x64x1024 k3", both, floats({{16, 64, 1024}, {64, 64, 3}}),
       [](X x) { return conv1d(x[0], x[1], {}, {.padding = 1}); }},
      {"conv1d 8x1x16000 k25 s4", both, floats({{8, 1, 16000}, {32, 1, 25}}),
       [](X x) { return conv1d(x[0], x[1], {}, {.stride = 4, .padding = 12}); }},
      {"depthwise 16x128x28x28 k3", both, floats({{16, 128, 28, 28}, {128, 1, 3, 3}}),
       [](X x) { return conv2d(x[0], x[1], {}, {.padding = 1, .groups = 128}); }},
      {"depthwise 16x128x1024 k7", both, floats({{16, 128, 1024}, {128, 1, 7}}),
       [](X x) { return conv1d(x[0], x[1], {}, {.padding = 3, .groups = 128}); }},
      {"conv_transpose2d 16x64x16x16 k4 s2", both, floats({{16, 64, 16, 16}, {64, 32, 4, 4}}),
       [](X x) { return conv_transpose2d(x[0], x[1], {}, {.stride = 2, .padding = 1}); }},
      {"conv3d 4x16x16x16x16 k3", both, floats({{4, 16, 16, 16, 16}, {32, 16, 3, 3, 3}}),
       [](X x) { return conv3d(x[0], x[1], {}, {.padding = 1}); }},
      {"interpolate bilinear 8x32x32x32 x2", both, floats({{8, 32, 32, 32}}),
       [](X x) { return interpolate(x[0], {.scale = 2, .mode = Interpolation::bilinear}); }},
      {"interpolate nearest 8x32x32x32 x2", both, floats({{8, 32, 32, 32}}),
       [](X x) { return interpolate(x[0], {.scale = 2}); }},
      {"interpolate bicubic 8x32x32x32 x2", both, floats({{8, 32, 32, 32}}),
       [](X x) { return interpolate(x[0], {.scale = 2, .mode = Interpolation::bicubic}); }},
      {"grid_sample 8x16x64x64", both,
       [] {
         return Tensors{randn({8, 16, 64, 64}), randn({8, 64, 64, 2}) * 0.5};
       },
       [](X x) { return grid_sample(x[0], x[1]); }},
      {"max_pool2d 16x64x56x56 k3 s2", both, floats({{16, 64, 56, 56}}),
       [](X x) { return max_pool2d(x[0], {.kernel_size = 3, .stride = 2, .padding = 1}); }},
      {"fractional_max_pool2d 16x64x56x56 k2 to 28", both, floats({{16, 64, 56, 56}}),
       [](X x) { return fractional_max_pool2d(x[0], {.kernel_size = 2, .output_size = 28}); }},
      {"fractional_max_pool3d 4x32x16x28x28 k2 to 8x14x14", both, floats({{4, 32, 16, 28, 28}}),
       [](X x) { return fractional_max_pool3d(x[0], {.kernel_size = 2, .output_size = Size3(8, 14, 14)}); }},
      {"group_norm 16x64x56x56 channels-last", both,
       [] {
         return Tensors{in_nhwc(randn({16, 64, 56, 56})), randn({64}), randn({64})};
       },
       [](X x) { return group_norm(x[0], 32, x[1], x[2]); }},
  };
}

std::vector<Case> recurrent_layers() {
  return {
      {"LSTM 32x64x128 h128", both, floats({{32, 64, 128}}), recurrent<nn::LSTM>(128, 128)},
      {"LSTM 64x100x256 h256", both, floats({{64, 100, 256}}), recurrent<nn::LSTM>(256, 256)},
      {"GRU 32x64x128 h128", both, floats({{32, 64, 128}}), recurrent<nn::GRU>(128, 128)},
      {"GRU 64x100x256 h256", both, floats({{64, 100, 256}}), recurrent<nn::GRU>(256, 256)},
  };
}

std::vector<Case> order() {
  return {
      {"sort 1000000", both, floats({{1000000}}), [](X x) { return sort(x[0]).values; }},
      {"sort 1000x1000", forward, floats({{1000, 1000}}), [](X x) { return sort(x[0]).values; }},
      {"sort 1000x1000 axis 0", forward, floats({{1000, 1000}}), [](X x) { return sort(x[0], 0).values; }},
      {"sort 1000000 i64", forward, floats_and_integers({}, 1000000, {{1000000}}),
       [](X x) { return sort(x[0]).values; }},
      {"argsort 1000000", forward, floats({{1000000}}), [](X x) { return argsort(x[0]); }},
      {"topk 100 of 1000000", both, floats({{1000000}}), [](X x) { return topk(x[0], 100).values; }},
      {"topk 10 of 128x10000", forward, floats({{128, 10000}}), [](X x) { return topk(x[0], 10).values; }},
      {"kthvalue 1000000", forward, floats({{1000000}}), [](X x) { return kthvalue(x[0], 300000).values; }},
      {"median 1000000", forward, floats({{1000000}}), [](X x) { return median(x[0]); }},
      {"median 1000x1000", forward, floats({{1000, 1000}}), [](X x) { return median(x[0], 1).values; }},
      {"quantile 1000000", forward, floats({{1000000}}), [](X x) { return quantile(x[0], 0.9); }},
      {"quantile 1000x1000", forward, floats({{1000, 1000}}), [](X x) { return quantile(x[0], 0.9, {.axis = 1}); }},
      {"mode 1000x1000 i64", forward, floats_and_integers({}, 100, {{1000, 1000}}),
       [](X x) { return mode(x[0]).values; }},
      {"unique 1000000 i64 of 1000", forward, floats_and_integers({}, 1000, {{1000000}}),
       [](X x) { return unique(x[0]).values; }},
      {"unique 1000000", forward, floats({{1000000}}), [](X x) { return unique(x[0]).values; }},
      {"unique 1000000 i64 with inverse and counts", forward, floats_and_integers({}, 1000, {{1000000}}),
       [](X x) { return unique(x[0], {.inverse = true, .counts = true}).inverse; }},
      {"searchsorted 100000 in 1000", forward,
       [] {
         return Tensors{arange(0, 1, 0.001), rand({100000})};
       },
       [](X x) { return searchsorted(x[0], x[1]); }},
  };
}

std::vector<Case> scans_and_counts() {
  return {
      {"cumsum 1000000", both, floats({{1000000}}), [](X x) { return cumsum(x[0], 0); }},
      {"cumsum 1000x1000", both, floats({{1000, 1000}}), [](X x) { return cumsum(x[0], 1); }},
      {"cumsum 1000x1000 axis 0", both, floats({{1000, 1000}}), [](X x) { return cumsum(x[0], 0); }},
      {"cumsum 1000x1000 i64", forward, floats_and_integers({}, 10, {{1000, 1000}}),
       [](X x) { return cumsum(x[0], 1); }},
      {"cumprod 1000x1000", forward, floats({{1000, 1000}}), [](X x) { return cumprod(x[0], 1); }},
      {"logcumsumexp 1000x1000", forward, floats({{1000, 1000}}), [](X x) { return logcumsumexp(x[0], 1); }},
      {"cummax 1000x1000", forward, floats({{1000, 1000}}), [](X x) { return cummax(x[0], 1).values; }},
      {"bincount 1000000 of 1000", forward, floats_and_integers({}, 1000, {{1000000}}),
       [](X x) { return bincount(x[0]); }},
      {"histc 1000000", forward, floats({{1000000}}), [](X x) { return histc(x[0], 100); }},
  };
}

/// Reads and writes by index.
std::vector<Case> indices() {
  return {
      {"gather 1000x1000 axis 1", both, floats_and_integers({{1000, 1000}}, 1000, {{1000, 1000}}),
       [](X x) { return gather(x[0], 1, x[1]); }},
      {"gather 1000x1000 axis 0", both, floats_and_integers({{1000, 1000}}, 1000, {{1000, 1000}}),
       [](X x) { return gather(x[0], 0, x[1]); }},
      {"scatter_add 1000x1000 axis 1", both, floats_and_integers({{1000, 1000}, {1000, 1000}}, 1000, {{1000, 1000}}),
       [](X x) { return scatter_add(x[0], 1, x[2], x[1]); }},
      {"scatter_add 1000x1000 axis 0", both, floats_and_integers({{1000, 1000}, {1000, 1000}}, 1000, {{1000, 1000}}),
       [](X x) { return scatter_add(x[0], 0, x[2], x[1]); }},
      {"index_select 10000x128", both, floats_and_integers({{10000, 128}}, 10000, {{10000}}),
       [](X x) { return index_select(x[0], 0, x[1]); }},
      {"index 1000000 by 1000000", both, floats_and_integers({{1000000}}, 1000000, {{1000000}}),
       [](X x) { return x[0].index({x[1]}); }},
      {"index 1000x1000 by two of 100000", both, floats_and_integers({{1000, 1000}}, 1000, {{100000}, {100000}}),
       [](X x) {
         return x[0].index({x[1], x[2]});
       }},
      {"index_put 1000x1000 at 100000", both, floats_and_integers({{1000, 1000}, {100000}}, 1000, {{100000}, {100000}}),
       [](X x) {
         return index_put(x[0], {x[2], x[3]}, x[1]);
       }},
      {"index_put_ 1000000 at 100000", forward, floats_and_integers({{1000000}, {100000}}, 1000000, {{100000}}),
       [](X x) { return Tensor(x[0]).index_put_({x[2]}, x[1]); }},
      {"index_put_ 1000000 at 100000 accumulate", forward,
       floats_and_integers({{1000000}, {100000}}, 1000000, {{100000}}),
       [](X x) { return Tensor(x[0]).index_put_({x[2]}, x[1], true); }},
      {"index_add 10000x128", forward, floats_and_integers({{10000, 128}, {10000, 128}}, 10000, {{10000}}),
       [](X x) { return index_add(x[0], 0, x[2], x[1]); }},
      {"masked_select 1000000", both, floats_and_mask({{1000000}}, {1000000}),
       [](X x) { return masked_select(x[0], x[1]); }},
      {"nonzero 1000x1000", forward, floats_and_mask({}, {1000, 1000}), [](X x) { return nonzero(x[0]); }},
      {"tile 256x256 by 4x4", both, floats({{256, 256}}),
       [](X x) {
         return tile(x[0], {4, 4});
       }},
      {"repeat_interleave 1000x256 by 4", both, floats({{1000, 256}}),
       [](X x) { return repeat_interleave(x[0], 4, 0); }},
      {"roll 1000x1000", both, floats({{1000, 1000}}),
       [](X x) {
         return roll(x[0], {300, 500}, {0, 1});
       }},
  };
}
// NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)

}  // namespace

std::vector<Case> all_cases() {
  return joined({windows(), recurrent_layers(), order(), scans_and_counts(), indices(), linalg_cases(), layer_cases()});
}

}  // namespace weft::bench
