// Matrix products against the better of dnnl_sgemm and oneDNN's primitive: square, skinny, batched, transposed.
#include "bench/best_onednn.h"
#include "bench/family.h"
#include "tensor/kernels/cpu/base/instruction_set.h"

namespace weft::bench {
namespace {

/// Arguments: batch (0: plain matrices), m, n, k, a transposed, b transposed.
void product_in(benchmark::State& state, DType dtype) {
  NoGrad guard;
  const bool batched = state.range(0) > 0;
  const int64_t batch = std::max<int64_t>(1, state.range(0)), m = state.range(1), n = state.range(2),
                k = state.range(3);
  const bool ta = state.range(4) != 0, tb = state.range(5) != 0;
  const auto operand = [&](int64_t rows, int64_t columns, bool transposed) {
    Shape shape = transposed ? Shape{columns, rows} : Shape{rows, columns};
    if (batched) shape.insert(0, batch);
    const Tensor x = rand(shape).to(dtype);
    return transposed ? x.t() : x;
  };
  const Tensor a = operand(m, k, ta), b = operand(k, n, tb);
  const std::vector<Way> ways = matmul_ways(batch, m, n, k, ta, tb, dtype);
  const Way& best = fastest(ways);
  state.SetLabel("best: " + best.name);
  product_bound(state, 2.0 * static_cast<double>(batch * m * n) * static_cast<double>(k), best.run,
                [&] { benchmark::DoNotOptimize(matmul(a, b)); });
}

void all_shapes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"batch", "m", "n", "k", "ta", "tb"})->UseRealTime();
  for (const int64_t n : {32, 64, 128, 256, 512, 1024, 2048}) b->Args({0, n, n, n, 0, 0});
  for (const auto& [ta, tb] : {std::pair{0, 1}, {1, 0}, {1, 1}})
    for (const int64_t n : {64, 512}) b->Args({0, n, n, n, ta, tb});
  // The MLP, the GPT and the last layer of ResNet-18, with their gradients.
  b->Args({0, 64, 256, 784, 0, 1})->Args({0, 256, 784, 64, 1, 0})->Args({0, 64, 10, 256, 0, 1});
  b->Args({0, 1024, 768, 256, 0, 1})->Args({0, 1024, 1024, 256, 0, 1})->Args({0, 1024, 256, 1024, 0, 1});
  b->Args({0, 1024, 256, 1024, 1, 0})->Args({0, 16, 1000, 512, 0, 1})->Args({0, 64, 10, 1568, 0, 1});
  // Skinny: a vector on either side, long sums, few columns.
  b->Args({0, 1, 1024, 1024, 0, 0})->Args({0, 1024, 1, 1024, 0, 0})->Args({0, 16, 16, 65536, 0, 0});
  b->Args({0, 65536, 16, 16, 0, 0})->Args({0, 4096, 8, 512, 0, 0});
  // Around the limits of what is summed in registers: a column, few rows, rows that do not fill a block, a wide c.
  b->Args({0, 300, 1, 300, 0, 0})->Args({0, 64, 1, 32, 0, 0})->Args({0, 7, 48, 256, 0, 0});
  b->Args({0, 15, 24, 128, 0, 0})->Args({0, 5, 300, 64, 0, 0})->Args({0, 48, 48, 48, 0, 0});
  b->Args({32, 128, 128, 64, 0, 1})
      ->Args({32, 128, 64, 128, 0, 0})
      ->Args({256, 16, 16, 16, 0, 0})
      ->Args({8, 256, 256, 256, 0, 0});
}
void product(benchmark::State& state) { product_in(state, f32); }
BENCHMARK(product)->Apply(all_shapes);

/// In bf16, where the CPU has instructions for it: what Autocast makes of the same products.
void product_bf16(benchmark::State& state) {
  if (!kernels::cpu::has_bf16()) return state.SkipWithError("this CPU has no bf16 instructions");
  product_in(state, bf16);
}
void shapes_in_bf16(benchmark::internal::Benchmark* b) {
  all_shapes(b);
  // What is left of the GPT: the last projection and the gradients of all, of weights as these lie.
  b->Args({0, 1024, 256, 256, 0, 1})->Args({0, 1024, 256, 768, 0, 0})->Args({0, 1024, 256, 256, 0, 0});
  b->Args({0, 1024, 256, 1024, 0, 0})->Args({0, 1024, 1024, 256, 0, 0})->Args({0, 768, 256, 1024, 1, 0});
  b->Args({0, 256, 256, 1024, 1, 0});
  // Sums that oneDNN must not be given on a CPU with AMX, and around them.
  b->Args({0, 256, 256, 63, 0, 0})->Args({0, 256, 256, 65, 0, 0});
}
BENCHMARK(product_bf16)->Apply(shapes_in_bf16);

}  // namespace
}  // namespace weft::bench

BENCHMARK_MAIN();
