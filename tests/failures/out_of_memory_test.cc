// What is left behind by an allocation that fails: what failed can be repeated, with the result of what never failed.
#include <gtest/gtest.h>

#include <atomic>
#include <climits>
#include <string>
#include <vector>

#include "io/checkpoint.h"
#include "tests/error_of.h"
#include "weft.h"

namespace weft {
namespace failures {

/// How many allocations of at least `smallest` bytes still pass; below 0: all.
std::atomic<int64_t> passing = -1;
size_t smallest = 0;

void check(size_t bytes) {
  if (bytes >= smallest && passing >= 0 && passing-- == 0) throw MemoryError("out of memory: this allocation fails");
}

// The linker makes the allocator's callers call the second of each two (see BUILD).
void* block(size_t bytes) asm("__real__ZN4weft6detail14allocate_blockEm");
void* failing_block(size_t bytes) asm("__wrap__ZN4weft6detail14allocate_blockEm");
void* failing_block(size_t bytes) { return check(bytes), block(bytes); }

void* object(size_t bytes) asm("__real__ZN4weft6detail15allocate_objectEm");
void* failing_object(size_t bytes) asm("__wrap__ZN4weft6detail15allocate_objectEm");
void* failing_object(size_t bytes) { return check(bytes), object(bytes); }

}  // namespace failures

namespace {

/// Calls `call` with the n-th allocation of at least `least` bytes failing (the first is 0); whether it did.
template <class F> bool fails_at(int64_t n, size_t least, const F& call) {
  failures::smallest = least;
  failures::passing = n;
  bool failed = false;
  try {
    call();
  } catch (const MemoryError&) {
    failed = true;
  }
  failures::passing = -1;
  return failed;
}

using Values = std::vector<double>;

Values values(const std::vector<Tensor>& tensors) {
  Values out;
  for (const Tensor& x : tensors) {
    const Values part = x.detach().to_vector<double>();
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

/// For each n: a new State, step() with its n-th allocation of at least `least` bytes failing, then step() again, after
/// which values() is what a step that never failed gives. Returns how many allocations failed, at most `most`.
template <class State> int expect_repeatable(size_t least = 0, int most = INT_MAX) {
  State never;
  never.step();
  const Values expected = never.values();
  int n = 0;
  for (; n < most; ++n) {
    State state;
    if (!fails_at(n, least, [&] { state.step(); })) break;
    state.step();
    EXPECT_TRUE(state.values() == expected) << "after allocation " << n << " had failed";
  }
  return n;
}

/// A parameter with a gradient.
Tensor trained(const Shape& shape, double value, DType dtype = f32) {
  Tensor out = parameter(full(shape, value, dtype));
  out.set_grad(full(shape, 0.5 * value, dtype));
  return out;
}

struct Unscaling {
  Tensor a = trained({3}, 1), b = trained({4}, 2);
  optim::SGD optimizer{{a, b}, {.lr = 0.1}};
  optim::GradScaler scaler;
  void step() { scaler.unscale_(optimizer); }
  Values values() const { return weft::values({a.grad(), b.grad()}); }
};

TEST(OutOfMemory, GradScalerDividesOnce) { EXPECT_GT(expect_repeatable<Unscaling>(), 0); }

// A step that failed is lost; the gradients of the next batch are divided as ever.
TEST(OutOfMemory, AfterAFailedStepAGradScalerGoesOn) {
  int failed = 0;
  for (;; ++failed) {
    Tensor w = trained({3}, 1);
    optim::SGD optimizer({w}, {.lr = 0.5, .momentum = 0.9});
    optim::GradScaler scaler({.init_scale = 4});
    if (!fails_at(failed, 0, [&] { scaler.step(optimizer); })) break;
    optimizer.zero_grad();
    w.set_grad(full({3}, 4.0));
    if (error_of([&] { scaler.step(optimizer); }) != "") {
      scaler.update(4);
      scaler.step(optimizer);
    }
    EXPECT_EQ(values({w}), Values(3, 0.5)) << "after allocation " << failed << " had failed";
  }
  EXPECT_GT(failed, 0);
}

/// The rounding needs memory after the momentum has taken the gradient, which it takes whole in the first step only.
/// (All values are exact in bf16.)
struct DampenedStep {
  Tensor w = trained({3}, 1, bf16);
  optim::SGD optimizer{{w}, {.lr = 0.5, .momentum = 0.9, .dampening = 0.5, .stochastic_rounding = true}};
  void step() { optimizer.step(); }
  Values values() const { return weft::values({w}); }
};

TEST(OutOfMemory, AFirstStepStaysTheFirst) { EXPECT_GT(expect_repeatable<DampenedStep>(), 0); }

constexpr int64_t kLarge = 1 << 16;

template <class Optimizer> struct FirstStep {
  Tensor a = trained({kLarge}, 1), b = trained({kLarge}, 2);
  Optimizer optimizer{std::vector<Tensor>{a, b}};
  void step() { optimizer.step(); }
  Values values() const { return weft::values({a, b}); }
};

// The first large allocations of a first step are those of all states, which it takes from the cache afterwards.
TEST(OutOfMemory, StatesAreMissedBeforeAnyParameterChanges) {
  EXPECT_EQ(expect_repeatable<FirstStep<optim::AdamW>>(kLarge, 4), 4);
  EXPECT_EQ(expect_repeatable<FirstStep<optim::RMSprop>>(kLarge, 2), 2);
  EXPECT_EQ(expect_repeatable<FirstStep<optim::Lion>>(kLarge, 2), 2);
}

/// A 16-bit value is cast for its average in f32.
struct Averaging {
  Tensor a = trained({3}, 1, bf16), b = trained({4}, 2), c = trained({5}, 4, bf16);
  optim::Swa average{std::vector<Tensor>{a, b, c}};
  void step() {
    if (average.updates() == 0) {
      average.update();
      NoGrad guard;
      for (Tensor w : {a, b, c}) w.mul_(3.0);
    }
    average.update();
  }
  Values values() const { return weft::values(average.averages()); }
};

TEST(OutOfMemory, AnAverageIncludesEachValueOnce) { EXPECT_GT(expect_repeatable<Averaging>(), 0); }

struct Cast {
  nn::Linear layer{2, 3};
  Cast() {
    NoGrad guard;
    for (Tensor w : layer.parameters()) w.fill_(1.0), w.set_grad(full(w.shape(), 2.0));
  }
  void step() { layer.to(f64); }
  Values values() const {
    for (const Tensor& w : layer.parameters()) EXPECT_EQ(w.grad().dtype(), f64);
    return weft::values(layer.parameters());
  }
};

TEST(OutOfMemory, ModulesAreCastWithTheirGradients) { EXPECT_GT(expect_repeatable<Cast>(), 0); }

TEST(OutOfMemory, AnomalyModeStaysOn) {
  const Tensor x = parameter(zeros({3}));
  int failed = 0;
  for (;; ++failed) {
    const AnomalyMode mode;
    if (!fails_at(failed, 0, [&] { (x * 2.0).sum().backward(); })) break;
    EXPECT_NE(error_of([&] { sqrt(x).sum().backward(); }), "") << "after allocation " << failed << " had failed";
  }
  EXPECT_GT(failed, 0);
}

TEST(OutOfMemory, AWriteThatIsNotRecordedSaysSo) {
  int unrecorded = 0;
  for (int failed = 0;; ++failed) {
    const Tensor w = parameter(ones({3}));
    Tensor x = w * 2.0;
    if (!fails_at(failed, 0, [&] { x.mul_(full({3}, 5.0)); })) break;
    const std::string error = error_of([&] { x.sum().backward(); });
    if (x.detach()[0].item<double>() == 2) {
      EXPECT_EQ(error, "");
    } else {
      EXPECT_NE(error.find("recording failed"), std::string::npos) << error;
      ++unrecorded;
    }
  }
  EXPECT_GT(unrecorded, 0);
}

/// A checkpoint's parts, trained for `steps`.
struct Parts {
  nn::Linear model{3, 2};
  optim::AdamW optimizer{model.parameters(), {.lr = 0.1}};
  optim::Ema average{model, 0.9};
  optim::GradScaler scaler;
  optim::Accumulate accumulate{optimizer, 2};
  explicit Parts(int steps) {
    NoGrad guard;
    for (Tensor w : model.parameters()) w.fill_(1.0);
    for (int i = 0; i < steps; ++i) {
      for (const Tensor& w : model.parameters()) w.set_grad(ones(w.shape()));
      optimizer.step();
      average.update();
    }
    const EnableGrad recording;
    accumulate.backward(model(full({1, 3}, static_cast<double>(steps))).sum());
  }
  io::CheckpointParts all() {
    return {
        .model = &model, .optimizer = &optimizer, .average = &average, .scaler = &scaler, .accumulate = &accumulate};
  }
  Values values() {
    const optim::State state = optimizer.state_dict(), averages = average.state_dict();
    std::vector<Tensor> tensors = model.parameters();
    for (const Tensor& w : model.parameters()) tensors.push_back(w.grad());
    for (const auto& [name, x] : state.tensors) tensors.push_back(x);
    for (const auto& [name, x] : averages.tensors) tensors.push_back(x);
    Values out = weft::values(tensors);
    for (const auto& [name, number] : state.numbers) out.push_back(number);
    return out;
  }
};

TEST(OutOfMemory, ACheckpointIsLoadedWhollyOrNotAtAll) {
  const std::string path = ::testing::TempDir() + "/out_of_memory.ckpt";
  Parts saved(3);
  io::save_checkpoint(path, saved.all());
  Parts parts(1);
  const Values before = parts.values();
  int failed = 0;
  while (fails_at(failed, 0, [&] { io::load_checkpoint(path, parts.all()); })) {
    EXPECT_EQ(parts.values(), before) << "after allocation " << failed << " had failed";
    ++failed;
  }
  EXPECT_GT(failed, 0);
  EXPECT_EQ(parts.values(), saved.values());
}

}  // namespace
}  // namespace weft
