#include "examples/training.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

namespace examples {

using namespace weft;

namespace {

volatile std::sig_atomic_t stop = 0;

void on_interrupt(int signal) {
  stop = 1;
  std::signal(signal, SIG_DFL);
}

/// The user's current folder: `bazel run` starts programs in another folder and passes the user's in the environment.
std::string user_path(const std::string& path) {
  const char* started_in = std::getenv("BUILD_WORKING_DIRECTORY");
  if (started_in == nullptr || (!path.empty() && path[0] == '/')) return path.empty() ? "." : path;
  return path.empty() ? started_in : std::string(started_in) + "/" + path;
}

/// A user error that is detected before any work is done.
[[noreturn]] void refuse_arguments(const std::string& why) {
  std::fprintf(stderr, "error: %s (--help lists the options)\n", why.c_str());
  std::exit(2);
}

/// Ends the program unless files can be created in `folder`.
void check_folder(const std::string& option, const std::string& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) refuse_arguments(option + ": there is no folder " + folder);
  if (access(folder.c_str(), W_OK) != 0) refuse_arguments(option + ": cannot write to the folder " + folder);
}

/// The same for a file, which need not exist yet.
void check_file(const std::string& option, const std::string& path) {
  std::error_code ignored;
  const auto kind = std::filesystem::status(path, ignored).type();
  if (kind != std::filesystem::file_type::not_found && kind != std::filesystem::file_type::regular)
    refuse_arguments(option + ": " + path + " is not a file");
  const std::string folder = std::filesystem::path(path).parent_path().string();
  check_folder(option, folder.empty() ? "." : folder);
}

/// The text as a number; nullopt unless all of it is one.
template <class Number> std::optional<Number> number_of(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::string seed_error(const std::string& text) {
  if (number_of<uint64_t>(text)) return "";
  return text + " is not a whole number from 0 to 18446744073709551615";
}

}  // namespace

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string positive_error(const std::string& text) {
  const std::optional<double> value = number_of<double>(text);
  return value && *value > 0 && std::isfinite(*value) ? "" : text + " is not a number above 0";
}

void add_shared_options(CLI::App& app, Settings& settings) {
  app.add_option("--batch-size", settings.batch_size, "examples per step")->check(CLI::Range(2, 1000000));
  app.add_option("--lr", settings.lr, "highest learning rate")->check(positive_error);
  app.add_option("--seed", settings.seed, "seed of everything random")->check(seed_error);
  app.add_option("--threads", settings.threads, "threads (default: all cores)")->check(CLI::Range(0, 1024));
  app.add_flag("--bf16", settings.bf16, "train in mixed precision: products in bf16 where the CPU has it");
  if (settings.nproc > 0)
    app.add_option("--nproc", settings.nproc, "processes that share each batch (or: mpirun -n N)")
        ->check(CLI::Range(1, 1024));
  app.add_option("--save", settings.save, "file to write a checkpoint to, now and then and on Ctrl-C");
  app.add_option("--resume", settings.resume, "checkpoint to carry on from");
}

void read_arguments(CLI::App& app, int argc, char** argv, Settings& settings) {
  app.get_formatter()->column_width(32);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) std::exit(app.exit(error));
    refuse_arguments(error.what());
  }
  for (std::string* path : {&settings.data, &settings.save, &settings.resume})
    if (!path->empty()) *path = user_path(*path);
  settings.out = user_path(settings.out);
  if (!settings.save.empty()) check_file("--save", settings.save);
  manual_seed(settings.seed);
  if (settings.threads > 0) set_num_threads(settings.threads);
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, on_interrupt);
}

Settings parse(const char* what, int argc, char** argv, Settings settings) {
  CLI::App app(what);
  app.add_option("--data", settings.data, "folder with MNIST files (default: digits drawn by the program)");
  app.add_option("--epochs", settings.epochs, "passes over the training images")->check(CLI::Range(1, 1000000));
  app.add_option("--out", settings.out, "folder of the pictures (default: here)");
  add_shared_options(app, settings);
  read_arguments(app, argc, argv, settings);
  check_folder("--out", settings.out);
  return settings;
}

