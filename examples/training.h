// What the training examples share and a reader may skip: the command line, the data, progress on the terminal, Ctrl-C
// and the pictures. The training loop itself is in each example.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "weft.h"

namespace CLI {
class App;
}

namespace examples {

/// The command line. What is not given keeps the example's own value.
struct Settings {
  std::string data = {};  // a folder with MNIST files; empty: digits that the program draws itself
  int64_t epochs = 10;
  int64_t batch_size = 64;
  double lr = 1e-3;
  uint64_t seed = 1;
  int threads = 0;  // 0: all
  bool bf16 = false;
  std::string save = {};
  std::string resume = {};
  std::string out = {};  // folder of the pictures; empty: where the program was started
  int nproc = 0;         // processes that train together; 0: the example has no such option
};

/// What forward and loss compute products in: `const Autocast autocast(compute_dtype(settings));`
inline weft::DType compute_dtype(const Settings& settings) { return settings.bf16 ? weft::bf16 : weft::f32; }

/// Reads the arguments, seeds the generator and sets the threads; ends the program for --help (0) and mistakes (2),
/// such as places of --out and --save that cannot be written to.
Settings parse(const char* what, int argc, char** argv, Settings settings);

/// For an example with options of its own: adds those that all share (--batch-size, --lr, --seed, --threads, --bf16,
/// --save, --resume) to `app`; reads the arguments and does what parse() says of them.
void add_shared_options(CLI::App& app, Settings& settings);
void read_arguments(CLI::App& app, int argc, char** argv, Settings& settings);

/// Why the text of an option is no finite number above 0; empty where it is one.
std::string positive_error(const std::string& text);

struct Digits {
  weft::data::TensorDataset<2> train;
  weft::data::TensorDataset<2> test;
};
/// The MNIST files of settings.data, or 8,000 + 2,000 drawn digits. Error where a batch is larger than what there is.
Digits load_digits(const Settings& settings);

/// True once Ctrl-C was pressed or SIGTERM came: finish the batch, save, leave. A second Ctrl-C ends the program at
/// once.
bool interrupted();

/// What a program that was interrupted does at last: it saves where it should, and says how to carry on. Its exit
/// status.
int save_and_stop(const Settings& settings, const std::function<void()>& save);

/// One row of the table, one point of the learning curve.
struct EpochResult {
  double train_loss = 0;
  double train_accuracy = 0;
  double test_accuracy = 0;
  double seconds = 0;
};

/// Says on the terminal how training goes, and keeps the curve. Its state goes into checkpoints as `fields`.
class Progress {
 public:
  Progress(const Settings& settings, int64_t batches_per_epoch);

  /// After each batch. Reads the loss and the number of hits.
  void batch(const weft::Tensor& loss, const weft::Tensor& logits, const weft::Tensor& labels);
  /// After each epoch: a row of the table.
  void epoch(double test_accuracy);
  int64_t finished_epochs() const { return static_cast<int64_t>(results_.size()); }
  const std::vector<EpochResult>& results() const { return results_; }

  std::map<std::string, std::string> fields() const;
  void restore(const std::map<std::string, std::string>& fields);

 private:
  using Clock = std::chrono::steady_clock;
  void line(bool force) const;

  int64_t epochs_;
  int64_t batches_per_epoch_;
  bool terminal_;
  std::vector<EpochResult> results_;
  // Of the epoch that runs.
  int64_t batches_ = 0;
  int64_t images_ = 0;
  int64_t hits_ = 0;
  double loss_sum_ = 0;
  double seconds_before_ = 0;  // spent on it before a resume
  // Of this process.
  Clock::time_point started_ = Clock::now();
  Clock::time_point epoch_started_ = Clock::now();
  mutable Clock::time_point shown_ = Clock::now();
  int64_t all_batches_ = 0;
  int64_t all_images_ = 0;
};

/// Writes `<name>_curve.svg` and `<name>_digits.png`: the learning curve, and test images with the network's answers,
/// wrong ones in a red frame.
void save_pictures(const Settings& settings, const std::string& name, const std::vector<EpochResult>& results,
                   const weft::data::TensorDataset<2>& test, const weft::Tensor& predictions);

/// The answers of `model` for all images, in batches, without a tape.
template <class Model> weft::Tensor predict(Model& model, const weft::data::TensorDataset<2>& dataset) {
  weft::NoGrad guard;
  model.eval();
  std::vector<weft::Tensor> answers;
  for (const auto& [images, labels] : weft::data::DataLoader(dataset, {.batch_size = 250}))
    answers.push_back(model.forward(images).argmax(1));
  model.train();
  return weft::cat(answers);
}

/// The share of right answers.
double accuracy(const weft::Tensor& predictions, const weft::data::TensorDataset<2>& dataset);

/// Runs `program`, and turns an error into one line and an exit code.
int run(int (*program)(int, char**), int argc, char** argv);

}  // namespace examples
