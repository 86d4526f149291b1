// What init() and launch() do with a program's own choices.
#include "distributed/launch.h"
#include "tests/distributed/ranks.h"
#include "tests/error_of.h"

namespace weft::test {
namespace {

TEST(Init, KeepsTheNumberOfThreadsThatWasChosenBefore) {
  const int cores = num_threads();  // must count as chosen, although it is the default
  set_num_threads(cores);
  (void)group();
  EXPECT_EQ(num_threads(), cores);
}

TEST(Launch, RefusesANegativeNumberOfProcesses) {
  EXPECT_EQ(error_of<distributed::DistributedError>([] { distributed::launch(-1, 0, nullptr); }),
            "launch: the number of processes must be 0 or more, not -1");
}

}  // namespace
}  // namespace weft::test
