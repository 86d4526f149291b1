// A small GPT that learns to write: transformer layers, warmup and cosine schedule, gradient clipping, samples during
// training.
//
//   ./bazelw run //examples:gpt                        on sums in words that it makes itself, a minute on two cores
//   ./bazelw run //examples:gpt -- --data FILE         on any text; the last tenth is the test
//   ./bazelw run //examples:gpt -- --nproc 2           as two processes that share each batch; or under mpirun -n 2
//   ./bazelw run //examples:gpt -- --help              all options
#include <cstdio>
#include <cstdlib>

#include "examples/gpt_model.h"
#include "examples/ranks.h"
#include "examples/text.h"
#include "weft.h"

using namespace weft;

/// Generates `length` characters after `prompt`, each sampled from the predicted probabilities.
static std::string write(examples::Gpt& model, std::string text, int64_t length, double temperature) {
  NoGrad guard;
  model.eval();
  const int64_t context = model.options().context;
  for (int64_t i = 0; i < length; ++i) {  // not cut short by Ctrl-C: all ranks must draw equally many numbers
    const size_t from = text.size() > static_cast<size_t>(context) ? text.size() - static_cast<size_t>(context) : 0;
    std::vector<int64_t> seen;
    for (char c : text.substr(from)) seen.push_back(static_cast<unsigned char>(c));
    const Tensor logits = model(from_vector(seen).unsqueeze(0))[0][-1];
    const std::vector<double> p = softmax(logits / temperature, 0).to_vector<double>();
    double left = rand({}).item<double>();
    size_t next = 0;
    while (next + 1 < p.size() && left >= p[next]) left -= p[next++];
    text.push_back(static_cast<char>(next));
  }
  model.train();
  return text;
}

/// The mean of -log p over the whole text, in nats per character.
static double evaluate(examples::Gpt& model, const std::string& text) {
  NoGrad guard;
  model.eval();
  double sum = 0;
  int64_t row = 0, characters = 0;
  for (;;) {
    const auto [inputs, targets] = examples::batch_at(text, row, 8, model.options().context);
    if (!inputs.defined()) break;
    sum += model.loss(inputs, targets).item<double>() * static_cast<double>(targets.numel());
    row += inputs.size(0);
    characters += targets.numel();
  }
  model.train();
  return sum / static_cast<double>(characters);
}

/// The number of steps of warmup.
static int64_t warmup_of(const examples::TextSettings& settings) {
  return std::min<int64_t>(100, settings.steps / 3 + 1);
}

/// One run of training: the model and all that changes with it.
struct Training {
  const examples::TextSettings& settings;
  examples::Gpt model;
  distributed::DataParallel<examples::Gpt> parallel;
  optim::AdamW optimizer;
  optim::LinearWarmup schedule;
  examples::TextProgress progress;

  Training(const examples::TextSettings& s, const distributed::Group& group)
      : settings(s),
        model(make_model(s)),
        parallel(model, group),
        optimizer(std::vector<optim::AdamGroup>{{.parameters = model.matrices()},
                                                {.parameters = model.vectors(), .weight_decay = 0}},
                  {.lr = s.lr, .beta2 = 0.99, .weight_decay = 0.1, .stochastic_rounding = s.bf16_parameters}),
        schedule(optimizer, {.steps = warmup_of(s),
                             .start_factor = 0.01,
                             .then = optim::cosine_curve({.steps = std::max<int64_t>(s.steps - warmup_of(s), 1)})}),
        progress(s.steps, s.batch_size * model.options().context) {}

  static examples::Gpt make_model(const examples::TextSettings& s) {
    examples::Gpt model({.dropout = s.dropout});
    if (s.bf16_parameters) model.to(bf16);
    return model;
  }

  /// Every rank draws the whole batch and takes its own rows, so the batches do not depend on the number of ranks.
  void step(const std::string& text) {
    const distributed::Group& group = parallel.group();
    const int64_t share = settings.batch_size / group.size();
    const auto batch = examples::random_batch(text, settings.batch_size, model.options().context);
    const Tensor inputs = batch.inputs.narrow(0, group.rank() * share, share);
    const Tensor targets = batch.targets.narrow(0, group.rank() * share, share);
    Tensor loss;
    {
      const Autocast autocast(examples::compute_dtype(settings));
      loss = parallel.with(share, [&](examples::Gpt& gpt) { return gpt.loss(inputs, targets); });
    }
    optimizer.zero_grad();
    loss.backward();
    nn::clip_grad_norm(model.parameters(), 1.0);
    optimizer.step();
    schedule.step();
    progress.step(examples::mean_over(group, loss), schedule.lr());
  }

  /// Trains until the last step and shows samples on the way; false if Ctrl-C ended it before.
  bool run(const std::string& text) {
    const int64_t every = settings.samples > 0 ? std::max<int64_t>(settings.steps / settings.samples, 1) : 0;
    bool stopped = false;
    while (progress.steps_done() < settings.steps && !stopped) {
      step(text);
      stopped = examples::interrupted(parallel.group());
      if (every == 0 || progress.steps_done() % every != 0) continue;
      progress.show(write(model, "\n", 200, settings.temperature));
      if (!settings.save.empty()) save();
    }
    return !stopped;
  }

  io::CheckpointParts parts() { return {.model = &model, .optimizer = &optimizer, .schedule = &schedule}; }
  void save() { examples::save(parallel.group(), settings.save, parts(), progress); }
  void resume() { examples::resume(settings.resume, parts(), progress); }
};

static int train(int argc, char** argv) {
  examples::TextSettings defaults;
  defaults.batch_size = 8;
  defaults.lr = 2e-3;
  defaults.nproc = 1;
  const examples::TextSettings settings =
      examples::parse_text("A small GPT that learns to write", argc, argv, defaults);
  const distributed::Group group = examples::start_ranks(settings, argc, argv);
  const examples::Text text = examples::load_text(settings);

  Training training(settings, group);
  std::printf("%ld parameters, %zu characters to learn from, %zu for the test\n",
              long(training.model.parameter_count()), text.train.size(), text.test.size());
  if (!settings.resume.empty()) training.resume();
  if (!training.run(text.train)) return examples::save_and_stop(settings, [&] { training.save(); });
  std::printf("test loss: %.3f nats per character\n", evaluate(training.model, text.test));
  return EXIT_SUCCESS;
}

int main(int argc, char** argv) { return examples::run(train, argc, argv); }
