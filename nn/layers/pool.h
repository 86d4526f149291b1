// Layers over the pooling ops.
#pragma once

#include "nn/module/layer.h"
#include "tensor/functions/pool.h"

namespace weft::nn {

/// See max_pool2d(). ShapeError at construction where an option is absent or out of range.
class MaxPool2d : public Layer<MaxPool2d> {
 public:
  explicit MaxPool2d(const Pool2dOptions& options);
  explicit MaxPool2d(int64_t kernel_size) : MaxPool2d(Pool2dOptions{.kernel_size = kernel_size}) {}
  Tensor forward(const Tensor& x) const { return max_pool2d(x, options_); }
  const Pool2dOptions& options() const { return options_; }

 private:
  Pool2dOptions options_;
};

/// See avg_pool2d(). ShapeError at construction where an option is absent or out of range.
class AvgPool2d : public Layer<AvgPool2d> {
 public:
  explicit AvgPool2d(const Pool2dOptions& options);
  explicit AvgPool2d(int64_t kernel_size) : AvgPool2d(Pool2dOptions{.kernel_size = kernel_size}) {}
  Tensor forward(const Tensor& x) const { return avg_pool2d(x, options_); }

 private:
  Pool2dOptions options_;
};

}  // namespace weft::nn
