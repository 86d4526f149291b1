#include "bench/layer_cases.h"

#include <memory>

namespace weft::bench {
namespace {

using X = const Tensors&;

/// `count` parameters of `size` elements, with gradients.
std::vector<Tensor> parameters(int64_t count, int64_t size) {
  std::vector<Tensor> out;
  for (int64_t i = 0; i < count; ++i) {
    out.push_back(parameter(randn({size})));
    out.back().set_grad(randn({size}));
  }
  return out;
}
template <class Optimizer, class Options>
std::function<Tensor(X)> step_of(int64_t count, int64_t size, const Options& options) {
  const auto optimizer = std::make_shared<Optimizer>(parameters(count, size), options);
  return [=](X x) { return optimizer->step(), x[0]; };
}
std::function<Tensor(X)> clip_of(int64_t count, int64_t size) {
  return [all = parameters(count, size)](X x) { return nn::clip_grad_norm(all, 1), x[0]; };
}
std::function<Tensor(X)> encoder_layer() {
  auto layer = std::make_shared<nn::TransformerEncoderLayer>(
      nn::TransformerEncoderLayerOptions{.d_model = 256, .nhead = 8, .dim_feedforward = 1024, .dropout = 0});
  return [=](X x) { return (*layer)(x[0]); };
}
Tensor per_batch_norm(X x) { return batch_norm(x[0], {}, {}, x[1], x[2], {.training = true}); }

// NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks): the analyzer loses the functions that the lists copy
std::vector<Case> softmax_and_losses() {
  return {
      {"softmax 256x32000", both, floats({{256, 32000}}), [](X x) { return softmax(x[0], -1); }},
      {"log_softmax 128x50000", both, floats({{128, 50000}}), [](X x) { return log_softmax(x[0], -1); }},
      {"softmax 64x100x1000 axis 1", both, floats({{64, 100, 1000}}), [](X x) { return softmax(x[0], 1); }},
      {"cross_entropy 256x50257", both, floats_and_integers({{256, 50257}}, 50257, {{256}}),
       [](X x) { return cross_entropy(x[0], x[1]); }},
      {"cross_entropy 8x21x128x128", both, floats_and_integers({{8, 21, 128, 128}}, 21, {{8, 128, 128}}),
       [](X x) { return cross_entropy(x[0], x[1]); }},
      {"bce_with_logits 1000000", both, floats({{1000000}, {1000000}}),
       [](X x) { return nn::bce_with_logits(x[0], x[1]); }},
      {"mse 1000000", both, floats({{1000000}, {1000000}}), [](X x) { return nn::mse_loss(x[0], x[1]); }},
      {"smooth_l1 1000000", both, floats({{1000000}, {1000000}}), [](X x) { return nn::smooth_l1_loss(x[0], x[1]); }},
      {"cosine_similarity 4096x256", both, floats({{4096, 256}, {4096, 256}}),
       [](X x) { return cosine_similarity(x[0], x[1]); }},
      {"normalize 4096x256", both, floats({{4096, 256}}), [](X x) { return normalize(x[0]); }},
      {"cdist 1000x1000x64", both, floats({{1000, 64}, {1000, 64}}), [](X x) { return cdist(x[0], x[1]); }},
  };
}

std::vector<Case> embeddings_and_norms() {
  return {
      {"embedding 4096 of 50257x256", both, floats_and_integers({{50257, 256}}, 50257, {{8, 512}}),
       [](X x) { return embedding(x[1], x[0]); }},
      {"embedding 65536 of 1000x64", both, floats_and_integers({{1000, 64}}, 1000, {{65536}}),
       [](X x) { return embedding(x[1], x[0]); }},
      {"one_hot 10000 of 100", forward, floats_and_integers({}, 100, {{10000}}),
       [](X x) { return one_hot(x[0], 100); }},
      {"layer_norm 4096x768", both, floats({{4096, 768}, {768}, {768}}),
       [](X x) { return layer_norm(x[0], {768}, x[1], x[2]); }},
      {"rms_norm 4096x768", both, floats({{4096, 768}, {768}}), [](X x) { return rms_norm(x[0], {768}, x[1]); }},
      {"group_norm 16x64x56x56", both, floats({{16, 64, 56, 56}, {64}, {64}}),
       [](X x) { return group_norm(x[0], 32, x[1], x[2]); }},
      {"instance_norm 16x64x56x56", both, floats({{16, 64, 56, 56}}), [](X x) { return instance_norm(x[0]); }},
      {"batch_norm 16x64x56x56", both, floats({{16, 64, 56, 56}, {64}, {64}}), per_batch_norm},
      {"batch_norm 4096x512", both, floats({{4096, 512}, {512}, {512}}), per_batch_norm},
  };
}

std::vector<Case> attention_and_layers() {
  return {
      {"attention causal 1x8x2048x64", both, floats({{1, 8, 2048, 64}, {1, 8, 2048, 64}, {1, 8, 2048, 64}}),
       [](X x) { return scaled_dot_product_attention(x[0], x[1], x[2], {.causal = true}); }},
      {"attention 8x8x256x64", both, floats({{8, 8, 256, 64}, {8, 8, 256, 64}, {8, 8, 256, 64}}),
       [](X x) { return scaled_dot_product_attention(x[0], x[1], x[2]); }},
      {"attention masked 8x8x256x64", both,
       floats_and_mask({{8, 8, 256, 64}, {8, 8, 256, 64}, {8, 8, 256, 64}}, {8, 1, 1, 256}),
       [](X x) { return scaled_dot_product_attention(x[0], x[1], x[2], {.mask = x[3]}); }},
      {"TransformerEncoderLayer 8x128x256", both, floats({{8, 128, 256}}), encoder_layer()},
      {"linear 512x1024 to 1024", both, floats({{512, 1024}, {1024, 1024}, {1024}}),
       [](X x) { return linear(x[0], x[1], x[2]); }},
      {"linear 32x64 to 64", both, floats({{32, 64}, {64, 64}, {64}}), [](X x) { return linear(x[0], x[1], x[2]); }},
      {"linear 1x1024 to 4096", both, floats({{1, 1024}, {4096, 1024}, {4096}}),
       [](X x) { return linear(x[0], x[1], x[2]); }},
      {"linear 256x256 to 2", both, floats({{256, 256}, {2, 256}, {2}}), [](X x) { return linear(x[0], x[1], x[2]); }},
      {"linear 50000x5 to 1", both, floats({{50000, 5}, {1, 5}, {1}}), [](X x) { return linear(x[0], x[1], x[2]); }},
      {"matmul 3x20000 by 20000, transposed", both, floats({{20000, 3}, {20000}}),
       [](X x) { return matmul(x[0].t(), x[1]); }},
      {"matmul 5x1000000 by 1000000, transposed", both, floats({{1000000, 5}, {1000000}}),
       [](X x) { return matmul(x[0].t(), x[1]); }},
      {"bmm 4096 of 16x16", both, floats({{4096, 16, 16}, {4096, 16, 16}}), [](X x) { return bmm(x[0], x[1]); }},
      {"bmm 10000 of 4x4", both, floats({{10000, 4, 4}, {10000, 4, 4}}), [](X x) { return bmm(x[0], x[1]); }},
      {"bmm 512 of 32x64 64x48", both, floats({{512, 32, 64}, {512, 64, 48}}), [](X x) { return bmm(x[0], x[1]); }},
      {"mv 2048x2048", both, floats({{2048, 2048}, {2048}}), [](X x) { return mv(x[0], x[1]); }},
      {"outer 2000x2000", both, floats({{2000}, {2000}}), [](X x) { return outer(x[0], x[1]); }},
      {"conv1d 8x64x4096 k3 dilation 64", both, floats({{8, 64, 4096}, {64, 64, 3}}),
       [](X x) { return conv1d(x[0], x[1], {}, {.padding = 64, .dilation = 64}); }},
      {"conv2d 16x64x56x56 k1 to 128 s2", both, floats({{16, 64, 56, 56}, {128, 64, 1, 1}}),
       [](X x) { return conv2d(x[0], x[1], {}, {.stride = 2}); }},
      {"conv2d 8x3x112x112 k7 s2", both, floats({{8, 3, 112, 112}, {64, 3, 7, 7}}),
       [](X x) { return conv2d(x[0], x[1], {}, {.stride = 2, .padding = 3}); }},
      {"conv2d 16x128x28x28 k3 groups 32", both, floats({{16, 128, 28, 28}, {128, 4, 3, 3}}),
       [](X x) { return conv2d(x[0], x[1], {}, {.padding = 1, .groups = 32}); }},
      {"conv2d 16x64x28x28 k3 dilation 2", both, floats({{16, 64, 28, 28}, {64, 64, 3, 3}}),
       [](X x) { return conv2d(x[0], x[1], {}, {.padding = 2, .dilation = 2}); }},
      {"avg_pool2d 16x64x56x56 k3 s2", both, floats({{16, 64, 56, 56}}),
       [](X x) { return avg_pool2d(x[0], {.kernel_size = 3, .stride = 2, .padding = 1}); }},
      {"adaptive_avg_pool2d 16x512x7x7 to 1", both, floats({{16, 512, 7, 7}}),
       [](X x) { return adaptive_avg_pool2d(x[0], 1); }},
      {"max_pool2d 16x64x56x56 k2 s2", both, floats({{16, 64, 56, 56}}),
       [](X x) { return max_pool2d(x[0], {.kernel_size = 2}); }},
  };
}

std::vector<Case> elementwise() {
  return {
      {"dropout 1000000", both, floats({{1000000}}), [](X x) { return dropout(x[0], 0.1); }},
      {"gelu 1000000", both, floats({{1000000}}), [](X x) { return gelu(x[0]); }},
      {"gelu tanh 1000000", both, floats({{1000000}}), [](X x) { return gelu(x[0], Gelu::tanh); }},
      {"silu 1000000", both, floats({{1000000}}), [](X x) { return silu(x[0]); }},
      {"tanh 1000000", both, floats({{1000000}}), [](X x) { return tanh(x[0]); }},
      {"sigmoid 1000000", both, floats({{1000000}}), [](X x) { return sigmoid(x[0]); }},
      {"softplus 1000000", both, floats({{1000000}}), [](X x) { return softplus(x[0]); }},
      {"exp 1000000", both, floats({{1000000}}), [](X x) { return exp(x[0]); }},
      {"sin 1000000", both, floats({{1000000}}), [](X x) { return sin(x[0]); }},
      {"pow 3 1000000", both, floats({{1000000}}), [](X x) { return pow(x[0], 3); }},
      {"clamp 1000000", both, floats({{1000000}}), [](X x) { return clamp(x[0], -1, 1); }},
      {"add 1000x1000 and a row", both, floats({{1000, 1000}, {1000}}), [](X x) { return x[0] + x[1]; }},
      {"multiply 1000x1000 by a column", both, floats({{1000, 1000}, {1000, 1}}), [](X x) { return x[0] * x[1]; }},
      {"add 1000x1000 and a transposed", both, floats({{1000, 1000}, {1000, 1000}}),
       [](X x) { return x[0] + x[1].transpose(0, 1); }},
      {"lerp 1000000", both, floats({{1000000}, {1000000}}), [](X x) { return lerp(x[0], x[1], 0.3); }},
      {"addcmul 1000000", both, floats({{1000000}, {1000000}, {1000000}}),
       [](X x) { return addcmul(x[0], x[1], x[2]); }},
      {"cast 1000000 to bf16", forward, floats({{1000000}}), [](X x) { return x[0].to(bf16); }},
      {"cast 1000000 to f64", forward, floats({{1000000}}), [](X x) { return x[0].to(f64); }},
      {"cast 1000000 to i64", forward, floats({{1000000}}), [](X x) { return x[0].to(i64); }},
      {"where 1000000", both, floats_and_mask({{1000000}, {1000000}}, {1000000}),
       [](X x) { return where(x[2], x[0], x[1]); }},
      {"masked_fill 64x128x128 by 128x128", both, floats_and_mask({{64, 128, 128}}, {128, 128}),
       [](X x) { return masked_fill(x[0], x[1], -1e9); }},
      {"index 1000x1000 by mask", both, floats_and_mask({{1000, 1000}}, {1000, 1000}),
       [](X x) { return x[0].index({x[1]}); }},
      {"triu 1000x1000", both, floats({{1000, 1000}}), [](X x) { return triu(x[0]); }},
  };
}

std::vector<Case> copies() {
  return {
      {"contiguous 2000x2000 transposed", forward, floats({{2000, 2000}}),
       [](X x) { return x[0].transpose(0, 1).contiguous(); }},
      {"contiguous 16x64x56x56 to channels-last", forward, floats({{16, 64, 56, 56}}),
       [](X x) {
         return x[0].permute({0, 2, 3, 1}).contiguous();
       }},
      {"contiguous heads 8x512x8x64", forward, floats({{8, 512, 8, 64}}),
       [](X x) { return x[0].transpose(1, 2).contiguous(); }},
      {"cat 4 of 512x512 axis 0", both, floats({{512, 512}, {512, 512}, {512, 512}, {512, 512}}),
       [](X x) { return cat(x, 0); }},
      {"cat 4 of 512x512 axis 1", both, floats({{512, 512}, {512, 512}, {512, 512}, {512, 512}}),
       [](X x) { return cat(x, 1); }},
      {"cat 200 of 100", both, floats(std::vector<Shape>(200, {100})), [](X x) { return cat(x, 0); }},
      {"stack 4 of 250000", both, floats({{250000}, {250000}, {250000}, {250000}}), [](X x) { return stack(x, 0); }},
      {"stack 4 of 250000 axis 1", both, floats({{250000}, {250000}, {250000}, {250000}}),
       [](X x) { return stack(x, 1); }},
      {"split 1024x768 in 3, multiplied", both, floats({{1024, 768}}),
       [](X x) {
         const std::vector<Tensor> parts = split(x[0], {256, 256, 256}, 1);
         return parts[0] * parts[1] * parts[2];
       }},
      {"flip 1000x1000", both, floats({{1000, 1000}}), [](X x) { return x[0].flip({1}).contiguous(); }},
      {"pad reflect 16x32x56x56", both, floats({{16, 32, 56, 56}}),
       [](X x) {
         return pad(x[0], {{0, 0}, {0, 0}, {1, 1}, {1, 1}}, PadMode::reflect);
       }},
      {"pixel_shuffle 8x64x32x32 by 2", both, floats({{8, 64, 32, 32}}), [](X x) { return pixel_shuffle(x[0], 2); }},
  };
}

std::vector<Case> reductions() {
  return {
      {"sum 1000000", both, floats({{1000000}}), [](X x) { return sum(x[0]); }},
      {"sum 1000x1000 axis 0", both, floats({{1000, 1000}}), [](X x) { return sum(x[0], 0); }},
      {"sum 1000x1000 axis 1", both, floats({{1000, 1000}}), [](X x) { return sum(x[0], 1); }},
      {"sum 64x128x128 axes 0 2", both, floats({{64, 128, 128}}),
       [](X x) {
         return sum(x[0], {0, 2});
       }},
      {"sum 100000x8 axis 1", both, floats({{100000, 8}}), [](X x) { return sum(x[0], 1); }},
      {"var 1000x1000 axis 1", both, floats({{1000, 1000}}), [](X x) { return var(x[0], 1); }},
      {"var 1000x1000 axis 0", both, floats({{1000, 1000}}), [](X x) { return var(x[0], 0); }},
      {"norm 1000000", both, floats({{1000000}}), [](X x) { return norm(x[0]); }},
      {"max 1000000", both, floats({{1000000}}), [](X x) { return max(x[0]); }},
      {"max with indices 1000x1000 axis 1", both, floats({{1000, 1000}}),
       [](X x) { return max_with_indices(x[0], 1).values; }},
      {"argmax 1000x1000 axis 1", forward, floats({{1000, 1000}}), [](X x) { return argmax(x[0], 1); }},
      {"argmax 1000x1000 axis 0", forward, floats({{1000, 1000}}), [](X x) { return argmax(x[0], 0); }},
      {"argmax 1000000", forward, floats({{1000000}}), [](X x) { return argmax(x[0]); }},
      {"prod 1000x1000 axis 1", both, floats({{1000, 1000}}), [](X x) { return prod(x[0], 1); }},
      {"logsumexp 1000x1000 axis 1", both, floats({{1000, 1000}}), [](X x) { return logsumexp(x[0], 1); }},
      {"any 1000000", forward, floats_and_mask({}, {1000000}), [](X x) { return any(x[0] != x[0]); }},
  };
}

std::vector<Case> random_and_optimizers() {
  return {
      {"randn 1000000", forward, floats({}), [](X) { return randn({1000000}); }},
      {"rand 1000000", forward, floats({}), [](X) { return rand({1000000}); }},
      {"randint 1000000", forward, floats({}), [](X) { return randint(0, 1000, {1000000}); }},
      {"randperm 100000", forward, floats({}), [](X) { return randperm(100000); }},
      {"AdamW step, 500 of 64", forward, floats({{1}}), step_of<optim::AdamW>(500, 64, optim::AdamWOptions{})},
      {"AdamW step, 100 of 10000", forward, floats({{1}}), step_of<optim::AdamW>(100, 10000, optim::AdamWOptions{})},
      {"SGD step with momentum, 500 of 64", forward, floats({{1}}),
       step_of<optim::SGD>(500, 64, optim::SGDOptions{.lr = 1e-3, .momentum = 0.9})},
      {"SGD step with momentum, 100 of 10000", forward, floats({{1}}),
       step_of<optim::SGD>(100, 10000, optim::SGDOptions{.lr = 1e-3, .momentum = 0.9})},
      {"clip_grad_norm, 500 of 64", forward, floats({{1}}), clip_of(500, 64)},
      {"clip_grad_norm, 100 of 10000", forward, floats({{1}}), clip_of(100, 10000)},
  };
}
// NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)

}  // namespace

std::vector<Case> layer_cases() {
  return joined({softmax_and_losses(), embeddings_and_norms(), attention_and_layers(), elementwise(), copies(),
                 reductions(), random_and_optimizers()});
}

}  // namespace weft::bench
