// Convolutions, pools and resampling against PyTorch, in f64. tests/golden/window.py makes the values.
#include <gtest/gtest.h>

#include <functional>

#include "autograd/leaf.h"
#include "nn/nn.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/grid_sample.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tests/nn/golden_parts.h"
#include "tests/nn/window_values.h"
#include "tests/wave.h"

namespace weft::nn {
namespace {

using testing::digest;
using testing::expect_numbers;
using testing::wave;

void expect_golden(const std::string& name, const Tensor& tensor) {
  nn::expect_golden(kWindowGolden, 1e-9, name, tensor);
}

template <class M> void check(const std::string& name, M module, const Shape& shape) {
  fill_parameters(module);
  const Tensor x = parameter(wave(shape, 0.3));
  const Tensor y = module(x);
  expect_golden(name + ".y", y);
  sum(y * wave(y.shape(), 0.9)).backward();
  expect_golden(name + ".x.grad", x.grad());
  for (const NamedTensor& entry : module.named_parameters())
    expect_golden(name + "." + entry.name + ".grad", entry.tensor.grad());
}

TEST(WindowGolden, Conv1d) {
  check("conv1d", Conv1d(3, 4, 3), {2, 3, 7});
  check("conv1d_same", Conv1d({.in_channels = 3, .out_channels = 4, .kernel_size = 4, .padding = same, .dilation = 3}),
        {2, 3, 9});
  check("conv1d_depthwise", Conv1d({.in_channels = 6, .out_channels = 6, .kernel_size = 5, .padding = 2, .groups = 6}),
        {2, 6, 9});
  check("conv1d_strided",
        Conv1d({.in_channels = 4,
                .out_channels = 6,
                .kernel_size = 3,
                .stride = 2,
                .padding = 2,
                .dilation = 2,
                .groups = 2,
                .bias = false}),
        {2, 4, 8});
}

TEST(WindowGolden, Conv2d) {
  check("conv2d_same", Conv2d({.in_channels = 2, .out_channels = 3, .kernel_size = {2, 4}, .padding = same}),
        {2, 2, 5, 6});
  check("conv2d_unbatched", Conv2d({.in_channels = 2, .out_channels = 3, .kernel_size = 3, .padding = {1, 0}}),
        {2, 5, 6});
}

TEST(WindowGolden, Conv3d) {
  check("conv3d", Conv3d(2, 3, 2), {2, 2, 3, 4, 3});
  check("conv3d_all",
        Conv3d({.in_channels = 2,
                .out_channels = 4,
                .kernel_size = {3, 2, 1},
                .stride = {2, 1, 2},
                .padding = {1, 1, 0},
                .groups = 2}),
        {1, 2, 4, 3, 5});
  check("conv3d_dilated",
        Conv3d({.in_channels = 1, .out_channels = 2, .kernel_size = 2, .dilation = {1, 2, 3}, .bias = false}),
        {2, 1, 3, 4, 5});
  check("conv3d_same", Conv3d({.in_channels = 1, .out_channels = 2, .kernel_size = {3, 2, 4}, .padding = same}),
        {1, 1, 3, 3, 4});
}

TEST(WindowGolden, ConvTranspose1d) {
  check("transpose1d", ConvTranspose1d(3, 4, 3), {2, 3, 4});
  check("transpose1d_strided",
        ConvTranspose1d({.in_channels = 4,
                         .out_channels = 6,
                         .kernel_size = 4,
                         .stride = 3,
                         .padding = 1,
                         .output_padding = 2,
                         .groups = 2}),
        {2, 4, 3});
  check("transpose1d_dilated",
        ConvTranspose1d({.in_channels = 2, .out_channels = 3, .kernel_size = 2, .bias = false, .dilation = 3}),
        {2, 2, 4});
  check("transpose1d_unbatched", ConvTranspose1d({.in_channels = 2, .out_channels = 3, .kernel_size = 3, .stride = 2}),
        {2, 4});
}

TEST(WindowGolden, ConvTranspose2d) {
  check("transpose2d", ConvTranspose2d(3, 2, 3), {2, 3, 3, 4});
  check("transpose2d_strided",
        ConvTranspose2d({.in_channels = 3, .out_channels = 2, .kernel_size = 4, .stride = 2, .padding = 1}),
        {2, 3, 3, 4});
  check("transpose2d_output",
        ConvTranspose2d({.in_channels = 2,
                         .out_channels = 4,
                         .kernel_size = {3, 2},
                         .stride = {2, 3},
                         .output_padding = {1, 2},
                         .groups = 2}),
        {1, 2, 3, 2});
  check("transpose2d_dilated",
        ConvTranspose2d(
            {.in_channels = 2, .out_channels = 3, .kernel_size = 2, .padding = {1, 0}, .bias = false, .dilation = 2}),
        {2, 2, 3, 3});
}

TEST(WindowGolden, ConvTranspose3d) {
  check("transpose3d", ConvTranspose3d(2, 3, 2), {1, 2, 2, 3, 2});
  check("transpose3d_strided",
        ConvTranspose3d({.in_channels = 2,
                         .out_channels = 2,
                         .kernel_size = {2, 3, 2},
                         .stride = 2,
                         .padding = {0, 1, 0},
                         .output_padding = 1}),
        {2, 2, 2, 2, 2});
  check("transpose3d_groups",
        ConvTranspose3d(
            {.in_channels = 4, .out_channels = 2, .kernel_size = 2, .groups = 2, .bias = false, .dilation = {2, 1, 1}}),
        {1, 4, 2, 2, 2});
  check("transpose3d_unbatched",
        ConvTranspose3d({.in_channels = 2, .out_channels = 1, .kernel_size = 2, .stride = {1, 2, 1}}), {2, 2, 3, 2});
}

/// The p-norms of x^2 + 1/2.
template <class Pool> struct OfSquares : Module {
  Pool pool;
  explicit OfSquares(Pool p) : pool(std::move(p)) {}
  Tensor operator()(const Tensor& x) const { return pool.forward(x * x + 0.5); }
};

template <class Max, class Avg, class Norm, class AdaptiveAvg, class AdaptiveMax, class Sizes>
void check_pools(const std::string& axes, const Shape& shape) {
  using Options = PoolOptionsOf<Sizes>;
  const Options padded{.kernel_size = 3, .stride = 2, .padding = 1};
  Options uncounted = padded, ceil = padded;
  uncounted.count_include_pad = false;
  ceil.ceil_mode = true;
  check("max_pool" + axes, Max(2), shape);
  check("max_pool" + axes + "_padded", Max(padded), shape);
  check("max_pool" + axes + "_dilated", Max(Options{.kernel_size = 2, .stride = 1, .dilation = 2}), shape);
  check("max_pool" + axes + "_ceil", Max(Options{.kernel_size = 2, .stride = 3, .ceil_mode = true}), shape);
  check("avg_pool" + axes, Avg(2), shape);
  check("avg_pool" + axes + "_padded", Avg(padded), shape);
  check("avg_pool" + axes + "_uncounted", Avg(uncounted), shape);
  check("avg_pool" + axes + "_ceil", Avg(ceil), shape);
  check("lp_pool" + axes, OfSquares(Norm(2, 2)), shape);
  check("lp_pool" + axes + "_three", OfSquares(Norm(3, Options{.kernel_size = 3, .stride = 2})), shape);
  check("lp_pool" + axes + "_half", OfSquares(Norm(0.5, Options{.kernel_size = 2, .stride = 1})), shape);
  check("lp_pool" + axes + "_ceil", OfSquares(Norm(2, Options{.kernel_size = 3, .stride = 2, .ceil_mode = true})),
        shape);
  for (int64_t size = 1; size <= 4; ++size) {
    check("adaptive_avg_pool" + axes + "." + std::to_string(size), AdaptiveAvg(size), shape);
    check("adaptive_max_pool" + axes + "." + std::to_string(size), AdaptiveMax(size), shape);
  }
}

TEST(WindowGolden, Pools) {
  check_pools<MaxPool1d, AvgPool1d, LPPool1d, AdaptiveAvgPool1d, AdaptiveMaxPool1d, Size1>("1d", {2, 3, 9});
  check_pools<MaxPool2d, AvgPool2d, LPPool2d, AdaptiveAvgPool2d, AdaptiveMaxPool2d, Size2>("2d", {2, 3, 7, 6});
  check_pools<MaxPool3d, AvgPool3d, LPPool3d, AdaptiveAvgPool3d, AdaptiveMaxPool3d, Size3>("3d", {2, 3, 5, 4, 6});
}

TEST(WindowGolden, Upsample) {
  using Mode = Interpolation;
  const auto check_mode = [](const std::string& name, const Shape& shape, Mode mode, bool aligned) {
    const Shape all = {3, 7, 4}, size(all.begin(), all.begin() + shape.rank() - 2);
    check(name + ".double", Upsample({.scale = 2.0, .mode = mode}), shape);
    check(name + ".size", Upsample({.size = size, .mode = mode}), shape);
    check(name + ".factor", Upsample({.scale = 1.6, .mode = mode}), shape);
    if (aligned) check(name + ".aligned", Upsample({.size = size, .mode = mode, .align_corners = true}), shape);
  };
  const std::vector<Shape> shapes = {{2, 3, 5}, {2, 3, 4, 5}, {2, 3, 2, 4, 3}};
  const std::vector<std::pair<std::string, Mode>> linear = {
      {"linear", Mode::linear}, {"bilinear", Mode::bilinear}, {"trilinear", Mode::trilinear}};
  for (size_t i = 0; i < 3; ++i) {
    const std::string name = "upsample" + std::to_string(i + 1) + "d.";
    check_mode(name + "nearest", shapes[i], Mode::nearest, false);
    check_mode(name + "nearest_exact", shapes[i], Mode::nearest_exact, false);
    check_mode(name + "area", shapes[i], Mode::area, false);
    check_mode(name + linear[i].first, shapes[i], linear[i].second, true);
  }
  check_mode("upsample2d.bicubic", shapes[1], Mode::bicubic, true);
}

TEST(WindowGolden, Columns) {
  const std::vector<FoldOptions> options = {{.kernel_size = 2},
                                            {.kernel_size = {3, 2}, .padding = 1},
                                            {.kernel_size = 2, .dilation = {1, 2}, .stride = {2, 1}},
                                            {.kernel_size = 3, .padding = {1, 0}, .stride = 2}};
  for (size_t i = 0; i < options.size(); ++i) {
    const Shape columns = Unfold(options[i])(wave({2, 3, 5, 6}, 0)).shape();
    check("unfold." + std::to_string(i), Unfold(options[i]), {2, 3, 5, 6});
    check("fold." + std::to_string(i), Fold({5, 6}, options[i]), columns);
  }
}

TEST(WindowGolden, Shuffles) {
  const auto check_all = [](const std::string& name, const auto& make, const std::vector<Shape>& shapes) {
    for (size_t i = 0; i < shapes.size(); ++i) check(name + "." + std::to_string(i), make(i), shapes[i]);
  };
  check_all("pixel_shuffle", [](size_t) { return PixelShuffle(2); },
            {{2, 8, 3, 2}, {1, 4, 2, 2}, {8, 2, 3}, {3, 12, 1, 4}});
  check_all("pixel_unshuffle", [](size_t) { return PixelUnshuffle(2); },
            {{2, 2, 4, 6}, {1, 1, 2, 2}, {2, 4, 2}, {3, 2, 6, 4}});
  const std::vector<int64_t> groups = {2, 3, 1, 4};
  check_all("channel_shuffle", [&](size_t i) { return ChannelShuffle(groups[i]); },
            {{2, 6, 3, 3}, {1, 6, 2, 2}, {2, 4, 2, 2}, {1, 8, 1, 3}});
  const std::vector<Shape> shapes = {{2, 3, 3, 2}, {1, 2, 3, 4}, {2, 2, 2}, {1, 1, 2, 2}};
  check("zero_pad.0", ZeroPad2d(1), shapes[0]);
  check("zero_pad.1", ZeroPad2d(0, 2, 1, 0), shapes[1]);
  check("zero_pad.2", ZeroPad2d(1, 2, 3, 4), shapes[2]);
  check("zero_pad.3", ZeroPad2d(0), shapes[3]);
}

Shape single(const Shape& batch) { return Shape(batch.begin() + 1, batch.end()); }

/// A kind of pad: with a width for each side, with one for all, with one that cuts off, and of one sample.
template <class PadLayer, class... W>
void check_pads(const std::string& name, const Shape& shape, int64_t first, W... rest) {
  check(name, PadLayer(first, rest...), shape);
  check(name + "_all", PadLayer(1), shape);
  check(name + "_cut", PadLayer(-1, rest...), shape);
  check(name + "_single", PadLayer(first, rest...), single(shape));
}

TEST(WindowGolden, Pads) {
  const Shape row = {2, 3, 4}, image = {2, 2, 3, 4}, volume = {1, 2, 3, 4, 2};
  check_pads<ZeroPad1d>("ZeroPad1d", row, 2, 1);
  check_pads<ZeroPad2d>("ZeroPad2d", image, 1, 2, 0, 1);
  check_pads<ZeroPad3d>("ZeroPad3d", volume, 1, 0, 2, 1, 1, 1);
  check_pads<ReflectionPad1d>("ReflectionPad1d", row, 2, 1);
  check_pads<ReflectionPad2d>("ReflectionPad2d", image, 1, 2, 0, 1);
  check_pads<ReflectionPad3d>("ReflectionPad3d", volume, 1, 0, 2, 1, 1, 1);
  check_pads<ReplicationPad1d>("ReplicationPad1d", row, 2, 1);
  check_pads<ReplicationPad2d>("ReplicationPad2d", image, 1, 2, 0, 1);
  check_pads<ReplicationPad3d>("ReplicationPad3d", volume, 1, 0, 2, 1, 1, 1);
  check_pads<CircularPad1d>("CircularPad1d", row, 2, 1);
  check_pads<CircularPad2d>("CircularPad2d", image, 1, 2, 0, 1);
  check_pads<CircularPad3d>("CircularPad3d", volume, 1, 0, 2, 1, 1, 1);
}

TEST(WindowGolden, ConstantPads) {
  const Shape row = {2, 3, 4}, image = {2, 2, 3, 4}, volume = {1, 2, 3, 4, 2};
  check("ConstantPad1d", ConstantPad1d(2, 1, 0.7), row);
  check("ConstantPad1d_all", ConstantPad1d(2, -1.5), row);
  check("ConstantPad1d_single", ConstantPad1d(2, 1, 2), single(row));
  check("ConstantPad1d_cut", ConstantPad1d(-1, 1, 3.0), row);
  check("ConstantPad2d", ConstantPad2d(1, 2, 0, 1, 0.7), image);
  check("ConstantPad2d_all", ConstantPad2d(2, -1.5), image);
  check("ConstantPad2d_single", ConstantPad2d(1, 2, 0, 1, 2), single(image));
  check("ConstantPad2d_cut", ConstantPad2d(-1, 2, 0, 1, 3.0), image);
  check("ConstantPad3d", ConstantPad3d(1, 0, 2, 1, 1, 1, 0.7), volume);
  check("ConstantPad3d_all", ConstantPad3d(2, -1.5), volume);
  check("ConstantPad3d_single", ConstantPad3d(1, 0, 2, 1, 1, 1, 2), single(volume));
  check("ConstantPad3d_cut", ConstantPad3d(-1, 0, 2, 1, 1, 1, 3.0), volume);
}

template <class Conv, class Options, class Sizes>
void check_padding_modes(const std::string& name, const Sizes& padding, const Shape& size) {
  for (const auto& [mode, mode_name] : {std::pair{PadMode::reflect, "_reflect"},
                                        {PadMode::replicate, "_replicate"},
                                        {PadMode::circular, "_circular"}}) {
    Shape two = {2, 2}, one = {1, 2};
    for (int64_t s : size) two.push_back(s), one.push_back(s);
    Options options{.in_channels = 2, .out_channels = 3, .kernel_size = 3, .padding = padding, .padding_mode = mode};
    check(name + mode_name, Conv(options), two);
    options.out_channels = 2, options.kernel_size = 2, options.padding = same, options.groups = 2;
    check(name + mode_name + "_same", Conv(options), one);
  }
}

TEST(WindowGolden, PaddingModes) {
  check_padding_modes<Conv1d, Conv1dOptions>("conv1d", Size1(2), {7});
  check_padding_modes<Conv2d, Conv2dOptions>("conv2d", Size2(2, 1), {5, 4});
  check_padding_modes<Conv3d, Conv3dOptions>("conv3d", Size3(2, 1, 2), {4, 3, 5});
}

/// A function as a module of no parameters.
struct AsModule : Module {
  std::function<Tensor(const Tensor&)> f;
  explicit AsModule(std::function<Tensor(const Tensor&)> function) : f(std::move(function)) {}
  Tensor operator()(const Tensor& x) const { return f(x); }
};

TEST(WindowGolden, Unpools) {
  const auto check_all = [](const std::string& name, const Shape& size, const auto& pool, const auto& unpool) {
    for (size_t i = 0; i < 4; ++i) {
      const std::vector<Shape> first = {{2, 3}, {1, 2}, {3}, {2, 1}};
      Shape shape = first[i];
      for (int64_t s : size) shape.push_back(s);
      check(name + "." + std::to_string(i), AsModule([&](const Tensor& x) {
              const ValuesAndIndices found = pool(x);
              return unpool(found.values, found.indices);
            }),
            shape);
    }
  };
  check_all(
      "max_unpool1d", {8}, [](const Tensor& x) { return max_pool1d_with_indices(x, {.kernel_size = 2}); },
      MaxUnpool1d(2));
  check_all(
      "max_unpool2d", {6, 4}, [](const Tensor& x) { return max_pool2d_with_indices(x, {.kernel_size = 2}); },
      MaxUnpool2d(2));
  check_all(
      "max_unpool3d", {4, 4, 2}, [](const Tensor& x) { return max_pool3d_with_indices(x, {.kernel_size = 2}); },
      MaxUnpool3d(2));
}

template <class Sizes, class Pool>
void check_fractional(const std::string& name, const Shape& image, const Sizes& kernel, const Sizes& target,
                      const Scales& ratio, const Pool& pool) {
  using Options = FractionalPoolOptionsOf<Sizes>;
  for (const auto& [kind, chosen] : {std::pair{".size.", Options{.kernel_size = kernel, .output_size = target}},
                                     std::pair{".ratio.", Options{.kernel_size = kernel, .output_ratio = ratio}}})
    for (const Shape& first : {Shape{2, 3}, Shape{2}}) {
      Shape shape = first;
      for (int64_t size : image) shape.push_back(size);
      const Shape channels = {first.rank() == 2 ? 2 : 1, first.back(), Sizes::kAxes};
      const Tensor samples = wave(channels, 0.4) * 0.45 + 0.5;
      const Options options = chosen;  // lambdas of clang take no structured bindings
      const std::string full = name + kind + std::to_string(shape.rank());
      check(full, AsModule([&](const Tensor& x) { return pool(x, options, samples).values; }), shape);
      expect_numbers(digest(pool(wave(shape, 0.3), options, samples).indices), kWindowGolden.at(full + ".indices"),
                     1e-9, full);
    }
}

TEST(WindowGolden, FractionalPools) {
  check_fractional("fractional_max_pool2d", {7, 9}, Size2(2, 3), Size2(4, 3), {0.6, 0.5},
                   [](const Tensor& x, const FractionalMaxPool2dOptions& o, const Tensor& samples) {
                     return fractional_max_pool2d_with_indices(x, o, samples);
                   });
  check_fractional("fractional_max_pool3d", {6, 7, 4}, Size3(2, 3, 2), Size3(4, 3, 2), {0.6, 0.5, 0.7},
                   [](const Tensor& x, const FractionalMaxPool3dOptions& o, const Tensor& samples) {
                     return fractional_max_pool3d_with_indices(x, o, samples);
                   });
}

TEST(WindowGolden, Samples) {
  const Tensor grid = wave({2, 4, 3, 2}, 0.7, 1.2), image = wave({2, 3, 5, 4}, 0.2);
  for (const auto& [mode, mode_name] : {std::pair{Interpolation::bilinear, "bilinear"},
                                        {Interpolation::nearest, "nearest"},
                                        {Interpolation::bicubic, "bicubic"}})
    for (const auto& [padding, padding_name] : {std::pair{GridPadding::zeros, "zeros"},
                                                {GridPadding::border, "border"},
                                                {GridPadding::reflection, "reflection"}})
      for (bool align : {false, true}) {
        const GridSampleOptions o{.mode = mode, .padding = padding, .align_corners = align};
        const std::string name =
            std::string("grid_sample.") + mode_name + "." + padding_name + (align ? ".aligned" : ".plain");
        check(name, AsModule([&](const Tensor& x) { return grid_sample(x, grid, o); }), {2, 3, 5, 4});
        check(name + ".grid", AsModule([&](const Tensor& g) { return grid_sample(image, g * 1.2, o); }), {2, 4, 3, 2});
      }
  for (bool align : {false, true}) {
    const std::string name = std::string("affine_grid") + (align ? "_aligned" : "");
    check(name, AsModule([&](const Tensor& t) { return affine_grid(t, {2, 3, 4, 5}, align); }), {2, 2, 3});
    check(name + "_3d", AsModule([&](const Tensor& t) { return affine_grid(t, {1, 3, 2, 4, 3}, align); }), {1, 3, 4});
  }
}

}  // namespace
}  // namespace weft::nn
