// Batch normalisation and its gradient against naive ones in double, in every memory order.
#include "tensor/ops/batch_norm.h"

#include "tests/tensor/kernels/row_checks.h"

namespace weft::testing {
namespace {

constexpr double kEps = 0.1;

struct Batch {
  AnyArray x, g, y, dx, w, b, mean, rstd, dw, db;
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
        dw(w),
        db(b),
        affine(affine_) {}

  Operand weight() { return affine ? w.operand() : Operand(); }
  Operand bias() { return affine ? b.operand() : Operand(); }
  void forward() {
    op::BatchNorm{kEps, relu}.cpu(x.operand(), weight(), bias(), y.operand(), mean.operand(), rstd.operand());
  }
  void backward() {
    op::BatchNormBackward{kEps, relu}.cpu(g.operand(), x.operand(), weight(), bias(), mean.operand(), rstd.operand(),
                                          dx.operand(), dw.operand(), db.operand());
  }
};

/// The naive results of one channel.
struct Channel {
  double mean = 0, rstd = 0, sum = 0, dot = 0, count = 0;  // sum of g, of g * unit
  double weight, bias;
  bool relu;

  Channel(const Batch& batch, int64_t c)
      : weight(batch.affine ? batch.w.get({c}) : 1.0), bias(batch.affine ? batch.b.get({c}) : 0.0), relu(batch.relu) {
    each(batch, c, [&](double x, double) {
      mean += x;
      ++count;
    });
    mean /= count;
    double squares = 0;
    each(batch, c, [&](double x, double) { squares += (x - mean) * (x - mean); });
    rstd = 1 / std::sqrt(squares / count + kEps);
    each(batch, c, [&](double x, double g) {
      sum += gradient(x, g);
      dot += gradient(x, g) * (x - mean) * rstd;
    });
  }
  double before_relu(double x) const { return (x - mean) * rstd * weight + bias; }
  double y(double x) const { return relu ? std::max(before_relu(x), 0.0) : before_relu(x); }
  /// What of g comes through the relu.
  double gradient(double x, double g) const { return relu && before_relu(x) <= 0 ? 0.0 : g; }
  template <class F> static void each(const Batch& batch, int64_t c, const F& f) {
    Shape sizes = batch.x.shape();
    sizes[1] = 1;
    for_each_index(sizes, [&](IntList index) {
      index[1] = c;
      f(batch.x.get(index), batch.g.get(index));
    });
  }
};

void check(Batch& batch) {
  const std::string what = describe(batch.x) + " with " + describe(batch.g) + (batch.affine ? " affine" : "");
  std::vector<Channel> channels;
  for (int64_t c = 0; c < batch.x.shape()[1]; ++c) channels.emplace_back(batch, c);
  const auto channel = [&](const IntList& index) -> const Channel& { return channels[static_cast<size_t>(index[1])]; };
  batch.forward();
  batch.backward();
  expect_all_close(
      batch.mean, [&](auto& i) { return channels[static_cast<size_t>(i[0])].mean; }, 2, 1, "mean " + what);
  expect_all_close(
      batch.rstd, [&](auto& i) { return channels[static_cast<size_t>(i[0])].rstd; }, 4, 0, "rstd " + what);
  expect_all_close(
      batch.y, [&](auto& i) { return channel(i).y(batch.x.get(i)); }, 10, 10, "y " + what);
  expect_all_close(
      batch.dx,
      [&](auto& i) {
        const Channel& c = channel(i);
        const double unit = (batch.x.get(i) - c.mean) * c.rstd, g = c.gradient(batch.x.get(i), batch.g.get(i));
        return (g - c.sum / c.count - unit * c.dot / c.count) * c.rstd * c.weight;
      },
      20, 20, "dx " + what);
  const double slack = 2 + 0.1 * channels[0].count;
  expect_all_close(
      batch.dw, [&](auto& i) { return channels[static_cast<size_t>(i[0])].dot; }, 10, slack, "dw " + what);
  expect_all_close(
      batch.db, [&](auto& i) { return channels[static_cast<size_t>(i[0])].sum; }, 2, slack, "db " + what);
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

TEST(BatchNorm, InferenceUsesWhatItIsGiven) {
  Random random(54);
  Batch batch({3, 5, 4, 2}, f32, Layout::channels_last, Layout::channels_last, true, random);
  AnyArray variance({5}, f32, Layout::row_major, random);
  std::uniform_real_distribution<double> uniform(0.5, 2);
  variance.fill([&] { return uniform(random); });
  batch.mean.fill([&] { return uniform(random); });
  op::BatchNormInference{kEps}.cpu(batch.x.operand(), batch.mean.operand(), variance.operand(), batch.w.operand(),
                                   batch.b.operand(), batch.y.operand());
  const auto rstd = [&](const IntList& i) { return 1 / std::sqrt(variance.get({i[1]}) + kEps); };
  expect_all_close(
      batch.y,
      [&](auto& i) {
        return (batch.x.get(i) - batch.mean.get({i[1]})) * rstd(i) * batch.w.get({i[1]}) + batch.b.get({i[1]});
      },
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
