// Compares what checkpoints hold.
#pragma once

#include <gtest/gtest.h>

#include "tensor/functions/compare.h"
#include "tensor/state_dict.h"

namespace weft::test {

/// The same names with equal values.
inline void expect_same(const StateDict& a, const StateDict& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, tensor] : a) EXPECT_TRUE(equal(tensor, b.at(name))) << name;
}

}  // namespace weft::test
