// Kernels that treat short axes in a way of their own: the same as of other layouts, or as a loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tensor/core/random.h"
#include "tensor/functions_all.h"

namespace weft {
namespace {

constexpr int64_t kRows = 70;

std::vector<double> values(const Tensor& x) { return x.to(f64).to_vector<double>(); }

/// Rows of `columns` elements that lie in some other way than one after the other.
std::vector<Tensor> stepped_rows(int64_t columns, DType dtype) {
  const auto draw = [&](int64_t rows, int64_t width) { return (rand({rows, width}) + 0.5).to(dtype); };
  return {draw(kRows, columns + 3).slice(1, 1, columns + 1),
          draw(kRows, columns).flip({1}),
          draw(kRows, 2 * columns).slice(1, 0, 2 * columns, 2),
          draw(kRows, 1).expand({kRows, columns}),
          draw(1, columns).expand({kRows, columns}),
          draw(columns, kRows).t()};
}

TEST(ShortAxes, FunctionsOfRowsThatAreNotDense) {
  manual_seed(1);
  for (const DType dtype : {f32, f64, bf16, f16})
    for (const int64_t columns : {1, 2, 3, 7, 8, 9, 33, 48, 49, 64, 65}) {
      const std::vector<Tensor> rows = stepped_rows(columns, dtype);
      for (size_t i = 0; i < rows.size(); ++i) {
        const Tensor &x = rows[i], &y = rows[(i + 1) % rows.size()], a = x.clone().contiguous(),
                     b = y.clone().contiguous();
        EXPECT_EQ(values(exp(x)), values(exp(a)));
        EXPECT_EQ(values(x + y), values(a + b));
        EXPECT_EQ(values(x * 2.0), values(a * 2.0));
        EXPECT_EQ(values(addcmul(x, y, x)), values(addcmul(a, b, a)));
        EXPECT_EQ(values(x > y), values(a > b));
        EXPECT_EQ(values(x.to(i32)), values(a.to(i32)));
        const Tensor table = (rand({kRows, columns + 2}) + 0.5).to(dtype), before = table.clone();
        table.slice(1, 1, columns + 1).mul_(x);
        EXPECT_EQ(values(table.slice(1, 1, columns + 1)), values(before.slice(1, 1, columns + 1).contiguous() * a));
        EXPECT_EQ(values(table.select(1, 0)), values(before.select(1, 0)));
        EXPECT_EQ(values(table.select(1, columns + 1)), values(before.select(1, columns + 1)));
      }
    }
}

// Small integers: every order of a sum gives the same.
TEST(ShortAxes, Reductions) {
  manual_seed(2);
  for (const Shape& shape : {Shape{200, 2, 2, 2}, Shape{3, 400, 3}, Shape{2, 37, 1000, 2}, Shape{90, 4, 3, 5}})
    for (const DType dtype : {f32, bf16, i32}) {
      const Tensor x = randint(-3, 4, shape).to(dtype);
      for (int64_t axis = 0; axis < shape.rank(); ++axis) {
        const Tensor last = movedim(x, axis, -1).contiguous();  // the axis as rows
        EXPECT_EQ(values(sum(x.to(f32), axis)), values(sum(last.to(f32), -1))) << shape << " axis " << axis;
        EXPECT_EQ(values(max(x, axis)), values(max(last, -1))) << shape << " axis " << axis;
        EXPECT_EQ(values(sum(x, axis, keepdim).to(f64)), values(unsqueeze(sum(last, -1), axis).to(f64)));
      }
    }
}

TEST(ShortAxes, SlicesThatAreAddedInOrder) {
  manual_seed(3);
  for (const int64_t width : {1, 2, 3, 16, 17})
    for (const DType dtype : {f32, f64, bf16, i64, u8})
      for (const int64_t count : {40, 300, 3000}) {
        const Tensor rows = randint(0, 50, {count}), added = randint(0, 3, {count, width}).to(dtype);
        const Tensor table = randint(0, 3, {50, width}).to(dtype), wide = randint(0, 3, {50, 2 * width}).to(dtype);
        std::vector<double> expected = values(table), more = values(added);
        const std::vector<int64_t> at = rows.to_vector<int64_t>();
        for (size_t i = 0; i < more.size(); ++i) {
          double& sum = expected[static_cast<size_t>(at[i / static_cast<size_t>(width)] * width) +
                                 i % static_cast<size_t>(width)];
          sum += more[i];
          if (dtype == u8) sum = std::fmod(sum, 256);
        }
        EXPECT_EQ(values(index_add(table, 0, rows, added)), expected) << width << " " << dtype << " " << count;
        const Tensor columns = table.t().contiguous().t();
        EXPECT_EQ(values(index_add(columns, 0, rows, added)), expected) << width << " " << dtype << " " << count;
        for (const Tensor& x : {table, columns, wide.slice(1, 0, 2 * width, 2)})
          EXPECT_EQ(values(index_select(x, 0, rows)), values(index_select(x.clone().contiguous(), 0, rows)));
      }
}

TEST(ShortAxes, ManySlicesOfOneRowKeepTheirDigits) {
  for (const int64_t width : {2, 16}) {
    const Tensor sum = index_add(zeros({1000, width}), 0, zeros({7000}, i64), full({7000, width}, 0.1));
    EXPECT_NEAR(sum.index({0, 0}).item<double>(), 7000 * static_cast<double>(0.1f), 1e-4) << width;
  }
}

TEST(ShortAxes, BatchesOfDotProducts) {
  manual_seed(4);
  for (const DType dtype : {f32, f64})
    for (const int64_t terms : {1, 3, 16, 17})
      for (const int64_t count : {2, 16, 37}) {
        const Tensor a = randint(-5, 6, {count, 1, terms}).to(dtype), b = randint(-5, 6, {count, terms, 1}).to(dtype);
        const Tensor expected = sum(a.squeeze(1) * b.squeeze(2), 1);
        EXPECT_EQ(values(matmul(a, b).flatten()), values(expected));
        const Tensor apart = cat({b, b}, 1).slice(1, 0, 2 * terms, 2);
        EXPECT_EQ(values(matmul(a, apart).flatten()), values(sum(a.squeeze(1) * apart.squeeze(2), 1)));
        EXPECT_EQ(values(einsum("ij,ij->i", {a.squeeze(1), b.squeeze(2)})), values(expected));
      }
}

TEST(ShortAxes, SearchesOfFewValues) {
  manual_seed(5);
  for (const int64_t wanted : {1, 2, 4, 5, 16, 17}) {
    const Tensor sorted = sort(randint(0, 20, {kRows, 9}), 1).values, x = randint(-1, 21, {kRows, wanted});
    EXPECT_EQ(values(searchsorted(sorted, x)), values(sum(unsqueeze(sorted, 1) < unsqueeze(x, 2), 2)));
    EXPECT_EQ(values(searchsorted(sorted, x, true)), values(sum(unsqueeze(sorted, 1) <= unsqueeze(x, 2), 2)));
  }
}

TEST(ShortAxes, SortedRows) {
  manual_seed(6);
  for (const int64_t length : {17, 32, 33, 63, 64, 65, 100})
    for (const int64_t kinds : {3, 1000})
      for (const DType dtype : {f32, i32, bf16}) {
        const Tensor x = randint(0, kinds, {20, length}).to(dtype);
        const auto [found, places] = sort(x, 1);
        const auto largest = topk(x, std::min<int64_t>(length, 2 + length % 8), 1);
        for (int64_t r = 0; r < 20; ++r) {
          const std::vector<double> row = values(x[r]);
          std::vector<int64_t> order(row.size());
          std::iota(order.begin(), order.end(), 0);
          const auto at = [&](int64_t i) { return row[static_cast<size_t>(i)]; };
          std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return at(a) < at(b); });
          EXPECT_EQ(places[r].to_vector<int64_t>(), order);
          const std::vector<double> best = values(largest.values[r]), rising = values(found[r]);
          EXPECT_TRUE(std::equal(best.begin(), best.end(), rising.rbegin()));
        }
      }
}

