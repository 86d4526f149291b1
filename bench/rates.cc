// What this machine does at best, as JSON lines for bench:compare: products in flop/s, copies in bytes/s by size.
// Usage: rates THREADS
#include <cstdio>
#include <cstdlib>

#include "bench/ceiling.h"
#include "weft.h"

using namespace weft::bench;

int main(int argc, char** argv) {
  if (argc > 1) weft::set_num_threads(std::atoi(argv[1]));
  const Sgemm product(1024, 1024, 1024);
  std::printf("{\"flops\":%.4g}\n", product.flops() / median_seconds(product, 0.5));
  for (const double bytes : {1e6, 4e6, 16e6, 64e6, 256e6}) {
    const CopyLoop copy(bytes);
    std::printf("{\"bytes\":%.0f,\"copy\":%.4g}\n", bytes, copy.bytes() / median_seconds(copy, 0.2));
  }
}
