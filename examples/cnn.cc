// A convolutional network that learns to read digits: nested modules, batch norm, checkpoints.
//
//   ./bazelw run //examples:cnn                        on digits that the program draws itself
//   ./bazelw run //examples:cnn -- --data FOLDER       on MNIST files (plain or .gz)
//   ./bazelw run //examples:cnn -- --nproc 2           as two processes that share each batch; or under mpirun -n 2
//   ./bazelw run //examples:cnn -- --help              all options
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "examples/ranks.h"
#include "examples/training.h"
#include "weft.h"

using namespace weft;

/// Two convolutions, batch norm, relu and a pool that halves the image: (N, in, H, W) -> (N, out, H / 2, W / 2).
struct Block : nn::Layer<Block> {
  nn::Conv2d first, second;
  nn::BatchNorm2d first_norm, second_norm;

  Block(int64_t in, int64_t out)
      : first(register_module(
            "first",
            nn::Conv2d({.in_channels = in, .out_channels = out, .kernel_size = 3, .padding = 1, .bias = false}))),
        second(register_module(
            "second",
            nn::Conv2d({.in_channels = out, .out_channels = out, .kernel_size = 3, .padding = 1, .bias = false}))),
        first_norm(register_module("first_norm", nn::BatchNorm2d(out))),
        second_norm(register_module("second_norm", nn::BatchNorm2d(out))) {}

  Tensor forward(const Tensor& x) {
    const Tensor y = first_norm.forward_relu(first(x));
    return second_norm.forward_relu_max_pool(second(y), {.kernel_size = 2});
  }
};

struct Model : nn::Module {
  Block first = register_module("first", Block(1, 16));
  Block second = register_module("second", Block(16, 32));
  nn::Dropout dropout = register_module("dropout", nn::Dropout(0.3));
  nn::Linear head = register_module("head", nn::Linear(32 * 7 * 7, 10));

  Tensor forward(const Tensor& images) { return head(dropout(second(first(images)).flatten(1))); }
};

/// One run of training: the model and all that changes with it.
struct Training {
  const examples::Settings& settings;
  data::DataLoader<2> loader;
  Model model;
  distributed::DataParallel<Model> parallel;
  optim::AdamW optimizer;
  optim::OneCycle schedule;
  examples::Progress progress;

  // Each image is shifted by up to two pixels every time it is loaded, so the network never sees the same image twice.
  Training(const examples::Settings& s, const distributed::Group& group, const data::TensorDataset<2>& digits)
      : settings(s),
        loader(data::map(digits, data::RandomShift{2}), {.batch_size = s.batch_size / group.size(),
                                                         .drop_last = true,
                                                         .prefetch = 4,
                                                         .sampler = data::distributed(group, {.shuffle = true})}),
        parallel(model, group),
        optimizer(model.parameters(), {.lr = s.lr, .weight_decay = 0.05}),
        schedule(optimizer, {.max_lr = s.lr, .steps = s.epochs * loader.size()}),
        progress(s, loader.size()) {}

  void step(const Tensor& images, const Tensor& labels) {
    Tensor logits, loss;
    {
      const Autocast autocast(examples::compute_dtype(settings));
      logits = parallel(images);
      loss = nn::cross_entropy(logits, labels);
    }
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    schedule.step();
    const distributed::Group& group = parallel.group();
    progress.batch(examples::mean_over(group, loss), examples::gathered(group, logits),
                   examples::gathered(group, labels));
  }

  /// Trains until the last epoch; false if Ctrl-C ended it before.
  bool run(const data::TensorDataset<2>& test) {
    while (progress.finished_epochs() < settings.epochs) {
      for (const auto& [images, labels] : loader) {
        step(images, labels);
        if (examples::interrupted(parallel.group())) return false;
      }
      progress.epoch(examples::accuracy(examples::predict(model, test), test));
      if (!settings.save.empty()) save();
    }
    return true;
  }

  io::CheckpointParts parts() {
    return {.model = &model, .optimizer = &optimizer, .schedule = &schedule, .loader = &loader};
  }
  void save() { examples::save(parallel.group(), settings.save, parts(), progress); }
  void resume() { examples::resume(settings.resume, parts(), progress); }
};

static int train(int argc, char** argv) {
  const examples::Settings settings = examples::parse("A convolutional network that learns to read digits", argc, argv,
                                                      {.epochs = 12, .lr = 4e-3, .nproc = 1});
  const distributed::Group group = examples::start_ranks(settings, argc, argv);
  const examples::Digits digits = examples::load_digits(settings);

  Training training(settings, group, digits.train);
  std::cout << nn::summary(training.model, {1, 1, 28, 28}) << std::endl;
  if (!settings.resume.empty()) training.resume();
  if (!training.run(digits.test)) return examples::save_and_stop(settings, [&] { training.save(); });

  const Tensor predictions = examples::predict(training.model, digits.test);
  if (group.rank() != 0) return EXIT_SUCCESS;
  examples::save_pictures(settings, "cnn", training.progress.results(), digits.test, predictions);
  std::printf("test accuracy: %.1f %%\n", 100 * examples::accuracy(predictions, digits.test));
  return EXIT_SUCCESS;
}

int main(int argc, char** argv) { return examples::run(train, argc, argv); }
