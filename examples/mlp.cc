// A multi-layer perceptron that learns to read digits, with the simplest training loop.
//
//   ./bazelw run //examples:mlp                        on digits that the program draws itself
//   ./bazelw run //examples:mlp -- --data FOLDER       on MNIST files (plain or .gz)
//   ./bazelw run //examples:mlp -- --help              all options
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "examples/training.h"
#include "weft.h"

using namespace weft;

/// 784 - 512 - 256 - 10 with dropout.
struct Model : nn::Module {
  nn::Linear first = register_module("first", nn::Linear(784, 512));
  nn::Linear second = register_module("second", nn::Linear(512, 256));
  nn::Linear output = register_module("output", nn::Linear(256, 10));
  nn::Dropout dropout = register_module("dropout", nn::Dropout(0.2));

  Tensor forward(const Tensor& images) {
    const Tensor x = dropout(relu(first(images.flatten(1))));
    return output(dropout(relu(second(x))));
  }
};

static int train(int argc, char** argv) {
  const examples::Settings settings =
      examples::parse("A multi-layer perceptron that learns to read digits", argc, argv, {.epochs = 30, .lr = 2e-3});
  const examples::Digits digits = examples::load_digits(settings);

  // Each image is shifted by up to two pixels every time it is loaded, so the network never sees the same image twice.
  const auto moved = data::map(digits.train, data::RandomShift{2});
  data::DataLoader loader(moved,
                          {.batch_size = settings.batch_size, .shuffle = true, .drop_last = true, .prefetch = 4});

  Model model;
  std::cout << nn::summary(model, {1, 1, 28, 28}) << std::endl;
  optim::AdamW optimizer(model.parameters(), {.lr = settings.lr, .weight_decay = 0.05});
  optim::OneCycle schedule(optimizer, {.max_lr = settings.lr, .steps = settings.epochs * loader.size()});

  examples::Progress progress(settings, loader.size());
  std::map<std::string, std::string> fields;
  const io::CheckpointParts parts = {
      .model = &model, .optimizer = &optimizer, .schedule = &schedule, .loader = &loader, .fields = &fields};
  const auto save = [&] {
    fields = progress.fields();
    io::save_checkpoint(settings.save, parts);
  };
  if (!settings.resume.empty()) {
    io::load_checkpoint(settings.resume, parts);
    progress.restore(fields);
  }

  while (progress.finished_epochs() < settings.epochs) {
    for (const auto& [images, labels] : loader) {
      Tensor logits, loss;
      {
        const Autocast autocast(examples::compute_dtype(settings));
        logits = model.forward(images);
        loss = nn::cross_entropy(logits, labels);
      }
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      schedule.step();
      progress.batch(loss, logits, labels);
      if (examples::interrupted()) break;
    }
    if (examples::interrupted()) break;
    progress.epoch(examples::accuracy(examples::predict(model, digits.test), digits.test));
    if (!settings.save.empty()) save();
  }

  if (examples::interrupted()) return examples::save_and_stop(settings, save);
  const Tensor predictions = examples::predict(model, digits.test);
  examples::save_pictures(settings, "mlp", progress.results(), digits.test, predictions);
  std::printf("test accuracy: %.1f %%\n", 100 * examples::accuracy(predictions, digits.test));
  return EXIT_SUCCESS;
}

int main(int argc, char** argv) { return examples::run(train, argc, argv); }