Digits load_digits(const Settings& settings) {
  Digits digits = settings.data.empty() ? Digits{data::synthetic_digits({.count = 8000, .seed = 1}),
                                                 data::synthetic_digits({.count = 2000, .seed = 2})}
                                        : Digits{data::mnist(settings.data, data::Split::train),
                                                 data::mnist(settings.data, data::Split::test)};
  if (settings.batch_size > digits.train.size())
    throw Error(
        text("--batch-size ", settings.batch_size, ": there are ", digits.train.size(), " images to learn from"));
  return digits;
}

bool interrupted() { return stop != 0; }

int save_and_stop(const Settings& settings, const std::function<void()>& save) {
  std::printf("\nstopped\n");
  if (settings.save.empty()) return EXIT_SUCCESS;
  save();
  std::printf("carry on with --resume %s\n", settings.save.c_str());
  return EXIT_SUCCESS;
}

Progress::Progress(const Settings& settings, int64_t batches_per_epoch)
    : epochs_(settings.epochs), batches_per_epoch_(batches_per_epoch), terminal_(isatty(STDOUT_FILENO) != 0) {
  std::printf("epoch   train loss   train accuracy   test accuracy   seconds\n");
  std::fflush(stdout);
}

void Progress::batch(const Tensor& loss, const Tensor& logits, const Tensor& labels) {
  NoGrad guard;
  const int64_t count = labels.numel();
  ++batches_, ++all_batches_;
  images_ += count, all_images_ += count;
  hits_ += (logits.argmax(1) == labels).sum().item<int64_t>();
  loss_sum_ += loss.item<double>() * static_cast<double>(count);
  line(false);
}

void Progress::line(bool force) const {
  // On a terminal, one line is updated in place; in a file or pipe, a plain line is printed from time to time.
  if (!force && seconds_since(shown_) < (terminal_ ? 0.1 : 10.0)) return;
  shown_ = Clock::now();
  const double spent = seconds_since(started_);
  const int64_t done = finished_epochs() * batches_per_epoch_ + batches_;
  const double left =
      spent / static_cast<double>(all_batches_) * static_cast<double>(epochs_ * batches_per_epoch_ - done);
  std::printf("%s%5ld   batch %ld/%ld   loss %.4f   %.0f images/s   %.0f s left%s", terminal_ ? "\r" : "",
              long(finished_epochs() + 1), long(batches_), long(batches_per_epoch_),
              loss_sum_ / static_cast<double>(images_), static_cast<double>(all_images_) / spent, left,
              terminal_ ? "  \033[K" : "\n");
  std::fflush(stdout);
}

void Progress::epoch(double test_accuracy) {
  EpochResult result;
  result.train_loss = loss_sum_ / static_cast<double>(images_);
  result.train_accuracy = static_cast<double>(hits_) / static_cast<double>(images_);
  result.test_accuracy = test_accuracy;
  result.seconds = seconds_before_ + seconds_since(epoch_started_);
  results_.push_back(result);
  std::printf("%s%5ld   %10.4f   %12.1f %%   %11.1f %%   %7.1f\n", terminal_ ? "\r\033[K" : "", long(finished_epochs()),
              result.train_loss, 100 * result.train_accuracy, 100 * result.test_accuracy, result.seconds);
  std::fflush(stdout);
  batches_ = images_ = hits_ = 0;
  loss_sum_ = seconds_before_ = 0;
  epoch_started_ = Clock::now();
}

std::map<std::string, std::string> Progress::fields() const {
  char buffer[160];
  std::string rows;
  for (const EpochResult& r : results_) {
    std::snprintf(buffer, sizeof buffer, "%.17g %.17g %.17g %.17g\n", r.train_loss, r.train_accuracy, r.test_accuracy,
                  r.seconds);
    rows += buffer;
  }
  std::snprintf(buffer, sizeof buffer, "%ld %ld %ld %.17g %.17g", long(batches_), long(images_), long(hits_), loss_sum_,
                seconds_before_ + seconds_since(epoch_started_));
  return {{"epochs", rows}, {"running", buffer}};
}

