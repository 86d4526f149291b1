// Data-parallel training, measured: collectives between the ranks, the reduction of gradients, and the throughput of
// training steps beside that of as many processes that do not know each other.
//
//   ./bazelw build //bench:distributed && OMP_NUM_THREADS=1 mpirun -n 2 bazel-bin/bench/distributed
#include "distributed/distributed.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "bench/models.h"

namespace weft::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The fastest and the median of `rounds` rounds, in seconds; all ranks begin each together.
struct Times {
  double least = 0, median = 0;
};
Times measure(const distributed::Group& group, int rounds, const std::function<void()>& work) {
  std::vector<double> times;
  work();
  for (int i = 0; i < rounds; ++i) {
    group.barrier();
    times.push_back(seconds_of(work));
  }
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2]};
}

void say(const distributed::Group& group, const char* what, int64_t bytes, const Times& times) {
  if (group.rank() == 0)
    std::printf("%-28s %10ld bytes   least %9.1f us   median %9.1f us\n", what, long(bytes), 1e6 * times.least,
                1e6 * times.median);
}

/// One parameter of so many floats: its gradient is a bucket.
struct One : nn::Module {
  explicit One(int64_t count) : w(register_parameter("w", zeros({count}))) {}
  Tensor w;
};

void collectives(const distributed::Group& group) {
  for (const int64_t bytes : {4 << 10, 64 << 10, 1 << 20, 16 << 20}) {
    const int64_t count = bytes / 4;
    const int rounds = bytes > 1 << 20 ? 40 : 400;
    Tensor x = ones({count}), y = zeros({count});
    say(group, "copy", bytes, measure(group, rounds, [&] { y.copy_(x); }));
    say(group, "all_reduce", bytes, measure(group, rounds, [&] { group.all_reduce(x, distributed::ReduceOp::mean); }));
    say(group, "all_reduce by messages", bytes,
        measure(group, std::min(rounds, 100), [&] { group.all_reduce_async(x, distributed::ReduceOp::mean).wait(); }));
    // What backward adds where there is nothing else to do: the seed's copy into the bucket, and the reduction.
    One one(count);
    const auto backward = [&] {
      one.w.zero_grad();
      one.w.backward(x);
    };
    const Times alone = measure(group, rounds, backward);
    distributed::DataParallel parallel(one, group, {.first_bucket_bytes = 64 << 20});
    const Times together = measure(group, rounds, backward);
    say(group, "gradients in a bucket", bytes, {together.least - alone.least, together.median - alone.median});
  }
}

/// Images or tokens a second of all ranks, with gradients of all or each on its own.
template <class Model, class Loss>
double throughput(const distributed::Group& group, bool together, int64_t items, double seconds, const Loss& loss) {
  manual_seed(1);
  Model model;
  std::optional<distributed::DataParallel<Model>> parallel;
  if (together) parallel.emplace(model, group);
  optim::SGD optimizer(model.parameters(), {.lr = 1e-3});
  const auto step = [&] {
    optimizer.zero_grad();
    loss(model).backward();
    optimizer.step();
  };
  for (int i = 0; i < 3; ++i) step();
  const double one = std::max(seconds_of(step), 1e-5);
  Tensor steps = full({1}, std::max(seconds / one, 3.0), f64);
  group.all_reduce(steps, distributed::ReduceOp::min);
  const auto count = steps.item<int64_t>();
  group.barrier();
  Tensor time = full({1}, seconds_of([&] {
                       for (int64_t i = 0; i < count; ++i) step();
                     }),
                     f64);
  group.all_reduce(time, distributed::ReduceOp::max);
  return static_cast<double>(items * count * group.size()) / time.item<double>();
}

template <class Model, class Loss>
void compare(const distributed::Group& group, const char* name, int64_t items, double seconds, const Loss& loss) {
  double best = 0, alone = 0, together = 0;
  for (int round = 0; round < 3; ++round) {  // in turns, as the machine has better and worse moments
    const double a = throughput<Model>(group, false, items, seconds, loss);
    const double b = throughput<Model>(group, true, items, seconds, loss);
    alone = std::max(alone, a), together = std::max(together, b), best = std::max(best, b / a);
  }
  if (group.rank() == 0)
    std::printf("%-10s independent %10.1f /s   data-parallel %10.1f /s   ratio of the best %.3f, best ratio %.3f\n",
                name, alone, together, together / alone, best);
}

void models(const distributed::Group& group, double seconds) {
  const Tensor digits = randn({64, 784}), classes = randint(0, 10, {64});
  compare<Mlp>(group, "MLP", 64, seconds,
               [&](Mlp& model) { return nn::cross_entropy(model.forward(digits), classes); });
  const Tensor images = randn({8, 3, 64, 64}), thousand = randint(0, 1000, {8});
  compare<ResNet18>(group, "ResNet-18", 8, seconds,
                    [&](ResNet18& model) { return nn::cross_entropy(model.forward(images), thousand); });
  const Tensor tokens = randint(0, 256, {4, 128}), next = randint(0, 256, {4 * 128});
  compare<Gpt>(group, "GPT", 4 * 128, seconds,
               [&](Gpt& model) { return nn::cross_entropy(model.forward(tokens), next); });
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  double seconds = 2;
  bool only_collectives = false;
  CLI::App app("Data-parallel training, measured");
  app.add_option("--seconds", seconds, "of each measurement of a model");
  app.add_flag("--collectives", only_collectives, "leave the models out");
  CLI11_PARSE(app, argc, argv);
  const auto group = weft::distributed::init();
  weft::bench::collectives(group);
  if (!only_collectives) weft::bench::models(group, seconds);
}
