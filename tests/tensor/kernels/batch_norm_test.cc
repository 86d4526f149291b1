// Batch normalization and its gradient against naive ones in double, in every memory order.
#include "tensor/ops/batch_norm.h"

#include "tests/reference/activation.h"
#include "tests/reference/norm.h"
#include "tests/tensor/kernels/row_checks.h"

namespace weft::testing {
namespace {

constexpr double kEps = 0.1;

struct Batch {
  AnyArray x, g, y, dx, w, b, mean, rstd, var, dw, db;
  bool affine;
  bool relu = false;

  Batch(const Shape& shape, DType dtype, Layout layout, Layout other, bool affine_, Random& random)
      : x(random_values(shape, dtype, layout, random, 2, 1)),
        g(random_values(shape, dtype, other, random)),
        y(shape, dtype, other, random),
        dx(shape, dtype, layout, random),
        w(random_values({shape[1]}, dtype, Layout::gaps, random)),
        b(random_values({shape[1]}, dtype, Layout::row_major, random)),
        mean({shape[1]}, dtype == f64 ? f64 : f32, Layout::row_major, random),
        rstd(mean),
        var(mean),
        dw(w),
        db(b),
        affine(affine_) {}

  Operand weight() { return affine ? w.operand() : Operand(); }
  Operand bias() { return affine ? b.operand() : Operand(); }
  void forward() {
    op::BatchNorm{kEps, relu}.cpu(x.operand(), weight(), bias(), y.operand(), mean.operand(), rstd.operand(),
                                  var.operand());
  }
  void backward() {
    op::BatchNormBackward{kEps, relu}.cpu(g.operand(), x.operand(), weight(), bias(), mean.operand(), rstd.operand(),
                                          dx.operand(), dw.operand(), db.operand());
  }
};

void check(Batch& batch) {
  const std::string what = describe(batch.x) + " with " + describe(batch.g) + (batch.affine ? " affine" : "");
  const Shape& shape = batch.x.shape();
  const reference::NormAxes channels = reference::each_channel(shape);
  const reference::Array x = values_of(batch.x), w = values_of(batch.w, batch.affine),
                         b = values_of(batch.b, batch.affine);
  reference::Array y = reference::normalized(x, w, b, channels, kEps), g = values_of(batch.g);
  for (size_t i = 0; i < y.values.size() && batch.relu; ++i) {
    if (y.values[i] <= 0) g.values[i] = 0;  // does not come through the relu
    y.values[i] = reference::relu(y.values[i]);
  }
  const auto [mean, rstd] = reference::moments(x, channels, kEps);
  const reference::Arrays want = reference::normalized_gradient(g, x, w, channels, kEps);
  batch.forward();
  batch.backward();
  expect_all_close(batch.mean, {{shape[1]}, mean}, 2, 1, "mean " + what);
  expect_all_close(batch.rstd, {{shape[1]}, rstd}, 4, 0, "rstd " + what);
  reference::Row var = rstd;
  for (double& v : var) v = 1 / (v * v) - kEps;
  expect_all_close(batch.var, {{shape[1]}, var}, 4, 1, "var " + what);
  expect_all_close(batch.y, y, 10, 10, "y " + what);
  expect_all_close(batch.dx, want[0], 20, 20, "dx " + what);
  const double slack = 2 + 0.1 * static_cast<double>(checked_numel(shape) / shape[1]);
  expect_all_close(batch.dw, want[1], 10, slack, "dw " + what);
  expect_all_close(batch.db, want[2], 2, slack, "db " + what);
}

TEST(BatchNorm, AgreesWithNaiveLoops) {
  Random random(51);
  for (int i = 0; i < property_cases(120); ++i) {
    Shape shape;
    const int64_t rank = pick(random, 2, 4);
    for (int64_t a = 0; a < rank; ++a) shape.push_back(pick(random, 1, 9));
    shape[0] += 1;
    Batch batch(shape, kFloatingDtypes[pick(random, 0, 3)], any_layout(random, false), any_layout(random, false),
                i % 3 != 0, random);
    if (i % 2 != 0) batch.relu = true;
    check(batch);
    if (HasFailure()) break;
  }
}

TEST(BatchNorm, ImagesInBothOrders) {
  Random random(52);
  for (Layout layout : {Layout::row_major, Layout::channels_last})
    for (DType dtype : {f32, f64, bf16})
      for (const Shape& shape : {Shape{5, 16, 12, 13}, Shape{3, 37, 9, 20}, Shape{300, 3, 1, 1}, Shape{2, 1, 60, 70}}) {
        Batch batch(shape, dtype, layout, layout, true, random);
        check(batch);
        batch.relu = true;
        check(batch);
      }
}

TEST(BatchNorm, FarFromZero) {
  Random random(53);
  for (Layout layout : {Layout::row_major, Layout::channels_last}) {
    Batch batch({4, 3, 8, 8}, f32, layout, layout, false, random);
    int64_t i = 0;
    batch.x.fill([&] { return ++i % 2 == 0 ? 1e6 + 0.5 : 1e6 - 0.5; });
    batch.forward();
    const double unit = 0.5 / std::sqrt(0.25 + kEps);
    for_each_index(batch.x.shape(), [&](const IntList& index) {
      EXPECT_NEAR(batch.y.get(index), batch.x.get(index) > 1e6 ? unit : -unit, 1e-6);
    });
  }
}

TEST(BatchNorm, ReluLetsNanThrough) {
  Random random(56);
  Batch batch({4, 3}, f32, Layout::row_major, Layout::row_major, false, random);
  batch.relu = true;
  batch.x.set({0, 1}, std::numeric_limits<double>::quiet_NaN());
  batch.forward();
  for (int64_t n = 0; n < 4; ++n) {
    EXPECT_TRUE(std::isnan(batch.y.get({n, 1})));
    EXPECT_GE(batch.y.get({n, 0}), 0);
  }
}

TEST(BatchNorm, AnEmptyBatchAddsNothingToTheGradients) {
  Random random(56);
  for (const Shape& shape : {Shape{0, 3, 4, 4}, Shape{2, 3, 0, 4}}) {
    Batch batch(shape, f32, Layout::row_major, Layout::row_major, true, random);
    batch.forward();
    batch.backward();
    for (int64_t c = 0; c < 3; ++c) {
      EXPECT_EQ(batch.dw.get({c}), 0) << text(shape);
      EXPECT_EQ(batch.db.get({c}), 0) << text(shape);
    }
  }
}

TEST(BatchNorm, InferenceUsesWhatItIsGiven) {
  Random random(54);
  Batch batch({3, 5, 4, 2}, f32, Layout::channels_last, Layout::channels_last, true, random);
  AnyArray variance({5}, f32, Layout::row_major, random);
  std::uniform_real_distribution<double> uniform(0.5, 2);
  variance.fill([&] { return uniform(random); });
  batch.mean.fill([&] { return uniform(random); });
  op::BatchNormInference{kEps}.cpu(batch.x.operand(), batch.mean.operand(), variance.operand(), batch.w.operand(),
                                   batch.b.operand(), batch.y.operand());
  expect_all_close(batch.y,
                   reference::normalized_with(values_of(batch.x), values_of(batch.mean), values_of(variance),
                                              values_of(batch.w), values_of(batch.b), kEps),
                   10, 10, "y");
}

TEST(BatchNorm, SameBitsForAnyNumberOfThreads) {
  Random random(55);
  for (Layout layout : {Layout::row_major, Layout::channels_last}) {
    Batch batch({9, 24, 30, 31}, f32, layout, layout, true, random);
    expect_same_bits_for_threads([&] {
      batch.forward();
      batch.backward();
      return std::vector{batch.y.memory, batch.dx.memory, batch.dw.memory, batch.db.memory, batch.rstd.memory};
    });
  }
}

}  // namespace
}  // namespace weft::testing
