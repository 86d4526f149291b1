// The Profiler on layers, backward, and layers that run fused.
#include "tensor/profiler.h"

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "nn/nn.h"
#include "tensor/autocast.h"
#include "tensor/functions_all.h"
#include "tensor/memory/allocator.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

using Kind = ObserverEvent::Kind;

struct Net : Layer<Net> {
  Linear first = register_module("first", Linear(20, 32));
  Sequential body = register_module("body", Sequential(Linear(32, 32), ReLU(), Linear(32, 3)));
  Tensor forward(const Tensor& x) { return body(relu(first(x))); }
};

/// The row of this name and kind; one without calls if there is none.
ProfilerRow row_of(const Profiler& profiler, Kind kind, bool in_backward, const std::string& name,
                   const ProfilerTableOptions& options = {}) {
  for (const ProfilerRow& row : profiler.rows(options))
    if (row.kind == kind && row.in_backward == in_backward && row.name == name) return row;
  return {.kind = kind, .in_backward = in_backward, .name = "", .inputs = ""};
}

TEST(Profiler, NamesLayersByTheirPlaceAndKeepsBackwardApart) {
  Net net;
  const Tensor x = randn({8, 20});
  Profiler profiler;
  constexpr int kSteps = 3;
  {
    const ProfilerScope scope(profiler);
    for (int step = 0; step < kSteps; ++step) square(net(x)).mean().backward();
  }
  for (const char* layer : {"Net", "first (Linear)", "body (Sequential)", "body.0 (Linear)", "body.1 (ReLU)"}) {
    const ProfilerRow row = row_of(profiler, Kind::layer, false, layer);
    EXPECT_EQ(row.calls, kSteps) << layer;
    EXPECT_GT(row.self_ns, 0) << layer;
    EXPECT_GE(row.total_ns, row.self_ns) << layer;
  }
  EXPECT_EQ(row_of(profiler, Kind::op, false, "linear").calls, 3 * kSteps);
  EXPECT_EQ(row_of(profiler, Kind::op, true, "linear").calls, 0);
  EXPECT_EQ(row_of(profiler, Kind::backward, true, "backward of linear").calls, 3 * kSteps);
  EXPECT_EQ(row_of(profiler, Kind::op, true, "matmul").calls, 5 * kSteps) << "the input needs no gradient";
  EXPECT_EQ(row_of(profiler, Kind::op, false, "matmul").calls, 0);
  EXPECT_EQ(row_of(profiler, Kind::layer, false, "body.0 (Linear)").bytes, kSteps * 8 * 32 * 4);
  EXPECT_SAYS(profiler.table(), "\nbody.0 (Linear) ");
  EXPECT_SAYS(profiler.table(), "  op in backward ");
}

TEST(Profiler, SelfTimesOfATrainingStepAddUp) {
  Net net;
  const Tensor x = randn({8, 20});
  Profiler profiler;
  {
    const ProfilerScope scope(profiler);
    square(net(x)).mean().backward();
  }
  const std::vector<ProfilerEvent> events = profiler.events();
  std::vector<int64_t> inside(events.size());
  int64_t outermost = 0, selves = 0;
  for (const ProfilerEvent& event : events) {
    const int64_t duration = event.end_ns - event.begin_ns;
    (event.parent < 0 ? outermost : inside[static_cast<size_t>(event.parent)]) += duration;
    if (event.parent < 0) continue;
    const ProfilerEvent& parent = events[static_cast<size_t>(event.parent)];
    EXPECT_NE(parent.kind, Kind::op) << event.name;
    EXPECT_EQ(event.in_backward, parent.in_backward) << event.name;
  }
  for (size_t i = 0; i < events.size(); ++i) EXPECT_LE(inside[i], events[i].end_ns - events[i].begin_ns);
  for (const ProfilerRow& row : profiler.rows()) selves += row.self_ns;
  EXPECT_EQ(selves, outermost);
}

TEST(Profiler, GroupsLayersByClass) {
  Sequential net(Sequential(Linear(4, 4), Linear(4, 4)), Linear(4, 4));
  Profiler profiler;
  {
    const ProfilerScope scope(profiler);
    net(randn({2, 4}));
  }
  const ProfilerTableOptions by_class = {.group_by_class = true};
  EXPECT_EQ(row_of(profiler, Kind::layer, false, "Linear", by_class).calls, 3);
  const ProfilerRow lists = row_of(profiler, Kind::layer, false, "Sequential", by_class);
  EXPECT_EQ(lists.calls, 2);
  EXPECT_EQ(lists.total_ns, row_of(profiler, Kind::layer, false, "Sequential").total_ns) << "the inner one is a part";
  EXPECT_EQ(lists.bytes, 3 * 2 * 4 * 4);
}

