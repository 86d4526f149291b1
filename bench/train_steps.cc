// Whole training steps: zero_grad, forward, loss, backward, optimizer. One JSON line per run, for bench:compare.
//
//   ./bazelw run //bench:train_steps -- --model mlp --threads 2 --seconds 3
//   ./bazelw run //bench:train_steps -- --model gpt --mode bf16        forward and loss under Autocast
#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>

#include "bench/models.h"
#include "bench/steps.h"
#include "weft.h"

namespace weft::bench {
namespace {

using Step = std::function<Tensor()>;

/// What forward and loss compute products in.
DType compute_dtype = f32;

/// A training step of `model` on one batch that stays the same. The model and the optimizer live in the step.
template <class Model>
Step step_of(const std::shared_ptr<Model>& model, const std::shared_ptr<optim::Optimizer>& optimizer, const Tensor& x,
             const Tensor& targets) {
  return [=] {
    optimizer->zero_grad();
    Tensor loss;
    {
      const Autocast autocast(compute_dtype);
      loss = nn::cross_entropy(model->forward(x), targets);
    }
    loss.backward();
    optimizer->step();
    return loss;
  };
}

Step mlp() {
  auto model = std::make_shared<Mlp>();
  auto sgd = std::make_shared<optim::SGD>(model->parameters(), optim::SGDOptions{.lr = 0.01, .momentum = 0.9});
  return step_of(model, sgd, randn({64, 784}), randint(0, 10, {64}));
}

Step cnn() {
  auto model = std::make_shared<Cnn>();
  auto adamw = std::make_shared<optim::AdamW>(model->parameters(), optim::AdamWOptions{.lr = 1e-3});
  return step_of(model, adamw, randn({64, 1, 28, 28}), randint(0, 10, {64}));
}

template <int64_t kBatch, int64_t kSize> Step resnet18() {
  auto model = std::make_shared<ResNet18>();
  auto sgd = std::make_shared<optim::SGD>(model->parameters(), optim::SGDOptions{.lr = 0.01, .momentum = 0.9});
  return step_of(model, sgd, randn({kBatch, 3, kSize, kSize}), randint(0, 1000, {kBatch}));
}

Step gpt() {
  auto model = std::make_shared<Gpt>();
  auto adamw = std::make_shared<optim::AdamW>(model->parameters(), optim::AdamWOptions{.lr = 1e-3});
  return step_of(model, adamw, randint(0, 256, {8, 128}), randint(0, 256, {8 * 128}));
}

const std::map<std::string, Step (*)()> kModels = {
    {"mlp", mlp}, {"cnn", cnn}, {"resnet18", resnet18<16, 64>}, {"resnet18_224", resnet18<8, 224>}, {"gpt", gpt}};

int run(int argc, char** argv) {
  std::string model = "mlp", mode = "eager";
  double seconds = 3;
  int threads = 0;
  CLI::App app("Whole training steps, one JSON line");
  app.add_option("--model", model, "the model")->check(CLI::IsMember(kModels));
  app.add_option("--mode", mode, "how the step runs")->check(CLI::IsMember({"eager", "bf16"}));
  app.add_option("--seconds", seconds, "how long to measure");
  app.add_option("--threads", threads, "threads; 0: all");
  CLI11_PARSE(app, argc, argv);

  // All cores are what weft takes where no count is chosen, and it yields them to other processes then.
  if (threads > 0 && threads != num_threads()) set_num_threads(threads);
  if (mode == "bf16") compute_dtype = bf16;
  manual_seed(1);
  const Step step = kModels.at(model)();
  std::printf("%s\n", json_line(mode, model, num_threads(), measure_steps(step, seconds)).c_str());
  return 0;
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) { return weft::bench::run(argc, argv); }
