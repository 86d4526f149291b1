// Code that the training examples share and that a reader may skip: the command line, the data, progress on the
// terminal, Ctrl-C and the pictures. The training loop itself is in each example.
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

/// The command line options. An option that is not given keeps the example's own value.
struct Settings {
  std::string data = {};  // a folder with MNIST files; empty: digits that the program draws itself
  int64_t epochs = 10;
  int64_t batch_size = 64;
  double lr = 1e-3;
  uint64_t seed = 1;
  int threads = 0;  // 0: all cores
  bool bf16 = false;
  std::string save = {};
  std::string resume = {};
  std::string out = {};  // folder for the pictures; empty: the current folder
  int nproc = 0;         // number of processes that train together; 0: the example has no such option
};

/// The dtype for Autocast in forward and loss: `const Autocast autocast(compute_dtype(settings));`
inline weft::DType compute_dtype(const Settings& settings) { return settings.bf16 ? weft::bf16 : weft::f32; }

/// Parses the arguments, seeds the generator and sets the number of threads. Ends the program for --help (exit status
/// 0) and for invalid options (2), such as --out or --save paths that are not writable.
Settings parse(const char* what, int argc, char** argv, Settings settings);

/// For an example with its own options: add_shared_options() adds the common ones (--batch-size, --lr, --seed,
/// --threads, --bf16, --save, --resume) to `app`; read_arguments() then does what parse() does.
void add_shared_options(CLI::App& app, Settings& settings);
void read_arguments(CLI::App& app, int argc, char** argv, Settings& settings);

/// The reason why an option's text is not a finite number above 0; empty if it is.
std::string positive_error(const std::string& text);

struct Digits {
  weft::data::TensorDataset<2> train;
  weft::data::TensorDataset<2> test;
};
/// The MNIST files in settings.data, or 8,000 + 2,000 drawn digits. Error if a batch is larger than the dataset.
Digits load_digits(const Settings& settings);

/// True after Ctrl-C was pressed or SIGTERM was received: finish the batch, save and exit. A second Ctrl-C ends the
/// program immediately.
bool interrupted();

/// Ends an interrupted program: calls `save` if it should save, and prints how to resume. Returns the exit status.
int save_and_stop(const Settings& settings, const std::function<void()>& save);

/// One row of the printed table and one point of the learning curve.
struct EpochResult {
  double train_loss = 0;
  double train_accuracy = 0;
  double test_accuracy = 0;
  double seconds = 0;
};

/// Prints progress on the terminal and records the learning curve. Its state is saved in checkpoints as `fields`.
class Progress {
 public:
  Progress(const Settings& settings, int64_t batches_per_epoch);

  /// Call it after each batch; it reads the loss and the number of correct predictions.
  void batch(const weft::Tensor& loss, const weft::Tensor& logits, const weft::Tensor& labels);
  /// Call it after each epoch; it prints a row of the table.
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
  // Of the current epoch.
  int64_t batches_ = 0;
  int64_t images_ = 0;
  int64_t hits_ = 0;
  double loss_sum_ = 0;
  double seconds_before_ = 0;  // time spent on this epoch before a resume
  // Since this process started.
  Clock::time_point started_ = Clock::now();
  Clock::time_point epoch_started_ = Clock::now();
  mutable Clock::time_point shown_ = Clock::now();
  int64_t all_batches_ = 0;
  int64_t all_images_ = 0;
};

/// Writes `<name>_curve.svg`, the learning curve, and `<name>_digits.png`, test images with the predictions; wrong ones
/// have a red frame.
void save_pictures(const Settings& settings, const std::string& name, const std::vector<EpochResult>& results,
                   const weft::data::TensorDataset<2>& test, const weft::Tensor& predictions);

/// The predictions of `model` for all images, computed in batches without a tape.
template <class Model> weft::Tensor predict(Model& model, const weft::data::TensorDataset<2>& dataset) {
  weft::NoGrad guard;
  model.eval();
  std::vector<weft::Tensor> answers;
  for (const auto& [images, labels] : weft::data::DataLoader(dataset, {.batch_size = 250}))
    answers.push_back(model.forward(images).argmax(1));
  model.train();
  return weft::cat(answers);
}

/// The fraction of correct predictions.
double accuracy(const weft::Tensor& predictions, const weft::data::TensorDataset<2>& dataset);

/// The seconds since `start`.
double seconds_since(std::chrono::steady_clock::time_point start);

/// Runs `program`. An error becomes one line of output and an exit status.
int run(int (*program)(int, char**), int argc, char** argv);

}  // namespace examples
