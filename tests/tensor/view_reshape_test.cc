// reshape of every small view to every shape: it finds strides and intervals exactly where the index oracle says there
// are any. WEFT_PROPERTY_DIVISOR=<n> takes every n-th view (n up to 20).
#include <gtest/gtest.h>

#include <algorithm>

#include "tensor/core/error.h"
#include "tensor/core/view.h"
#include "tests/setting.h"
#include "tests/tensor/view_checks.h"

namespace weft {
namespace {

using oracle::Cells;
using oracle::kZero;
using oracle::List;

/// All shapes of `rank` axes with sizes 1..largest.
std::vector<List> all_shapes(int64_t rank, int64_t largest) {
  std::vector<List> out;
  oracle::for_each_index(List(static_cast<size_t>(rank), largest), [&](List index) {
    for (int64_t& size : index) ++size;
    out.push_back(index);
  });
  return out;
}

/// All shapes of `count` elements with sizes above 1, and each of them once more with an axis of size 1.
std::vector<List> all_targets(int64_t count) {
  std::vector<List> out{{}};
  if (count > 1) {
    out.clear();
    for (int64_t first = 2; first <= count; ++first)
      if (count % first == 0)
        for (List rest : all_targets(count / first)) {
          if (std::find(rest.begin(), rest.end(), 1) != rest.end()) continue;
          rest.insert(rest.begin(), first);
          out.push_back(rest);
        }
  }
  for (size_t i = 0, plain = out.size(); i < plain; ++i) {
    List with_one = out[i];
    with_one.insert(with_one.begin() + static_cast<std::ptrdiff_t>(i % (with_one.size() + 1)), 1);
    out.push_back(with_one);
  }
  return out;
}

/// reshape of one view to every shape there is: right where it answers, and nullopt exactly where nothing can express
/// it.
void expect_complete_reshape(const View& view, int64_t& found, int64_t& refused) {
  Cells cells{view.shape().to_vector(), {}};
  oracle::for_each_index(cells.shape, [&](const List& index) {
    cells.cells.push_back(view.is_valid(index) ? view.linear_index(index) : kZero);
  });
  for (const List& target : all_targets(view.numel())) {
    SCOPED_TRACE(text(view.to_string(), " to ", Shape(target)));
    Cells expected = oracle::reshape(cells, target);
    std::optional<View> reshaped = view.reshape(target);
    ASSERT_EQ(reshaped.has_value(), oracle::is_expressible(expected));
    ++(reshaped ? found : refused);
    if (reshaped) expect_same(*reshaped, expected);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// S16, mistake 3: all strides of small shapes, among them merges, splits, both at once, stride 0 and negative ones.
TEST(ViewReshapeTest, FindsStridesExactlyWhereTheyExist) {
  int64_t found = 0, refused = 0, number = 0;
  int64_t every = std::min<int64_t>(testing::property_divisor(), 20);
  const List values{0, 1, 2, 3, 4, 6, -1, -2};
  for (int64_t rank = 0; rank <= 3; ++rank)
    for (const List& shape : all_shapes(rank, rank == 3 ? 3 : 6))
      oracle::for_each_index(List(shape.size(), static_cast<int64_t>(values.size())), [&](List strides) {
        if (++number % every != 0 || ::testing::Test::HasFatalFailure()) return;
        for (int64_t& stride : strides) stride = values[static_cast<size_t>(stride)];
        expect_complete_reshape(View::create(shape, strides, 7), found, refused);
      });
  EXPECT_GT(found, 10000 / every);
  EXPECT_GT(refused, 10000 / every);
}

// S19, mistake 11: all masks of small shapes.
TEST(ViewReshapeTest, KeepsMasksExactlyWhereIntervalsCan) {
  int64_t found = 0, refused = 0, number = 0;
  int64_t every = std::min<int64_t>(testing::property_divisor(), 20);
  for (int64_t rank = 1; rank <= 3; ++rank)
    for (const List& shape : all_shapes(rank, rank == 3 ? 3 : rank == 2 ? 4 : 12)) {
      List corners;  // begin and end of every axis
      for (int64_t size : shape) corners.insert(corners.end(), {size + 1, size + 1});
      oracle::for_each_index(corners, [&](const List& index) {
        View::Mask mask;
        for (size_t i = 0; i < shape.size(); ++i) mask.push_back({index[2 * i], index[2 * i + 1]});
        for (auto [begin, end] : mask)
          if (begin > end) return;
        if (++number % every != 0 || ::testing::Test::HasFatalFailure()) return;
        expect_complete_reshape(View::create(shape, row_major_strides(shape), 3, mask), found, refused);
      });
    }
  EXPECT_GT(found, 2000 / every);
  EXPECT_GT(refused, 2000 / every);
}

}  // namespace
}  // namespace weft
