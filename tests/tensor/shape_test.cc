// IntList and the checked arithmetic on sizes.
#include "tensor/core/shape.h"

#include <gtest/gtest.h>

#include <iterator>
#include <limits>

#include "tensor/core/error.h"
#include "tests/error_of.h"
#include "tests/tensor/view_checks.h"

namespace weft {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kHuge = int64_t{1} << 40;

// What can be read only once cannot be counted first.
using FromStream = std::istream_iterator<int64_t>;
static_assert(!std::is_constructible_v<IntList, FromStream, FromStream>);

TEST(IntListTest, IsAListInlineAndOnTheHeap) {
  for (int64_t count : {0, 1, 7, 8, 9, 20, 100}) {
    SCOPED_TRACE(count);
    IntList list;
    std::vector<int64_t> expected;
    for (int64_t i = 0; i < count; ++i) {
      list.push_back(3 * i);
      expected.push_back(3 * i);
    }
    EXPECT_EQ(list.to_vector(), expected);
    EXPECT_EQ(list.rank(), count);
    EXPECT_EQ(list.empty(), count == 0);
    EXPECT_EQ(list, IntList(expected));

    IntList copy(list);
    EXPECT_EQ(copy, list);
    copy.push_back(1);
    EXPECT_NE(copy, list);
    copy = list;
    EXPECT_EQ(copy, list);
    const IntList& same = copy;
    copy = same;
    EXPECT_EQ(copy, list);
    IntList moved(std::move(copy));
    EXPECT_EQ(moved, list);
    copy = std::move(moved);
    EXPECT_EQ(copy, list);
    IntList other{5, 6, 7, 8, 9, 10, 11, 12, 13};  // a heap list that is written over
    other = list;
    EXPECT_EQ(other, list);
    other = IntList{4, 2};
    EXPECT_EQ(other, IntList({4, 2}));
  }
}

TEST(IntListTest, NegativePositionsCountFromTheEnd) {
  IntList list = {2, 3, 5};
  EXPECT_EQ(list[-1], 5);
  EXPECT_EQ(std::as_const(list)[int64_t{-3}], 2);
  list[-2] = 7;
  EXPECT_EQ(list, IntList({2, 7, 5}));
  for (const int64_t wrong : {int64_t{-4}, int64_t{3}, INT64_MIN, INT64_MAX})
    EXPECT_THROW((void)list[wrong], IndexError);
  EXPECT_THROW((void)IntList()[0], IndexError);
}

TEST(IntListTest, InsertsErasesAndResizes) {
  IntList list{1, 2, 3, 4, 5, 6, 7, 8};
  list.insert(0, 0);  // leaves the inline space
  list.insert(9, 9);
  list.insert(3, 77);
  EXPECT_EQ(list, IntList({0, 1, 2, 77, 3, 4, 5, 6, 7, 8, 9}));
  list.erase(3);
  list.erase(9);
  list.erase(0);
  EXPECT_EQ(list, IntList({1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(list.front(), 1);
  EXPECT_EQ(list.back(), 8);
  list.resize(2);
  list.resize(4);
  EXPECT_EQ(list, IntList({1, 2, 0, 0}));
  list.clear();
  EXPECT_EQ(list, IntList());
  EXPECT_EQ(IntList::filled(3, 7), IntList({7, 7, 7}));
}

TEST(IntListTest, InsertsAndErasesAtPositionsFromTheEnd) {
  IntList list = {5, 3, 7};
  list.insert(-1, 4);
  EXPECT_EQ(list, IntList({5, 3, 4, 7}));
  list.insert(list.rank(), 9);
  list.erase(-1);
  list.erase(-4);
  EXPECT_EQ(list, IntList({3, 4, 7}));
  EXPECT_THROW(list.erase(3), IndexError);
  EXPECT_THROW(list.insert(4, 1), IndexError);
  EXPECT_THROW(list.insert(-4, 1), IndexError);
  EXPECT_EQ(list, IntList({3, 4, 7}));
}

TEST(IntListTest, PrintsLikeAList) {
  EXPECT_EQ(Shape().to_string(), "[]");
  EXPECT_EQ(Shape({2}).to_string(), "[2]");
  EXPECT_EQ(Shape({2, -3, 0}).to_string(), "[2, -3, 0]");
}

TEST(ShapeTest, CheckedArithmeticStopsAt64Bits) {
  EXPECT_EQ(checked_multiply(kHuge, 4), int64_t{1} << 42);
  EXPECT_EQ(checked_multiply(kMin, 1), kMin);
  EXPECT_EQ(checked_multiply(kHuge, 0), 0);
  EXPECT_THROW(checked_multiply(kHuge, kHuge), ShapeError);
  EXPECT_THROW(checked_multiply(kMin, -1), ShapeError);
  EXPECT_EQ(checked_add(kMax, kMin), -1);
  EXPECT_THROW(checked_add(kMax, 1), ShapeError);
  EXPECT_THROW(checked_add(kMin, -1), ShapeError);
  EXPECT_EQ(error_of<ShapeError>([] { checked_multiply(kMax, 2); }),
            "9223372036854775807 * 2 does not fit into 64 bits");
}

// S12: a scalar has one element.
TEST(ShapeTest, S12NumelOfAScalarIsOne) {
  EXPECT_EQ(checked_numel({}), 1);
  EXPECT_EQ(checked_numel({2, 3, 4}), 24);
  EXPECT_EQ(checked_numel({2, 0, 4}), 0);
}

// A zero size hides no overflow, wherever it stands.
TEST(ShapeTest, NumelIsRefusedAlikeWhereverAZeroStands) {
  for (const Shape& shape :
       {Shape{kHuge, kHuge}, Shape{0, kHuge, kHuge}, Shape{kHuge, 0, kHuge}, Shape{kHuge, kHuge, 0}})
    EXPECT_THROW(checked_numel(shape), ShapeError) << shape.to_string();
  EXPECT_EQ(checked_numel({kMax, 1, 0}), 0);
  EXPECT_EQ(error_of<ShapeError>([] { checked_numel({2, -3}); }), "negative size -3 in [2, -3]");
  EXPECT_THROW(checked_numel({0, -1}), ShapeError);
}

// Mistake 10: axis checks in signed arithmetic.
TEST(ShapeTest, Mistake10AxesAreCheckedInSignedArithmetic) {
  EXPECT_EQ(normalize_axis(0, 3), 0);
  EXPECT_EQ(normalize_axis(2, 3), 2);
  EXPECT_EQ(normalize_axis(-1, 3), 2);
  EXPECT_EQ(normalize_axis(-3, 3), 0);
  for (int64_t axis : {int64_t{3}, int64_t{-4}, kMax, kMin}) EXPECT_THROW(normalize_axis(axis, 3), IndexError) << axis;
  EXPECT_THROW(normalize_axis(0, 0), IndexError);
  EXPECT_THROW(normalize_axis(-1, 0), IndexError);
  EXPECT_EQ(error_of<IndexError>([] { normalize_axis(5, 2); }), "axis 5 is out of range for 2 axes");
  EXPECT_EQ(error_of<IndexError>([] { normalize_axis(-2, 1); }), "axis -2 is out of range for 1 axis");
}

TEST(ShapeTest, RowMajorStridesCountAZeroAsOne) {
  EXPECT_EQ(row_major_strides({}), Strides());
  EXPECT_EQ(row_major_strides({2, 3, 4}), Strides({12, 4, 1}));
  EXPECT_EQ(row_major_strides({2, 1, 4}), Strides({4, 4, 1}));
  EXPECT_EQ(row_major_strides({2, 0, 4}), Strides({4, 4, 1}));
}

// S9: padded with 1s on the left; equal or 1; zero sizes are sizes like any other.
TEST(ShapeTest, S9BroadcastAlignsRight) {
  EXPECT_EQ(broadcast_shapes({2, 3}, {3}), Shape({2, 3}));
  EXPECT_EQ(broadcast_shapes({3}, {2, 3}), Shape({2, 3}));
  EXPECT_EQ(broadcast_shapes({2, 1, 4}, {3, 1}), Shape({2, 3, 4}));
  EXPECT_EQ(broadcast_shapes({}, {2, 3}), Shape({2, 3}));
  EXPECT_EQ(broadcast_shapes({}, {}), Shape());
  EXPECT_EQ(broadcast_shapes({1}, {0}), Shape({0}));
  EXPECT_EQ(broadcast_shapes({0, 3}, {1, 1}), Shape({0, 3}));
  EXPECT_THROW(broadcast_shapes({2}, {0}), ShapeError);
}

// S21: the error names both shapes.
TEST(ShapeTest, S21BroadcastErrorsNameBothShapes) {
  EXPECT_EQ(error_of<ShapeError>([] {
              broadcast_shapes({2, 3}, {2});
            }),
            "shapes [2, 3] and [2] do not broadcast: 3 and 2 on axis -1");
  EXPECT_EQ(error_of<ShapeError>([] {
              broadcast_shapes({5, 1}, {4, 6, 7});
            }),
            "shapes [5, 1] and [4, 6, 7] do not broadcast: 5 and 6 on axis -2");
}

}  // namespace
}  // namespace weft
