// Families of ops that users wait for, one JSON line per case; bench:compare sets them beside peers/families.py, which
// has the same cases under the same names.
//
//   ./bazelw run //bench:families -- --threads 1 --filter svd
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "bench/family_cases.h"
#include "bench/steps.h"

namespace weft::bench {
namespace {

/// Calls for `seconds` and at least three times, after two unmeasured ones.
void measure(const std::string& name, int threads, double seconds, const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  call(), call();
  std::vector<double> times, cpu;
  for (double total = 0; total < seconds || times.size() < 3;) {
    const double cpu_start = cpu_seconds();
    const auto start = Clock::now();
    call();
    const double spent = std::chrono::duration<double>(Clock::now() - start).count();
    cpu.push_back(1e3 * (cpu_seconds() - cpu_start));
    times.push_back(1e3 * spent);
    total += spent;
  }
  std::sort(times.begin(), times.end());
  std::printf("{\"case\":\"%s\",\"threads\":%d,\"ms\":%.5f,\"min_ms\":%.5f,\"cpu_ms\":%.5f}\n", name.c_str(), threads,
              times[times.size() / 2], times.front(), *std::min_element(cpu.begin(), cpu.end()));
  std::fflush(stdout);
}

void measure_case(const Case& one, int threads, double seconds) {
  manual_seed(1);
  Tensors inputs = one.inputs();
  measure(one.name, threads, seconds, [&] {
    const NoGrad guard;
    one.call(inputs);
  });
  if (one.passes == forward) return;
  Tensors wanted;
  for (Tensor& x : inputs)
    if (is_floating(x.dtype())) wanted.push_back(x = parameter(x));
  const Tensor seed = ones_like(detach(one.call(inputs)));
  measure(one.name + ", with gradients", threads, seconds,
          [&] { grad({one.call(inputs)}, wanted, {.seeds = {seed}}); });
}

int run(int argc, char** argv) {
  std::string filter;
  double seconds = 0.1;
  int threads = 0;
  CLI::App app("Families of ops, one JSON line per case");
  app.add_option("--filter", filter, "only cases whose name contains this");
  app.add_option("--seconds", seconds, "how long to measure a case");
  app.add_option("--threads", threads, "threads; 0: all");
  CLI11_PARSE(app, argc, argv);
  if (threads > 0 && threads != num_threads()) set_num_threads(threads);
  for (const Case& one : all_cases())
    if (one.name.find(filter) != std::string::npos) measure_case(one, num_threads(), seconds);
  return 0;
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) { return weft::bench::run(argc, argv); }
