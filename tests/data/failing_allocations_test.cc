// DataLoader where memory runs out, in the loop or on a loading thread: the loop ends with an error, and can be
// repeated.
#include "tests/failing_allocations.h"

#include <optional>

#include "data/loader.h"
#include "tensor/all.h"

namespace weft {
namespace {

using test::fail_each_allocation;
using test::FailingAllocation;

/// Example i is {i}. After the batch of example `failing` was put together, the thread's `nth` allocation fails.
struct Numbers : data::DatasetOf<1> {
  int64_t size() const override { return 8; }
  Example get(int64_t i) const override { return {tensor({i})}; }
  Example combine(std::vector<Example> examples) const override {
    const int64_t first = examples[0][0].item<int64_t>();
    Example batch = DatasetOf<1>::combine(std::move(examples));
    if (first == failing) next.emplace(nth, FailingAllocation::Where::here);
    return batch;
  }
  static inline int64_t failing = -1, nth = 1;
  static inline std::optional<FailingAllocation> next;
};

std::vector<int64_t> epoch(int64_t workers) {
  std::vector<int64_t> out;
  for (const auto& [x] : data::DataLoader(Numbers(), {.batch_size = 2, .workers = workers}))
    for (const int64_t value : x.to_vector<int64_t>()) out.push_back(value);
  return out;
}

TEST(FailingAllocations, EndALoop) {
  const std::vector<int64_t> all = {0, 1, 2, 3, 4, 5, 6, 7};
  for (const int64_t workers : {0, 1, 3}) {
    std::vector<int64_t> found;
    fail_each_allocation([&] { found = epoch(workers); },
                         [&](const std::exception_ptr&) { EXPECT_EQ(epoch(workers), all); });
    EXPECT_EQ(found, all);
  }
}

TEST(FailingAllocations, OnAThreadAreTheFailureOfItsBatch) {
  for (const int64_t nth : {1, 2}) {  // of the list of the tensors, and of its place among the batches
    Numbers::failing = 4;
    Numbers::nth = nth;
    std::vector<int64_t> found;
    const auto loop = [&] {
      for (const auto& [x] : data::DataLoader(Numbers(), {.batch_size = 2, .workers = 1})) {
        const auto values = x.to_vector<int64_t>();
        found.insert(found.end(), values.begin(), values.end());
      }
    };
    EXPECT_THROW(loop(), std::bad_alloc) << nth;
    Numbers::failing = -1;
    Numbers::next.reset();
    EXPECT_EQ(found, (std::vector<int64_t>{0, 1, 2, 3})) << nth;
  }
}

}  // namespace
}  // namespace weft
