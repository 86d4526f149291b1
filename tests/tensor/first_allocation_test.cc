// The first large tensor of a process where memory runs out on the way: a program of its own, as it is the first once.
#include "tensor/all.h"
#include "tests/failing_allocations.h"

namespace weft {
namespace {

TEST(FirstAllocation, OfALargeTensorDoesNotEndTheProcess) {
  const auto make = [] { return empty({int64_t{1} << 22}); };
  for (int64_t nth = 1; nth < 8; ++nth) {
    const test::FailingAllocation failing(nth);
    try {
      EXPECT_EQ(make().numel(), int64_t{1} << 22);
    } catch (const Error&) {
    } catch (const std::bad_alloc&) {
    }
    EXPECT_TRUE(nth > 1 || test::FailingAllocation::has_failed());
  }
  EXPECT_EQ(make().numel(), int64_t{1} << 22);
}

}  // namespace
}  // namespace weft
