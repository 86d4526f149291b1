// Convolutions, pools and products as users call them: forms of the call, images without a batch axis, promotion, and
// sizes that overflow. What they compute: tests/ops.
#include <gtest/gtest.h>

#include "tensor/functions/batch_norm_pool.h"
#include "tensor/functions/conv.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/linear.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/pool.h"
#include "tensor/functions/random.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/functions_all.h"
#include "tests/error_of.h"

namespace weft {
namespace {

std::vector<double> values(const Tensor& x) { return x.to_vector<double>(); }

TEST(Conv2d, TakesBiasAndOptionsInAnyForm) {
  const Tensor x = rand({1, 2, 5, 5}), w = rand({3, 2, 3, 3}), b = ones({3});
  const Conv2dOptions options{.stride = 2};
  const auto plain = values(conv2d(x, w));
  EXPECT_EQ(values(conv2d(x, w, {})), plain);
  EXPECT_EQ(values(conv2d(x, w, {}, {})), plain);
  EXPECT_EQ(values(conv2d(x, w, Tensor())), plain);
  EXPECT_EQ(values(conv2d(x, w, Conv2dOptions{})), plain);
  const auto strided = values(conv2d(x, w, {}, {.stride = 2}));
  EXPECT_EQ(strided.size(), 12u);
  EXPECT_EQ(values(conv2d(x, w, {.stride = 2})), strided);
  EXPECT_EQ(values(conv2d(x, w, Conv2dOptions{.stride = 2})), strided);
  EXPECT_EQ(values(conv2d(x, w, options)), strided);
  EXPECT_NE(values(conv2d(x, w, b)), plain);
  EXPECT_EQ(conv2d(x, w, b, {.padding = {1, 0}}).shape(), Shape({1, 3, 5, 3}));
}

TEST(Images, WithoutABatchAxis) {
  const Tensor batch = rand({1, 2, 5, 6}), image = batch.squeeze(0), w = rand({3, 2, 3, 3}), b = rand({3});
  const Tensor y = conv2d(image, w, b, {.padding = 1});
  EXPECT_EQ(y.shape(), Shape({3, 5, 6}));
  EXPECT_EQ(values(y), values(conv2d(batch, w, b, {.padding = 1})));
  const Pool2dOptions pool{.kernel_size = 3, .stride = 2, .padding = 1};
  Pool2dOptions inside = pool;
  inside.count_include_pad = false;
  EXPECT_EQ(max_pool2d(image, pool).shape(), Shape({2, 3, 3}));
  EXPECT_EQ(values(max_pool2d(image, pool)), values(max_pool2d(batch, pool)));
  for (const Pool2dOptions& o : {pool, inside}) {
    EXPECT_EQ(avg_pool2d(image, o).shape(), Shape({2, 3, 3}));
    EXPECT_EQ(values(avg_pool2d(image, o)), values(avg_pool2d(batch, o)));
  }
}

TEST(Images, OtherRanksAreRefused) {
  const Tensor flat = ones({4, 4}), w = ones({1, 1, 1, 1});
  EXPECT_EQ(error_of([&] { conv2d(flat, w); }),
            "conv2d([4, 4] f32, [1, 1, 1, 1] f32): x must be (N, C, H, W) or (C, H, W), not [4, 4]");
  EXPECT_EQ(error_of([&] { max_pool2d(flat, {.kernel_size = 2}); }),
            "max_pool2d([4, 4] f32): x must be (N, C, H, W) or (C, H, W), not [4, 4]");
  EXPECT_EQ(error_of([&] { avg_pool2d(flat, {.kernel_size = 2}); }),
            "avg_pool2d([4, 4] f32): x must be (N, C, H, W) or (C, H, W), not [4, 4]");
}

TEST(Images, SizesThatOverflowAreRefused) {
  const int64_t large = int64_t{1} << 30, huge = int64_t{1} << 62;
  const Tensor x = ones({1, 1, 2, 2}), w = ones({1, 1, 1, 1});
  EXPECT_THROW(conv2d(x, w, {.padding = large}), ShapeError);  // 2^62 elements
  EXPECT_THROW(conv2d(x, w, {.padding = 2 * large}), ShapeError);
  EXPECT_THROW(conv2d(x, w, {.padding = huge}), ShapeError);
  EXPECT_THROW(conv2d(x, ones({1, 1, 2, 2}), {.padding = 1, .dilation = huge}), Error);
  EXPECT_EQ(conv2d(x, w, {.stride = large, .padding = large}).shape(), Shape({1, 1, 3, 3}));
  using Pool = Tensor (*)(const Tensor&, const Pool2dOptions&);
  for (const Pool pool : {Pool{max_pool2d}, Pool{avg_pool2d}}) {
    EXPECT_THROW(pool(x, {.kernel_size = huge, .stride = 1, .padding = huge / 2}), ShapeError);
    EXPECT_THROW(pool(x, {.kernel_size = 2 * large, .stride = 1, .padding = 2 * large}), Error);
  }
  EXPECT_THROW(max_pool2d(x, {.kernel_size = large, .stride = 1, .padding = large / 2}), ShapeError);
  EXPECT_EQ(avg_pool2d(x, {.kernel_size = large, .stride = 1, .padding = large / 2}).shape(), Shape({1, 1, 3, 3}));
  const Tensor column = ones({1}).expand({huge / 2}).unsqueeze(1);
  EXPECT_THROW(matmul(column, ones({1, 4})), ShapeError);
  EXPECT_THROW(linear(column, ones({4, 1})), ShapeError);
}

TEST(Promotion, IsOneForProductsAndConvolutions) {
  const Tensor x = rand({1, 2, 4, 4}), w = rand({3, 2, 3, 3}, f64);
  EXPECT_EQ(conv2d(x, w).dtype(), f64);
  EXPECT_EQ(values(conv2d(x, w)), values(conv2d(x.to(f64), w)));
  EXPECT_EQ(conv2d(x.to(bf16), w.to(f32), ones({3}, f64)).dtype(), f64);
  const Tensor a = rand({2, 3}), b = rand({4, 3}, f64);
  EXPECT_EQ(values(linear(a, b)), values(linear(a.to(f64), b)));
  EXPECT_EQ(linear(a, b.to(f32), ones({4}, f64)).dtype(), f64);
  EXPECT_EQ(values(matmul(a, b.t())), values(matmul(a.to(f64), b.t())));
  const Tensor batch = rand({5, 1, 2, 3}), other = rand({4, 3, 2}, f64);
  EXPECT_EQ(values(matmul(batch, other)), values(matmul(batch.to(f64), other)));
  EXPECT_EQ(matmul(ones({2, 2}, i64), ones({2, 2}, f32)).dtype(), f32);
  EXPECT_THROW(conv2d(ones({1, 1, 2, 2}, i64), ones({1, 1, 1, 1}, i64)), DtypeError);
  EXPECT_THROW(matmul(ones({2, 2}, boolean), ones({2, 2}, boolean)), DtypeError);
}

TEST(Promotion, IsOneForNormalizationsAndAttention) {
  const Tensor x = rand({2, 3, 4}), wide = rand({3}, f64), last = rand({4}, f64);
  EXPECT_EQ(values(layer_norm(x, {4}, last)), values(layer_norm(x.to(f64), {4}, last)));
  EXPECT_EQ(values(batch_norm_with_statistics(x, wide).y), values(batch_norm_with_statistics(x.to(f64), wide).y));
  EXPECT_EQ(values(group_norm(x, 3, wide, {})), values(group_norm(x.to(f64), 3, wide, {})));
  const Tensor q = rand({2, 4, 8}), k = rand({2, 5, 8}, f64), v = rand({2, 5, 8});
  const Tensor out = scaled_dot_product_attention(q, k, v);
  EXPECT_EQ(out.dtype(), f64);
  EXPECT_EQ(values(out), values(scaled_dot_product_attention(q.to(f64), k, v.to(f64))));
}

/// Channels-last memory under (N, C, H, W).
Tensor channels_last(const Shape& s) { return rand({s[0], s[2], s[3], s[1]}).permute({0, 3, 1, 2}); }

TEST(BatchNormPool, IsThreeOpsWhereTheOneDoesNotApply) {
  const Pool2dOptions options{.kernel_size = 2};
  const auto apart = [&](const Tensor& x, const Tensor& w, const Tensor& b) {
    return values(max_pool2d(batch_norm_relu(x, w, b).y, options));
  };
  const Tensor w = rand({3}), b = rand({3});
  // A padded view has channels-last strides, but becomes row-major where the padding is stored.
  const Tensor padded = pad(channels_last({2, 3, 4, 4}), {{0, 0}, {0, 0}, {1, 1}, {1, 1}});
  EXPECT_EQ(values(batch_norm_relu_max_pool2d(padded, w, b, options).y), apart(padded, w, b));
  // A slice is not dense: its cast is row-major.
  const Tensor slice = channels_last({2, 3, 4, 8}).slice(3, 0, 4);
  EXPECT_EQ(values(batch_norm_relu_max_pool2d(slice, w.to(f64), b, options).y), apart(slice, w.to(f64), b));
  EXPECT_THROW(batch_norm_relu_max_pool2d(rand({3, 4, 4}), w, b, options), ShapeError);
}

}  // namespace
}  // namespace weft
