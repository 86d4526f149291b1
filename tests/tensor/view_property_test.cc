// Random chains of view operations, each step compared cell by cell with an oracle that only knows lists of indices
// (view_oracle.h). WEFT_SEED=<n> repeats a run; WEFT_PROPERTY_DIVISOR=<n> runs 1/n of it.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <string>
#include <string_view>

#include "tensor/core/error.h"
#include "tensor/core/view.h"
#include "tests/setting.h"
#include "tests/tensor/view_checks.h"
#include "tests/tensor/view_operations.h"

namespace weft {
namespace {

using oracle::Cells;
using oracle::List;

constexpr int64_t kMostCells = 400;

class ViewProperty : public ::testing::Test {
 protected:
  void SetUp() override {
    seed_ = static_cast<uint64_t>(testing::setting("WEFT_SEED", static_cast<int64_t>(std::random_device{}())));
    std::printf("WEFT_SEED=%llu\n", static_cast<unsigned long long>(seed_));
  }

  void run_chain(uint64_t seed) {
    ViewRandom random(seed);
    int64_t offset = random.in(0, 5);
    List shape = random.shape(random.in(0, 5), 4);
    Cells cells = oracle::contiguous(shape, offset);
    View view = View::create(shape, row_major_strides(shape), offset);
    std::string history = text("WEFT_SEED=", seed, " (first chain of that seed)\n", view.to_string());
    for (int64_t steps = random.in(2, 12); steps > 0; --steps) {
      ViewOperation& operation = draw(random);
      auto step = operation.run(view, cells, random);
      if (!step || static_cast<int64_t>(step->cells.cells.size()) > kMostCells) continue;
      history += text("\n", step->call, " -> ", step->view ? step->view->to_string() : "nullopt");
      SCOPED_TRACE(history);
      if (!step->view) {
        ++operation.refused;
        ASSERT_FALSE(oracle::is_expressible(step->cells)) << operation.name << " answered nullopt without need";
        continue;
      }
      ++(view.has_mask() ? operation.ran_masked : view.numel() == 0 ? operation.ran_empty : operation.ran);
      view = std::move(*step->view);
      cells = std::move(step->cells);
      expect_same(view, cells);
      if (HasFatalFailure()) return;
    }
  }

  ViewOperation& draw(ViewRandom& random) {
    int64_t total = 0;
    for (const ViewOperation& operation : operations_) total += operation.weight;
    int64_t ticket = random.in(1, total);
    size_t i = 0;
    while ((ticket -= operations_[i].weight) > 0) ++i;
    return operations_[i];
  }

  uint64_t seed_ = 0;
  std::vector<ViewOperation> operations_ = view_operations();
};

TEST_F(ViewProperty, RandomChainsReadWhatTheIndexOracleReads) {
  int64_t chains = std::max<int64_t>(20000 / testing::property_divisor(), 1000);
  for (int64_t i = 0; i < chains && !HasFatalFailure(); ++i) run_chain(seed_ + static_cast<uint64_t>(i));
  if (HasFatalFailure()) return;
  // Each operation must really have given views, of plain and of masked ones (as_strided takes no masked one).
  for (const ViewOperation& operation : operations_) {
    std::printf("%-12s gave views of plain %6lld, masked %6lld, empty %6lld; nullopt %6lld\n", operation.name,
                static_cast<long long>(operation.ran), static_cast<long long>(operation.ran_masked),
                static_cast<long long>(operation.ran_empty), static_cast<long long>(operation.refused));
    EXPECT_GE(operation.ran, chains / 40) << operation.name;
    const std::string_view name = operation.name;
    if (name != "as_strided") {
      EXPECT_GE(operation.ran_masked, chains / 100) << operation.name;
    }
    if (name != "select" && name != "as_strided") {
      EXPECT_GE(operation.ran_empty, chains / 1000) << operation.name;
    }
    EXPECT_LE(operation.refused, (operation.ran + operation.ran_masked) / 2) << operation.name;
  }
}

}  // namespace
}  // namespace weft
