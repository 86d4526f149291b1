// Flatten: neighbouring axes become one.
#pragma once

#include "nn/module/layer.h"

namespace weft::nn {

/// Axes start..end (inclusive) merged into one.
class Flatten : public Layer<Flatten> {
 public:
  explicit Flatten(int64_t start = 1, int64_t end = -1) : start_(start), end_(end) {}
  Tensor forward(const Tensor& x) const { return x.flatten(start_, end_); }

 private:
  int64_t start_;
  int64_t end_;
};

}  // namespace weft::nn