TEST(ShortAxes, MasksThatLieOtherwise) {
  manual_seed(7);
  EXPECT_EQ(masked_select(zeros({5, 0}), zeros({5, 0}, boolean)).numel(), 0);
  EXPECT_EQ(masked_select(zeros({3, 0, 4}).permute({2, 1, 0}), zeros({4, 0, 3}, boolean)).numel(), 0);
  const Tensor column = randn({300, 1}).expand({300, 3}), row = (rand({1, 3}) < 0.5).expand({300, 3});
  EXPECT_EQ(values(masked_select(column, row)), values(masked_select(column.contiguous(), row.contiguous())));
  const Tensor x = randn({5, 300}).t(), mask = rand({300, 5}) < 0.3;
  EXPECT_EQ(values(masked_select(x, mask)), values(masked_select(x.contiguous(), mask)));
  EXPECT_EQ(values(masked_select(x.contiguous(), mask.t().contiguous().t())), values(masked_select(x, mask)));
  for (const Shape& shape : {Shape{7, 9, 11}, Shape{3, 4, 5, 6}, Shape{2, 3, 2, 3, 4}}) {
    const Tensor some = rand(shape) < 0.4;
    const Tensor flat = nonzero(some.flatten()).flatten();  // of one axis
    Tensor left = flat, expected = zeros({flat.numel(), shape.rank()}, i64);
    for (int64_t axis = shape.rank(); axis-- > 0; left = floor_divide(left, shape[static_cast<size_t>(axis)]))
      expected.select(1, axis).copy_(remainder(left, shape[static_cast<size_t>(axis)]));
    EXPECT_EQ(values(nonzero(some)), values(expected));
  }
}

}  // namespace
}  // namespace weft
