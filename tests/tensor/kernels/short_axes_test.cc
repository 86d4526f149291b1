// Kernels that treat short axes in a way of their own: the same as of other layouts, or as a loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
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
  for (const Shape& shape : {Shape{200, 2, 2, 2}, Shape{3, 400, 3}, Shape{2, 37, 1000, 2}, Shape{90, 4, 3, 5},
                             Shape{50, 4, 16}, Shape{30, 9, 33}, Shape{40, 17}, Shape{40, 12}})
    for (const DType dtype : {f32, bf16, i32, i8, f64, i64}) {
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
  for (const DType dtype : {f32, f64, bf16, f16, i64, i32, i8, boolean})
    for (const int64_t size : {1, 3, 4, 5, 9, 16, 17, 32, 33, 70})
      for (const int64_t wanted : {1, 2, 4, 5, 16, 17}) {
        const int64_t least = dtype == boolean ? 0 : -1, most = dtype == boolean ? 2 : 21;
        Tensor sorted = sort(randint(0, most - 1, {kRows, size}).to(dtype), 1).values;
        Tensor x = randint(least, most, {kRows, wanted}).to(dtype);
        if (is_floating(dtype)) {  // NaN comes last
          sorted = where(sorted == 19, NAN, sorted), x = where(x == 20, NAN, x);
          const Tensor nan = unsqueeze(isnan(x), 2), number = logical_not(unsqueeze(isnan(sorted), 1));
          const Tensor less = unsqueeze(sorted, 1) < unsqueeze(x, 2),
                       most_less = unsqueeze(sorted, 1) <= unsqueeze(x, 2);
          EXPECT_EQ(values(searchsorted(sorted, x)), values(sum(logical_or(less, logical_and(nan, number)), 2)));
          EXPECT_EQ(values(searchsorted(sorted, x, true)), values(sum(logical_or(most_less, nan), 2)));
          continue;
        }
        EXPECT_EQ(values(searchsorted(sorted, x)), values(sum(unsqueeze(sorted, 1) < unsqueeze(x, 2), 2)));
        EXPECT_EQ(values(searchsorted(sorted, x, true)), values(sum(unsqueeze(sorted, 1) <= unsqueeze(x, 2), 2)));
      }
}

