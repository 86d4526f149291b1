// Layer normalisation and its gradient against naive ones in double.
#include "tensor/ops/layer_norm.h"

#include "tests/tensor/kernels/row_checks.h"

namespace weft::testing {
namespace {

constexpr double kEps = 0.1;  // tiny rows stay well-conditioned

struct Naive {
  std::vector<double> unit;  // (x - mean) * rstd
  double mean = 0;
  double rstd = 0;
};

Naive naive_row(const std::vector<double>& x) {
  Naive result;
  const double n = static_cast<double>(x.size());
  for (double v : x) result.mean += v / n;
  double variance = 0;
  for (double v : x) variance += (v - result.mean) * (v - result.mean) / n;
  result.rstd = 1 / std::sqrt(variance + kEps);
  for (double v : x) result.unit.push_back((v - result.mean) * result.rstd);
  return result;
}

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
  const auto tail = [&](const IntList& index) { return IntList(index.begin() + first, index.end()); };
  const auto place = [&](const IntList& index) {
    int64_t linear = 0;
    for (size_t a = first; a < shape.size(); ++a) linear = linear * shape[a] + index[a];
    return static_cast<size_t>(linear);
  };
  const auto weight = [&](const IntList& index) { return affine ? w.get(tail(index)) : 1.0; };
  const auto row = [&](const AnyArray& a, const IntList& index) { return elements_at(a, without(index, gone), gone); };
  expect_all_close(
      mean, [&](auto& i) { return naive_row(row(x, i)).mean; }, 2, 1, "mean " + what);
  expect_all_close(
      rstd, [&](auto& i) { return naive_row(row(x, i)).rstd; }, 20, 0, "rstd " + what);
  expect_all_close(
      y,
      [&](const IntList& i) {
        return naive_row(row(x, i)).unit[place(i)] * weight(i) + (affine ? b.get(tail(i)) : 0.0);
      },
      10, 10, "y " + what);
  expect_all_close(
      dx,
      [&](const IntList& i) {
        const Naive n = naive_row(row(x, i));
        std::vector<double> h = row(g, i);
        IntList at = without(i, gone);
        const Shape sizes(shape.begin() + first, shape.end());
        size_t k = 0;
        double sum = 0, dot = 0;
        for_each_index(sizes, [&](const IntList& inner_index) {
          if (affine) h[k] *= w.get(inner_index);
          sum += h[k];
          dot += h[k] * n.unit[k];
          ++k;
        });
        const double count = static_cast<double>(h.size());
        return n.rstd * (h[place(i)] - sum / count - n.unit[place(i)] * dot / count);
      },
      20, 30, "dx " + what);
  if (!affine) return;
  const auto over_rows = [&](const IntList& inner_index, bool with_unit) {
    double total = 0;
    for_each_index(kept, [&](IntList index) {
      for (size_t a = first; a < shape.size(); ++a) index[a] = inner_index[a - first];
      total += g.get(index) * (with_unit ? naive_row(row(x, index)).unit[place(index)] : 1.0);
    });
    return total;
  };
  expect_all_close(
      dw, [&](const IntList& i) { return over_rows(i, true); }, 20, 60, "dweight " + what);
  expect_all_close(
      db, [&](const IntList& i) { return over_rows(i, false); }, 2, 10, "dbias " + what);
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
