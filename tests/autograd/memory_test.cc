// What history costs: what is kept, what is left behind, how deep a chain may be.
#include <pthread.h>

#include "tensor/dispatch/observer.h"
#include "tests/autograd/checks.h"

namespace weft {
namespace {

using testing::node;
using testing::numbers;
using testing::Numbers;

class Memory : public testing::NoLeaks {};

Tensor big() { return parameter(rand({1000}, f64)); }

// ---- only what the rules of inputs that need a gradient read is kept ----

TEST_F(Memory, OpsWhoseRulesReadNothingKeepNothing) {
  const Tensor w = big(), v = big();
  for (const Tensor& y : {w + v, w - v, -w, w + 1.0, w * 3.0, w / 3.0, 2.0 - w, w.sum(), w.view({10, 100}), w.clone(),
                          w.slice(0, 5, 10), w.to(f32), w.expand({3, 1000}), cat({w, v})})
    EXPECT_EQ(node(y).saved_bytes(), 0) << node(y).describe();
}

TEST_F(Memory, AProductKeepsWhatTheOtherSideNeeds) {
  const Tensor w = big(), v = big(), constant = rand({1000}, f64);
  EXPECT_EQ(node(w * v).saved_bytes(), 16000);
  EXPECT_EQ(node(w * constant).saved_bytes(), 8000);
  EXPECT_EQ(node(constant * w).saved_bytes(), 8000);
  EXPECT_EQ(node(w / constant).saved_bytes(), 8000);
}

TEST_F(Memory, AProductDoesNotKeepTheParameterOfAConstant) {
  // With respect to w only the constant is read: w itself is free to go.
  const int64_t before = memory_stats().live_bytes;
  Tensor y;
  {
    const Tensor w = big();
    y = (w * 2.0) * ones({1000}, f64);
  }
  EXPECT_LT(memory_stats().live_bytes - before, 3 * 8000 + 3000) << "y, the constant and the leaf, not w * 2";
}

TEST_F(Memory, AMatrixProductKeepsOnlyTheSideThatIsNeeded) {
  const Tensor w = parameter(rand({10, 20}, f64)), x = rand({5, 10}, f64);
  EXPECT_EQ(node(matmul(x, w)).saved_bytes(), 5 * 10 * 8);
  EXPECT_EQ(node(matmul(x, w.detach() * w)).edges().size(), 2u);
}

TEST_F(Memory, FunctionsKeepTheirResultWhereThatIsEnough) {
  const Tensor w = big();
  for (const Tensor& y : {exp(w), tanh(w), sigmoid(w), sqrt(w), relu(w), reciprocal(w)})
    EXPECT_EQ(node(y).saved_bytes(), 8000) << node(y).describe();
}

TEST_F(Memory, ASavedResultDoesNotKeepItsOwnHistoryAlive) {
  const int64_t objects = detail::live_objects(), bytes = memory_stats().live_bytes;
  { const Tensor y = exp(exp(big())); }
  EXPECT_EQ(detail::live_objects(), objects);
  EXPECT_EQ(memory_stats().live_bytes, bytes);
}

TEST_F(Memory, UnderNoGradNothingIsKept) {
  const Tensor w = big();
  NoGrad guard;
  const int64_t before = memory_stats().live_bytes;
  Tensor y = w;
  for (int i = 0; i < 10; ++i) y = exp(y) * 0.1;
  EXPECT_LE(memory_stats().live_bytes - before, 9216);
}

// ---- buffers ----

TEST_F(Memory, SlicesOfOneTensorCostOnePendingBuffer) {
  const int64_t rows = 64, columns = 4096;
  const Tensor w = parameter(ones({rows, columns}, f64));
  const Tensor y = w * 1.0;
  Tensor sum = zeros({columns}, f64);
  for (int64_t i = 0; i < rows; ++i) sum = sum + y[i];
  const int64_t whole = rows * columns * 8;
  reset_peak_memory();
  const int64_t before = memory_stats().live_bytes;
  sum.sum().backward();
  const int64_t extra = memory_stats().peak_bytes - before;
  // The pending buffer of y, the gradient of w made of it, and rows: not a buffer per slice.
  EXPECT_LT(extra, 3 * whole);
  EXPECT_EQ(w.grad().sum().item<double>(), static_cast<double>(rows * columns));
}

TEST_F(Memory, SlicesAddExactlyWhereTheyOverlap) {
  const Tensor w = parameter(ones({6}, f64));
  const Tensor y = w * 1.0;
  Tensor sum = zeros({3}, f64);
  for (int64_t i = 0; i < 4; ++i) sum = sum + y.slice(0, i, i + 3) * static_cast<double>(i + 1);
  sum.sum().backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({1, 3, 6, 9, 7, 4}));
}

TEST_F(Memory, ASliceAddsIntoNoBufferThatAnotherTensorHolds) {
  const Tensor w = parameter(ones({3}, f64)), v = parameter(ones({3}, f64));
  const Tensor y = w * 1.0, z = v * 1.0;
  const Tensor part = y.slice(0, 0, 1);
  // One gradient arrives at y and z; the slice, which is older than the sum, adds to that of y only.
  (((y + z) * tensor({2.0, 3.0, 4.0}, f64)).sum() + part.sum() * 10.0).backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({12, 3, 4}));
  EXPECT_EQ(numbers(v.grad()), Numbers({2, 3, 4}));
}

