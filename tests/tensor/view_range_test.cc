// View by examples: slices, cuts, reversed axes, windows, diagonals and free strides.
#include <gtest/gtest.h>

#include <limits>

#include "tensor/core/error.h"
#include "tensor/core/view.h"
#include "tests/error_of.h"
#include "tests/tensor/view_checks.h"

namespace weft {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr std::nullopt_t kOpen = std::nullopt;

std::vector<int64_t> counting(int64_t count) { return oracle::contiguous({count}, 0).cells; }

TEST(ViewTest, S5SliceIsPythons) {
  View view = View::contiguous({5});
  expect_reads(view.slice(0, 1, 4), {3}, {1, 2, 3});
  expect_reads(view.slice(0, 0, 5, 2), {3}, {0, 2, 4});
  expect_reads(view.slice(0, -2, kOpen), {2}, {3, 4});
  expect_reads(view.slice(-1, kOpen, -1), {4}, {0, 1, 2, 3});
}

// S5, mistake 5
TEST(ViewTest, S5Mistake5SliceBackwardsEmptyAndBeyondTheEnds) {
  View view = View::contiguous({5});
  expect_reads(view.slice(0, 4, kOpen, -2), {3}, {4, 2, 0});
  expect_reads(view.slice(0, kOpen, kOpen, -1), {5}, {4, 3, 2, 1, 0});
  expect_reads(view.slice(0, -2, 0, -1), {3}, {3, 2, 1});
  expect_reads(view.slice(0, 3, -1, -1), {0}, {});
  expect_reads(view.slice(0, 3, 3), {0}, {});
  expect_reads(view.slice(0, 4, 1), {0}, {});
  expect_reads(view.slice(0, -100, 100), {5}, {0, 1, 2, 3, 4});
  expect_reads(view.slice(0, 100, -100, -2), {3}, {4, 2, 0});
  expect_reads(view.slice(0, 100, kOpen), {0}, {});
  expect_reads(View::contiguous({0}).slice(0, 0, kOpen, -1), {0}, {});
  for (int64_t start : {kMin, kMax})
    for (int64_t end : {kMin, kMax})
      for (int64_t step : {kMin, kMax}) EXPECT_LE(view.slice(0, start, end, step).numel(), 1);
  expect_reads(view.slice(0, kOpen, kOpen, kMin), {1}, {4});
  expect_reads(view.slice(0, kMin, kMax, kMax), {1}, {0});
  EXPECT_THROW(view.slice(0, 0, 5, 0), ShapeError);
  EXPECT_THROW(view.slice(1, 0, 5), IndexError);
}

TEST(ViewTest, Select) {
  View view = View::contiguous({2, 3});
  expect_reads(*view.select(0, 1), {3}, {3, 4, 5});
  expect_reads(*view.select(-1, -1), {2}, {2, 5});
  EXPECT_EQ(View::contiguous({3}).select(0, 2)->linear_index({}), 2);
  EXPECT_EQ(View::contiguous({3, 0}).select(0, 1)->shape(), Shape({0}));
  EXPECT_EQ(error_of<IndexError>([&] { view.select(1, 3); }), "index 3 is out of range for axis 1 of size 3");
  EXPECT_THROW(view.select(1, -4), IndexError);
  EXPECT_THROW(View::contiguous({0}).select(0, 0), IndexError);
}

TEST(ViewTest, S18ShrinkMayBeEmpty) {
  View view = View::contiguous({2, 3});
  expect_reads(view.shrink({{0, 2}, {1, 3}}), {2, 2}, {1, 2, 4, 5});
  expect_reads(view.shrink({{1, 1}, {0, 3}}), {0, 3}, {});
  EXPECT_THROW(view.shrink({{0, 2}}), ShapeError);
  EXPECT_THROW(view.shrink({{0, 3}, {0, 3}}), ShapeError);
  EXPECT_THROW(view.shrink({{-1, 2}, {0, 3}}), ShapeError);
  EXPECT_THROW(view.shrink({{2, 1}, {0, 3}}), ShapeError);
}

TEST(ViewTest, Flip) {
  View view = View::contiguous({2, 3});
  expect_reads(view.flip({1}), {2, 3}, {2, 1, 0, 5, 4, 3});
  expect_reads(view.flip({0, -1}), {2, 3}, {5, 4, 3, 2, 1, 0});
  EXPECT_EQ(view.flip({0, 1}).flip({0, 1}), view);
  EXPECT_EQ(view.flip({}), view);
  EXPECT_THROW(view.flip({1, -1}), ShapeError);
}

TEST(ViewTest, S6UnfoldGivesWindowsThatOverlap) {
  View view = View::contiguous({5});
  expect_reads(*view.unfold(0, 2, 1), {4, 2}, {0, 1, 1, 2, 2, 3, 3, 4});
  expect_reads(*view.unfold(0, 3, 2), {2, 3}, {0, 1, 2, 2, 3, 4});
  expect_reads(*view.unfold(0, 5, 9), {1, 5}, counting(5));
  expect_reads(*View::contiguous({4, 2}).unfold(0, 2, 2), {2, 2, 2}, {0, 2, 1, 3, 4, 6, 5, 7});
  EXPECT_EQ(view.unfold(0, 0, 1)->shape(), Shape({6, 0}));
  EXPECT_THROW(view.unfold(0, 6, 1), ShapeError);
  EXPECT_THROW(view.unfold(0, -1, 1), ShapeError);
  EXPECT_THROW(view.unfold(0, 2, 0), ShapeError);
  EXPECT_THROW(View().unfold(0, 1, 1), IndexError);
}

TEST(ViewTest, Diagonal) {
  View view = View::contiguous({3, 4});
  expect_reads(view.diagonal(0, 0, 1), {3}, {0, 5, 10});
  expect_reads(view.diagonal(1, 0, 1), {3}, {1, 6, 11});
  expect_reads(view.diagonal(-1, 0, 1), {2}, {4, 9});
  expect_reads(view.diagonal(1, 1, 0), {2}, {4, 9});
  expect_reads(view.diagonal(4, 0, 1), {0}, {});
  expect_reads(view.diagonal(kMin, 0, 1), {0}, {});
  expect_reads(view.diagonal(kMax, 0, 1), {0}, {});
  EXPECT_EQ(View::contiguous({2, 3, 4}).diagonal(0, 0, -1).shape(), Shape({3, 2}));
  EXPECT_THROW(view.diagonal(0, 1, -1), ShapeError);
  EXPECT_THROW(view.diagonal(0, 0, 2), IndexError);
}

TEST(ViewTest, AsStridedStaysWithinAContiguousView) {
  View view = View::contiguous({3, 4}).slice(0, 1);  // elements 4..11
  expect_reads(view.as_strided({2, 2}, {4, 1}, 1), {2, 2}, {5, 6, 9, 10});
  expect_reads(view.as_strided({2}, {-3}, 7), {2}, {11, 8});
  expect_reads(view.as_strided({}, {}, 7), {}, {11});
  expect_reads(view.as_strided({0, 5}, {100, 100}, 0), {0, 5}, {});
  EXPECT_THROW(view.as_strided({2}, {1}, 7), ShapeError);
  EXPECT_THROW(view.as_strided({2}, {-1}, 0), ShapeError);
  EXPECT_THROW(view.as_strided({2}, {1}, -1), ShapeError);
  EXPECT_THROW(view.as_strided({2}, {1, 1}, 0), ShapeError);
  EXPECT_THROW(view.as_strided({}, {}, 8), ShapeError);
  EXPECT_THROW(view.transpose(0, 1).as_strided({1}, {1}, 0), ShapeError);
  EXPECT_THROW(View::contiguous({0}).as_strided({1}, {1}, 0), ShapeError);
  EXPECT_EQ(View::contiguous({0}).as_strided({2, 0}, {1, 1}, 0).shape(), Shape({2, 0}));
}

}  // namespace
}  // namespace weft
