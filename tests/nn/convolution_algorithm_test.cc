// The `algorithm` of a convolution reaches its gradients, of both orders: Winograd's filtering gives what direct sums
// give, up to rounding, and other bits.
#include <gtest/gtest.h>

#include <cmath>

#include "autograd/autograd.h"
#include "nn/nn.h"
#include "tensor/all.h"

namespace weft {
namespace {

/// What a convolution of x and its gradients come to: y, dx, dw, and the gradients of |dx|^2 / 2 + |dw|^2 / 2.
template <class Layer> std::vector<Tensor> derivatives(const Layer& layer, const Tensor& data) {
  const Tensor x = parameter(data.clone()), w = layer.weight();
  const Tensor y = layer.forward(x);
  const auto first = grad({(y * y).sum() * 0.5}, {x, w}, {.create_graph = true});
  const Tensor square = ((first[0] * first[0]).sum() + (first[1] * first[1]).sum()) * 0.5;
  const auto second = grad({square}, {x, w});
  return {y, first[0], first[1], second[0], second[1]};
}

template <class Layer, class Options> void check_gradients(const Options& fastest, const Shape& image) {
  manual_seed(3);
  Options options = fastest;
  options.algorithm = Convolution::direct;
  const Layer winograd(fastest), direct(options);
  const NoGrad guard;
  direct.weight().copy_(winograd.weight());
  direct.bias().copy_(winograd.bias());
  const Tensor x = randn(image);
  std::vector<Tensor> got, wanted;
  {
    const EnableGrad recording;
    got = derivatives(winograd, x), wanted = derivatives(direct, x);
  }
  for (size_t i = 0; i < got.size(); ++i) {
    const auto error =
        ((got[i] - wanted[i]) * (got[i] - wanted[i])).sum().item<float>() / (wanted[i] * wanted[i]).sum().item<float>();
    EXPECT_LT(std::sqrt(error), 5e-6f) << "result " << i;
    EXPECT_GT(error, 0.0f) << "result " << i << ": both took the same way";
  }
}

TEST(ConvolutionAlgorithm, GradientsOfBothOrdersAreThoseOfDirect) {
  check_gradients<nn::Conv2d>(nn::Conv2dOptions{.in_channels = 48, .out_channels = 32, .kernel_size = 3, .padding = 1},
                              {6, 48, 16, 16});
}

TEST(ConvolutionAlgorithm, GradientsOfALargeWindowAreThoseOfDirect) {
  check_gradients<nn::Conv2d>(nn::Conv2dOptions{.in_channels = 48, .out_channels = 48, .kernel_size = 5, .padding = 2},
                              {6, 48, 16, 16});
}

TEST(ConvolutionAlgorithm, GradientsOfASequenceAreThoseOfDirect) {
  check_gradients<nn::Conv1d>(nn::Conv1dOptions{.in_channels = 64, .out_channels = 96, .kernel_size = 3, .padding = 1},
                              {8, 64, 256});
}

}  // namespace
}  // namespace weft