TEST_F(Memory, ViewsOfEveryKindAddIntoOneBuffer) {
  const Tensor w = parameter(ones({2, 3}, f64));
  const Tensor y = w * 1.0;
  const Tensor total = y.sum() + y[0].sum() * 2.0 + y.t()[2].sum() * 4.0 + y.flip({0})[0].sum() * 8.0 +
                       y.view({6}).slice(0, std::nullopt, std::nullopt, -2).sum() * 16.0 + y.diagonal().sum() * 32.0 +
                       y.as_strided({2}, {2}, 1).sum() * 64.0 + y.view({6}).unfold(0, 4, 2).sum() * 128.0;
  total.backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({1 + 2 + 32 + 128, 1 + 2 + 16 + 64 + 128, 1 + 2 + 4 + 256, 1 + 8 + 16 + 64 + 256,
                                        1 + 8 + 32 + 128, 1 + 4 + 8 + 16 + 128}));
}

TEST_F(Memory, AViewOfTheWholePassesItsGradientOn) {
  const Tensor x = parameter(ones({4, 1, 6}));
  const auto gradient = [&](const Tensor& view, const Tensor& g) {
    return grad(std::vector<Tensor>{view}, std::vector<Tensor>{x}, {.seeds = {g}})[0];
  };
  for (const Tensor& view : {slice(x, 0), slice(x, 2, 0, 6), select(x, 1, 0), unfold(x, 2, 3, 3),
                             shrink(x, {{0, 4}, {0, 1}, {0, 6}}), as_strided(x, {24}, {1})}) {
    const Tensor g = rand(view.shape()), found = gradient(view, g);
    EXPECT_TRUE(found.shares_storage(g)) << view.shape();
    EXPECT_TRUE(equal(found, g.reshape(x.shape())));
  }
  for (const Tensor& view : {slice(x, 0, 1), slice(x, 2, {}, {}, -1), diagonal(x, 0, 0, 2), as_strided(x, {24}, {0})}) {
    const Tensor g = rand(view.shape()), found = gradient(view, g);
    EXPECT_FALSE(found.shares_storage(g)) << view.shape();
    EXPECT_TRUE(allclose(found.sum(), g.sum()));
  }
}

/// The most bytes that backward of `y` needed beside what was there, per byte of the seed.
double peak_of_backward(const Tensor& y) {
  const Tensor seed = rand(y.shape(), y.dtype());
  reset_peak_memory();
  const int64_t before = memory_stats().live_bytes;
  y.backward(seed);
  return static_cast<double>(memory_stats().peak_bytes - before) / static_cast<double>(seed.numel() * 4);
}

