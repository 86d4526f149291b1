// Constants that g++ 12 gets wrong for AVX-512 without the flags of tools/flags.bazelrc.
#include <gtest/gtest.h>

#include <vector>

#include "weft.h"

namespace weft {
namespace {

[[gnu::noinline]] std::vector<double> copied(const std::vector<double>& list) { return list; }

TEST(Constants, AreWhatTheSourceSays) {
  auto* const list = new std::vector<double>({1, 1, 0, 0});
  EXPECT_EQ(copied(*list)[2], 0);
  EXPECT_EQ(copied(*list)[3], 0);
  delete list;
  EXPECT_EQ(ones(Shape{1, 1, 0, 0}).numel(), 0);
  EXPECT_EQ(tensor({1.0, 1.0, 0.0, 0.0}).sum().item<double>(), 2);
}

}  // namespace
}  // namespace weft
