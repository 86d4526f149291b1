// What a training step cannot do without: its arithmetic and its passes over memory, and how long these take at
// measured rates.
#pragma once

#include <map>
#include <string>

namespace weft::bench {

/// The least work of one step. `working_set` is how much memory it goes through, which says which copy rate applies.
struct Work {
  double flops = 0;
  double bytes = 0;
  double working_set = 0;
};

/// Of "mlp", "cnn", "resnet18", "resnet18_224" or "gpt" as in bench/models.h.
Work work_of(const std::string& model);

/// What this machine does, as //bench:rates measures it: products in flop/s, copies (bytes read and written) in bytes/s
/// by the size of what is read and written.
struct Rates {
  double product = 0;
  std::map<double, double> copy = {};
};

/// Milliseconds: flops over the rate of products plus bytes over the rate of copies of the working set's size.
double limit_ms(const Work& work, const Rates& rates);

}  // namespace weft::bench
