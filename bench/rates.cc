// What this machine does at best, as JSON lines for bench:compare: products in flop/s, copies in bytes/s by size.
// Usage: rates THREADS
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "bench/ceiling.h"
#include "weft.h"

using namespace weft::bench;

/// The fastest of ten tries: a limit is what the machine can do when nothing disturbs it.
template <class F> static double rate(double amount, const F& call) {
  double seconds = median_seconds(call, 0.03);
  for (int i = 1; i < 10; ++i) seconds = std::min(seconds, median_seconds(call, 0.03));
  return amount / seconds;
}

int main(int argc, char** argv) {
  if (argc > 1) weft::set_num_threads(std::atoi(argv[1]));
  const Sgemm product(1024, 1024, 1024);
  std::printf("{\"flops\":%.4g}\n", rate(product.flops(), product));
  for (const double bytes : {1e6, 4e6, 16e6, 64e6, 256e6}) {
    const CopyLoop copy(bytes);
    std::printf("{\"bytes\":%.0f,\"copy\":%.4g}\n", bytes, rate(copy.bytes(), copy));
  }
}
