// What this machine does at best, as JSON lines for bench:compare: products in flop/s, copies in bytes/s by size.
// Usage: rates THREADS
#include <cstdio>
#include <cstdlib>

#include "bench/ceiling.h"
#include "weft.h"

int main(int argc, char** argv) {
  if (argc > 1) weft::set_num_threads(std::atoi(argv[1]));
  std::printf("{\"flops\":%.4g}\n", weft::bench::sgemm_rate(1024, 1024, 1024, false, false, 0.5));
  for (const double bytes : {1e6, 4e6, 16e6, 64e6, 256e6})
    std::printf("{\"bytes\":%.0f,\"copy\":%.4g}\n", bytes, weft::bench::copy_rate(bytes, 0.2));
}
