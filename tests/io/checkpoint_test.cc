// Checkpoints: stopping in the middle of an epoch and carrying on in a new process is the same as never having stopped,
// and a file that does not fit changes nothing.
#include "io/checkpoint.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>

#include "data/loader.h"
#include "data/synthetic_digits.h"
#include "data/transform.h"
#include "io/safetensors.h"
#include "nn/nn.h"
#include "optim/optim.h"
#include "tensor/all.h"
#include "tensor/memory/allocator.h"
#include "tests/io/files.h"
#include "tests/io/states.h"

namespace weft {
namespace {

using test::expect_same;
using test::Folder;

struct Net : nn::Module {
  nn::Conv2d conv =
      register_module("conv", nn::Conv2d({.in_channels = 1, .out_channels = 4, .kernel_size = 3, .padding = 1}));
  nn::BatchNorm2d norm = register_module("norm", nn::BatchNorm2d(4));
  nn::Dropout dropout = register_module("dropout", nn::Dropout(0.3));
  nn::Linear head;
  explicit Net(int64_t classes = 10) : head(register_module("head", nn::Linear(4 * 14 * 14, classes))) {}
  Tensor forward(const Tensor& x) {
    return head(dropout(max_pool2d(relu(norm(conv(x))), {.kernel_size = 2}).flatten(1)));
  }
};

/// A training run with everything random in it: shuffling, shifted images, dropout.
struct Training {
  explicit Training(uint64_t seed) {
    manual_seed(seed);
    model.emplace();
    optimizer.emplace(model->parameters(), optim::AdamWOptions{.lr = 3e-3});
    schedule.emplace(*optimizer, optim::CosineOptions{.steps = 100});
  }
  io::CheckpointParts parts() {
    return {.model = &*model, .optimizer = &*optimizer, .schedule = &*schedule, .loader = &loader, .fields = &fields};
  }
  /// Trains until `fields["step"]` is `last`; leaves an epoch in the middle for that.
  void train(int64_t last) {
    int64_t step = std::stoll(fields.at("step"));
    while (step < last) {
      for (const auto& [images, labels] : loader) {
        Tensor loss = nn::cross_entropy(model->forward(images), labels);
        optimizer->zero_grad();
        loss.backward();
        optimizer->step();
        schedule->step();
        if (++step == last) break;
      }
    }
    fields["step"] = std::to_string(step);
  }
  StateDict result() { return model->state_dict(); }

