// Normalizations, softmax and losses of rows of few elements, which go in groups: as formulas in double, the same bits
// wherever a row is among the others and whatever the number of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "tensor/adjoints/cross_entropy.h"
#include "tensor/adjoints/group_norm.h"
#include "tensor/adjoints/layer_norm.h"
#include "tensor/adjoints/softmax.h"
#include "tensor/core/random.h"
#include "tensor/functions_all.h"
#include "tests/tensor/kernels/row_checks.h"

namespace weft {
namespace {

constexpr double kEps = 1e-5;
constexpr int64_t kIgnored = -100;

std::vector<double> values(const Tensor& x) { return x.to(f64).to_vector<double>(); }

void expect_near(const Tensor& got, const Tensor& want, const std::string& what) {
  const double bound = got.dtype() == bf16 ? 2e-2 : got.dtype() == f32 ? 1e-5 : 1e-12;
  const std::vector<double> a = values(got), b = values(want);
  ASSERT_EQ(a.size(), b.size()) << what;
  for (size_t i = 0; i < a.size(); ++i) {
    const bool same = (std::isnan(a[i]) && std::isnan(b[i])) || std::fabs(a[i] - b[i]) <= bound * (1 + std::fabs(b[i]));
    ASSERT_TRUE(same) << what << " at " << i << ": " << a[i] << ", want " << b[i];
  }
}

/// (rows, columns) in several layouts; the last one is padded by a mask.
std::vector<Tensor> layouts(int64_t rows, int64_t columns, DType dtype) {
  const auto draw = [&](int64_t n, int64_t width) { return randn({n, width}).to(dtype); };
  return {draw(rows, columns), draw(rows, columns + 3).slice(1, 1, columns + 1), draw(columns, rows).t(),
          draw(rows, 2 * columns).slice(1, 0, 2 * columns, 2), pad(draw(rows, columns - 1), {{0, 0}, {0, 1}})};
}

/// f(x) is near want(x in f64), row by row the same, and the same with several threads.
void check(const Tensor& x, const std::function<Tensor(const Tensor&)>& f,
           const std::function<Tensor(const Tensor&)>& want, const std::string& what) {
  const Tensor got = f(x);
  expect_near(got, want(x.to(f64)), what);
  const bool interleaved = x.layout().is_strided() && x.stride(0) < x.stride(1);  // then a row alone goes another way
  for (const int64_t row : {int64_t{0}, x.size(0) / 2, x.size(0) - 1})
    EXPECT_TRUE(interleaved || values(f(x.slice(0, row, row + 1))) == values(got.slice(0, row, row + 1)))
        << what << row;
  testing::expect_same_bits_for_threads([&] { return values(f(x)); });
}

void for_rows(const std::function<void(const Tensor& x, const Tensor& g, const std::string& what)>& f) {
  for (const DType dtype : {f32, f64, bf16})
    for (const int64_t columns : {2, 3, 8, 10, 15, 16, 17, 31, 32, 33})
      for (const int64_t rows : {1, 7, 8, 9, 70}) {
        const std::vector<Tensor> all = layouts(rows, columns, dtype);
        for (size_t i = 0; i < all.size(); ++i)
          f(all[i], randn({rows, columns}).to(dtype), text(dtype, " ", all[i].shape(), " layout ", i, " "));
      }
}

Tensor softmax_of(const Tensor& x) {
  const Tensor e = exp(x - max(x, 1, keepdim));
  return e / sum(e, 1, keepdim);
}

TEST(ShortRows, Softmax) {
  manual_seed(1);
  for_rows([](const Tensor& x, const Tensor& g, const std::string& what) {
    check(
        x, [](const Tensor& v) { return softmax(v, 1); }, softmax_of, what);
    check(
        x, [](const Tensor& v) { return log_softmax(v, 1); }, [](const Tensor& v) { return log(softmax_of(v)); }, what);
    // A row of g goes with each row of x.
    const auto both = [&](const Tensor& v) { return cat({v, g.slice(0, 0, v.size(0))}, 1); };
    const int64_t n = x.size(1);
    check(
        both(x), [n](const Tensor& v) { return adjoint::softmax_backward(v.slice(1, n, 2 * n), v.slice(1, 0, n), 1); },
        [n](const Tensor& v) {
          const Tensor y = v.slice(1, 0, n), d = v.slice(1, n, 2 * n);
          return y * (d - sum(d * y, 1, keepdim));
        },
        what);
    check(
        both(x),
        [n](const Tensor& v) { return adjoint::log_softmax_backward(v.slice(1, n, 2 * n), v.slice(1, 0, n), 1); },
        [n](const Tensor& v) {
          const Tensor y = v.slice(1, 0, n), d = v.slice(1, n, 2 * n);
          return d - exp(y) * sum(d, 1, keepdim);
        },
        what);
  });
}

TEST(ShortRows, SoftmaxOfNanAndInfinity) {
  const float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  for (const int64_t columns : {2, 10, 17}) {
    const Tensor x = zeros({20, columns});
    x.select(0, 1).fill_(-kInf), x.select(0, 2).select(0, 1).fill_(kNan), x.select(0, 3).select(0, 0).fill_(kInf);
    x.select(0, 4).select(0, 0).fill_(-kInf);
    const std::vector<double> y = values(softmax(x, 1)), log_y = values(log_softmax(x, 1));
    for (int64_t r = 0; r < 20; ++r)
      for (int64_t j = 0; j < columns; ++j) {
        const auto at = static_cast<size_t>(r * columns + j);
        const bool nan = r >= 1 && r <= 3;
        const double want =
            r == 4 ? (j == 0 ? 0.0 : 1.0 / static_cast<double>(columns - 1)) : 1.0 / static_cast<double>(columns);
        EXPECT_EQ(std::isnan(y[at]), nan) << r;
        EXPECT_EQ(std::isnan(log_y[at]), nan) << r;
        EXPECT_TRUE(nan || std::fabs(y[at] - want) < 1e-6) << y[at];
      }
  }
}

// Rows of one element, and few rows along the first axis.
TEST(ShortRows, SoftmaxAlongTheFirstAxis) {
  manual_seed(2);
  for (const DType dtype : {f32, f64, bf16})
    for (const int64_t rows : {1, 2, 3})
      for (const int64_t columns : {5, 16, 37, 1000}) {
        const Tensor x = randn({rows, columns}).to(dtype), e = exp(x.to(f64));
        expect_near(softmax(x, 0), e / sum(e, 0, keepdim), "softmax");
        expect_near(log_softmax(x, 0), log(e / sum(e, 0, keepdim)), "log_softmax");
        const Tensor g = randn({rows, columns}).to(dtype), y = softmax(x, 0), wide = y.to(f64), d = g.to(f64);
        expect_near(adjoint::softmax_backward(g, y, 0), wide * (d - sum(d * wide, 0, keepdim)), "backward");
      }
  const Tensor x = full({1, 40}, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(sum(isnan(softmax(x, 0))).item<int64_t>(), 40);
}

TEST(ShortRows, CrossEntropy) {
  manual_seed(3);
  for_rows([](const Tensor& x, const Tensor&, const std::string& what) {
    const int64_t rows = x.size(0), classes = x.size(1);
    const Tensor weight = rand({classes}) + 0.5, scale = randn({rows});
    Tensor targets = randint(0, classes, {rows});
    if (rows > 8) targets.slice(0, 3, 5).fill_(kIgnored);
    const Tensor counts = targets != kIgnored, known = where(counts, targets, zeros_like(targets));
    const Tensor p = softmax_of(x.to(f64)), w = index_select(weight.to(f64), 0, known) * counts.to(f64);
    const Tensor loss = cross_entropy(x, targets, {.weight = weight, .reduction = Reduction::none});
    expect_near(loss, w * neg(log(gather(p, 1, unsqueeze(known, 1)).squeeze(1))), what);
    const auto gradient = [&](int64_t from, int64_t to) {
      return adjoint::cross_entropy_backward(scale.slice(0, from, to), x.slice(0, from, to), targets.slice(0, from, to),
                                             weight, kIgnored, 0);
    };
    const Tensor hot = (unsqueeze(known, 1) == arange(classes)).to(f64), got = gradient(0, rows);
    expect_near(got, (p - hot) * unsqueeze(w * scale.to(f64), 1), what);
    const bool interleaved = x.layout().is_strided() && x.stride(0) < x.stride(1);
    EXPECT_TRUE(interleaved || values(gradient(rows - 1, rows)) == values(got.slice(0, rows - 1, rows))) << what;
    testing::expect_same_bits_for_threads([&] { return values(gradient(0, rows)); });
  });
}

TEST(ShortRows, WhatIsIgnoredMayBeNan) {
  const Tensor x = zeros({9, 10}), targets = zeros({9}, i64);
  x.select(0, 2).fill_(std::numeric_limits<float>::quiet_NaN()), targets.select(0, 2).fill_(kIgnored);
  const Tensor loss = cross_entropy(x, targets, {.reduction = Reduction::none});
  EXPECT_EQ(loss.to_vector<float>()[2], 0);
  const Tensor dx = adjoint::cross_entropy_backward(ones({9}), x, targets, {}, kIgnored, 0);
  EXPECT_EQ(values(dx.select(0, 2)), std::vector<double>(10, 0));
  EXPECT_EQ(sum(isnan(dx)).item<int64_t>(), 0);
}

Tensor normalized(const Tensor& x) {
  const Tensor d = x - mean(x, 1, keepdim);
  return d / sqrt(mean(d * d, 1, keepdim) + kEps);
}

TEST(ShortRows, LayerAndRmsNorm) {
  manual_seed(4);
  for_rows([](const Tensor& x, const Tensor& g, const std::string& what) {
    const int64_t n = x.size(1);
    const Tensor w = (rand({n}) + 0.5).to(x.dtype()), b = randn({n}).to(x.dtype());
    check(
        x, [&](const Tensor& v) { return layer_norm(v, {n}, w, b, kEps); },
        [&](const Tensor& v) { return normalized(v) * w.to(f64) + b.to(f64); }, what);
    check(
        x, [&](const Tensor& v) { return rms_norm(v, {n}, w, kEps); },
        [&](const Tensor& v) { return v / sqrt(mean(v * v, 1, keepdim) + kEps) * w.to(f64); }, what);
    const Tensor wide = x.to(f64), m = mean(wide, 1), d = wide - unsqueeze(m, 1);
    for (const bool rms : {false, true}) {
      const Tensor from = rms ? wide : d, rstd = 1.0 / sqrt(mean(from * from, 1) + kEps);
      const auto [dx, dw, db] = adjoint::layer_norm_backward(g, x, 1, w, (rms ? zeros_like(m) : m).to(x.dtype()),
                                                             rstd.to(x.dtype()), kEps, rms ? 0b011 : 0b111, rms);
      if (x.dtype() == bf16) continue;  // the statistics are rounded
      const Tensor u = from * unsqueeze(rstd, 1), h = g.to(f64) * w.to(f64);
      const Tensor about = h - u * mean(h * u, 1, keepdim);
      if (x.dtype() == f64 || n > 2)  // of two elements nothing is left but the rounding of the statistics
        expect_near(dx, (rms ? about : about - mean(h, 1, keepdim)) * unsqueeze(rstd, 1), what + "dx");
      expect_near(dw, sum(g.to(f64) * u, 0), what + "dw");
      if (!rms) expect_near(db, sum(g.to(f64), 0), what + "db");
    }
  });
}

// Squares that float cannot hold, equal values, NaN in one row of a group.
TEST(ShortRows, LayerNormOfHardRows) {
  for (const int64_t n : {3, 16, 17, 32}) {
    const Tensor x = randn({11, n}), plain = layer_norm(x, {n});
    const Tensor hard = x.clone();
    hard.select(0, 1).mul_(1e30), hard.select(0, 4).fill_(0.1);
    hard.select(0, 6).select(0, 1).fill_(std::numeric_limits<float>::quiet_NaN());
    const Tensor y = layer_norm(hard, {n});
    expect_near(y.select(0, 1), normalized(x.to(f64) * 1e30).select(0, 1), "large");
    EXPECT_EQ(values(y.select(0, 4)), std::vector<double>(static_cast<size_t>(n), 0));
    EXPECT_EQ(sum(isnan(y)).item<int64_t>(), n);
    EXPECT_EQ(values(y.select(0, 5)), values(plain.select(0, 5)));
  }
}

TEST(ShortRows, GroupNorm) {
  manual_seed(5);
  for (const DType dtype : {f32, f64, bf16})
    for (const Shape& shape : {Shape{3, 12, 1}, Shape{5, 12, 2}, Shape{2, 12, 3, 3}, Shape{9, 4, 17}, Shape{1, 4, 5},
                               Shape{2, 12, 3, 1, 2, 1, 1, 2}})
      for (const int64_t groups : {1, 2, 4}) {
        const int64_t images = shape[0], channels = shape[1], pixels = checked_numel(shape) / (images * channels);
        const Tensor dense = randn(shape).to(dtype), turned = randn(shape).to(dtype).transpose(0, 2).contiguous();
        const Tensor w = (rand({channels}) + 0.5).to(dtype), b = randn({channels}).to(dtype);
        const Tensor w_all = w.to(f64).view({1, channels, 1}), b_all = b.to(f64).view({1, channels, 1});
        for (const Tensor& x : {dense, turned.transpose(0, 2)}) {
          const Tensor rows = x.to(f64).reshape({images * groups, -1}), u = normalized(rows);
          const Tensor unit = u.view({images, channels, pixels}), got = group_norm(x, groups, w, b, kEps);
          const std::string what = text(dtype, " ", shape, " ", groups);
          expect_near(got.reshape({images, channels, pixels}), unit * w_all + b_all, what);
          testing::expect_same_bits_for_threads([&] { return values(group_norm(x, groups, w, b, kEps)); });
          const Tensor m = mean(rows, 1, keepdim), rstd = 1.0 / sqrt(mean(square(rows - m), 1) + kEps);
          const Shape of_group{images, groups};
          const Tensor g = randn(shape).to(dtype), d = g.to(f64).reshape({images, channels, pixels});
          const auto [dx, dw, db] = adjoint::group_norm_backward(g, x, groups, w, m.view(of_group).to(dtype),
                                                                 rstd.view(of_group).to(dtype), kEps);
          if (dtype == bf16) continue;
          const Tensor h = (d * w_all).reshape(rows.shape());
          const Tensor dx_rows = (h - mean(h, 1, keepdim) - u * mean(h * u, 1, keepdim)) * unsqueeze(rstd, 1);
          expect_near(dx.reshape(rows.shape()), dx_rows, what);
          expect_near(dw, sum(d * unit, {0, 2}), what);
          expect_near(db, sum(d, {0, 2}), what);
        }
      }
}

// Between the rows lies what is not to be summed: NaN.
TEST(ShortRows, ColumnsOfSlices) {
  manual_seed(6);
  for (const DType dtype : {f32, f64, bf16, i32})
    for (const int64_t columns : {1, 2, 3, 5, 7})
      for (const int64_t rows : {1, 15, 16, 17, 100, 3001}) {
        const Tensor x = randint(-3, 4, {rows, columns}).to(dtype);
        const Tensor table = is_floating(dtype) ? full({rows, columns + 3}, std::nan("")).to(dtype)
                                                : full({rows, columns + 3}, 100).to(dtype);
        Tensor slice = table.slice(1, 3, columns + 3);  // its last row ends with the table
        slice.copy_(x);
        EXPECT_EQ(values(sum(slice, 0)), values(sum(x.t().contiguous(), 1)));
        EXPECT_EQ(values(max(slice, 0)), values(max(x.t().contiguous(), 1)));
        if (is_floating(dtype)) expect_near(norm(slice, 2, 0), sqrt(sum(square(x.to(f64)), 0)), "norm");
        if (dtype == f32) expect_near(var(slice, 0, 0), var(x.to(f64), 0, 0), "var");
      }
}

TEST(ShortRows, SumsOfPermutedAxes) {
  manual_seed(7);
  for (const DType dtype : {f32, bf16, i32})
    for (const int64_t last : {2, 3, 4, 5}) {
      const Tensor x = randint(-2, 3, {7, 20, 60, last}).to(dtype);
      for (const Tensor& y : {x.permute({2, 0, 3, 1}), x.permute({3, 1, 0, 2}), x.transpose(2, 3)})
        for (int64_t axis = 0; axis < 4; ++axis) {
          const Tensor moved = movedim(y, axis, -1).contiguous();
          EXPECT_EQ(values(sum(y, axis)), values(sum(moved, -1))) << dtype << " " << last << " axis " << axis;
          EXPECT_EQ(values(max(y, axis)), values(max(moved, -1))) << dtype << " " << last << " axis " << axis;
        }
    }
}

TEST(ShortRows, NormOfOneElement) {
  const float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = Tensor::from(std::vector<float>{-3, 0, -0.0f, 1e30f, -1e-30f, -kInf, kNan}).view({7, 1});
  for (const double p : {-1.0, 1.0, 2.0, 3.0}) {
    const std::vector<double> y = values(norm(x, p, 1)), kept = values(norm(x.t(), p, 0, keepdim));
    const std::vector<double> want = values(abs(x));
    for (size_t i = 0; i < 6; ++i) EXPECT_TRUE(y[i] == want[i] && kept[i] == want[i]) << p << " " << i;
    EXPECT_TRUE(std::isnan(y[6]) && std::isnan(kept[6]));
    EXPECT_FALSE(std::signbit(y[2]));
  }
  EXPECT_EQ(values(norm(x, 0, 1))[0], 1);
}

}  // namespace
}  // namespace weft