TEST(ShortAxes, SortedRows) {
  manual_seed(6);
  for (const int64_t length : {17, 20, 32, 33, 50, 63, 64, 65, 100})
    for (const int64_t kinds : {3, 1000})
      for (const DType dtype : {f32, i32, bf16, i64}) {
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

TEST(ShortAxes, MasksOfManyFewAndAll) {
  manual_seed(11);
  for (const int64_t length : {1, 7, 8, 9, 255, 256, 300, 9000, 40000})
    for (const double share : {0.0, 0.02, 0.5, 0.98, 1.0}) {
      const Tensor mask = rand({length}) < share, x = arange(length) * 3;
      std::vector<double> places, chosen;
      for (int64_t i = 0; const double held : values(mask)) {
        if (held != 0) places.push_back(static_cast<double>(i)), chosen.push_back(static_cast<double>(3 * i));
        ++i;
      }
      EXPECT_EQ(values(flatnonzero(mask)), places) << length << " " << share;
      for (const DType dtype : {i32, i64, f64})
        EXPECT_EQ(values(masked_select(x.to(dtype), mask)), chosen) << length << " " << share << " " << dtype;
      const Tensor with_gaps = stack({x, x}, 1).select(1, 0);
      EXPECT_EQ(values(masked_select(with_gaps, mask)), chosen) << length << " " << share;
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

/// x, and the same elements in other places: a part of a wider tensor, columns first, mirrored.
std::vector<Tensor> in_other_places(const Tensor& x) {
  const int64_t last = x.size(-1);
  return {x, cat({x, x}, -1).slice(-1, 0, last), transpose(transpose(x, -2, -1).contiguous(), -2, -1),
          flip(flip(x, {-1}).contiguous(), {-1})};
}

TEST(ShortAxes, Triangles) {
  manual_seed(8);
  for (const DType dtype : {u8, bf16, f32, f64, boolean})
    for (const auto& [rows, columns] : std::vector<std::pair<int64_t, int64_t>>{
             {1, 1}, {3, 4}, {4, 3}, {8, 8}, {9, 16}, {16, 17}, {64, 64}, {65, 70}, {5, 300}, {90, 2}, {100, 20}})
      for (const int64_t diagonal : {-70, -3, -1, 0, 1, 2, 80}) {
        const Tensor dense = randint(1, 90, {3, rows, columns}).to(dtype);
        const Tensor below = unsqueeze(arange(columns), 0) - unsqueeze(arange(rows), 1) <= diagonal;
        const Tensor lower = masked_fill(dense, logical_not(below), 0);
        for (const Tensor& x : in_other_places(dense)) {
          EXPECT_EQ(values(tril(x, diagonal)), values(lower)) << dtype << rows << " x " << columns << " " << diagonal;
          EXPECT_EQ(values(triu(x, diagonal + 1)), values(masked_fill(dense, below, 0)));
        }
      }
}

TEST(ShortAxes, RowsGatheredAndScattered) {
  manual_seed(9);
  for (const DType dtype : {u8, bf16, f32, f64, i64})
    for (const int64_t size : {1, 2, 3, 8, 9, 20})
      for (const int64_t taken : {1, 2, 3, 8, 9}) {
        const Tensor index = randint(0, size, {kRows, 2, taken});
        const Tensor table = randint(0, 9, {kRows, 2, size}).to(dtype),
                     more = randint(0, 9, {kRows, 2, taken}).to(dtype);
        const std::vector<int64_t> at = index.to_vector<int64_t>();
        const std::vector<double> from = values(table), added = values(more);
        std::vector<double> picked(at.size()), put = from, sums = from;
        for (size_t i = 0; i < at.size(); ++i) {
          const size_t place = i / static_cast<size_t>(taken) * static_cast<size_t>(size) + static_cast<size_t>(at[i]);
          picked[i] = from[place], put[place] = added[i], sums[place] += added[i];
        }
        for (const Tensor& x : in_other_places(table)) EXPECT_EQ(values(gather(x, 2, index)), picked);
        for (const Tensor& x : in_other_places(table))
          for (const Tensor& src : in_other_places(more)) {
            EXPECT_EQ(values(scatter(x, 2, index, src)), put) << dtype << " " << size << " " << taken;
            EXPECT_EQ(values(scatter_add(x, 2, index, src)), sums) << dtype << " " << size << " " << taken;
          }
        const Tensor bad = index.clone();
        bad.select(0, kRows - 1).fill_(size);
        EXPECT_THROW(gather(table, 2, bad), IndexError);
        EXPECT_THROW(scatter(table, 2, bad, more), IndexError);
      }
}

TEST(ShortAxes, Scans) {
  manual_seed(10);
  for (const DType dtype : {f32, f64, bf16, f16, i64, u8})
    for (const int64_t length : {1, 2, 3, 4, 5, 8, 9, 20})
      for (const int64_t inner : {1, 3, 4}) {
        const Tensor x = randint(1, 4, {37, length, inner}).to(dtype);
        Tensor sum = zeros({37, inner}, f64), product = ones({37, inner}, f64), most = zeros({37, inner}, f64);
        const Tensor sums = cumsum(x, 1), products = cumprod(x.slice(1, 0, 6), 1), largest = cummax(x, 1).values;
        for (int64_t i = 0; i < length; ++i) {
          const Tensor next = x.select(1, i).to(f64);
          sum = sum + next, most = maximum(most, next);
          EXPECT_EQ(values(sums.select(1, i)), values(sum)) << dtype << " " << length << " " << inner;
          EXPECT_EQ(values(largest.select(1, i)), values(most)) << dtype << " " << length << " " << inner;
          if (i >= products.size(1)) continue;
          product = product * next;
          EXPECT_EQ(values(products.select(1, i)), values(product.to(products.dtype())));
        }
      }
}

TEST(ShortAxes, SortedIntegersOf64Bits) {
  manual_seed(11);
  for (const int64_t length : {17, 40, 64, 65, 128, 129, 500, 3000})
    for (const auto& [low, high] : std::vector<std::pair<int64_t, int64_t>>{
             {-3, 4}, {-70000, 70000}, {0, 1000}, {-(int64_t{1} << 55), int64_t{1} << 55}, {INT64_MIN, INT64_MAX}}) {
      const Tensor x = randint(low, high, {3, length});
      const auto [found, places] = sort(x, 1);
      const auto most = topk(x, length - length / 8, 1);
      for (int64_t r = 0; r < 3; ++r) {
        const std::vector<int64_t> row = x[r].to_vector<int64_t>();
        std::vector<int64_t> order(row.size());
        std::iota(order.begin(), order.end(), 0);
        const auto at = [&](int64_t i) { return row[static_cast<size_t>(i)]; };
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return at(a) < at(b); });
        EXPECT_EQ(places[r].to_vector<int64_t>(), order);
        EXPECT_EQ(found[r].to_vector<int64_t>(), gather(x[r], 0, places[r]).to_vector<int64_t>());
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return at(a) > at(b); });
        order.resize(static_cast<size_t>(most.indices.size(1)));
        EXPECT_EQ(most.indices[r].to_vector<int64_t>(), order);
      }
    }
}