void Progress::restore(const std::map<std::string, std::string>& fields) {
  const auto epochs = fields.find("epochs"), running = fields.find("running");
  long batches = 0, images = 0, hits = 0;
  if (epochs == fields.end() || running == fields.end() ||
      std::sscanf(running->second.c_str(), "%ld %ld %ld %lf %lf", &batches, &images, &hits, &loss_sum_,
                  &seconds_before_) != 5)
    throw Error("the checkpoint is not one of this example");
  batches_ = batches, images_ = images, hits_ = hits;
  results_.clear();
  EpochResult r;
  int used = 0;
  for (const char* row = epochs->second.c_str();
       std::sscanf(row, "%lf %lf %lf %lf\n%n", &r.train_loss, &r.train_accuracy, &r.test_accuracy, &r.seconds, &used) ==
       4;
       row += used)
    results_.push_back(r);
  std::printf("carrying on in epoch %ld, after batch %ld\n", long(finished_epochs() + 1), batches);
}

double accuracy(const Tensor& predictions, const data::TensorDataset<2>& dataset) {
  return (predictions == dataset.column(1)).to(f64).mean().item<double>();
}

namespace {

/// Digits of 3 x 5 points, encoded as one octal digit per row.
constexpr const char* kFont[10] = {"75557", "26227", "71747", "71717", "55711",
                                   "74717", "74757", "71111", "75757", "75717"};

/// Draws a digit into the corner of an RGB image (3, H, W), with `scale` pixels per point.
void draw_digit(Tensor& image, int64_t digit, int64_t scale, const Tensor& color) {
  for (int64_t row = 0; row < 5; ++row)
    for (int64_t column = 0; column < 3; ++column)
      if ((kFont[digit][row] - '0') >> (2 - column) & 1)
        image.slice(1, 3 + row * scale, 3 + (row + 1) * scale)
            .slice(2, 3 + column * scale, 3 + (column + 1) * scale)
            .copy_(color);
}

/// One test image, enlarged twice, as RGB. A wrong prediction is drawn into it, and it gets a red frame.
Tensor tile(const Tensor& image, int64_t answer, int64_t label) {
  Tensor out =
      image.unsqueeze(2).unsqueeze(4).expand({1, 28, 2, 28, 2}).reshape({1, 56, 56}).expand({3, 56, 56}).clone();
  if (answer == label) return out;
  const Tensor red = tensor({1.0, 0.25, 0.2}).reshape({3, 1, 1});
  for (int64_t axis : {1, 2})
    for (int64_t from : {0, 54}) out.narrow(axis, from, 2).copy_(red);
  draw_digit(out, answer, 2, red);
  return out;
}

}  // namespace

void save_pictures(const Settings& settings, const std::string& name, const std::vector<EpochResult>& results,
                   const data::TensorDataset<2>& test, const Tensor& predictions) {
  NoGrad guard;
  std::vector<double> train, tested, epochs;
  for (const EpochResult& r : results) {
    train.push_back(100 * r.train_accuracy);
    tested.push_back(100 * r.test_accuracy);
    epochs.push_back(static_cast<double>(epochs.size() + 1));
  }
  const std::string curve = settings.out + "/" + name + "_curve.svg", sheet = settings.out + "/" + name + "_digits.png";
  io::save_line_chart(curve, {{"train", train, epochs}, {"test", tested, epochs}},
                      {.title = name + ": accuracy", .x_label = "epoch", .y_label = "%"});

  // Wrong predictions first, then correct ones, 12 per row.
  const std::vector<int64_t> answers = predictions.to_vector<int64_t>(), labels = test.column(1).to_vector<int64_t>();
  std::vector<Tensor> tiles;
  for (const bool right : {false, true})
    for (size_t i = 0; i < labels.size() && tiles.size() < (right ? 96 : 48); ++i)
      if ((answers[i] == labels[i]) == right)
        tiles.push_back(tile(test.column(0)[static_cast<int64_t>(i)], answers[i], labels[i]));
  io::save_png(sheet, io::make_grid(stack(tiles), 12, 3, 0.35));
  std::printf("pictures: %s, %s\n", curve.c_str(), sheet.c_str());
}

int run(int (*program)(int, char**), int argc, char** argv) {
  try {
    return program(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return EXIT_FAILURE;
  }
}

}  // namespace examples