// Zeros that a rule selects are one number, not a tensor. (A mask of truth values is a quarter.)
TEST_F(Memory, ZerosThatARuleSelectsTakeNoMemory) {
  const Shape shape{256, 1024};
  const Tensor mask = rand(shape) > 0.5, x = parameter(randn(shape)), bound = zeros(shape);
  EXPECT_LT(peak_of_backward(where(mask, x, bound)), 1.3);
  EXPECT_LT(peak_of_backward(where(mask, bound, x)), 2.3) << "the gradient is added";
  const auto fresh = [&] { return parameter(x.detach().clone()); };
  EXPECT_LT(peak_of_backward(relu6(fresh())), 2.0);
  EXPECT_LT(peak_of_backward(clip(fresh(), 0.0, std::nullopt)), 1.5);
  EXPECT_LT(peak_of_backward(clamp_min(fresh(), bound)), 1.5);
  EXPECT_LT(peak_of_backward(fmax(fresh(), bound)), 2.0);
  EXPECT_LT(peak_of_backward(hardswish(fresh())), 3.75);
  EXPECT_LT(peak_of_backward(nan_to_num(fresh())), 1.5);
  EXPECT_LT(peak_of_backward(masked_select(fresh(), mask)), 3) << "of a seed of half the size";
}

TEST_F(Memory, ASignIsChangedInPlace) {
  const auto fresh = [] { return parameter(rand({256, 1024}) + 0.5); };
  EXPECT_LT(peak_of_backward(cos(fresh())), 1.5);
  EXPECT_LT(peak_of_backward(reciprocal(fresh())), 1.5);
  EXPECT_LT(peak_of_backward(huber(fresh(), zeros({256, 1024}))), 1.5) << "limited in place too";
}

TEST_F(Memory, AGradientIsAddedToASumThatAnotherHolds) {
  for (const bool transposed : {false, true}) {
    const Tensor x = parameter(randn({512, 512})), factor = randn({512, 512});
    const Tensor product = transposed ? (x.t() * factor).t() : x * factor;
    const Tensor seed = rand({512, 512}), kept = seed.clone(), y = x + product;
    reset_peak_memory();
    const int64_t before = memory_stats().live_bytes;
    y.backward(seed);
    const double peak = static_cast<double>(memory_stats().peak_bytes - before) / (512 * 512 * 4);
    EXPECT_LT(peak, transposed ? 2.1 : 1.1);
    EXPECT_TRUE(equal(seed, kept));
    EXPECT_TRUE(equal(x.grad(), seed + seed * (transposed ? factor.t() : factor)));
    EXPECT_TRUE(x.grad().is_contiguous());
  }
}

struct Runs final : Observer {
  explicit Runs(std::string of) : name(std::move(of)) {}
  std::string name;
  int count = 0;
  void begin(const ObserverEvent& event) override {
    count += event.kind == ObserverEvent::Kind::backward && event.name == name;
  }
  void end(const ObserverEvent&) override {}
};

// Each y.t() is a view of its own. If each had a gradient, a piece would cost as much as all of y.
TEST_F(Memory, PiecesOfViewsAddIntoOneBuffer) {
  const Tensor w = parameter(ones({2, 50}, f64));
  const Tensor y = w * 1.0;
  Tensor sum = zeros({2}, f64);
  for (int64_t i = 0; i < 50; ++i) sum = sum + y.t()[i] * static_cast<double>(i);
  Runs runs("select");
  {
    const ObserverScope scope(runs);
    sum.sum().backward();
  }
  EXPECT_EQ(runs.count, 1);
  EXPECT_TRUE(equal(w.grad(), arange(0, 50, 1, f64).expand({2, 50})));
}

TEST_F(Memory, PiecesOfViewsThatAreWantedOrHookedAreSeen) {
  const Tensor w = parameter(ones({2, 3}, f64));
  const Tensor y = w * 1.0;
  const Tensor other = y.t(), hooked = y.t(), shared = y.t();
  Numbers seen;
  hooked.register_hook([&](const Tensor& g) { return seen = numbers(g), g * 2.0; });
  const Tensor total = (other[0] * 3.0 + hooked[1] * 5.0 + shared[2] * 7.0 + shared[2] * 11.0).sum() + y.sum();
  const std::vector<Tensor> found = grad({total}, {w, other}, {.retain_graph = true});
  EXPECT_EQ(numbers(found[0]), Numbers({4, 11, 19, 4, 11, 19}));
  EXPECT_EQ(numbers(found[1]), Numbers({3, 3, 0, 0, 0, 0}));
  EXPECT_EQ(seen, Numbers({0, 0, 5, 5, 0, 0}));
  total.backward({.create_graph = true});
  EXPECT_EQ(numbers(w.grad()), Numbers({4, 11, 19, 4, 11, 19}));
  Tensor(w).zero_grad();
}

