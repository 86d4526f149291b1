// View by examples: what it promises when it is made and asked, and the operations on whole axes. S1, S2, ... are the
// numbered statements that weft follows, mistakes those of other systems. Slices and windows are in view_range_test.cc,
// masks in view_mask_test.cc, random chains in view_property_test.cc, all small reshapes in view_reshape_test.cc.
#include "tensor/core/view.h"

#include <gtest/gtest.h>

#include <limits>

#include "tensor/core/error.h"
#include "tests/error_of.h"
#include "tests/tensor/view_checks.h"

namespace weft {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kHuge = int64_t{1} << 40;
std::vector<int64_t> counting(int64_t count) { return oracle::contiguous({count}, 0).cells; }

TEST(ViewTest, S10ZeroSizeHasNoOffsetAndNoMask) {
  View view = View::create({2, 0, 3}, {100, 7, -5}, 42, View::Mask{{0, 1}, {0, 0}, {1, 2}});
  EXPECT_EQ(view.offset(), 0);
  EXPECT_FALSE(view.has_mask());
  EXPECT_EQ(view.numel(), 0);
  EXPECT_TRUE(view.is_contiguous());
  EXPECT_TRUE(view.is_dense());
  EXPECT_FALSE(view.overlaps_itself());
  EXPECT_EQ(view.extent(), (std::pair<int64_t, int64_t>{0, -1}));
  View cut = View::contiguous({4, 5}).shrink({{3, 3}, {2, 4}});
  EXPECT_EQ(cut.offset(), 0);
  EXPECT_EQ(cut.shape(), Shape({0, 2}));
}

TEST(ViewTest, S10CreateDefaultsToOffsetZeroAndDropsAFullMask) {
  View view = View::create({2, 3}, {3, 1});
  EXPECT_EQ(view, View::contiguous({2, 3}));
  EXPECT_FALSE(View::create({2, 3}, {3, 1}, 0, View::Mask{{0, 2}, {0, 3}}).has_mask());
}

TEST(ViewTest, S11LengthsAndMaskBoundsAreCheckedAtOnce) {
  EXPECT_THROW(View::create({2, 3}, {1}), ShapeError);
  EXPECT_THROW(View::create({2}, {1, 1}), ShapeError);
  EXPECT_THROW(View::create({2, 3}, {3, 1}, 0, View::Mask{{0, 1}}), ShapeError);
  EXPECT_THROW(View::create({2}, {1}, 0, View::Mask{{-1, 1}}), ShapeError);
  EXPECT_THROW(View::create({2}, {1}, 0, View::Mask{{0, 3}}), ShapeError);
  EXPECT_THROW(View::create({2}, {1}, 0, View::Mask{{2, 1}}), ShapeError);
  EXPECT_EQ(error_of<ShapeError>([] { View::create({2, 3}, {1}); }), "1 strides for the 2 axes of [2, 3]");
}

TEST(ViewTest, S12NumelDimAndStrideWithNegativeAxes) {
  EXPECT_EQ(View().numel(), 1);
  View view = View::contiguous({2, 3, 4});
  EXPECT_EQ(view.numel(), 24);
  EXPECT_EQ(view.dim(0), 2);
  EXPECT_EQ(view.dim(-1), 4);
  EXPECT_EQ(view.stride(-3), 12);
  EXPECT_THROW(view.dim(3), IndexError);
  EXPECT_THROW(view.stride(-4), IndexError);
  EXPECT_THROW(View().dim(0), IndexError);
}

TEST(ViewTest, S13StridesWhereThereIsNoMask) {
  View view = View::contiguous({2, 3});
  EXPECT_EQ(view.transpose(0, 1).strides_opt(), std::optional(Strides({1, 3})));
  EXPECT_TRUE(view.is_strided());
  View padded = view.pad({{0, 0}, {1, 0}});
  EXPECT_FALSE(padded.is_strided());
  EXPECT_EQ(padded.strides_opt(), std::nullopt);
  EXPECT_TRUE(padded.shrink({{0, 2}, {1, 4}}).is_strided());
}

TEST(ViewTest, S14LinearIndexUncheckedAndChecked) {
  View view = View::contiguous({2, 4, 6}).slice(0, 0, 1).permute({0, 2, 1});
  EXPECT_EQ(view.numel(), 24);
  EXPECT_EQ(view.linear_index({0, 5, 3}), 23);
  EXPECT_EQ(view.linear_index({0, 5, 4}), 29);  // outside: unchecked
  EXPECT_EQ(view.linear_index_checked({0, 5, 3}), 23);
  EXPECT_THROW(view.linear_index_checked({0, 5, 4}), IndexError);
  EXPECT_THROW(view.linear_index_checked({0, -1, 0}), IndexError);
  EXPECT_THROW(view.linear_index_checked({0, 5}), IndexError);
  View padded = View::contiguous({3}).pad({{1, 2}});
  EXPECT_EQ(padded.linear_index({0}), -1);
  EXPECT_EQ(padded.linear_index_checked({3}), 2);
  EXPECT_EQ(error_of([&] { padded.linear_index_checked({0}); }), "index [0] lies in the padding of [6]");
  EXPECT_EQ(error_of([&] { padded.linear_index_checked({6}); }), "index [6] is out of range for [6]");
  EXPECT_EQ(View().linear_index({}), 0);
}

TEST(ViewTest, S15IsValidNeedsTheRank) {
  View padded = View::contiguous({3}).pad({{1, 2}});
  EXPECT_FALSE(padded.is_valid({0}));
  EXPECT_TRUE(padded.is_valid({1}));
  EXPECT_FALSE(padded.is_valid({4}));
  EXPECT_THROW(padded.is_valid({0, 0}), IndexError);
  EXPECT_TRUE(View::contiguous({3}).is_valid({2}));
  EXPECT_THROW(View::contiguous({3}).is_valid({}), IndexError);
}

TEST(ViewTest, AtMostEightAxes) {
  Shape nine = IntList::filled(9, 1);
  Shape eight = IntList::filled(8, 1);
  View view = View::contiguous(eight);
  EXPECT_THROW(View::contiguous(nine), ShapeError);
  EXPECT_THROW(View::create(nine, nine), ShapeError);
  EXPECT_THROW(view.unsqueeze(0), ShapeError);
  EXPECT_THROW(view.unfold(0, 1, 1), ShapeError);
  EXPECT_THROW(view.reshape(nine), ShapeError);
  EXPECT_THROW(view.broadcast(nine), ShapeError);
  EXPECT_THROW(view.unflatten(0, {1, 1}), ShapeError);
  EXPECT_THROW(view.as_strided(nine, nine, 0), ShapeError);
  EXPECT_THROW(view.flip(nine), ShapeError);
  EXPECT_THROW(view.permute(nine), ShapeError);
}

TEST(ViewTest, SizesAndPositionsStayWithin64Bits) {
  EXPECT_THROW(View::contiguous({kHuge, kHuge}), ShapeError);
  EXPECT_THROW(View::contiguous({kHuge, kHuge, 0}), ShapeError);
  EXPECT_THROW(View::contiguous({2, -1}), ShapeError);
  EXPECT_THROW(View::create({2}, {kMin}), ShapeError);
  EXPECT_THROW(View::create({3}, {kMax}), ShapeError);
  EXPECT_THROW(View::create({2}, {1}, kMax), ShapeError);
  EXPECT_THROW(View::create({2, 2}, {kMax, -kMax}), ShapeError);
  EXPECT_THROW(View::contiguous({1, 1}).broadcast({kHuge, kHuge}), ShapeError);
  EXPECT_THROW(View::contiguous({1}).broadcast({kMax}).unfold(0, kMax / 2, 1), ShapeError);
  EXPECT_THROW(View::contiguous({3}).pad({{kMax, 0}}), ShapeError);
  EXPECT_THROW(View::contiguous({3, kHuge}).pad({{kHuge, 0}, {0, 0}}), ShapeError);
  EXPECT_THROW(View::create({2}, {kMax / 2}).pad({{0, 4}}), ShapeError);
  EXPECT_THROW(View::contiguous({4}).as_strided({2}, {kMax}, 1), ShapeError);
  EXPECT_THROW(View::contiguous({4}).as_strided({2, 2}, {kMin, 1}, 0), ShapeError);
}

// An axis of size 1 may have any stride: it is never multiplied.
TEST(ViewTest, StridesOfSizeOneAxesDoNotCount) {
  View view = View::create({1, 3, 1}, {kMax, 1, kMin}, 5);
  EXPECT_TRUE(view.is_contiguous());
  EXPECT_TRUE(view.is_dense());
  expect_reads(*view.reshape({3}), {3}, {5, 6, 7});
  expect_reads(view.slice(0, std::nullopt, std::nullopt, -3), {1, 3, 1}, {5, 6, 7});
  expect_reads(view.flip({0, 1, 2}), {1, 3, 1}, {7, 6, 5});
  expect_reads(*view.unfold(0, 1, 4), {1, 3, 1, 1}, {5, 6, 7});
  EXPECT_EQ(view.unfold(0, 1, 4)->stride(0), kMax);
  expect_reads(view.diagonal(0, 0, 2), {3, 1}, {5, 6, 7});
  expect_reads(view.slice(0, 1), {0, 3, 1}, {});
  expect_reads(view.unsqueeze(0).expand({2, 1, 3, 1}), {2, 1, 3, 1}, {5, 6, 7, 5, 6, 7});
  expect_reads(*view.transpose(0, 1).reshape({3, 1, 1, 1}), {3, 1, 1, 1}, {5, 6, 7});
}

TEST(ViewTest, ContiguousAndDense) {
  View view = View::contiguous({2, 3, 4});
  EXPECT_TRUE(view.is_contiguous());
  EXPECT_TRUE(view.slice(0, 1, 2).is_contiguous());  // the offset does not matter
  View swapped = view.transpose(0, 2);
  EXPECT_FALSE(swapped.is_contiguous());
  EXPECT_TRUE(swapped.is_dense());
  EXPECT_FALSE(view.flip({2}).is_dense());
  EXPECT_FALSE(view.slice(2, 0, 4, 2).is_dense());
  EXPECT_FALSE(view.pad({{0, 0}, {0, 0}, {1, 0}}).is_dense());
  EXPECT_FALSE(View::contiguous({3, 1}).expand({3, 2}).is_dense());
}

TEST(ViewTest, OverlapsItself) {
  View view = View::contiguous({12});
  EXPECT_FALSE(view.overlaps_itself());
  EXPECT_TRUE(view.unfold(0, 3, 2)->overlaps_itself());
  EXPECT_FALSE(view.unfold(0, 3, 3)->overlaps_itself());
  EXPECT_FALSE(view.unfold(0, 3, 5)->overlaps_itself());
  EXPECT_TRUE(View::contiguous({3, 1}).expand({3, 2}).overlaps_itself());
  EXPECT_FALSE(View::contiguous({3, 1}).expand({3, 1}).overlaps_itself());
  EXPECT_FALSE(View::contiguous({3, 4}).flip({0, 1}).transpose(0, 1).overlaps_itself());
  // Interleaved strides that meet nowhere, and somewhere: 3i + 2j.
  EXPECT_FALSE(View::create({4, 3}, {3, 2}).overlaps_itself());
  EXPECT_TRUE(View::create({4, 4}, {3, 2}).overlaps_itself());
  EXPECT_TRUE(View::create({4, 4}, {3, -2}, 6).overlaps_itself());
  // Not exact near the end of 64 bits, but then on the safe side.
  EXPECT_TRUE(View::create({3, 3}, {kMax / 4, kMax / 4 - 1}).overlaps_itself());
  // Only what the mask shows counts.
  EXPECT_FALSE(View::create({4, 4}, {3, 2}, 0, View::Mask{{0, 4}, {0, 3}}).overlaps_itself());
  EXPECT_FALSE(View::create({2, 2}, {0, 1}, 0, View::Mask{{1, 2}, {0, 2}}).overlaps_itself());
  EXPECT_FALSE(View::create({2, 2}, {0, 0}, 0, View::Mask{{1, 1}, {0, 2}}).overlaps_itself());
}

TEST(ViewTest, ExtentIsWhatTheMaskLetsThrough) {
  EXPECT_EQ(View().extent(), (std::pair<int64_t, int64_t>{0, 0}));
  View view = View::contiguous({3, 4});
  EXPECT_EQ(view.extent(), (std::pair<int64_t, int64_t>{0, 11}));
  EXPECT_EQ(view.flip({0}).extent(), (std::pair<int64_t, int64_t>{0, 11}));
  EXPECT_EQ(view.pad({{2, 2}, {2, 2}}).extent(), (std::pair<int64_t, int64_t>{0, 11}));
  EXPECT_EQ(view.pad({{2, 0}, {0, 0}}).slice(0, 0, 2).extent(), (std::pair<int64_t, int64_t>{0, -1}));
}

TEST(ViewTest, CopiesAndEquality) {
  View padded = View::contiguous({3}).pad({{1, 2}});
  View copy(padded);
  EXPECT_EQ(copy, padded);
  copy = View::contiguous({3});
  EXPECT_NE(copy, padded);
  EXPECT_TRUE(padded.has_mask());  // the mask is not shared
  copy = padded;
  const View& self = copy;
  copy = self;
  EXPECT_EQ(copy, padded);
  View moved(std::move(copy));
  EXPECT_EQ(moved, padded);
  EXPECT_NE(View::contiguous({3}).pad({{1, 2}}), View::contiguous({3}).pad({{1, 1}}).pad({{0, 1}}).slice(0, 1, 6));
  EXPECT_NE(View::contiguous({2, 2}), View::contiguous({2, 2}).transpose(0, 1));
}

TEST(ViewTest, Prints) {
  EXPECT_EQ(View::contiguous({2, 3}).to_string(), "View([2, 3], strides=[3, 1], offset=0)");
  EXPECT_EQ(View::contiguous({2, 3}).pad({{1, 0}, {0, 2}}).to_string(),
            "View([3, 5], strides=[3, 1], offset=-3, mask=[[1, 3), [0, 3)])");
}

TEST(ViewTest, S1ReshapeOfAContiguousView) {
  View view = View::contiguous({2, 3});
  expect_reads(*view.reshape({6}), {6}, counting(6));
  expect_reads(*view.reshape({3, 2}), {3, 2}, counting(6));
  expect_reads(*view.reshape({1, 6, 1}), {1, 6, 1}, counting(6));
  expect_reads(*View().reshape({1, 1}), {1, 1}, {0});
  expect_reads(*View::contiguous({1, 1}).reshape({}), {}, {0});
  expect_reads(*View::contiguous({5, 2}).slice(0, 2, 5).reshape({6}), {6}, {4, 5, 6, 7, 8, 9});
  EXPECT_EQ(view.transpose(0, 1).reshape({6}), std::nullopt);
}

TEST(ViewTest, ReshapeErrorsNameTheNumbers) {
  View view = View::contiguous({2, 3});
  EXPECT_EQ(error_of<ShapeError>([&] { view.reshape({4, 2}); }), "cannot reshape [2, 3] to [4, 2]: 6 and 8 elements");
  EXPECT_THROW(view.reshape({-1, -6}), ShapeError);
  EXPECT_THROW(view.reshape({0}), ShapeError);
  EXPECT_THROW(view.reshape({}), ShapeError);
}

// S16, mistake 3: some systems merge or split, but not both.
TEST(ViewTest, S16Mistake3ReshapeMergesAndSplitsAtOnce) {
  // A row out of every two: the two inner axes are one chunk, the outer one is another.
  View view = View::contiguous({4, 2, 6}).slice(0, 0, 4, 2);
  View result = *view.reshape({2, 3, 4});
  EXPECT_EQ(result.strides(), Strides({24, 4, 1}));
  EXPECT_EQ(read(result), read(view));
  EXPECT_EQ(view.reshape({3, 2, 4}), std::nullopt);
  // Merged and split under a permutation.
  View permuted = View::contiguous({2, 3, 4, 5}).permute({2, 3, 0, 1});
  View regrouped = *permuted.reshape({5, 4, 3, 2});
  EXPECT_EQ(regrouped.strides(), Strides({4, 1, 40, 20}));
  EXPECT_EQ(read(regrouped), read(permuted));
}

TEST(ViewTest, S16ReshapeWithZeroStridesAndNegativeOnes) {
  View repeated = View().broadcast({4, 6});
  EXPECT_EQ(repeated.reshape({3, 8})->strides(), Strides({0, 0}));
  View half = View::contiguous({3, 1}).expand({3, 4});
  EXPECT_EQ(half.reshape({3, 2, 2})->strides(), Strides({1, 0, 0}));
  EXPECT_EQ(half.reshape({12}), std::nullopt);
  View reversed = View::contiguous({2, 6}).flip({0, 1});
  expect_reads(*reversed.reshape({12}), {12}, {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  expect_reads(*reversed.reshape({4, 3}), {4, 3}, {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  EXPECT_EQ(View::contiguous({2, 6}).flip({1}).reshape({12}), std::nullopt);
}

TEST(ViewTest, ReshapeOfNothing) {
  View empty = View::contiguous({4, 3}).transpose(0, 1).slice(0, 3);
  EXPECT_EQ(empty.reshape({7, 0, 2}), View::contiguous({7, 0, 2}));
  EXPECT_EQ(empty.reshape({0}), View::contiguous({0}));
  EXPECT_THROW(empty.reshape({1}), ShapeError);
}

// S17, mistake 2: an expanded view that still says contiguous is read beyond its buffer.
TEST(ViewTest, S17Mistake2ExpandRecomputesContiguous) {
  View row = View::contiguous({1, 3});
  View expanded = row.expand({4, 3});
  EXPECT_FALSE(expanded.is_contiguous());
  EXPECT_EQ(expanded.strides(), Strides({0, 1}));
  EXPECT_EQ(expanded.extent(), (std::pair<int64_t, int64_t>{0, 2}));
  EXPECT_EQ(expanded.reshape({12}), std::nullopt);
  EXPECT_TRUE(row.expand({1, 3}).is_contiguous());
  EXPECT_TRUE(expanded.slice(0, 0, 1).is_contiguous());
}

TEST(ViewTest, S17ScalarExpandsToAnyRank) {
  expect_reads(View().expand({2, 2}), {2, 2}, {0, 0, 0, 0});
  expect_reads(View().expand({}), {}, {0});
  expect_reads(View().expand({0, 2}), {0, 2}, {});
  EXPECT_THROW(View::contiguous({3}).expand({2, 3}), ShapeError);
  EXPECT_THROW(View::contiguous({3}).expand({4}), ShapeError);
  EXPECT_THROW(View::contiguous({1}).expand({-1}), ShapeError);
}

// S7, S9
TEST(ViewTest, S7S9BroadcastAddsAxesOnTheLeftWithStrideZero) {
  View view = View::contiguous({2, 1, 3}).broadcast({5, 2, 4, 3});
  EXPECT_EQ(view.strides(), Strides({0, 3, 0, 1}));
  expect_reads(View::contiguous({3}).broadcast({2, 3}), {2, 3}, {0, 1, 2, 0, 1, 2});
  expect_reads(View::contiguous({1}).broadcast({0}), {0}, {});
  EXPECT_THROW(View::contiguous({2, 3}).broadcast({3}), ShapeError);
  EXPECT_EQ(error_of<ShapeError>([] {
              View::contiguous({2, 3}).broadcast({2, 4});
            }),
            "[2, 3] does not broadcast to [2, 4]: 3 and 4 on axis 1");
}

TEST(ViewTest, S2S3SqueezeAndSqueezeAll) {
  View view = View::contiguous({1, 3, 1});
  EXPECT_EQ(view.squeeze(0)->shape(), Shape({3, 1}));
  EXPECT_EQ(view.squeeze(-1)->shape(), Shape({1, 3}));
  EXPECT_EQ(*view.squeeze(1), view);  // unchanged where the size is not 1
  EXPECT_EQ(view.squeeze_all()->shape(), Shape({3}));
  EXPECT_EQ(View::contiguous({1, 1}).squeeze_all()->shape(), Shape());
  EXPECT_THROW(view.squeeze(3), IndexError);
}

// S3, mistake 4: unsqueeze(-1) appends.
TEST(ViewTest, S3Mistake4UnsqueezeCountsFromOnePastTheEnd) {
  View view = View::contiguous({2, 3});
  EXPECT_EQ(view.unsqueeze(0).shape(), Shape({1, 2, 3}));
  EXPECT_EQ(view.unsqueeze(2).shape(), Shape({2, 3, 1}));
  EXPECT_EQ(view.unsqueeze(-1).shape(), Shape({2, 3, 1}));
  EXPECT_EQ(view.unsqueeze(-3).shape(), Shape({1, 2, 3}));
  EXPECT_EQ(View().unsqueeze(-1).shape(), Shape({1}));
  EXPECT_THROW(view.unsqueeze(3), IndexError);
  EXPECT_THROW(view.unsqueeze(-4), IndexError);
}

TEST(ViewTest, S4TransposePermuteMovedim) {
  View view = View::contiguous({2, 3, 4});
  EXPECT_EQ(view.transpose(0, -1).strides(), Strides({1, 4, 12}));
  EXPECT_EQ(view.permute({2, 0, 1}).shape(), Shape({4, 2, 3}));
  EXPECT_EQ(view.permute({-1, -3, -2}), view.permute({2, 0, 1}));
  EXPECT_EQ(view.movedim(0, 2), view.permute({1, 2, 0}));
  EXPECT_EQ(view.movedim(-1, 0), view.permute({2, 0, 1}));
  EXPECT_EQ(View().permute({}), View());
  EXPECT_THROW(view.transpose(0, 3), IndexError);
  EXPECT_THROW(view.permute({0, 1}), ShapeError);
  EXPECT_THROW(view.permute({0, 1, 3}), IndexError);
  EXPECT_EQ(error_of<ShapeError>([&] { view.permute({0, 1, -2}); }), "permutation [0, 1, -2] names axis 1 twice");
}

TEST(ViewTest, FlattenAndUnflatten) {
  View view = View::contiguous({2, 3, 4});
  EXPECT_EQ(view.flatten(0, -1)->shape(), Shape({24}));
  EXPECT_EQ(view.flatten(1, 2)->shape(), Shape({2, 12}));
  EXPECT_EQ(view.flatten(1, 1)->shape(), Shape({2, 3, 4}));
  EXPECT_EQ(View().flatten(0, -1)->shape(), Shape({1}));
  EXPECT_THROW(view.flatten(2, 1), ShapeError);
  EXPECT_THROW(view.flatten(0, 3), IndexError);
  EXPECT_THROW(View().flatten(0, 1), IndexError);
  EXPECT_EQ(view.transpose(0, 1).flatten(0, 1), std::nullopt);
  EXPECT_EQ(view.unflatten(-1, {2, 2})->shape(), Shape({2, 3, 2, 2}));
  EXPECT_EQ(View::contiguous({2, 1}).unflatten(1, {})->shape(), Shape({2}));
  EXPECT_THROW(view.unflatten(1, {2, 2}), ShapeError);
  EXPECT_THROW(view.unflatten(1, {-1, 3}), ShapeError);
}

}  // namespace
}  // namespace weft
