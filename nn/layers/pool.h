// Layers over the pooling ops, and Flatten.
#pragma once

#include "nn/module/layer.h"
#include "tensor/functions/pool.h"

namespace weft::nn {

/// See max_pool2d().
class MaxPool2d : public Layer<MaxPool2d> {
 public:
  explicit MaxPool2d(const Pool2dOptions& options) : options_(options) {}
  explicit MaxPool2d(int64_t kernel_size) : options_{.kernel_size = kernel_size} {}
  Tensor forward(const Tensor& x) const { return max_pool2d(x, options_); }
  const Pool2dOptions& options() const { return options_; }

 private:
  Pool2dOptions options_;
};

/// See avg_pool2d().
class AvgPool2d : public Layer<AvgPool2d> {
 public:
  explicit AvgPool2d(const Pool2dOptions& options) : options_(options) {}
  explicit AvgPool2d(int64_t kernel_size) : options_{.kernel_size = kernel_size} {}
  Tensor forward(const Tensor& x) const { return avg_pool2d(x, options_); }

 private:
  Pool2dOptions options_;
};

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
