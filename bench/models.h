// The models whose training steps bench:compare measures. peers/ holds the same ones in the words of the other systems.
#pragma once

#include "weft.h"

namespace weft::bench {

/// 784-256-10 with relu.
struct Mlp : nn::Module {
  nn::Linear hidden = register_module("hidden", nn::Linear(784, 256));
  nn::Linear output = register_module("output", nn::Linear(256, 10));

  Tensor forward(const Tensor& x) { return output(relu(hidden(x))); }
};

/// Two blocks of convolution 3x3 (with bias), batch norm, relu and a pool that halves the image; then linear.
struct Cnn : nn::Module {
  nn::Conv2d conv1 =
      register_module("conv1", nn::Conv2d({.in_channels = 1, .out_channels = 16, .kernel_size = 3, .padding = 1}));
  nn::BatchNorm2d norm1 = register_module("norm1", nn::BatchNorm2d(16));
  nn::Conv2d conv2 =
      register_module("conv2", nn::Conv2d({.in_channels = 16, .out_channels = 32, .kernel_size = 3, .padding = 1}));
  nn::BatchNorm2d norm2 = register_module("norm2", nn::BatchNorm2d(32));
  nn::Linear head = register_module("head", nn::Linear(32 * 7 * 7, 10));

  Tensor forward(const Tensor& images) {
    const Tensor x = max_pool2d(relu(norm1(conv1(images))), {.kernel_size = 2});
    const Tensor y = max_pool2d(relu(norm2(conv2(x))), {.kernel_size = 2});
    return head(y.flatten(1));
  }
};

}  // namespace weft::bench
