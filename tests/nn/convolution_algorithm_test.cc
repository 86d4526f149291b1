// The `algorithm` of a convolution reaches its gradients, of both orders: Winograd's filtering gives what direct sums
// give, up to rounding, and other bits.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

/// Volumes whose depth is strided and padded, for which one library's kernel of the weight's gradient is wrong.
TEST(ConvolutionAlgorithm, WeightGradientsOfShallowVolumesAreThoseOfDoubles) {
  Generator g(4);
  int checked = 0;
  for (const DType dtype : {f32, bf16})
    for (int64_t kernel = 1; kernel <= 7; ++kernel)
      for (int64_t stride = 1; stride <= 3; ++stride)
        for (int64_t padding = 0; padding < kernel; ++padding)
          for (const int64_t depth : {1, 2, 3, 5, 6, 7, 9}) {
            if (depth + 2 * padding < kernel) continue;
            const Conv3dOptions options{.stride = {stride, 1, 1}, .padding = {padding, 1, 1}};
            const Tensor x = randn({2, 16, depth, 4, 4}, g).to(dtype);
            const Tensor w = parameter(randn({16, 16, kernel, 3, 3}, g).to(dtype)),
                         exact = parameter(w.detach().to(f64));
            const Tensor y = conv3d(x, w, options);
            const Tensor seed = randn(y.shape(), g).to(dtype);
            y.backward(seed);
            conv3d(x.to(f64), exact, options).backward(seed.to(f64));
            const double error = max(abs(w.grad().to(f64) - exact.grad())).item() / max(abs(exact.grad())).item();
            ASSERT_LT(error, dtype == f32 ? 1e-5 : 1e-2)
                << "kernel " << kernel << " stride " << stride << " padding " << padding << " depth " << depth;
            ++checked;
          }
  EXPECT_GT(checked, 500);
}

TEST(ConvolutionAlgorithm, AStrideMayBeAsLargeAsItLikes) {
  const Tensor x = parameter(randn({1, 4, 10})), w = parameter(randn({4, 1, 2}));
  const Tensor y = conv1d(x, w, {.stride = std::numeric_limits<int64_t>::max() - 3, .groups = 4});
  EXPECT_EQ(y.shape(), (Shape{1, 4, 1}));
  y.sum().backward();
  EXPECT_TRUE(allclose(w.grad(), x.detach().narrow(2, 0, 2).transpose(0, 1)));
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
