// What the view tests share: a View compared with the cells of the index oracle.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tensor/core/view.h"
#include "tests/tensor/view_oracle.h"

namespace weft {

/// All that a view answers about itself, against the cells.
inline void expect_same(const View& view, const oracle::Cells& expected) {
  ASSERT_EQ(view.shape(), Shape(expected.shape));
  ASSERT_EQ(view.rank(), expected.rank());
  ASSERT_EQ(view.numel(), static_cast<int64_t>(expected.cells.size()));
  oracle::for_each_index(expected.shape, [&](const oracle::List& index) {
    int64_t cell = expected.at(index);
    ASSERT_EQ(view.is_valid(index), cell != oracle::kZero) << IntList(index).to_string();
    if (cell != oracle::kZero) {
      ASSERT_EQ(view.linear_index(index), cell) << IntList(index).to_string();
    }
  });
  oracle::List valid = expected.valid();
  bool masked = valid.size() != expected.cells.size();
  ASSERT_EQ(view.has_mask(), masked);
  ASSERT_EQ(view.is_strided(), !masked);
  ASSERT_EQ(view.strides_opt().has_value(), !masked);
  bool contiguous = !masked;
  for (size_t i = 0; contiguous && i < valid.size(); ++i) contiguous = valid[i] == valid[0] + static_cast<int64_t>(i);
  ASSERT_EQ(view.is_contiguous(), contiguous);
  if (expected.cells.empty()) {
    ASSERT_EQ(view.offset(), 0);
  }
  std::set<int64_t> distinct(valid.begin(), valid.end());
  ASSERT_EQ(view.overlaps_itself(), distinct.size() < valid.size());
  auto extent = valid.empty() ? std::pair<int64_t, int64_t>{0, -1} : std::pair{*distinct.begin(), *distinct.rbegin()};
  ASSERT_EQ(view.extent(), extent);
  // Dense, and no axis runs backwards: the first element is the lowest, and the positions leave no gap.
  bool gapless = !masked && distinct.size() == valid.size() &&
                 extent.second - extent.first + 1 == static_cast<int64_t>(valid.size());
  ASSERT_EQ(view.is_dense(), gapless && (valid.empty() || valid[0] == extent.first));
  View copy(view);
  ASSERT_EQ(copy, view);
  ASSERT_EQ(View::create(view.shape(), view.strides(), view.offset(),
                         view.mask() ? std::optional(*view.mask()) : std::nullopt),
            view);
}

/// How read() shows padding.
inline constexpr int64_t kZero = -999;

/// What the elements read, in row-major order: memory positions, or kZero in the padding.
inline std::vector<int64_t> read(const View& view) {
  std::vector<int64_t> out;
  oracle::for_each_index(view.shape().to_vector(), [&](const oracle::List& index) {
    out.push_back(view.is_valid(index) ? view.linear_index(index) : kZero);
  });
  return out;
}

/// The shape and what the elements read.
inline void expect_reads(const View& view, const Shape& shape, const std::vector<int64_t>& positions) {
  EXPECT_EQ(view.shape(), shape);
  EXPECT_EQ(read(view), positions) << view.to_string();
}

}  // namespace weft
