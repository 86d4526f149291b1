// View by examples: padding as a mask, and what each operation makes of it.
#include <gtest/gtest.h>

#include <limits>

#include "tensor/core/error.h"
#include "tensor/core/view.h"
#include "tests/tensor/view_checks.h"

namespace weft {
namespace {

constexpr std::nullopt_t kOpen = std::nullopt;

TEST(ViewMaskTest, S19PadReadsZerosWithoutMemory) {
  View view = View::contiguous({3}).pad({{1, 2}});
  expect_reads(view, {6}, {kZero, 0, 1, 2, kZero, kZero});
  expect_reads(view.pad({{1, 0}}), {7}, {kZero, kZero, 0, 1, 2, kZero, kZero});  // masks compose
  EXPECT_FALSE(View::contiguous({3}).pad({{0, 0}}).has_mask());
  EXPECT_EQ(View().pad({}), View());
  expect_reads(View::contiguous({0}).pad({{1, 1}}), {2}, {kZero, kZero});
  EXPECT_THROW(view.pad({{-1, 0}}), ShapeError);
  EXPECT_THROW(view.pad({{0, -1}}), ShapeError);
  EXPECT_THROW(view.pad({}), ShapeError);
}

// A slice takes every |step|-th index: of an interval that is an interval again.
TEST(ViewMaskTest, SliceWithAnyStepKeepsTheMask) {
  View view = View::contiguous({5}).pad({{2, 3}});  // x x 0 1 2 3 4 x x x
  expect_reads(view.slice(0, kOpen, kOpen, 3), {4}, {kZero, 1, 4, kZero});
  expect_reads(view.slice(0, 1, kOpen, 2), {5}, {kZero, 1, 3, kZero, kZero});
  expect_reads(view.slice(0, kOpen, kOpen, -2), {5}, {kZero, kZero, 3, 1, kZero});
  expect_reads(view.slice(0, 8, kOpen, -3), {3}, {kZero, 3, 0});
  EXPECT_FALSE(view.slice(0, 2, 7, 2).has_mask());
  expect_reads(view.slice(0, 0, 2), {2}, {kZero, kZero});
  expect_reads(view.flip({0}), {10}, {kZero, kZero, kZero, 4, 3, 2, 1, 0, kZero, kZero});
}

TEST(ViewMaskTest, PermuteShrinkUnsqueezeExpandSelectKeepTheMask) {
  View view = View::contiguous({1, 2}).pad({{0, 0}, {1, 0}});  // x 0 1
  expect_reads(view.transpose(0, 1), {3, 1}, {kZero, 0, 1});
  expect_reads(view.expand({2, 3}), {2, 3}, {kZero, 0, 1, kZero, 0, 1});
  expect_reads(view.broadcast({2, 1, 3}), {2, 1, 3}, {kZero, 0, 1, kZero, 0, 1});
  expect_reads(view.unsqueeze(1), {1, 1, 3}, {kZero, 0, 1});
  expect_reads(view.shrink({{0, 1}, {0, 2}}), {1, 2}, {kZero, 0});
  expect_reads(*view.select(0, 0), {3}, {kZero, 0, 1});
  expect_reads(*view.select(1, 2), {1}, {1});
  expect_reads(*view.select(1, 0), {1}, {kZero});
  EXPECT_EQ(view.select(0, 0)->select(0, 0), std::nullopt);  // a scalar cannot say that it is padding
  expect_reads(*view.squeeze(0), {3}, {kZero, 0, 1});
}

TEST(ViewMaskTest, AllPaddingStaysAllPadding) {
  View view = View::contiguous({2, 2}).pad({{1, 0}, {0, 0}}).slice(0, 0, 1);  // [1, 2]
  expect_reads(view, {1, 2}, {kZero, kZero});
  expect_reads(*view.squeeze(0), {2}, {kZero, kZero});
  expect_reads(view.expand({2, 2}), {2, 2}, {kZero, kZero, kZero, kZero});
  expect_reads(*view.reshape({2, 1}), {2, 1}, {kZero, kZero});
  expect_reads(*view.unfold(1, 2, 1), {1, 1, 2}, {kZero, kZero});
  expect_reads(view.diagonal(0, 0, 1), {1}, {kZero});
  expect_reads(view.pad({{0, 0}, {0, 1}}), {1, 3}, {kZero, kZero, kZero});
  View one = view.slice(1, 0, 1);
  EXPECT_EQ(one.reshape({}), std::nullopt);
  EXPECT_EQ(one.squeeze_all(), std::nullopt);
  EXPECT_EQ(one.squeeze(0)->squeeze(0), std::nullopt);
}

TEST(ViewMaskTest, UnfoldWhereTheWindowsSeeTheSame) {
  View rows = View::contiguous({4}).pad({{2, 2}});  // x x 0 1 2 3 x x
  expect_reads(*rows.unfold(0, 2, 2), {4, 2}, {kZero, kZero, 0, 1, 2, 3, kZero, kZero});
  EXPECT_EQ(rows.unfold(0, 3, 1), std::nullopt);
  expect_reads(*View::contiguous({1}).pad({{1, 1}}).unfold(0, 3, 1), {1, 3}, {kZero, 0, kZero});
  View grid = View::contiguous({2, 3}).pad({{1, 0}, {0, 0}});  // another axis than the padded one
  expect_reads(*grid.unfold(1, 2, 1), {3, 2, 2}, {kZero, kZero, kZero, kZero, 0, 1, 1, 2, 3, 4, 4, 5});
}

TEST(ViewMaskTest, DiagonalSeesBothAxes) {
  View view = View::contiguous({3, 3}).pad({{1, 0}, {0, 1}});
  expect_reads(view.diagonal(0, 0, 1), {4}, {kZero, 1, 5, kZero});
  expect_reads(view.diagonal(-1, 0, 1), {3}, {0, 4, 8});
  EXPECT_FALSE(view.diagonal(-1, 0, 1).has_mask());
}

TEST(ViewMaskTest, ReshapeWhereWhatIsValidStaysABox) {
  View view = View::contiguous({2, 3}).pad({{1, 0}, {0, 1}});
  EXPECT_EQ(view.flatten(0, 1), std::nullopt);
  View rows = View::contiguous({2, 3}).pad({{1, 1}, {0, 0}});
  expect_reads(*rows.reshape({12}), {12}, {kZero, kZero, kZero, 0, 1, 2, 3, 4, 5, kZero, kZero, kZero});
  expect_reads(*rows.reshape({4, 3, 1}), {4, 3, 1}, read(rows));
  EXPECT_EQ(rows.reshape({2, 6}), std::nullopt);
  View columns = View::contiguous({2, 4}).pad({{0, 0}, {0, 4}});
  expect_reads(*columns.reshape({2, 2, 4}), {2, 2, 4}, read(columns));
  expect_reads(*columns.reshape({2, 4, 2}), {2, 4, 2}, read(columns));
  View one = View::contiguous({1}).pad({{3, 2}});
  expect_reads(*one.reshape({2, 3}), {2, 3}, {kZero, kZero, kZero, 0, kZero, kZero});
  // The one element comes with a stride that nothing may multiply.
  View far = View::create({6, 1}, {1, std::numeric_limits<int64_t>::max()}, 0, View::Mask{{3, 4}, {0, 1}});
  expect_reads(*far.reshape({6}), {6}, {kZero, kZero, kZero, 3, kZero, kZero});
  EXPECT_EQ(far.reshape({6})->strides(), Strides({0}));
}

}  // namespace
}  // namespace weft
