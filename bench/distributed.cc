// Data-parallel training, measured: collectives between the ranks, the reduction of gradients, and the throughput of
// training steps beside that of as many processes that do not know each other.
//
//   ./bazelw build //bench:distributed && OMP_NUM_THREADS=1 mpirun -n 2 bazel-bin/bench/distributed
//   OMP_NUM_THREADS=2 bazel-bin/bench/distributed --batches 2     one process that takes the batches of two ranks
//
// peers/ddp.py trains the same in PyTorch. `--points` prints what bench/cost_model.cc reads.
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

struct Options {
  double seconds = 2;
  int rounds = 3;
  int64_t batches = 1;
  bool points = false, collectives = true;
  std::vector<std::string> models = {"mlp", "resnet18", "gpt"};
};

/// How gradients travel, for the points of the cost model.
const char* way_of(const distributed::Group& group) { return group.is_shared() ? "shared" : "messages"; }

/// One parameter of so many floats: its gradient is a bucket.
struct One : nn::Module {
  explicit One(int64_t count) : w(register_parameter("w", zeros({count}))) {}
  Tensor w;
};

void collectives(const distributed::Group& group, bool points) {
  for (const int64_t bytes : {4 << 10, 64 << 10, 1 << 20, 16 << 20}) {
    const int64_t count = bytes / 4;
    const int rounds = bytes > 1 << 20 ? 40 : 400;
    Tensor x = ones({count}), y = zeros({count});
    say(group, "copy", bytes, measure(group, rounds, [&] { y.copy_(x); }));
    const Times blocking = measure(group, rounds, [&] { group.all_reduce(x, distributed::ReduceOp::mean); });
    say(group, "all_reduce", bytes, blocking);
    if (points && group.rank() == 0)
      std::printf("point all_reduce %s %ld %ld %.9f\n", way_of(group), long(group.size()), long(bytes),
                  blocking.median);
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

/// Seconds that a step of all ranks takes, with gradients of all or each on its own.
template <class Model, class Loss>
double step_seconds(const distributed::Group& group, bool together, double seconds, const Loss& loss) {
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
  return time.item<double>() / static_cast<double>(count);
}

/// `items`: images or tokens of a rank's step.
template <class Model, class Loss>
void compare(const distributed::Group& group, const Options& options, const char* name, int64_t items,
             const Loss& loss) {
  double best = 0, alone = 1e9, together = 1e9;
  for (int round = 0; round < options.rounds; ++round) {  // in turns, as the machine has better and worse moments
    const double a = step_seconds<Model>(group, false, options.seconds, loss);
    const double b = group.size() > 1 ? step_seconds<Model>(group, true, options.seconds, loss) : a;
    alone = std::min(alone, a), together = std::min(together, b), best = std::max(best, a / b);
  }
  if (group.rank() != 0) return;
  const auto rate = [&](double step) { return static_cast<double>(items * group.size()) / step; };
  std::printf("%-10s independent %10.1f /s   data-parallel %10.1f /s   ratio of the best %.3f, best ratio %.3f\n", name,
              rate(alone), rate(together), alone / together, best);
  if (!options.points || group.size() == 1) return;
  int64_t elements = 0;
  for (const Tensor& p : Model().parameters()) elements += p.numel();
  std::printf("point step %s %ld %s %ld %.9f %.9f\n", way_of(group), long(group.size()), name, long(4 * elements),
              alone, together);
}

void models(const distributed::Group& group, const Options& options) {
  const auto is_chosen = [&](const char* name) {
    return std::find(options.models.begin(), options.models.end(), name) != options.models.end();
  };
  const int64_t n = options.batches;
  const Tensor digits = randn({64 * n, 784}), classes = randint(0, 10, {64 * n});
  const auto mlp = [&](Mlp& model) { return nn::cross_entropy(model.forward(digits), classes); };
  if (is_chosen("mlp")) compare<Mlp>(group, options, "MLP", 64 * n, mlp);
  const Tensor images = randn({8 * n, 3, 64, 64}), thousand = randint(0, 1000, {8 * n});
  const auto resnet = [&](ResNet18& model) { return nn::cross_entropy(model.forward(images), thousand); };
  if (is_chosen("resnet18")) compare<ResNet18>(group, options, "ResNet-18", 8 * n, resnet);
  const Tensor tokens = randint(0, 256, {4 * n, 128}), next = randint(0, 256, {4 * n * 128});
  const auto gpt = [&](Gpt& model) { return nn::cross_entropy(model.forward(tokens), next); };
  if (is_chosen("gpt")) compare<Gpt>(group, options, "GPT", 4 * n * 128, gpt);
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  weft::bench::Options options;
  CLI::App app("Data-parallel training, measured");
  app.add_option("--seconds", options.seconds, "of each measurement of a model");
  app.add_option("--rounds", options.rounds, "of measurements of a model");
  app.add_option("--batches", options.batches, "that a rank takes at once");
  app.add_option("--models", options.models, "of mlp, resnet18 and gpt")->delimiter(',');
  app.add_flag("--collectives,!--no-collectives", options.collectives, "measure all_reduce and buckets");
  app.add_flag("--points", options.points, "print what bench:cost_model reads");
  CLI11_PARSE(app, argc, argv);
  const auto group = weft::distributed::init();
  if (options.collectives && group.size() > 1) weft::bench::collectives(group, options.points);
  weft::bench::models(group, options);
}