  std::optional<Net> model;
  std::optional<optim::AdamW> optimizer;
  std::optional<optim::CosineAnnealing> schedule;
  data::MappedDataset<2> dataset = data::map(data::synthetic_digits({.count = 300}), data::RandomShift{2});
  data::DataLoader<2> loader{dataset, {.batch_size = 10, .shuffle = true, .prefetch = 2}};
  std::map<std::string, std::string> fields = {{"step", "0"}};
};

/// What the second process does.
void carry_on(const std::string& folder) {
  Training run(999);  // weights, order and masks of its own, all of which the checkpoint replaces
  io::load_checkpoint(folder + "/half", run.parts());
  ASSERT_EQ(run.fields.at("step"), "50");
  run.train(100);
  io::save_safetensors(folder + "/result", run.result());
}

TEST(Checkpoint, FiftyAndFiftyIsAHundred) {
  if (const char* given = std::getenv("WEFT_CHECKPOINT_FOLDER")) return carry_on(given);
  const Folder folder;
  {
    Training half(1);
    half.train(50);  // 30 steps are an epoch
    io::save_checkpoint(folder / "half", half.parts());
  }
  Training straight(1);
  straight.train(100);  // also passes step 50 without a break
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::setenv("WEFT_CHECKPOINT_FOLDER", (folder / ".").c_str(), 1);
    ::unsetenv("TEST_TOTAL_SHARDS");
    ::execl("/proc/self/exe", "checkpoint_test", "--gtest_filter=Checkpoint.FiftyAndFiftyIsAHundred",
            static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  expect_same(straight.result(), io::load_safetensors(folder / "result"));
}

TEST(Checkpoint, FieldsAndRandomState) {
  const Folder folder;
  std::map<std::string, std::string> fields = {{"epoch", "3"}, {"", "empty"}, {"best", "0.1 \"ü\"\n"}, {"crc32", "x"}};
  const auto saved = fields;
  manual_seed(UINT64_MAX);
  rand({100});
  const RandomState state = random_state();
  io::save_checkpoint(folder / "a", {.fields = &fields});
  manual_seed(1);
  fields = {{"other", "gone"}};
  io::load_checkpoint(folder / "a", {.fields = &fields});
  EXPECT_EQ(fields, saved);
  EXPECT_EQ(random_state(), state);
  manual_seed(1);
  io::load_checkpoint(folder / "a", {.random = false});
  EXPECT_EQ(random_state(), (RandomState{1, 0}));
}

TEST(Checkpoint, AllOrNothing) {
  const Folder folder;
  Training run(1);
  run.train(3);
  io::save_checkpoint(folder / "a", run.parts());
  Training other(2);
  other.train(2);
  Net small(5);
  const StateDict weights = other.model->clone_state();
  const optim::State rates = other.optimizer->state_dict(), steps = other.schedule->state_dict();
  const std::string position = other.loader.position();
  const RandomState random = random_state();
  const auto expect_unchanged = [&] {
    expect_same(weights, other.model->state_dict());
    EXPECT_EQ(rates.numbers, other.optimizer->state_dict().numbers);
    expect_same(rates.tensors, other.optimizer->state_dict().tensors);
    EXPECT_EQ(steps.numbers, other.schedule->state_dict().numbers);
    EXPECT_EQ(position, other.loader.position());
    EXPECT_EQ(random, random_state());
    EXPECT_EQ(other.fields.at("step"), "2");
  };
  // Each of these fails later than the ones before it.
  io::CheckpointParts parts = other.parts();
  parts.model = &small;
  EXPECT_SAYS(test::io_error([&] { io::load_checkpoint(folder / "a", parts); }), "head.weight");
  expect_unchanged();
  optim::AdamW fewer(other.model->head.parameters());
  parts = other.parts();
  parts.optimizer = &fewer;
  EXPECT_SAYS(test::io_error([&] { io::load_checkpoint(folder / "a", parts); }), "does not fit");
  expect_unchanged();
  data::DataLoader<2> wider(other.dataset, {.batch_size = 11, .shuffle = true});
  parts = other.parts();
  parts.loader = &wider;
  EXPECT_SAYS(test::io_error([&] { io::load_checkpoint(folder / "a", parts); }), "batches of 10");
  expect_unchanged();
  io::load_checkpoint(folder / "a", other.parts());
  expect_same(run.model->state_dict(), other.model->state_dict());
  EXPECT_EQ(other.fields.at("step"), "3");
}

TEST(Checkpoint, PartsThatAreMissingOrOfAnotherDtype) {
  const Folder folder;
  Net model;
  optim::SGD optimizer(model.parameters(), {.lr = 0.1});
  io::save_checkpoint(folder / "model", {.model = &model});
  EXPECT_SAYS(
      test::io_error([&] { io::load_checkpoint(folder / "model", {.model = &model, .optimizer = &optimizer}); }),
      "holds no optimizer");
  io::save_checkpoint(folder / "none", {.random = false});
  EXPECT_SAYS(test::io_error([&] { io::load_checkpoint(folder / "none", {.model = &model, .random = false}); }),
              "holds no model");
  EXPECT_SAYS(test::io_error([&] { io::load_checkpoint(folder / "none", {}); }), "holds no random");
  Net wide;
  wide.to(f64);
  EXPECT_SAYS(test::io_error([&] { io::load_checkpoint(folder / "model", {.model = &wide}); }),
              "is f32 in the checkpoint and f64");
  optim::Ema average(model, 0.5), wide_average(wide, 0.5);
  io::save_checkpoint(folder / "narrow", {.average = &average});
  io::load_checkpoint(folder / "narrow", {.average = &wide_average});  // it keeps all digits
  io::save_checkpoint(folder / "wide", {.average = &wide_average});
  EXPECT_SAYS(test::io_error([&] { io::load_checkpoint(folder / "wide", {.average = &average}); }),
              "is f64 in the checkpoint and f32 in the average");
  io::save_safetensors(folder / "plain", model.state_dict());
  EXPECT_SAYS(test::io_error([&] { io::load_checkpoint(folder / "plain", {.model = &model}); }), "not a checkpoint");
  EXPECT_SAYS(test::io_error([&] { io::load_checkpoint(folder / "absent", {.model = &model}); }), "absent");
}

/// An optimizer with numbers of its own per parameter, a schedule whose state is infinite at first, and an average.
struct Rest {
  nn::Linear model{3, 2};
  optim::NAdam optimizer{model.parameters(), {.lr = 0.1}};
  optim::ReduceOnPlateau schedule{optimizer, {.factor = 0.5, .patience = 1}};
  optim::Ema average{model, 0.75};

  void step(double metric) {
    optimizer.zero_grad();
    sum(square(model(ones({4, 3})) - 1.0)).backward();
    optimizer.step();
    average.update();
    schedule.step(metric);
  }
  io::CheckpointParts parts() {
    return {.model = &model, .optimizer = &optimizer, .schedule = &schedule, .average = &average};
  }
};

TEST(Checkpoint, HoldsAveragesAndStatesOfAllKinds) {
  const Folder folder;
  Rest first, second;
  io::save_checkpoint(folder / "fresh", first.parts());
  second.step(1);
  io::load_checkpoint(folder / "fresh", second.parts());
  EXPECT_EQ(second.average.updates(), 0);
  EXPECT_EQ(second.schedule.best(), std::numeric_limits<double>::infinity());
  for (int i = 0; i < 3; ++i) first.step(1);
  EXPECT_EQ(first.optimizer.lr(), 0.05);
  io::save_checkpoint(folder / "a", first.parts());
  io::load_checkpoint(folder / "a", second.parts());
  for (int i = 0; i < 3; ++i) {
    first.step(2);
    second.step(2);
  }
  EXPECT_EQ(first.optimizer.lr(), second.optimizer.lr());
  expect_same(first.model.state_dict(), second.model.state_dict());
  expect_same(first.average.state_dict().tensors, second.average.state_dict().tensors);
  {
    const auto averaged = first.average.applied();
    EXPECT_SAYS(test::io_error([&] { io::save_checkpoint(folder / "b", first.parts()); }), "the average is applied");
    EXPECT_SAYS(test::io_error([&] { io::load_checkpoint(folder / "a", first.parts()); }), "the average is applied");
  }
  io::save_checkpoint(folder / "model", {.model = &first.model});
  EXPECT_SAYS(test::io_error([&] { io::load_checkpoint(folder / "model", {.average = &first.average}); }),
              "holds no average");
}

/// Training in f16 whose first scale is so large that steps are left out, and that soon grows again.
struct Scaled {
  nn::Linear model{8, 4};
  optim::SGD optimizer{model.parameters(), {.lr = 0.1, .momentum = 0.9}};
  optim::GradScaler scaler{{.init_scale = 0x1p20, .growth_interval = 3}};

  void step() {
    optimizer.zero_grad();
    Tensor loss;
    {
      const Autocast autocast(f16);
      loss = sum(square(model(ones({16, 8})) - 1.0));
    }
    scaler.scale(loss).backward();
    scaler.step(optimizer);
    scaler.update();
  }
  io::CheckpointParts parts() { return {.model = &model, .optimizer = &optimizer, .scaler = &scaler}; }
};

// A switch that is off is not in a state, which must not keep the one of a file that was taken back.
TEST(Checkpoint, TakesBackSwitches) {
  const Folder folder;
  nn::Linear model(3, 2);
  optim::SGD with(model.parameters(), {.lr = 1, .master_weights = true}), without(model.parameters(), {.lr = 1});
  optim::OneCycle longer(with, {.max_lr = 1, .steps = 90, .cycle_momentum = false});
  optim::OneCycle shorter(without, {.max_lr = 1, .steps = 10, .cycle_momentum = false});
  for (int i = 0; i < 50; ++i) longer.step();
  io::save_checkpoint(folder / "a", {.optimizer = &with, .schedule = &longer});
  EXPECT_SAYS(test::io_error([&] { io::load_checkpoint(folder / "a", {.optimizer = &without, .schedule = &shorter}); }),
              "beyond the cycle");
  EXPECT_EQ(without.get("master_weights"), 0);
  EXPECT_EQ(shorter.steps(), 0);
}

TEST(Checkpoint, GradScalerCarriesOn) {
  const Folder folder;
  manual_seed(3);
  Scaled straight, resumed;
  for (int i = 0; i < 11; ++i) straight.step();
  EXPECT_GT(straight.scaler.skipped(), 0);
  EXPECT_GT(straight.scaler.growth_tracker(), 0) << "or the test would not see that it is kept";
  io::save_checkpoint(folder / "a", straight.parts());
  io::load_checkpoint(folder / "a", resumed.parts());
  EXPECT_EQ(resumed.scaler.state_dict(), straight.scaler.state_dict());
  for (int i = 0; i < 7; ++i) straight.step(), resumed.step();
  EXPECT_EQ(resumed.scaler.state_dict(), straight.scaler.state_dict());
  expect_same(straight.model.state_dict(), resumed.model.state_dict());

  // A scaler that does not fit changes nothing, and is asked for only where there is one.
  optim::GradScaler off({.enabled = false});
  io::save_checkpoint(folder / "off", {.scaler = &off});
  const auto before = resumed.scaler.state_dict();
  EXPECT_SAYS(test::io_error([&] { io::load_checkpoint(folder / "off", {.scaler = &resumed.scaler}); }), "missing");
  EXPECT_EQ(resumed.scaler.state_dict(), before);
  io::save_checkpoint(folder / "model", {.model = &straight.model});
  EXPECT_SAYS(test::io_error([&] { io::load_checkpoint(folder / "model", {.scaler = &off}); }), "holds no scaler");
}

/// Steps over three batches each.
struct Accumulated {
  nn::Linear model{3, 2};
  optim::Adam optimizer{model.parameters(), {.lr = 0.1}};
  optim::Accumulate accumulate{optimizer, 3};

  void batch(double target) { accumulate.backward(mean(square(model(ones({4, 3})) - target))); }
  io::CheckpointParts parts() { return {.model = &model, .optimizer = &optimizer, .accumulate = &accumulate}; }
};

TEST(Checkpoint, AccumulatedGradientsCarryOn) {
  const Folder folder;
  Accumulated straight, resumed;
  for (int i = 0; i < 5; ++i) straight.batch(i);
  resumed.batch(9);
  io::save_checkpoint(folder / "a", straight.parts());
  io::load_checkpoint(folder / "a", resumed.parts());
  EXPECT_EQ(resumed.accumulate.waiting(), 2);
  for (int i = 0; i < 2; ++i) straight.batch(7), resumed.batch(7);
  EXPECT_EQ(resumed.accumulate.waiting(), 1);
  expect_same(straight.model.state_dict(), resumed.model.state_dict());

  optim::Accumulate four(resumed.optimizer, 4);
  EXPECT_SAYS(test::io_error([&] { io::load_checkpoint(folder / "a", {.accumulate = &four}); }),
              "the state is of 3 batches a step, not 4");
  nn::Linear other(2, 2);
  optim::Adam of_other(other.parameters()), of_bias({resumed.model.bias()});
  optim::Accumulate another(of_other, 3), fewer(of_bias, 3);
  EXPECT_SAYS(test::io_error([&] { io::load_checkpoint(folder / "a", {.accumulate = &another}); }),
              "grad.0 is [2, 3] f32, its parameter [2, 2] f32");
  EXPECT_SAYS(test::io_error([&] { io::load_checkpoint(folder / "a", {.accumulate = &fewer}); }),
              "grad.0 is [2, 3] f32, its parameter [2] f32");
  EXPECT_EQ(another.waiting() + fewer.waiting(), 0);
  EXPECT_FALSE(other.weight().grad().defined());
}

// What was read of a part is released before the next one is loaded.
TEST(Checkpoint, LoadingNeedsLessThanAllPartsTwice) {
  const Folder folder;
  nn::Linear model(512, 512, {.bias = false});
  optim::Adam optimizer(model.parameters(), {.lr = 0.1});
  optim::Ema average(model, 0.5);
  model(ones({1, 512})).sum().backward();
  optimizer.step();
  const io::CheckpointParts parts = {.model = &model, .optimizer = &optimizer, .average = &average};
  io::save_checkpoint(folder / "a", parts);
  reset_peak_memory();
  const int64_t before = memory_stats().live_bytes;
  io::load_checkpoint(folder / "a", parts);
  EXPECT_LT(memory_stats().peak_bytes - before, 6.5 * 512 * 512 * 4);  // four tensors in the file
}

TEST(Checkpoint, AnyFlippedByteIsNoticed) {
  const Folder folder;
  nn::Linear model(2, 1);
  optim::SGD optimizer(model.parameters(), {.lr = 0.1});
  std::map<std::string, std::string> fields = {{"a", "b"}};
  const io::CheckpointParts parts = {.model = &model, .optimizer = &optimizer, .fields = &fields};
  io::save_checkpoint(folder / "a", parts);
  const std::string good = test::read_bytes(folder / "a");
  const StateDict before = model.clone_state();
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ 1);
    test::write_bytes(folder / "b", bytes);
    // Only the padding of the header could hold a change that means nothing, and '!' is no JSON.
    test::io_error([&] { io::load_checkpoint(folder / "b", parts); });
  }
  expect_same(before, model.state_dict());
  for (size_t length = 0; length < good.size(); ++length) {
    test::write_bytes(folder / "b", good.substr(0, length));
    test::io_error([&] { io::load_checkpoint(folder / "b", parts); });
  }
}

}  // namespace
}  // namespace weft
