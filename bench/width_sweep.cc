// Training steps of a small MLP (16 inputs, two hidden layers, 4 classes, SGD with momentum) of width 8 to 128 on
// batches of 1 to 32: time should grow smoothly, and never by using threads.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bench/ceiling.h"
#include "weft.h"

namespace weft::bench {
namespace {

struct SmallMlp : nn::Module {
  nn::Linear first, second, output;
  explicit SmallMlp(int64_t width)
      : first(register_module("first", nn::Linear(16, width))),
        second(register_module("second", nn::Linear(width, width))),
        output(register_module("output", nn::Linear(width, 4))) {}
  Tensor forward(const Tensor& x) { return output(relu(second(relu(first(x))))); }
};

double step_microseconds(int64_t width, int64_t batch, int threads) {
  set_num_threads(threads);
  SmallMlp model(width);
  optim::SGD optimizer(model.parameters(), {.lr = 0.01, .momentum = 0.9});
  const Tensor x = randn({batch, 16}), targets = randint(0, 4, {batch});
  const auto step = [&] {
    optimizer.zero_grad();
    nn::cross_entropy(model.forward(x), targets).backward();
    optimizer.step();
  };
  return 1e6 * median_seconds(step, 0.1);
}

void sweep(int threads) {
  const std::vector<int64_t> batches = {1, 2, 4, 8, 16, 32};
  std::printf("microseconds per step, 1 / %d threads (! where the threads cost more than a tenth)\n\n| width |",
              threads);
  for (const int64_t batch : batches) std::printf(" batch %lld |", static_cast<long long>(batch));
  std::printf("\n|---|---|---|---|---|---|---|\n");
  for (int64_t width = 8; width <= 128; width += width < 32 ? 8 : width < 64 ? 16 : 32) {
    std::printf("| %lld |", static_cast<long long>(width));
    for (const int64_t batch : batches) {
      const double one = step_microseconds(width, batch, 1), more = step_microseconds(width, batch, threads);
      std::printf(" %.1f / %.1f%s |", one, more, more > 1.1 * one ? " !" : "");
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) { weft::bench::sweep(argc > 1 ? std::atoi(argv[1]) : 2); }