// ---- graphs that end in other ways than backward ----

TEST_F(Memory, AGraphDroppedWithoutBackwardLeavesNothing) {
  const Tensor w = big();
  const Tensor y = tanh(exp(w) * w).sum();
}

TEST_F(Memory, AGraphUsedWithCreateGraphLeavesNothingAfterZeroGrad) {
  Tensor w = big();
  (w * w * w).sum().backward({.create_graph = true});
  EXPECT_TRUE(w.grad().requires_grad());
  w.zero_grad();
}

TEST_F(Memory, FunctionalGradientsOfHigherOrderLeaveNothing) {
  const Tensor w = big();
  const Tensor d = grad({exp(w * w).sum()}, {w}, {.create_graph = true})[0];
  const Tensor dd = grad({d.sum()}, {w}, {.create_graph = true})[0];
}

TEST_F(Memory, AnErrorHalfwayThroughBackwardLeavesNothing) {
  const Tensor w = big();
  Tensor y = w * w;
  y.register_hook([](const Tensor&) -> Tensor { throw Error("stop"); });
  EXPECT_NE(error_of([&] { exp(y).sum().backward(); }), "");
}

TEST_F(Memory, ManyStepsStayAtOneLevel) {
  Tensor w = big();
  int64_t level = 0;
  for (int step = 0; step < 50; ++step) {
    w.zero_grad();
    (tanh(w) * w).sum().backward();
    NoGrad guard;
    w.sub_(w.grad() * 0.01);
    if (step == 1) level = memory_stats().live_bytes;
  }
  EXPECT_EQ(memory_stats().live_bytes, level);
}

// ---- depth ----

double chain(int64_t length) {
  const Tensor w = parameter(full({}, 1.0, f64));
  Tensor y = w;
  for (int64_t i = 0; i < length; ++i) y = y + 1.0;
  y.backward();
  return w.grad().item<double>();
}

TEST_F(Memory, AChainOfAMillionOpsIsRunAndFreed) { EXPECT_EQ(chain(1000000), 1.0); }

TEST_F(Memory, AChainIsFreedWithoutBackward) {
  Tensor y = parameter(full({}, 1.0, f64));
  for (int i = 0; i < 300000; ++i) y = y * 1.0;
}

TEST_F(Memory, AChainOfWritesInPlaceIsFreed) {
  Tensor y = parameter(full({}, 1.0, f64)) * 1.0;
  for (int i = 0; i < 100000; ++i) y.add_(1.0);
  y.backward();
}

TEST_F(Memory, AChainWithinGradAndASecondOrder) {
  const Tensor w = parameter(full({}, 1.0, f64));
  Tensor y = w;
  for (int i = 0; i < 20000; ++i) y = y * w;
  const Tensor d = grad({y}, {w}, {.create_graph = true})[0];
  EXPECT_EQ(d.item<double>(), 20001.0);
  EXPECT_EQ(grad({d}, {w})[0].item<double>(), 20001.0 * 20000.0);
}

TEST_F(Memory, AThreadWithASmallStackIsEnough) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 256 * 1024), 0);
  pthread_t thread;
  double result = 0;
  auto body = [](void* out) -> void* {
    *static_cast<double*>(out) = chain(200000);
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, body, &result), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(result, 1.0);
}

// A square of the longer side would take 72 MB.
TEST_F(Memory, TheGradientOfAPseudoinverseIsAsLongAsTheMatrix) {
  for (const Shape& shape : {Shape{2, 3000}, Shape{3000, 2}}) {
    const Tensor a = parameter(rand(shape, f64)), y = pinv(a), g = rand(y.shape(), f64);
    reset_peak_memory();
    const int64_t before = memory_stats().live_bytes;
    y.backward(g);
    EXPECT_LT(memory_stats().peak_bytes - before, 4 << 20) << shape;
    EXPECT_EQ(a.grad().shape(), shape);
  }
}

}  // namespace
}  // namespace weft
