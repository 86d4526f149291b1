// BasicBlock: the residual block of ResNet-18 and -34.
#pragma once

#include <optional>

#include "nn/layers/batch_norm.h"
#include "nn/layers/conv.h"
#include "nn/layers/sequential.h"

namespace weft::nn {

struct BasicBlockOptions {
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  int64_t stride = 1;  // of the first convolution and of the shortcut
  DType dtype = f32;
};

/// relu(bn2(conv2(relu(bn1(conv1(x))))) + shortcut(x)): two 3 x 3 convolutions with padding 1 and without bias. x is
/// (N, in, H, W); the result is (N, out, ceil(H / stride), ceil(W / stride)). The shortcut is x itself, or a 1 x 1
/// convolution with batch norm if the shape changes. The names are torchvision's: conv1, bn1, conv2, bn2, downsample.0,
/// downsample.1. He et al., arXiv 1512.03385.
class BasicBlock : public Layer<BasicBlock> {
 public:
  explicit BasicBlock(const BasicBlockOptions& options);
  BasicBlock(int64_t in_channels, int64_t out_channels, int64_t stride = 1)
      : BasicBlock(BasicBlockOptions{.in_channels = in_channels, .out_channels = out_channels, .stride = stride}) {}
  Tensor forward(const Tensor& x) const;
  BasicBlock remake() const { return BasicBlock(options_); }

 private:
  BasicBlockOptions options_;
  Conv2d conv1_;
  BatchNorm2d bn1_;
  Conv2d conv2_;
  BatchNorm2d bn2_;
  std::optional<Sequential> downsample_;
};

}  // namespace weft::nn
