// Fused optimizer steps: 100-step trajectories in f64 equal PyTorch's to 1e-10; f32, strides and thread counts agree
// with them.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "tensor/core/error.h"
#include "tensor/ops/optimizer_step.h"
#include "tensor/runtime/threads.h"
#include "tests/tensor/kernels/any_array.h"

namespace weft::testing {
namespace {

struct Trajectory {
  const char* name;
  double end[5];
};

// From torch 2.13 (torch.optim, single-tensor, f64); see `gradient` and the settings in `steps`.
constexpr Trajectory kTrajectories[] = {
    {"sgd",
     {0.15908976461392443, -0.37679279872235361, 0.57479249161416146, -0.02319765713550315, -0.84663063885309942}},
    {"sgd decay",
     {0.099781544077729656, -0.23499248977283291, 0.34530373798584379, -0.023353795127479132, -0.5089074672622943}},
    {"sgd momentum",
     {0.011389357042455089, -0.074132347013481883, 0.032156460008410728, 0.0052010935974933824, -0.04344152501700585}},
    {"sgd nesterov",
     {0.027801448781239139, -0.10924037166453684, 0.037331493779935235, -0.015654981493771179, -0.054906956601082246}},
    {"adam",
     {0.36504840361052276, -0.85297292950534287, 1.4147599357680343, -0.00087833441170956849, -2.2136434164212635}},
    {"adam decay",
     {0.3140285086739914, -0.76042856458565478, 1.2926014597762605, -0.0012173828184355914, -2.1390162885784223}},
    {"adamw",
     {0.32914360679823723, -0.76801926971351886, 1.271478857063097, -0.00080524856599915602, -1.9872701848012153}},
    {"rmsprop",
     {0.28242336222672432, -0.58864639076942615, 1.0023639189368836, -0.033813581909207628, -1.5787521715779}},
    {"rmsprop momentum",
     {0.021500061266123627, -0.094875557752697487, 0.071249007363515596, -0.01536729999001047, -0.19259660778828053}},
    {"rmsprop centered",
     {0.28119410467137773, -0.57892901649663697, 0.96326692200963648, -0.033897367630064512, -1.4658797078026702}},
    {"rmsprop both",
     {0.0017637394267288856, -0.033858173299922925, 0.010049359631050003, -0.00027951718447818665,
      -0.028749252282632518}},
};

struct State {
  Operand param, grad, a, b, c;
};

// One step of the optimizer of that name; t counts from 1.
void step(const std::string& name, const State& s, int64_t t) {
  const auto sgd = [&](const op::SgdStep& step, const Operand& buffer) { step.cpu(s.param, s.grad, buffer); };
  const auto adam = [&](const op::AdamStep& step) { step.cpu(s.param, s.grad, s.a, s.b, {}); };
  if (name == "sgd") return sgd({optim::SGDOptions{.lr = 0.05}}, {});
  if (name == "sgd decay") return sgd({optim::SGDOptions{.lr = 0.05, .weight_decay = 0.1}}, {});
  if (name == "sgd momentum")
    return sgd({optim::SGDOptions{.lr = 0.05, .momentum = 0.9, .dampening = 0.25, .weight_decay = 0.1}, t == 1}, s.a);
  if (name == "sgd nesterov")
    return sgd({optim::SGDOptions{.lr = 0.05, .momentum = 0.9, .nesterov = true}, t == 1}, s.a);
  if (name == "adam") return adam({optim::AdamOptions{.lr = 0.01}, false, t});
  if (name == "adam decay")
    return adam(
        {optim::AdamOptions{.lr = 0.01, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-6, .weight_decay = 0.1}, false, t});
  if (name == "adamw") return adam({optim::AdamOptions{.lr = 0.01, .weight_decay = 0.1}, true, t});
  op::RmspropStep rms{optim::RMSpropOptions{.lr = 0.01, .alpha = 0.99, .eps = 1e-8}};
  if (name == "rmsprop") return rms.cpu(s.param, s.grad, s.a, {}, {});
  if (name == "rmsprop centered") return rms.cpu(s.param, s.grad, s.a, {}, s.b);
  rms.momentum = 0.8;
  rms.weight_decay = 0.1;
  if (name == "rmsprop both") return rms.cpu(s.param, s.grad, s.a, s.c, s.b);
  rms.alpha = 0.9;
  ASSERT_EQ(name, "rmsprop momentum");
  rms.cpu(s.param, s.grad, s.a, s.c, {});
}

constexpr double kStart[5] = {0.5, -1.25, 2.0, 1e-3, -3.0};

// The parameter repeats the five values of the trajectories.
std::vector<double> train(const std::string& name, int64_t count, DType dtype, Layout layout) {
  Random random(12);
  const Shape shape = {count, 5};
  AnyArray param(shape, dtype, layout, random), grad(shape, dtype, layout, random), a(shape, dtype, layout, random);
  AnyArray b(shape, dtype, layout, random), c(shape, dtype, Layout::row_major, random);
  for (AnyArray* state : {&a, &b, &c}) state->fill([] { return 0.0; });
  if (name.starts_with("sgd")) a.fill([] { return std::nan(""); });  // the first step must not read it
  for_each_index(shape, [&](const IntList& index) { param.set(index, kStart[index[1]]); });
  for (int64_t t = 0; t < 100; ++t) {
    for_each_index(shape, [&](const IntList& index) {
      const int64_t i = index[1];
      const double noise = static_cast<double>((t * 7 + i * 13) % 23 - 11) / (10.0 + static_cast<double>(i));
      grad.set(index, param.get(index) * 0.25 + noise);
    });
    step(name, {param.operand(), grad.operand(), a.operand(), b.operand(), c.operand()}, t + 1);
  }
  std::vector<double> end;
  for_each_index(shape, [&](const IntList& index) { end.push_back(param.get(index)); });
  return end;
}

TEST(OptimizerKernels, TrajectoriesArePytorchs) {
  for (const auto& [name, end] : kTrajectories) {
    for (const Layout layout : kDistinctLayouts) {
      const std::vector<double> got = train(name, 7, f64, layout), single = train(name, 7, f32, layout);
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_NEAR(got[i], end[i % 5], 1e-10) << name;
        EXPECT_NEAR(single[i], end[i % 5], 2e-5) << name;
      }
    }
  }
}

TEST(OptimizerKernels, ThreadCountDoesNotMatter) {
  const int before = num_threads();
  constexpr int64_t kCount = 200003;
  for (const auto& [name, end] : kTrajectories) {
    std::vector<std::vector<uint32_t>> results;  // as bits: some states give NaN
    for (const int threads : {1, 2, 3}) {
      set_num_threads(threads);
      std::vector<std::vector<float>> memory(5, std::vector<float>(kCount));
      for (size_t k = 0; k < 5; ++k)
        for (size_t i = 0; i < memory[k].size(); ++i) memory[k][i] = static_cast<float>((i * 7 + k * 13) % 101) / 50;
      const View view = View::contiguous({kCount});
      const auto at = [&](size_t k) { return Operand{memory[k].data(), &view, f32}; };
      step(name, {at(0), at(1), at(2), at(3), at(4)}, 2);
      std::vector<uint32_t>& bits = results.emplace_back();
      for (const float value : memory[0]) bits.push_back(std::bit_cast<uint32_t>(value));
    }
    EXPECT_EQ(results[0], results[1]) << name;
    EXPECT_EQ(results[0], results[2]) << name;
  }
  set_num_threads(before);
}

TEST(OptimizerKernels, AnInfiniteParameterWithoutDecayStays) {
  const View view = View::contiguous({2});
  for (const char* name : {"sgd", "sgd nesterov", "adam", "rmsprop", "rmsprop centered"}) {
    std::vector<std::vector<float>> memory(5, std::vector<float>(2));
    memory[0] = {-INFINITY, 1};
    const auto at = [&](size_t k) { return Operand{memory[k].data(), &view, f32}; };
    step(name, {at(0), at(1), at(2), at(3), at(4)}, 1);
    EXPECT_EQ(memory[0][0], -INFINITY) << name;
    EXPECT_EQ(memory[0][1], 1) << name;
  }
}

TEST(OptimizerKernels, GradientsThatStayTheSameHaveNoVarianceBelow0) {
  const View view = View::contiguous({200});
  std::vector<std::vector<float>> memory(4, std::vector<float>(200));
  for (size_t i = 0; i < 200; ++i) memory[1][i] = std::sin(static_cast<float>(i + 1));
  const auto at = [&](size_t k) { return Operand{memory[k].data(), &view, f32}; };
  const op::RmspropStep rms{optim::RMSpropOptions{.lr = 0.01, .alpha = 0.9, .eps = 1e-8}};
  for (int t = 0; t < 300; ++t) rms.cpu(at(0), at(1), at(2), {}, at(3));
  for (const float p : memory[0]) EXPECT_TRUE(std::isfinite(p));
}

TEST(OptimizerKernels, RefuseOtherDtypes) {
  const View view;
  BFloat16 x;
  const Operand operand{&x, &view, bf16};
  EXPECT_THROW(op::SgdStep{optim::SGDOptions{.lr = 1}}.cpu(operand, operand, {}), DtypeError);
  EXPECT_THROW(op::SgdStep{optim::SGDOptions{.lr = 1}}.infer(operand, operand, {}), DtypeError);
}

}  // namespace
}  // namespace weft::testing
