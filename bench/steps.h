// What a training step costs: time and memory, printed as the one JSON line that bench:compare reads from every system.
#pragma once

#include <functional>
#include <string>

#include "weft.h"

namespace weft::bench {

/// Times of single steps in milliseconds. `memory_mb` is the most resident memory while steps ran, above what there was
/// just before the first; `step_mb` is the most that a step's tensors take beyond what lives on: parameters, gradients
/// and the optimizer's state. `cpu_ms` is processor time per step, of all threads together.
struct StepFigures {
  double median_ms = 0;
  double mean_ms = 0;
  double min_ms = 0;
  double p10_ms = 0;
  double p90_ms = 0;
  double cpu_ms = 0;
  double memory_mb = 0;
  double step_mb = 0;
  int steps = 0;
  double first_loss = 0, fifth_loss = 0;  // of the unmeasured steps
};

/// Runs `step`, which gives its loss, five times unmeasured, then for `seconds` and at least five times.
StepFigures measure_steps(const std::function<Tensor()>& step, double seconds);

/// `{"system":"weft","mode":"eager","model":"mlp","threads":2,"median_ms":...}`
std::string json_line(const std::string& mode, const std::string& model, int threads, const StepFigures& figures);

/// Processor time of this process so far, of all threads together.
double cpu_seconds();

/// Memory of this process in bytes: now, and the most since the last reset (since the start where the system does not
/// allow a reset). Linux; 0 elsewhere.
double resident_bytes();
double peak_resident_bytes();
void reset_peak_resident();

}  // namespace weft::bench
