// Resident memory over 10,000 training steps of the CNN with batches of varying size: what it grows by once every size
// has been seen, in MB. The last line says whether that is below 1.
#include <cstdio>
#include <cstdlib>

#include "bench/models.h"
#include "bench/steps.h"
#include "weft.h"

using namespace weft;

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 10'000;
  constexpr int kSizes = 32;  // batches of 1 to 32 images
  // Chosen, so kept: fewer threads, as beside another process, would be sizes that were not seen before.
  set_num_threads(num_threads());
  manual_seed(1);
  bench::Cnn model;
  optim::AdamW optimizer(model.parameters(), {.lr = 1e-3});
  double start = 0;
  for (int step = 0; step < steps; ++step) {
    const int64_t batch = 1 + (step * 7) % kSizes;  // 7 and 32 have no common factor: every size in turn
    const Tensor loss = nn::cross_entropy(model.forward(randn({batch, 1, 28, 28})), randint(0, 10, {batch}));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step == 2 * kSizes) start = bench::resident_bytes();
    if (step % 1000 == 999) std::printf("step %5d: %+.2f MB\n", step + 1, (bench::resident_bytes() - start) / 1e6);
    std::fflush(stdout);
  }
  const double growth = (bench::resident_bytes() - start) / 1e6;
  std::printf("grew by %.2f MB: %s\n", growth, growth < 1 ? "below 1 MB" : "more than 1 MB");
}
