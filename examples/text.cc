#include "examples/text.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace examples {

using namespace weft;

TextSettings parse_text(const char* what, int argc, char** argv, TextSettings settings) {
  CLI::App app(what);
  app.add_option("--data", settings.data, "text file (default: sums in words, made by the program)");
  app.add_option("--steps", settings.steps, "optimizer steps (default: 3000, and 300 without --data)")
      ->check(CLI::Range(1, 100000000));
  app.add_option("--dropout", settings.dropout, "probability of dropout")->check(CLI::Range(0.0, 1.0));
  app.add_flag("--bf16-parameters", settings.bf16_parameters,
               "parameters in bf16, rounded at random, with no f32 beside them but the optimizer's means");
  app.add_option("--samples", settings.samples, "samples shown while it learns")->check(CLI::Range(0, 1000));
  app.add_option("--temperature", settings.temperature, "of the samples; lower values choose likelier characters")
      ->check(positive_error);
  add_shared_options(app, settings);
  read_arguments(app, argc, argv, settings);
  if (settings.steps == 0) settings.steps = settings.data.empty() ? 300 : 3000;
  return settings;
}

namespace {

std::string in_words(int64_t number) {
  static const char* const small[] = {"zero",     "one",     "two",     "three",     "four",     "five",    "six",
                                      "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
                                      "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
  static const char* const tens[] = {"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"};
  if (number < 20) return small[number];
  const std::string ten = tens[number / 10 - 2];
  return number % 10 == 0 ? ten : ten + "-" + small[number % 10];
}

/// Correct sums of two numbers below 50, one per line.
std::string sums(int64_t lines) {
  const std::vector<int64_t> numbers = randint(0, 50, {2 * lines}).to_vector<int64_t>();
  std::string text;
  for (size_t i = 0; i < numbers.size(); i += 2)
    text += in_words(numbers[i]) + " and " + in_words(numbers[i + 1]) + " make " +
            in_words(numbers[i] + numbers[i + 1]) + ".\n";
  return text;
}

std::string read_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw IoError(path + ": is a folder and no text file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw IoError(path + ": cannot be opened");
  try {
    return {std::istreambuf_iterator<char>(file), {}};
  } catch (const std::ios_base::failure&) {
    throw IoError(path + ": cannot be read");
  }
}

/// The bytes [from, from + length) for each `from`.
Tensor characters(const std::string& text, const std::vector<int64_t>& from, int64_t length) {
  std::vector<int64_t> values;
  for (int64_t start : from)
    for (int64_t i = 0; i < length; ++i)
      values.push_back(static_cast<unsigned char>(text[static_cast<size_t>(start + i)]));
  return from_vector(values, Shape{static_cast<int64_t>(from.size()), length});
}

}  // namespace

Text load_text(const TextSettings& settings) {
  const std::string all = settings.data.empty() ? sums(20000) : read_file(settings.data);
  if (all.size() < 5000)
    throw Error(text(settings.data, ": a text of ", all.size(), " characters; 5,000 or more are needed"));
  const size_t cut = all.size() - all.size() / 10;
  return {all.substr(0, cut), all.substr(cut)};
}

TextBatch random_batch(const std::string& text, int64_t rows, int64_t length) {
  const std::vector<int64_t> from = randint(0, static_cast<int64_t>(text.size()) - length, {rows}).to_vector<int64_t>();
  std::vector<int64_t> after = from;
  for (int64_t& start : after) ++start;
  return {characters(text, from, length), characters(text, after, length)};
}

TextBatch batch_at(const std::string& text, int64_t first, int64_t rows, int64_t length) {
  const int64_t targets = static_cast<int64_t>(text.size()) - 1, whole = targets / length;
  std::vector<int64_t> from, after;
  if (first < whole) {
    for (int64_t row = first; row < std::min(first + rows, whole); ++row) from.push_back(row * length);
  } else if (first == whole && targets % length != 0) {
    from.push_back(whole * length);
    length = targets % length;
  } else {
    return {};
  }
  for (int64_t start : from) after.push_back(start + 1);
  return {characters(text, from, length), characters(text, after, length)};
}

TextProgress::TextProgress(int64_t steps, int64_t characters_per_step)
    : steps_(steps), characters_(characters_per_step), terminal_(isatty(STDOUT_FILENO) != 0) {}

void TextProgress::step(const Tensor& loss, double lr) {
  const double value = loss.item<double>(), weight = std::max(0.02, 1.0 / static_cast<double>(done_ + 1));
  loss_ += weight * (value - loss_);
  ++done_, ++done_here_;
  // On a terminal, one line is updated in place; in a file or pipe, a plain line is printed from time to time.
  if (done_ < steps_ && seconds_since(shown_) < (terminal_ ? 0.2 : 10.0)) return;
  shown_ = Clock::now();
  const double per_step = seconds_since(started_) / static_cast<double>(done_here_);
  std::printf("%sstep %ld/%ld   loss %.3f   rate %.2g   %.0f characters/s   %.0f s left%s", terminal_ ? "\r" : "",
              long(done_), long(steps_), loss_, lr, static_cast<double>(characters_) / per_step,
              per_step * static_cast<double>(steps_ - done_), terminal_ ? "  \033[K" : "\n");
  std::fflush(stdout);
}

void TextProgress::show(const std::string& sample) const {
  std::printf("%s--- after %ld steps, loss %.3f\n%s\n---\n", terminal_ ? "\r\033[K" : "", long(done_), loss_,
              sample.c_str());
  std::fflush(stdout);
}

std::map<std::string, std::string> TextProgress::fields() const {
  char loss[40];
  std::snprintf(loss, sizeof loss, "%.17g", loss_);
  return {{"steps", std::to_string(done_)}, {"loss", loss}};
}

void TextProgress::restore(const std::map<std::string, std::string>& fields) {
  long done = 0;
  if (fields.count("steps") == 0 || fields.count("loss") == 0 ||
      std::sscanf(fields.at("steps").c_str(), "%ld", &done) != 1 ||
      std::sscanf(fields.at("loss").c_str(), "%lf", &loss_) != 1)
    throw Error("the checkpoint is not one of this example");
  done_ = done;
  std::printf("carrying on after step %ld\n", done);
}

}  // namespace examples
