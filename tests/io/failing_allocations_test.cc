// Files where memory runs out: a save leaves the old file, a load what it should have filled, and the error says which.
#include "tests/failing_allocations.h"

#include "io/checkpoint.h"
#include "io/npy.h"
#include "io/safetensors.h"
#include "io/trace.h"
#include "nn/nn.h"
#include "optim/optim.h"
#include "tensor/all.h"
#include "tests/io/files.h"
#include "tests/io/states.h"

namespace weft {
namespace {

using test::expect_same;
using test::fail_each_allocation;
using test::Folder;

/// What is thrown is a MemoryError that begins with the path.
auto names(const std::string& path) {
  return [path](const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const MemoryError& thrown) {
      EXPECT_TRUE(std::string(thrown.what()).starts_with(path + ": out of memory")) << thrown.what();
      EXPECT_EQ(thrown.detail, thrown.what());
    } catch (const std::exception& thrown) {
      ADD_FAILURE() << "no MemoryError but: " << thrown.what();
    }
  };
}

TEST(FailingAllocations, OfASaveLeaveTheOldFile) {
  const Folder folder;
  const std::string path = folder / "a", other = folder / "b";
  const StateDict tensors = {{"weight", arange(6, f32).view({2, 3})}, {"a \"b\"", ones({}, f64)}, {"none", ones({0})}};
  const io::Metadata metadata = {{"format", "pt"}, {"a \n text", "\\ grüß"}};
  io::save_safetensors(other, tensors, metadata);
  io::save_safetensors(path, {});
  const std::string old = test::read_bytes(path), complete = test::read_bytes(other);
  bool saved = false;  // by a call that got by without the memory
  fail_each_allocation(
      [&] {
        io::save_safetensors(path, tensors, metadata);
        saved = true;
      },
      [&](const std::exception_ptr& error) {
        names(path)(error);
        EXPECT_EQ(test::read_bytes(path), saved ? complete : old);
        EXPECT_EQ(folder.files(), 2);
        test::write_bytes(path, old);
        saved = false;
      });
  EXPECT_EQ(test::read_bytes(path), complete);
}

TEST(FailingAllocations, OfATraceLeaveTheOldFile) {
  const Folder folder;
  const std::string path = folder / "a";
  Profiler profiler({.record_shapes = true});
  {
    const ProfilerScope scope(profiler);
    const RecordFunction section("a section with a long name");
    (void)exp(ones({2}));
  }
  io::save_trace(path, profiler);
  const std::string complete = test::read_bytes(path);
  fail_each_allocation([&] { io::save_trace(path, profiler); },
                       [&](const std::exception_ptr& error) {
                         names(path)(error);
                         EXPECT_EQ(test::read_bytes(path), complete);
                         EXPECT_EQ(folder.files(), 1);
                       });
}

/// Where an event cannot be recorded, the op fails as others do where memory runs out, and the others are recorded.
TEST(FailingAllocations, OfAProfilerLeaveARightTable) {
  const Tensor x = ones({2});
  int64_t failed = 0;
  for (int64_t nth = 1; nth < 12; ++nth) {
    Profiler profiler({.record_shapes = true});
    int64_t done = 0;
    {
      const ProfilerScope scope(profiler);
      const test::FailingAllocation failing(nth, test::FailingAllocation::Where::here);
      for (int i = 0; i < 3; ++i) {
        try {
          const RecordFunction section("a section with a long name");
          (void)exp(x);
          ++done;
        } catch (const std::bad_alloc&) {
          ++failed;
        } catch (const MemoryError&) {
          ++failed;
        }
      }
    }
    EXPECT_GE(done, 2) << nth;
    for (const ProfilerEvent& event : profiler.events()) {
      EXPECT_EQ(event.parent < 0, event.name != "exp") << nth;
      EXPECT_GE(event.end_ns, event.begin_ns);
    }
  }
  EXPECT_GT(failed, 0);
}

TEST(FailingAllocations, OfALoadAreMemoryErrorsWithThePath) {
  const Folder folder;
  const Tensor x = arange(6, f32).view({2, 3});
  const std::string path = folder / "a", npy = folder / "a.npy";
  io::save_npy(npy, x);
  io::save_safetensors(path, {{"x", x}, {"y", x + 1}}, {{"key", "a text that is longer than a pointer or two"}});
  Tensor back;
  fail_each_allocation([&] { back = io::load_npy(npy); }, names(npy));
  EXPECT_TRUE(equal(back, x));
  StateDict tensors;
  fail_each_allocation([&] { tensors = io::load_safetensors(path); }, names(path));
  expect_same(tensors, {{"x", x}, {"y", x + 1}});
}

struct Net : nn::Module {
  nn::Linear head = register_module("head", nn::Linear(3, 2));
  nn::BatchNorm1d norm = register_module("norm", nn::BatchNorm1d(2));
};

/// A model with what trains it.
struct Training {
  explicit Training(uint64_t seed) {
    manual_seed(seed);
    model.emplace();
    optimizer.emplace(model->parameters(), optim::AdamWOptions{.lr = 3e-3});
    schedule.emplace(*optimizer, optim::CosineOptions{.steps = 100});
    average.emplace(*model, 0.9);
    for (int step = 0; step < static_cast<int>(seed); ++step) {
      optimizer->zero_grad();
      square(model->norm(model->head(randn({4, 3})))).sum().backward();
      optimizer->step();
      schedule->step();
      average->update();
    }
  }
  io::CheckpointParts parts() {
    return {.model = &*model, .optimizer = &*optimizer, .schedule = &*schedule, .average = &*average};
  }
  /// All of it, copied.
  std::pair<StateDict, std::map<std::string, double>> state() const {
    StateDict tensors = model->state_dict();
    std::map<std::string, double> numbers;
    const auto add = [&](const std::string& part, const optim::State& state) {
      for (const auto& [name, tensor] : state.tensors) tensors[part + name] = tensor;
      for (const auto& [name, number] : state.numbers) numbers[part + name] = number;
    };
    add("optimizer.", optimizer->state_dict());
    add("schedule.", schedule->state_dict());
    add("average.", average->state_dict());
    for (auto& [name, tensor] : tensors) tensor = tensor.detach().clone();
    return {tensors, numbers};
  }
  std::optional<Net> model;
  std::optional<optim::AdamW> optimizer;
  std::optional<optim::CosineAnnealing> schedule;
  std::optional<optim::Ema> average;
};

TEST(FailingAllocations, OfACheckpointChangeNothing) {
  const Folder folder;
  const std::string path = folder / "a";
  Training saved(2), run(3);
  const auto before = run.state();
  fail_each_allocation([&] { io::save_checkpoint(path, saved.parts()); }, names(path));
  EXPECT_EQ(folder.files(), 1);
  fail_each_allocation([&] { io::load_checkpoint(path, run.parts()); },
                       [&](const std::exception_ptr& error) {
                         names(path)(error);
                         const auto found = run.state();
                         expect_same(found.first, before.first);
                         EXPECT_EQ(found.second, before.second);
                       });
  expect_same(run.state().first, saved.state().first);
  EXPECT_EQ(run.state().second, saved.state().second);
}

}  // namespace
}  // namespace weft
