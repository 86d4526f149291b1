// The models whose training steps bench:compare measures. peers/ holds the same ones in the words of the other systems.
#pragma once

#include "examples/gpt_model.h"
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
    const Tensor x = norm1.forward_relu_max_pool(conv1(images), {.kernel_size = 2});
    const Tensor y = norm2.forward_relu_max_pool(conv2(x), {.kernel_size = 2});
    return head(y.flatten(1));
  }
};

/// torchvision's resnet18, 1,000 classes.
struct ResNet18 : nn::Module {
  nn::Conv2d conv1 = register_module(
      "conv1",
      nn::Conv2d({.in_channels = 3, .out_channels = 64, .kernel_size = 7, .stride = 2, .padding = 3, .bias = false}));
  nn::BatchNorm2d bn1 = register_module("bn1", nn::BatchNorm2d(64));
  nn::Sequential blocks = register_module("blocks", make_blocks());
  nn::Linear fc = register_module("fc", nn::Linear(512, 1000));

  static nn::Sequential make_blocks() {
    nn::Sequential all;
    int64_t in = 64;
    for (const int64_t out : {64, 128, 256, 512}) {
      all.push_back(nn::BasicBlock(in, out, out == in ? 1 : 2));
      all.push_back(nn::BasicBlock(out, out));
      in = out;
    }
    return all;
  }
  Tensor forward(const Tensor& images) {
    const Tensor x = bn1.forward_relu_max_pool(conv1(images), {.kernel_size = 3, .stride = 2, .padding = 1});
    return fc(blocks(x).mean({2, 3}));
  }
};

/// Six pre-norm layers of width 256 with 4 heads over 128 of 256 characters. Tokens to logits, a row for each token.
struct Gpt : nn::Module {
  examples::Gpt net = register_module("net", examples::Gpt());

  Tensor forward(const Tensor& tokens) { return net(tokens).flatten(0, 1); }
};

}  // namespace weft::bench
