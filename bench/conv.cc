// Convolutions against the best way that oneDNN has in any layout and against the rate of products (`of_product`),
// depthwise ones against a copy loop of the same bytes; forward and both gradients. Images and weights lie as they do
// inside of a network: channels-last, and as nn::Conv2d keeps them.
#include "tensor/adjoints/conv.h"

#include "bench/best_onednn.h"
#include "bench/family.h"
#include "tensor/kernels/cpu/base/instruction_set.h"

namespace weft::bench {
namespace {

/// A convolution of a network, and what flows through it.
struct Layer {
  ConvSizes sizes;
  Tensor x, w, g;
  Conv2dOptions options;

  Layer(const ConvSizes& s, DType dtype, int64_t groups = 1)
      : sizes(s),
        x(image(s.batch, s.channels, s.size).to(dtype)),
        w(nn::Conv2d({.in_channels = s.channels, .out_channels = s.filters, .kernel_size = s.kernel, .groups = groups})
              .weight()
              .detach()
              .to(dtype)),
        g(image(s.batch, s.filters, s.out_size()).to(dtype)),
        options{.stride = s.stride, .padding = s.padding, .groups = groups} {}

  template <Direction kDirection> void run() const {
    if constexpr (kDirection == Direction::forward)
      benchmark::DoNotOptimize(conv2d(x, w, options));
    else if constexpr (kDirection == Direction::backward_data)
      benchmark::DoNotOptimize(adjoint::conv_backward_data(g, w, x.shape(), options));
    else
      benchmark::DoNotOptimize(adjoint::conv_backward_weights(x, g, w.layout(), options));
  }

