// What a precision, or an algorithm of convolutions, does to what is learned: ResNet-18 on digits that the library
// draws itself, 4,000 to train and 2,000 to test, three channels of 32 x 32. Prints one JSON line.
//
//   ./bazelw run //bench:learning -- --mode bf16 --seed 2
//
// For the other models: //examples:cnn, //examples:mlp and //examples:gpt, each with --bf16.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "bench/models.h"

namespace weft::bench {
namespace {

/// (N, 1, 28, 28) as three equal channels of 32 x 32, about 0.
Tensor images_of(const Tensor& digits) {
  return (pad(digits, {{0, 0}, {0, 0}, {2, 2}, {2, 2}}) - 0.2).expand({digits.size(0), 3, 32, 32}).contiguous();
}

/// The share of the digits that the model names.
double accuracy(ResNet18& model, const data::TensorDataset<2>& digits, DType dtype) {
  const NoGrad guard;
  model.eval();
  metrics::Accuracy right;
  for (const auto& [images, labels] : data::DataLoader(digits, {.batch_size = 100})) {
    const Autocast autocast(dtype);
    right.update(model.forward(images_of(images)), labels);
  }
  model.train();
  return right.value();
}

double train(DType dtype, int64_t epochs, uint64_t seed) {
  manual_seed(seed);
  const auto digits = data::synthetic_digits({.count = 4000, .seed = 1});
  ResNet18 model;
  optim::SGD optimizer(model.parameters(), {.lr = 0.02, .momentum = 0.9, .weight_decay = 5e-4});
  const int64_t batch = 50, steps = epochs * 4000 / batch;
  optim::OneCycle schedule(optimizer, {.max_lr = 0.05, .steps = steps});
  for (int64_t epoch = 0; epoch < epochs; ++epoch)
    for (const auto& [images, labels] : data::DataLoader(digits, {.batch_size = batch, .shuffle = true})) {
      Tensor loss;
      {
        const Autocast autocast(dtype);
        loss = nn::cross_entropy(model.forward(images_of(images)), labels);
      }
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      schedule.step();
    }
  return accuracy(model, data::synthetic_digits({.count = 2000, .seed = 2}), dtype);
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  using namespace weft;
  std::string mode = "f32";
  int64_t epochs = 3;
  uint64_t seed = 1;
  int threads = 0;
  CLI::App app("ResNet-18 on drawn digits, one JSON line");
  app.add_option("--mode", mode, "the precision, or f32 without Winograd's filtering")
      ->check(CLI::IsMember({"f32", "direct", "bf16"}));
  app.add_option("--epochs", epochs, "passes over the digits");
  app.add_option("--seed", seed, "of weights and order");
  app.add_option("--threads", threads, "threads; 0: all");
  CLI11_PARSE(app, argc, argv);
  if (threads > 0) set_num_threads(threads);
  if (mode == "direct") set_convolution(Convolution::direct);
  const double accuracy = bench::train(mode == "bf16" ? bf16 : f32, epochs, seed);
  std::printf("{\"model\":\"resnet18\",\"mode\":\"%s\",\"seed\":%lu,\"accuracy\":%.4f}\n", mode.c_str(),
              static_cast<unsigned long>(seed), accuracy);
}
