// What gpt.cc needs besides its training loop: the command line, the text and its batches, progress on the terminal.
#pragma once

#include <string>

#include "examples/training.h"

namespace examples {

struct TextSettings : Settings {
  int64_t steps = 0;  // 0: 3,000 with --data, else 300
  double dropout = 0;
  bool bf16_parameters = false;
  int64_t samples = 6;  // number of text samples printed during training
  double temperature = 0.8;
};

/// parse() for an example that trains on text.
TextSettings parse_text(const char* what, int argc, char** argv, TextSettings settings);

/// A text; its last tenth is the test set.
struct Text {
  std::string train;
  std::string test;
};
/// The file settings.data, or generated sums in words: `seven and thirty make thirty-seven.`
Text load_text(const TextSettings& settings);

/// Character indices (rows, length), and the next character at each position.
struct TextBatch {
  weft::Tensor inputs;
  weft::Tensor targets;
};
/// Pieces of the text at random positions.
TextBatch random_batch(const std::string& text, int64_t rows, int64_t length);
/// Rows [first, first + rows) of the text cut into pieces of `length`. There are fewer rows at the end. The last piece
/// may be shorter than `length`; it is in a batch of its own. Undefined tensors after the end.
TextBatch batch_at(const std::string& text, int64_t first, int64_t rows, int64_t length);

/// Prints progress from time to time. Its state is saved in checkpoints as `fields`.
class TextProgress {
 public:
  TextProgress(int64_t steps, int64_t characters_per_step);
  /// Call it after each step; it reads the loss.
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
  double loss_ = 0;        // running mean
  int64_t done_here_ = 0;  // in this process
  bool terminal_;
  Clock::time_point started_ = Clock::now();
  Clock::time_point shown_ = Clock::now();
};

}  // namespace examples
