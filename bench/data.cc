// Data loading: images per second of an epoch, with and without a transform and a thread that fetches ahead.
#include "bench/family.h"

namespace weft::bench {
namespace {

constexpr int64_t kImages = 8192;

template <class Dataset> void epoch(benchmark::State& state, const Dataset& dataset) {
  const data::LoaderOptions options = {.batch_size = state.range(0), .shuffle = true, .prefetch = state.range(1)};
  timed(state, [&] {
    for (const auto& [images, labels] : data::DataLoader(dataset, options))
      benchmark::DoNotOptimize(internal::raw(images));
  });
  state.SetItemsProcessed(state.iterations() * kImages);
}

data::TensorDataset<2> memory() { return data::TensorDataset(rand({kImages, 1, 28, 28}), randint(0, 10, {kImages})); }

void plain(benchmark::State& state) { epoch(state, memory()); }
void shifted(benchmark::State& state) { epoch(state, data::map(memory(), data::RandomShift{2})); }
BENCHMARK(plain)->ArgsProduct({{64, 256}, {0, 2}})->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(shifted)->ArgsProduct({{64, 256}, {0, 2}})->UseRealTime()->Unit(benchmark::kMillisecond);

/// Digits that the program draws.
void drawn(benchmark::State& state) {
  timed(state, [] { benchmark::DoNotOptimize(data::synthetic_digits({.count = 1000, .seed = 1})); });
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(drawn)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weft::bench

BENCHMARK_MAIN();
