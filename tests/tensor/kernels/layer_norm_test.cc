// Layer normalization and its gradient against naive ones in double.
#include "tensor/ops/layer_norm.h"

#include "tests/reference/norm.h"
#include "tests/tensor/kernels/row_checks.h"

namespace weft::testing {
namespace {

constexpr double kEps = 0.1;  // tiny rows stay well-conditioned

void check(const Shape& shape, int64_t axes, DType dtype, Layout layout, bool affine, Random& random) {
  const size_t first = shape.size() - static_cast<size_t>(axes);
  const Shape inner(shape.begin() + first, shape.end());
  IntList gone;
  for (size_t a = first; a < shape.size(); ++a) gone.push_back(static_cast<int64_t>(a));
  AnyArray x = random_values(shape, dtype, layout, random, 2, 1), g = random_values(shape, dtype, layout, random);
  AnyArray w = random_values(inner, dtype, Layout::permuted, random),
           b = random_values(inner, dtype, Layout::gaps, random);
  const Shape kept = kept_shape(shape, gone);
  const DType statistics = dtype == f64 ? f64 : f32;
  AnyArray y(shape, dtype, Layout::permuted, random), mean(kept, statistics, Layout::row_major, random);
  AnyArray rstd(kept, statistics, Layout::permuted, random), dx(shape, dtype, Layout::gaps, random);
  AnyArray dw(inner, dtype, Layout::row_major, random), db(inner, dtype, Layout::permuted, random);
  const auto given = [&](AnyArray& parameter) { return affine ? parameter.operand() : Operand(); };
  op::LayerNorm{axes, kEps}.cpu(x.operand(), given(w), given(b), y.operand(), mean.operand(), rstd.operand());
  const auto backward = [&](const Operand& to_dx, const Operand& to_dw, const Operand& to_db) {
    op::LayerNormBackward{axes, kEps}.cpu(g.operand(), x.operand(), given(w), mean.operand(), rstd.operand(), to_dx,
                                          to_dw, to_db);
  };
  backward(dx.operand(), given(dw), given(db));
  const std::string what = describe(x) + text(" last ", axes, affine ? " affine" : "");
  if (affine) {  // the same bits where only the parameters', or only the input's gradient is wanted
    AnyArray only_dw = dw, only_db = db, only_dx = dx;
    only_dw.fill([] { return 7.0; }), only_db.fill([] { return 7.0; }), only_dx.fill([] { return 7.0; });
    backward({}, only_dw.operand(), only_db.operand());
    backward(only_dx.operand(), {}, {});
    EXPECT_EQ(only_dw.memory, dw.memory) << what;
    EXPECT_EQ(only_db.memory, db.memory) << what;
    EXPECT_EQ(only_dx.memory, dx.memory) << what;
  }
  const reference::NormAxes together = reference::last_axes(shape, axes);
  const reference::Array values = values_of(x), weight = values_of(w, affine), bias = values_of(b, affine);
  const auto [means, rstds] = reference::moments(values, together, kEps);
  expect_all_close(mean, {kept, means}, 2, 1, "mean " + what);
  expect_all_close(rstd, {kept, rstds}, 20, 0, "rstd " + what);
  expect_all_close(y, reference::normalized(values, weight, bias, together, kEps), 10, 10, "y " + what);
  const reference::Arrays want = reference::normalized_gradient(values_of(g), values, weight, together, kEps);
  expect_all_close(dx, want[0], 20, 30, "dx " + what);
  if (!affine) return;
  expect_all_close(dw, want[1], 20, 60, "dweight " + what);
  expect_all_close(db, want[2], 2, 10, "dbias " + what);
}

TEST(LayerNorm, AgreesWithNaiveLoops) {
  Random random(41);
  for (int i = 0; i < property_cases(80); ++i) {
    Shape shape;
    const int64_t rank = pick(random, 1, 3);
    for (int64_t a = 0; a < rank; ++a) shape.push_back(pick(random, 2, 8));
    check(shape, pick(random, 1, rank), kFloatingDtypes[pick(random, 0, 3)], kDistinctLayouts[pick(random, 0, 3)],
          i % 2 == 0, random);
    if (HasFailure()) break;
  }
}

TEST(LayerNorm, RowsOfManySizes) {
  Random random(42);
  for (int64_t length : {1, 15, 16, 17, 100, 129})
    for (DType dtype : {f32, f64}) check({19, length}, 1, dtype, Layout::row_major, true, random);
}

TEST(LayerNorm, FarFromZero) {
  Array<float> x{std::vector<float>(256), View::contiguous({1, 256})}, y = x;
  for (size_t i = 0; i < 256; ++i) x.memory[i] = i % 2 == 0 ? 1e6f + 0.5f : 1e6f - 0.5f;
  op::LayerNorm{1, 0}.cpu(x.operand(), {}, {}, y.operand(), {}, {});
  for (size_t i = 0; i < 256; ++i) EXPECT_FLOAT_EQ(y.memory[i], i % 2 == 0 ? 1.0f : -1.0f);
}

TEST(LayerNorm, EqualHugeValuesHaveNoSlopeWhateverTheLength) {
  Random random(45);
  for (int64_t length : {3, 16, 17, 32, 33, 40, 64, 70}) {
    AnyArray x({2, length}, f32, Layout::row_major, random), y = x, g = x, dx = x;
    AnyArray mean({2, 1}, f32, Layout::row_major, random), rstd = mean;
    x.fill([] { return 1e37; }), g.fill([] { return 1.0; });  // mean * rstd is infinite
    op::LayerNorm{1, 1e-5}.cpu(x.operand(), {}, {}, y.operand(), mean.operand(), rstd.operand());
    op::LayerNormBackward{1, 1e-5}.cpu(g.operand(), x.operand(), {}, mean.operand(), rstd.operand(), dx.operand(), {},
                                       {});
    expect_all_close(dx, {dx.shape(), std::vector<double>(static_cast<size_t>(2 * length))}, 0, 0,
                     text("length ", length));
  }
}

TEST(LayerNorm, NoRowsGiveZeroParameterGradients) {
  Random random(43);
  AnyArray x({0, 4}, f32, Layout::row_major, random), one({0, 1}, f32, Layout::row_major, random);
  AnyArray w = random_values({4}, f32, Layout::row_major, random), dw = w, db = w;
  op::LayerNormBackward{1, kEps}.cpu(x.operand(), x.operand(), w.operand(), one.operand(), one.operand(), x.operand(),
                                     dw.operand(), db.operand());
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(dw.get({i}) + db.get({i}), 0);
}

TEST(LayerNorm, SameBitsForAnyNumberOfThreads) {
  Random random(44);
  AnyArray x = random_values({700, 130}, f32, Layout::row_major, random),
           g = random_values(x.shape(), f32, Layout::row_major, random);
  AnyArray w = random_values({130}, f32, Layout::row_major, random), dw = w, db = w, y = x, dx = x;
  AnyArray mean({700, 1}, f32, Layout::row_major, random), rstd = mean;
  expect_same_bits_for_threads([&] {
    op::LayerNorm{1, kEps}.cpu(x.operand(), w.operand(), w.operand(), y.operand(), mean.operand(), rstd.operand());
    op::LayerNormBackward{1, kEps}.cpu(g.operand(), x.operand(), w.operand(), mean.operand(), rstd.operand(),
                                       dx.operand(), dw.operand(), db.operand());
    return std::vector{y.memory, dx.memory, dw.memory, db.memory};
  });
}

}  // namespace
}  // namespace weft::testing
