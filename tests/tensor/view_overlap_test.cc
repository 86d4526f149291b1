// may_overlap() against the sets of positions of random views.
#include "tensor/core/view_overlap.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/setting.h"
#include "tests/tensor/view_checks.h"

namespace weft {
namespace {

std::set<int64_t> positions(const View& view) {
  std::set<int64_t> out;
  oracle::for_each_index(view.shape().to_vector(), [&](const oracle::List& index) {
    if (view.is_valid(index)) out.insert(view.linear_index(index));
  });
  return out;
}

bool share(const View& a, const View& b) {
  const std::set<int64_t> of_a = positions(a);
  for (int64_t position : positions(b))
    if (of_a.contains(position)) return true;
  return false;
}

TEST(ViewOverlap, PartsOfAPackedProjection) {
  const View packed = View::contiguous({2, 3, 24});
  const auto part = [&](int64_t i) { return packed.unflatten(-1, {3, 4, 2})->select(-3, i)->transpose(-3, -2); };
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 3; ++j) EXPECT_EQ(may_overlap(part(i), part(j)), i == j) << i << " and " << j;
}

TEST(ViewOverlap, NothingAndPadding) {
  const View rows = View::contiguous({4, 4});
  EXPECT_FALSE(may_overlap(rows, rows.slice(0, 2, 2)));  // no element
  EXPECT_FALSE(may_overlap(rows.slice(1, 0, 2), rows.slice(1, 2, 4)));
  EXPECT_TRUE(may_overlap(rows.slice(1, 0, 3), rows.slice(1, 2, 4)));
  EXPECT_TRUE(may_overlap(rows.flip({0, 1}), rows));
  EXPECT_TRUE(may_overlap(rows.broadcast({2, 4, 4}), rows));
  EXPECT_TRUE(may_overlap(rows.pad({{1, 1}, {0, 0}}), rows)) << "padded views may say true, and here it is";
}

TEST(ViewOverlap, RandomViewsAgreeWithTheirPositions) {
  std::mt19937 random(11);
  const auto draw = [&](int64_t low, int64_t high) { return low + static_cast<int64_t>(random() % (high - low + 1)); };
  const auto view = [&] {
    IntList shape, strides;
    int64_t offset = draw(0, 30);
    for (int64_t axes = draw(0, 4); axes > 0; --axes) {
      shape.push_back(draw(1, 4));
      strides.push_back(draw(-3, 12));
      if (strides.back() < 0) offset -= strides.back() * (shape.back() - 1);
    }
    return View::create(shape, strides, offset);
  };
  int64_t apart = 0;
  const int64_t count = 20000 / testing::property_divisor();
  for (int64_t i = 0; i < count; ++i) {
    const View a = view(), b = view();
    ASSERT_EQ(may_overlap(a, b), share(a, b)) << a.to_string() << " and " << b.to_string();
    apart += !may_overlap(a, b);
  }
  EXPECT_GT(apart, count / 10);
}

}  // namespace
}  // namespace weft