TEST(Profiler, SeesWhatBackwardRunsAgain) {
  Linear layer(4, 4);
  const Tensor x = randn({2, 4}).requires_grad_();
  Profiler profiler;
  {
    const ProfilerScope scope(profiler);
    autograd::checkpoint([&](const Tensor& in) { return exp(layer(in)); }, x).sum().backward();
  }
  EXPECT_EQ(row_of(profiler, Kind::layer, false, "Linear").calls, 1);
  EXPECT_EQ(row_of(profiler, Kind::layer, true, "Linear").calls, 1);
  EXPECT_EQ(row_of(profiler, Kind::op, true, "linear").calls, 1);
}

TEST(Profiler, AnExceptionInALayerLeavesARightTable) {
  Net net;
  Profiler profiler;
  {
    const ProfilerScope scope(profiler);
    EXPECT_SAYS(error_of([&] { net.body(randn({8, 5})); }), "in layer body.0 (Linear)");
    net(randn({8, 20}));
  }
  EXPECT_EQ(row_of(profiler, Kind::layer, false, "body (Sequential)").calls, 2);
  EXPECT_EQ(row_of(profiler, Kind::layer, false, "body.0 (Linear)").calls, 2);
  EXPECT_EQ(row_of(profiler, Kind::layer, false, "body.2 (Linear)").calls, 1);
  EXPECT_EQ(row_of(profiler, Kind::op, false, "linear").calls, 3);
  for (const ProfilerEvent& event : profiler.events()) {
    const bool outermost = event.name == "Net" || event.name == "randn" || event.name == "random_fill";
    if (outermost) {
      EXPECT_LT(event.parent, 0) << event.name;
    }
  }
}

TEST(Profiler, LeavesLayersFused) {
  manual_seed(1);
  Sequential net(Conv2d(4, 8, 3), BatchNorm2d(8), ReLU(), Conv2d(8, 8, 3));
  net.eval();
  const NoGrad guard;
  const Tensor x = randn({2, 4, 12, 12}), plain = net(x);
  Profiler profiler;
  Tensor y;
  {
    const ProfilerScope scope(profiler);
    y = net(x);
  }
  EXPECT_TRUE(equal(y, plain)) << "the same bits";
  EXPECT_EQ(row_of(profiler, Kind::op, false, "conv_scaled").calls, 2);
  EXPECT_EQ(row_of(profiler, Kind::op, false, "relu").calls, 0);
}

TEST(Profiler, LeavesTheMemoryOfBackwardAsItIs) {
  const Tensor w = parameter(rand({1 << 18}));
  const auto peak_of_backward = [&] {
    const Tensor loss = (relu(exp(w * 2.0)) / 3.0 - 1.0).neg().sum();
    reset_peak_memory();
    const int64_t before = memory_stats().peak_bytes;
    loss.backward();
    w.zero_grad();
    return memory_stats().peak_bytes - before;
  };
  const int64_t plain = peak_of_backward();
  EXPECT_GT(plain, 0);
  Profiler profiler;
  const ProfilerScope scope(profiler);
  EXPECT_EQ(peak_of_backward(), plain);
}

TEST(Profiler, LeavesTheCopiesOfAutocastAsTheyAre) {
  const Tensor x = rand({4, 8}), w = parameter(rand({8, 8}));
  Profiler profiler;
  {
    const ProfilerScope scope(profiler);
    const Autocast autocast(f16);
    for (int i = 0; i < 3; ++i) (void)matmul(x, w);
  }
  EXPECT_EQ(row_of(profiler, Kind::op, false, "cast").calls, 3 + 1) << "the parameter is cast once";
}

TEST(Profiler, APathIsThatOfTheOutermostModule) {
  Net net;
  EXPECT_EQ(net.path(), "");
  EXPECT_EQ(net.body.path(), "body");
  EXPECT_EQ(net.modules()[3].module.path(), "body.0");
  struct Outer : Module {
    Net net = register_module("net", Net());
  } outer;
  EXPECT_EQ(outer.net.first.path(), "net.first");
  Net moved = std::move(net);
  EXPECT_THROW((void)net.path(), Error);
}

}  // namespace
}  // namespace weft::nn
