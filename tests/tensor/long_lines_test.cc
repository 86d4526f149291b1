// Pools and resampling of long signals, whose lines are taken in blocks or as runs: as along the height of an image,
// where they are not.
#include <gtest/gtest.h>

#include "tensor/functions_all.h"

namespace weft {
namespace {

/// (N, C, W) as images of one column.
Tensor upright(const Tensor& x) { return unsqueeze(x, 3).contiguous(); }

double bound(DType dtype) { return dtype == f64 ? 1e-14 : dtype == f32 ? 5e-6 : 0x1p-6; }

void expect_close(const Tensor& a, const Tensor& b, const std::string& what) {
  EXPECT_TRUE(allclose(a.to(f64), b.to(f64), 0, bound(a.dtype()))) << what;
}

/// A signal as it comes, channels-last, every second element of another, and backwards.
std::vector<Tensor> layouts(const Shape& shape, DType dtype) {
  const Tensor x = randn(shape).to(dtype);
  const Shape wide = {shape[0], shape[1], 2 * shape[2]};
  return {x, x.transpose(1, 2).contiguous().transpose(1, 2), randn(wide).to(dtype).slice(2, 0, wide[2], 2), x.flip({2}),
          x.slice(0, 0, 1).expand(shape)};
}

TEST(LongLines, OfPoolsAreBlocks) {
  manual_seed(1);
  const std::vector<Pool1dOptions> windows = {{.kernel_size = 2},
                                              {.kernel_size = 3, .stride = 1, .padding = 1},
                                              {.kernel_size = 64, .stride = 2, .padding = 32},
                                              {.kernel_size = 5, .stride = 3, .padding = 2, .dilation = 3},
                                              {.kernel_size = 3, .stride = 2, .ceil_mode = true}};
  for (const DType dtype : {f32, f64, bf16})
    for (const Shape& shape : {Shape{1, 1, 1037}, Shape{2, 3, 2500}, Shape{2, 9, 1500}})
      for (const Tensor& x : layouts(shape, dtype))
        for (const Pool1dOptions& o : windows) {
          const std::string what = text(shape, " ", dtype, ", kernel ", o.kernel_size[0], ", stride ", o.step()[0]);
          const Pool2dOptions both = {.kernel_size = {o.kernel_size[0], 1},
                                      .stride = {o.step()[0], 1},
                                      .padding = {o.padding[0], 0},
                                      .dilation = {o.dilation[0], 1},
                                      .ceil_mode = o.ceil_mode};
          const auto [values, indices] = max_pool1d_with_indices(x, o);
          const auto [expected, positions] = max_pool2d_with_indices(upright(x), both);
          EXPECT_TRUE(equal(values, squeeze(expected, 3))) << what;
          EXPECT_TRUE(equal(indices, squeeze(positions, 3))) << what;
          if (o.dilation[0] == 1) expect_close(avg_pool1d(x, o), squeeze(avg_pool2d(upright(x), both), 3), what);
        }
}

TEST(LongLines, OfImagesWhoseStrideIsOfBothAxes) {
  const Tensor x = arange(1200, f32).view({1, 1, 1, 1200}), volume = x.view({1, 1, 1, 1, 1200});
  const Tensor odd = arange(1, 1200, 2, f32);
  for (const Size2 stride : {Size2(2), Size2(3, 2)}) {
    EXPECT_TRUE(equal(max_pool2d(x, {.kernel_size = {1, 2}, .stride = stride}).reshape({-1}), odd));
    EXPECT_TRUE(equal(avg_pool2d(x, {.kernel_size = {1, 2}, .stride = stride}).reshape({-1}), odd - 0.5));
    const Size3 deep(2, stride.height, stride.width);
    EXPECT_TRUE(equal(max_pool3d(volume, {.kernel_size = {1, 1, 2}, .stride = deep}).reshape({-1}), odd));
    EXPECT_TRUE(equal(avg_pool3d(volume, {.kernel_size = {1, 1, 2}, .stride = deep}).reshape({-1}), odd - 0.5));
  }
}

TEST(LongLines, OfResamplingAreBlocksOrRuns) {
  manual_seed(2);
  using Mode = Interpolation;
  for (const DType dtype : {f32, f64, bf16, f16})
    for (const auto& [from, to] : {std::pair<int64_t, int64_t>{9000, 20001}, {20000, 8192}, {9001, 3}, {5, 9000}})
      for (const Mode mode : {Mode::linear, Mode::nearest, Mode::nearest_exact, Mode::area}) {
        const Tensor x = randn({2, 3, from}).to(dtype);
        const Mode across = mode == Mode::linear ? Mode::bilinear : mode;
        expect_close(interpolate(x, {.size = {to}, .mode = mode}),
                     squeeze(interpolate(upright(x), {.size = {to, 1}, .mode = across}), 3),
                     text(from, " to ", to, " ", dtype, " ", name_of(mode)));
      }
}

TEST(LongLines, AreMeansWhateverTheirSize) {
  const Tensor large = full({1, 1, 1000}, 3e38);
  EXPECT_TRUE(allclose(adaptive_avg_pool1d(large, 3), full({1, 1, 3}, 3e38), 1e-5, 0));
}

}  // namespace
}  // namespace weft
