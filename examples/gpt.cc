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

static int train(int argc, char** argv) {
  examples::TextSettings defaults;
  defaults.batch_size = 8;
  defaults.lr = 2e-3;
  defaults.nproc = 1;
  const examples::TextSettings settings =
      examples::parse_text("A small GPT that learns to write", argc, argv, defaults);
  const distributed::Group group = examples::start_ranks(settings, argc, argv);
  const examples::Text text = examples::load_text(settings);

  examples::Gpt model({.dropout = settings.dropout});
  if (settings.bf16_parameters) model.to(bf16);
  const distributed::DataParallel parallel(model, group);
  std::printf("%ld parameters, %zu characters to learn from, %zu for the test\n", long(model.parameter_count()),
              text.train.size(), text.test.size());
  const std::vector<Tensor> parameters = model.parameters();
  const std::vector<optim::AdamGroup> groups = {{.parameters = model.matrices()},
                                                {.parameters = model.vectors(), .weight_decay = 0}};
  optim::AdamW optimizer(
      groups, {.lr = settings.lr, .beta2 = 0.99, .weight_decay = 0.1, .stochastic_rounding = settings.bf16_parameters});
  const int64_t warmup = std::min<int64_t>(100, settings.steps / 3 + 1);
  optim::LinearWarmup schedule(optimizer,
                               {.steps = warmup,
                                .start_factor = 0.01,
                                .then = optim::cosine_curve({.steps = std::max<int64_t>(settings.steps - warmup, 1)})});

  const int64_t context = model.options().context;
  examples::TextProgress progress(settings.steps, settings.batch_size * context);
  std::map<std::string, std::string> fields;
  const io::CheckpointParts parts = {
      .model = &model, .optimizer = &optimizer, .schedule = &schedule, .fields = &fields};
  const auto save = [&] {
    fields = progress.fields();
    distributed::save_checkpoint(group, settings.save, parts);
  };
  if (!settings.resume.empty()) {
    io::load_checkpoint(settings.resume, parts);
    progress.restore(fields);
  }

  const int64_t every = settings.samples > 0 ? std::max<int64_t>(settings.steps / settings.samples, 1) : 0;
  const int64_t share = settings.batch_size / group.size();
  bool stopped = false;
  while (progress.steps_done() < settings.steps && !stopped) {
    // Every rank draws the whole batch and takes its own rows, so the batches do not depend on the number of ranks.
    const auto batch = examples::random_batch(text.train, settings.batch_size, context);
    const Tensor inputs = batch.inputs.narrow(0, group.rank() * share, share);
    const Tensor targets = batch.targets.narrow(0, group.rank() * share, share);
    Tensor loss;
    {
      const Autocast autocast(examples::compute_dtype(settings));
      loss = parallel.with(share, [&](examples::Gpt& gpt) { return gpt.loss(inputs, targets); });
    }
    optimizer.zero_grad();
    loss.backward();
    nn::clip_grad_norm(parameters, 1.0);
    optimizer.step();
    schedule.step();
    progress.step(examples::mean_over(group, loss), schedule.lr());
    stopped = examples::interrupted(group);
    if (every == 0 || progress.steps_done() % every != 0) continue;
    progress.show(write(model, "\n", 200, settings.temperature));
    if (!settings.save.empty()) save();
  }

  if (stopped) return examples::save_and_stop(settings, save);
  std::printf("test loss: %.3f nats per character\n", evaluate(model, text.test));
  return EXIT_SUCCESS;
}

int main(int argc, char** argv) { return examples::run(train, argc, argv); }
