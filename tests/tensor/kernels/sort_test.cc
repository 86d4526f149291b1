// Sorts, selections and searches of rows long enough for several threads: against the standard library, with the same
// bits at any thread count.
#include "tensor/functions/sort.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tensor/core/random.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/random.h"
#include "tensor/functions/view.h"
#include "tensor/runtime/threads.h"
#include "tests/reference/rows.h"

namespace weft {
namespace {

constexpr int64_t kLong = 150001;

/// With equals, zeros of both signs, infinities and NaN.
Tensor long_row(DType dtype) {
  manual_seed(7);
  Tensor x = randint(-2000, 2000, {kLong}).to(f64) * 0.25;
  if (is_floating(dtype)) {
    const double odd[] = {-0.0, 0.0, INFINITY, -INFINITY, NAN, 5e-324};
    for (int64_t i = 0; i < 60; ++i) x[i * 2500 + 11].fill_(odd[i % 6]);
  }
  return x.to(dtype);
}
std::vector<int64_t> expected_order(const Tensor& x, bool descending) {
  const std::vector<size_t> order = testing::reference::order(x.to_vector<double>(), descending);
  return {order.begin(), order.end()};
}
void expect_chosen(const ValuesAndIndices& found, const Tensor& x, const std::vector<int64_t>& order) {
  const auto row = x.to_vector<double>(), values = found.values.to_vector<double>();
  ASSERT_EQ(found.indices.to_vector<int64_t>(), order);
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = row[static_cast<size_t>(order[i])];
    ASSERT_TRUE(std::isnan(value) ? std::isnan(values[i]) : values[i] == value) << i;
    ASSERT_EQ(std::signbit(value), std::signbit(values[i])) << i;
  }
}

TEST(Sort, LongRowsAtAnyThreadCount) {
  for (const DType dtype : {f32, f64, bf16, f16, i64, i32, i16, i8, u8, boolean}) {
    const Tensor x = long_row(dtype);
    for (const bool descending : {false, true}) {
      const std::vector<int64_t> order = expected_order(x, descending);
      for (const int threads : {1, 2, 3}) {
        set_num_threads(threads);
        SCOPED_TRACE(std::string(name_of(dtype)) + (descending ? " down" : " up"));
        expect_chosen(sort(x, 0, descending), x, order);
      }
    }
  }
  set_num_threads(2);
}

TEST(Sort, RisingAndFallingRows) {
  for (const int64_t length : {100, 1000, 70000})
    for (const int64_t repeated : {1, 3})  // of equals the first stays first
      for (const DType dtype : {f32, i64}) {
        const Tensor up = floor_divide(arange(length), repeated).to(dtype), down = flip(up, {0}).contiguous();
        for (const bool descending : {false, true})
          for (const Tensor& x : {up, down}) expect_chosen(sort(x, 0, descending), x, expected_order(x, descending));
      }
}

TEST(Topk, OfLongRows) {
  for (const DType dtype : {f32, f64, i32, u8}) {
    const Tensor x = long_row(dtype);
    for (const bool largest : {false, true}) {
      const std::vector<int64_t> order = expected_order(x, largest);
      for (const int64_t k : {int64_t{1}, int64_t{50}, int64_t{5000}, kLong})
        for (const int threads : {1, 3}) {
          set_num_threads(threads);
          expect_chosen(topk(x, k, 0, largest), x, {order.begin(), order.begin() + k});
        }
    }
  }
  set_num_threads(2);
}

TEST(Topk, OfAscendingAndDescendingRows) {
  const Tensor up = arange(kLong).to(f32);
  EXPECT_EQ(topk(up, 3).indices.to_vector<int64_t>(), (std::vector<int64_t>{kLong - 1, kLong - 2, kLong - 3}));
  EXPECT_EQ(topk(up, 3, 0, false).indices.to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(topk(flip(up, {0}), 2).indices.to_vector<int64_t>(), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(topk(ones({kLong}), 2).indices.to_vector<int64_t>(), (std::vector<int64_t>{0, 1}));
}

TEST(Kthvalue, OfLongRows) {
  for (const DType dtype : {f32, f64, bf16, f16, i64, i32, i16, u8}) {
    const Tensor x = long_row(dtype);
    const std::vector<int64_t> order = expected_order(x, false);
    for (const int64_t k : {int64_t{1}, int64_t{777}, kLong / 2, kLong})
      expect_chosen(kthvalue(x, k, 0, keepdim), x, {order[static_cast<size_t>(k - 1)]});
  }
}

/// One element far from the others puts these into one bucket of keys; equal ones are told apart by their places.
TEST(Kthvalue, OfRowsInOneBucket) {
  const int64_t far = int64_t{1} << 62;
  for (const int64_t other : {-far, int64_t{5}, far}) {
    const Tensor x = cat({full({1000}, 5, i64), full({1}, other, i64), full({1000}, 5, i64)});
    const int64_t before = other < 5 ? 1 : 0;
    for (const int64_t k : {int64_t{2}, int64_t{900}, int64_t{1500}}) {
      const int64_t place = k - 1 - before, skipped = other != 5 && place >= 1000 ? 1 : 0;
      EXPECT_EQ(kthvalue(x, k).values.item<int64_t>(), 5);
      EXPECT_EQ(kthvalue(x, k).indices.item<int64_t>(), place + skipped);
    }
  }
}

}  // namespace
}  // namespace weft
