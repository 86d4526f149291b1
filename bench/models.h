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
    const Tensor x = norm1.forward_relu_max_pool(conv1(images), {.kernel_size = 2});
    const Tensor y = norm2.forward_relu_max_pool(conv2(x), {.kernel_size = 2});
    return head(y.flatten(1));
  }
};

/// Two convolutions 3x3 beside a shortcut, as in torchvision's BasicBlock.
struct ResidualBlock : nn::Layer<ResidualBlock> {
  nn::Conv2d conv1, conv2, shortcut;
  nn::BatchNorm2d norm1, norm2, shortcut_norm;
  bool reshapes;

  ResidualBlock(int64_t in, int64_t out, int64_t stride)
      : conv1(register_module("conv1", conv(in, out, 3, stride))),
        conv2(register_module("conv2", conv(out, out, 3, 1))),
        shortcut(conv(in, out, 1, stride)),
        norm1(register_module("norm1", nn::BatchNorm2d(out))),
        norm2(register_module("norm2", nn::BatchNorm2d(out))),
        shortcut_norm(nn::BatchNorm2d(out)),
        reshapes(stride != 1 || in != out) {
    if (!reshapes) return;
    shortcut = register_module("shortcut", std::move(shortcut));
    shortcut_norm = register_module("shortcut_norm", std::move(shortcut_norm));
  }
  static nn::Conv2d conv(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
    return nn::Conv2d({.in_channels = in,
                       .out_channels = out,
                       .kernel_size = kernel,
                       .stride = stride,
                       .padding = kernel / 2,
                       .bias = false});
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = norm2(conv2(norm1.forward_relu(conv1(x))));
    return relu(y + (reshapes ? shortcut_norm(shortcut(x)) : x));
  }
};

/// torchvision's resnet18, 1,000 classes.
struct ResNet18 : nn::Module {
  nn::Conv2d stem = register_module("stem", ResidualBlock::conv(3, 64, 7, 2));
  nn::BatchNorm2d stem_norm = register_module("stem_norm", nn::BatchNorm2d(64));
  nn::Sequential blocks = register_module("blocks", make_blocks());
  nn::Linear head = register_module("head", nn::Linear(512, 1000));

  static nn::Sequential make_blocks() {
    nn::Sequential all;
    int64_t in = 64;
    for (const int64_t out : {64, 128, 256, 512}) {
      all.push_back(ResidualBlock(in, out, out == 64 ? 1 : 2));
      all.push_back(ResidualBlock(out, out, 1));
      in = out;
    }
    return all;
  }
  Tensor forward(const Tensor& images) {
    const Tensor x = max_pool2d(stem_norm.forward_relu(stem(images)), {.kernel_size = 3, .stride = 2, .padding = 1});
    return head(blocks(x).mean({2, 3}));
  }
};

}  // namespace weft::bench
