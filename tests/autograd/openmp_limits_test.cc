// What OpenMP's own settings may take from a team: a library that counts on the threads it asked for would leave their
// work undone, or wait for them for ever. OpenMP reads them when a process starts, so each has a process of its own.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "autograd/backward.h"
#include "autograd/leaf.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/conv.h"
#include "tensor/functions/random.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/runtime/threads.h"

namespace weft {
namespace {

/// The exit status of this program, which runs the test Limited.* with `settings` in its environment.
int run_with(const std::string& settings) {
  const std::string command =
      "unset GTEST_SHARD_STATUS_FILE GTEST_OUTPUT XML_OUTPUT_FILE TEST_TOTAL_SHARDS OMP_NUM_THREADS; export " +
      settings + " WEFT_LIMITED=1; exec timeout 60 '" + std::filesystem::read_symlink("/proc/self/exe").string() +
      "' --gtest_filter=OpenmpLimits.* >&2";
  return std::system(command.c_str());
}

Tensor weight_gradient(const Tensor& x, const Tensor& w, DType dtype) {
  const Tensor weight = parameter(w.to(dtype));
  return grad({sum(square(conv2d(x.to(dtype), weight, {}, {.padding = 1})))}, {weight})[0].to(f64);
}

TEST(OpenmpLimits, ChangeNoResult) {
  if (std::getenv("WEFT_LIMITED") == nullptr) {
    for (const char* settings : {"OMP_THREAD_LIMIT=1", "OMP_THREAD_LIMIT=2", "OMP_THREAD_LIMIT=3", "OMP_DYNAMIC=true",
                                 "OMP_MAX_ACTIVE_LEVELS=0"})
      EXPECT_EQ(run_with(settings), 0) << settings;
    return;
  }
  manual_seed(1);
  set_num_threads(4);
  for (const Shape& image : {Shape{2, 32, 7, 7}, Shape{2, 3, 9, 9}}) {
    const Tensor x = randn(image), w = randn({64, image[1], 3, 3});
    const Tensor expected = weight_gradient(x, w, f64);
    EXPECT_TRUE(allclose(weight_gradient(x, w, f32), expected, 1e-4, 1e-2));
  }
}

}  // namespace
}  // namespace weft
