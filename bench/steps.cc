#include "bench/steps.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <vector>

namespace weft::bench {
namespace {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A line `name:   1234 kB` of /proc/self/status.
double status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(name + ":", 0) == 0) return 1024 * std::stod(line.substr(name.size() + 1));
  return 0;
}

}  // namespace

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double resident_bytes() { return status_bytes("VmRSS"); }
double peak_resident_bytes() { return status_bytes("VmHWM"); }
void reset_peak_resident() { std::ofstream("/proc/self/clear_refs") << "5"; }

StepFigures measure_steps(const std::function<Tensor()>& step, double seconds) {
  empty_cache();  // what building the model has left behind is no memory of the step
  reset_peak_resident();
  const double memory_before = resident_bytes();
  std::vector<double> losses;
  for (int i = 0; i < 5; ++i) losses.push_back(step().item<double>());

  const int64_t live = memory_stats().live_bytes;
  reset_peak_memory();

  std::vector<double> times;
  const double cpu_start = cpu_seconds(), start = wall_seconds();
  for (double now = start; now < start + seconds || times.size() < 5;) {
    step();
    const double end = wall_seconds();
    times.push_back(1e3 * (end - now));
    now = end;
  }
  const double wall = wall_seconds() - start, cpu = cpu_seconds() - cpu_start;

  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[static_cast<size_t>(share * static_cast<double>(times.size() - 1))];
  };
  const auto count = static_cast<double>(times.size());
  return {.median_ms = at(0.5),
          .mean_ms = 1e3 * wall / count,
          .min_ms = times.front(),
          .p10_ms = at(0.1),
          .p90_ms = at(0.9),
          .cpu_ms = 1e3 * cpu / count,
          .memory_mb = (peak_resident_bytes() - memory_before) / 1e6,
          .step_mb = static_cast<double>(memory_stats().peak_bytes - live) / 1e6,
          .steps = static_cast<int>(times.size()),
          .first_loss = losses.front(),
          .fifth_loss = losses.back()};
}

std::string json_line(const std::string& mode, const std::string& model, int threads, const StepFigures& f) {
  char line[512];
  std::snprintf(
      line, sizeof line,
      "{\"system\":\"weft\",\"mode\":\"%s\",\"model\":\"%s\",\"threads\":%d,\"median_ms\":%.4f,\"mean_ms\":%.4f,"
      "\"min_ms\":%.4f,\"p10_ms\":%.4f,\"p90_ms\":%.4f,\"cpu_ms\":%.4f,\"memory_mb\":%.1f,\"step_mb\":%.1f,"
      "\"steps\":%d,\"losses\":[%.4f,%.4f]}",
      mode.c_str(), model.c_str(), threads, f.median_ms, f.mean_ms, f.min_ms, f.p10_ms, f.p90_ms, f.cpu_ms, f.memory_mb,
      f.step_mb, f.steps, f.first_loss, f.fifth_loss);
  return line;
}

}  // namespace weft::bench