  static Tensor image(int64_t batch, int64_t channels, int64_t size) {
    return randn({batch, size, size, channels}).permute({0, 3, 1, 2});
  }
};

/// Arguments: those of ConvSizes.
template <Direction kDirection> void against_best(benchmark::State& state, DType dtype) {
  NoGrad guard;
  const auto a = [&](int i) { return state.range(i); };
  const Layer l({a(0), a(1), a(2), a(3), a(4), a(5), a(6)}, dtype);
  const std::vector<Way> ways = conv_ways(l.sizes, kDirection, dtype);
  const Way& best = fastest(ways);
  state.SetLabel("best: " + best.name);
  const auto call = [&] { l.run<kDirection>(); };
  product_bound(state, l.sizes.flops(), best.run, call);
  const Sgemm product(1024, 1024, 1024);
  state.counters["of_product"] = share_of(product, call) * l.sizes.flops() / product.flops();
}

/// Depthwise, 3 x 3; arguments: batch, channels, size, stride. Each of two tensors passes once.
template <Direction kDirection> void depthwise(benchmark::State& state) {
  NoGrad guard;
  const auto a = [&](int i) { return state.range(i); };
  const Layer l({a(0), a(1), a(2), a(1), 3, a(3), 1}, f32, a(1));
  memory_bound(state, streams(1, l.x.numel() + l.g.numel()), [&] { l.run<kDirection>(); });
}

void forward(benchmark::State& state) { against_best<Direction::forward>(state, f32); }
void backward_data(benchmark::State& state) { against_best<Direction::backward_data>(state, f32); }
void backward_weights(benchmark::State& state) { against_best<Direction::backward_weights>(state, f32); }

/// In bf16, where the CPU has instructions for it.
template <Direction kDirection> void in_bf16(benchmark::State& state) {
  if (!kernels::cpu::has_bf16()) return state.SkipWithError("this CPU has no bf16 instructions");
  against_best<kDirection>(state, bf16);
}
void forward_bf16(benchmark::State& state) { in_bf16<Direction::forward>(state); }
void backward_data_bf16(benchmark::State& state) { in_bf16<Direction::backward_data>(state); }
void backward_weights_bf16(benchmark::State& state) { in_bf16<Direction::backward_weights>(state); }

void shapes(benchmark::internal::Benchmark* b, bool data_gradient) {
  b->ArgNames({"n", "c", "hw", "k", "kernel", "stride", "pad"})->UseRealTime()->Unit(benchmark::kMillisecond);
  b->Args({32, 64, 56, 64, 3, 1, 1})->Args({32, 256, 14, 256, 3, 1, 1})->Args({32, 64, 56, 256, 1, 1, 0});
  b->Args({64, 32, 14, 64, 3, 1, 1})->Args({8, 128, 28, 128, 3, 1, 1})->Args({8, 512, 14, 512, 3, 1, 1});
  b->Args({8, 256, 7, 256, 3, 1, 1})->Args({8, 512, 7, 512, 3, 1, 1});
  // The CNN's and ResNet-18's.
  b->Args({64, 16, 14, 32, 3, 1, 1})->Args({16, 64, 16, 64, 3, 1, 1})->Args({16, 128, 8, 128, 3, 1, 1});
  b->Args({16, 256, 4, 256, 3, 1, 1})->Args({16, 512, 2, 512, 3, 1, 1})->Args({16, 64, 16, 128, 3, 2, 1});
  b->Args({16, 256, 4, 512, 3, 2, 1})->Args({16, 256, 4, 512, 1, 2, 0});
  b->Args({8, 64, 56, 128, 1, 2, 0})->Args({8, 128, 28, 256, 1, 2, 0})->Args({8, 256, 14, 512, 1, 2, 0});
  b->Args({8, 512, 28, 1024, 1, 2, 0})->Args({8, 1024, 14, 2048, 1, 2, 0});
  // 1 x 1 and 5 x 5.
  b->Args({32, 256, 56, 64, 1, 1, 0})->Args({8, 256, 14, 1024, 1, 1, 0})->Args({8, 1024, 14, 256, 1, 1, 0});
  b->Args({8, 256, 56, 512, 1, 2, 0})->Args({16, 32, 28, 64, 5, 1, 2})->Args({8, 64, 28, 64, 5, 1, 2});
  // First layers, whose input needs no gradient.
  if (!data_gradient) b->Args({64, 3, 32, 64, 3, 1, 1})->Args({8, 3, 224, 32, 3, 2, 1});
  if (!data_gradient) b->Args({64, 1, 28, 32, 3, 1, 1})->Args({64, 1, 28, 16, 3, 1, 1})->Args({16, 3, 64, 64, 7, 2, 3});
  if (!data_gradient) b->Args({16, 3, 224, 64, 7, 2, 3});
}
void shapes_of_all(benchmark::internal::Benchmark* b) { shapes(b, false); }
void shapes_inside(benchmark::internal::Benchmark* b) { shapes(b, true); }
void depthwise_shapes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"n", "c", "hw", "stride"})->UseRealTime()->Unit(benchmark::kMillisecond);
  b->Args({8, 32, 112, 1})->Args({8, 64, 112, 1})->Args({8, 128, 56, 1})->Args({8, 256, 28, 1});
  b->Args({8, 512, 14, 1})->Args({1, 512, 14, 1})->Args({8, 144, 56, 1})->Args({8, 64, 112, 2});
}
BENCHMARK(depthwise<Direction::forward>)->Apply(depthwise_shapes);
BENCHMARK(depthwise<Direction::backward_data>)->Apply(depthwise_shapes);
BENCHMARK(depthwise<Direction::backward_weights>)->Apply(depthwise_shapes);
BENCHMARK(forward)->Apply(shapes_of_all);
BENCHMARK(backward_data)->Apply(shapes_inside);
BENCHMARK(backward_weights)->Apply(shapes_of_all);
BENCHMARK(forward_bf16)->Apply(shapes_of_all);
BENCHMARK(backward_data_bf16)->Apply(shapes_inside);
BENCHMARK(backward_weights_bf16)->Apply(shapes_of_all);

}  // namespace
}  // namespace weft::bench

BENCHMARK_MAIN();