TEST(ShortAxes, SmallProductsOfIntegers) {
  manual_seed(12);
  for (const DType dtype : {i64, i32, i16, i8, u8})
    for (const auto& [m, k, n] : std::vector<std::array<int64_t, 3>>{{4, 4, 4},
                                                                     {2, 300, 70},
                                                                     {4, 33, 129},
                                                                     {4, 4, 1},
                                                                     {1, 4, 4},
                                                                     {3, 5, 2},
                                                                     {7, 2, 17},
                                                                     {2, 3, 40},
                                                                     {9, 9, 9},
                                                                     {1, 1, 1}}) {
      const Tensor a = randint(0, 100, {20, m, k}).to(dtype), b = randint(0, 100, {20, k, n}).to(dtype);
      const Tensor wide = sum(unsqueeze(a.to(i64), 3) * unsqueeze(b.to(i64), 1), 2).to(dtype);  // wraps
      for (const Tensor& x : in_other_places(a))
        for (const Tensor& y : in_other_places(b)) EXPECT_EQ(values(matmul(x, y)), values(wide)) << dtype;
    }
}

TEST(ShortAxes, SignsOfHalves) {
  for (const DType dtype : {bf16, f16}) {
    std::vector<double> sizes = {0, 1, 1.5, 65504, std::ldexp(1.0, -24), INFINITY, NAN};
    Tensor x = Tensor::from(sizes).to(dtype);
    x = cat({x, -x}).repeat_interleave(7);
    const Tensor y = tile(cat({x.slice(0, 0, 98, 7), x.slice(0, 0, 98, 14)}), {5}).slice(0, 0, 98);
    const std::vector<double> found = values(copysign(x, y)), wanted = values(copysign(x.to(f64), y.to(f64)));
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(std::signbit(found[i]), std::signbit(wanted[i])) << i;
      EXPECT_TRUE(found[i] == wanted[i] || (std::isnan(found[i]) && std::isnan(wanted[i]))) << i;
    }
  }
}

// Rows that are not contiguous are copied if many panels of the other operand read them.
TEST(ShortAxes, CdistOfSteppedRowsHasTheBitsOfContiguousOnes) {
  for (const DType dtype : {f32, f64, bf16, f16}) {
    for (const Tensor& rows : stepped_rows(5, dtype)) {
      for (const double p : {0.0, 1.0, 2.0, HUGE_VAL}) {
        const Tensor expected = cdist(rows.contiguous(), rows.contiguous(), p);
        EXPECT_EQ(values(cdist(rows, rows, p)), values(expected)) << p;
        const Tensor batch = rows.expand({3, kRows, 5});
        EXPECT_EQ(values(cdist(batch, rows, p)), values(expected.expand({3, kRows, kRows}))) << p;
        const Tensor stacked = stack({rows.t(), rows.t()}).transpose(1, 2);
        EXPECT_EQ(values(cdist(stacked, rows, p)), values(expected.expand({2, kRows, kRows}))) << p;
      }
    }
  }
}

}  // namespace
}  // namespace weft
