// Optimizer steps over 1M and 10M parameters in ten tensors, against a copy loop of the bytes that one pass must move.

#include "bench/family.h"

namespace weft::bench {
namespace {

std::vector<Tensor> parameters_with_gradients(int64_t count) {
  std::vector<Tensor> out;
  for (int i = 0; i < 10; ++i) {
    out.push_back(parameter(randn({count / 10})));
    out.back().set_grad(randn({count / 10}));
  }
  return out;
}

/// `passes` reads and writes of a float per parameter.
template <class Optimizer, class Options> void step(benchmark::State& state, const Options& options, double passes) {
  const int64_t count = state.range(0);
  Optimizer optimizer(parameters_with_gradients(count), options);
  optimizer.step();  // makes the state
  memory_bound(state, streams(passes, count), [&] { optimizer.step(); });
}

void sgd(benchmark::State& state) { step<optim::SGD>(state, optim::SGDOptions{.lr = 1e-4}, 3); }
void sgd_momentum(benchmark::State& state) {
  step<optim::SGD>(state, optim::SGDOptions{.lr = 1e-4, .momentum = 0.9}, 5);
}
void adam(benchmark::State& state) { step<optim::Adam>(state, optim::AdamOptions{.lr = 1e-4}, 7); }
void adamw(benchmark::State& state) { step<optim::AdamW>(state, optim::AdamWOptions{.lr = 1e-4}, 7); }
void rmsprop(benchmark::State& state) { step<optim::RMSprop>(state, optim::RMSpropOptions{.lr = 1e-4}, 5); }
void amsgrad(benchmark::State& state) { step<optim::Adam>(state, optim::AdamOptions{.lr = 1e-4, .amsgrad = true}, 9); }
void adagrad(benchmark::State& state) { step<optim::Adagrad>(state, optim::AdagradOptions{.lr = 1e-4}, 5); }
void adadelta(benchmark::State& state) { step<optim::Adadelta>(state, optim::AdadeltaOptions{.lr = 1e-4}, 7); }
void adamax(benchmark::State& state) { step<optim::Adamax>(state, optim::AdamaxOptions{.lr = 1e-4}, 7); }
void nadam(benchmark::State& state) { step<optim::NAdam>(state, optim::NAdamOptions{.lr = 1e-4}, 7); }
void radam(benchmark::State& state) { step<optim::RAdam>(state, optim::RAdamOptions{.lr = 1e-4}, 7); }
void lion(benchmark::State& state) { step<optim::Lion>(state, optim::LionOptions{.lr = 1e-4}, 5); }

BENCHMARK(sgd)->Arg(1'000'000)->Arg(10'000'000)->UseRealTime();
BENCHMARK(sgd_momentum)->Arg(1'000'000)->Arg(10'000'000)->UseRealTime();
BENCHMARK(adam)->Arg(1'000'000)->Arg(10'000'000)->UseRealTime();
BENCHMARK(adamw)->Arg(1'000'000)->Arg(10'000'000)->UseRealTime();
BENCHMARK(rmsprop)->Arg(1'000'000)->Arg(10'000'000)->UseRealTime();
BENCHMARK(amsgrad)->Arg(1'000'000)->Arg(10'000'000)->UseRealTime();
BENCHMARK(adagrad)->Arg(1'000'000)->Arg(10'000'000)->UseRealTime();
BENCHMARK(adadelta)->Arg(1'000'000)->Arg(10'000'000)->UseRealTime();
BENCHMARK(adamax)->Arg(1'000'000)->Arg(10'000'000)->UseRealTime();
BENCHMARK(nadam)->Arg(1'000'000)->Arg(10'000'000)->UseRealTime();
BENCHMARK(radam)->Arg(1'000'000)->Arg(10'000'000)->UseRealTime();
BENCHMARK(lion)->Arg(1'000'000)->Arg(10'000'000)->UseRealTime();

}  // namespace
}  // namespace weft::bench

BENCHMARK_MAIN();
