// What gpt.cc needs around its training loop: the command line, the text and batches of it, progress on the terminal.
#pragma once

#include <string>
#include <utility>

#include "examples/training.h"

namespace examples {

struct TextSettings : Settings {
  int64_t steps = 0;  // 0: as many as the text is worth
  double dropout = 0;
  bool bf16_parameters = false;
  int64_t samples = 6;  // shown while it learns
  double temperature = 0.8;
};

/// parse() for an example on text.
TextSettings parse_text(const char* what, int argc, char** argv, TextSettings settings);

/// A text whose last tenth is kept for the test.
struct Text {
  std::string train;
  std::string test;
};
/// The file settings.data, or sums in words that the program makes itself: `seven and thirty make thirty-seven.`
Text load_text(const TextSettings& settings);

/// Indices of characters (rows, length), and those that follow each.
struct TextBatch {
  weft::Tensor inputs;
  weft::Tensor targets;
};
/// Pieces of the text from random places.
TextBatch random_batch(const std::string& text, int64_t rows, int64_t length);
/// Rows [first, first + rows) of the text cut into pieces of `length`; fewer at its end, and the last piece may be
/// shorter than `length`, in a batch of its own. Empty (undefined tensors) behind the end.
TextBatch batch_at(const std::string& text, int64_t first, int64_t rows, int64_t length);

/// Says how training goes, now and then; its state goes into checkpoints as `fields`.
class TextProgress {
 public:
  TextProgress(int64_t steps, int64_t characters_per_step);
  /// After each step. Reads the loss.
  void step(const weft::Tensor& loss, double lr);
  int64_t steps_done() const { return done_; }
  /// Prints a sample below the current line.
  void show(const std::string& sample) const;

  std::map<std::string, std::string> fields() const;
  void restore(const std::map<std::string, std::string>& fields);

 private:
  using Clock = std::chrono::steady_clock;
  int64_t steps_, characters_;
  int64_t done_ = 0;
  double loss_ = 0;        // a running mean
  int64_t done_here_ = 0;  // in this process
  bool terminal_;
  Clock::time_point started_ = Clock::now();
  Clock::time_point shown_ = Clock::now();
};

}  // namespace examples
