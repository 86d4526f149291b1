// An update of a metric where memory runs out: the batch is counted or not, and the metric can be used further.
#include "tests/failing_allocations.h"

#include "metrics/metrics.h"
#include "tensor/all.h"

namespace weft {
namespace {

TEST(FailingAllocations, LeaveAnAucWhole) {
  const Tensor scores = tensor({0.1, 0.4, 0.35, 0.8}), labels = tensor({0, 0, 1, 1}), later = tensor({1, 1, 0, 0});
  metrics::Auc once, twice;
  once.update(scores, labels);
  twice.update(scores, labels);
  twice.update(scores, later);
  metrics::Auc auc;
  test::fail_each_allocation(
      [&] {
        auc = metrics::Auc();
        auc.update(scores, labels);
        auc.update(scores, later);
      },
      [&](const std::exception_ptr&) {
        if (auc.count() == 0) return;
        EXPECT_EQ(auc.value(), auc.count() == 4 ? once.value() : twice.value());
      });
  EXPECT_EQ(auc.value(), twice.value());
}

}  // namespace
}  // namespace weft
