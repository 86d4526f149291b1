// GradScaler: torch.amp.GradScaler's rules, and f16 training that needs it.
#include "optim/grad_scaler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autograd/leaf.h"
#include "optim/optim.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/reduce.h"

namespace weft::optim {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

void set_gradient(Tensor w, double value) { w.set_grad(full(w.shape(), value, w.dtype())); }

TEST(GradScaler, ScalesUnscalesAndSteps) {
  Tensor w = parameter(full({2}, 3.0, f32));
  SGD optimizer({w}, {.lr = 1});
  GradScaler scaler({.init_scale = 1024});
  scaler.scale(sum(w * 0.5)).backward();
  EXPECT_EQ(w.grad().to_vector<float>()[0], 512.0f);
  EXPECT_TRUE(scaler.step(optimizer));
  EXPECT_EQ(w.to_vector<float>()[0], 2.5f);
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 1024);
  EXPECT_EQ(scaler.growth_tracker(), 1);
}

// The sequence of scales that torch.amp.GradScaler gives for these gradients.
TEST(GradScaler, GrowsAndBacksOff) {
  Tensor w = parameter(ones({2}));
  SGD optimizer({w}, {.lr = 0});
  GradScaler scaler({.init_scale = 8, .growth_interval = 2});
  std::vector<double> scales;
  for (const double gradient : {1.0, 1.0, kInf, 1.0, std::nan(""), 1.0, 1.0, 1.0}) {
    set_gradient(w, gradient);
    const bool stepped = scaler.step(optimizer);
    EXPECT_EQ(stepped, std::isfinite(gradient));
    scaler.update();
    scales.push_back(scaler.get_scale());
  }
  EXPECT_EQ(scales, (std::vector<double>{8, 16, 8, 8, 4, 4, 8, 8}));
  EXPECT_EQ(scaler.skipped(), 2);
  EXPECT_EQ(optimizer.steps(), 6);
}

// Gradients of a loss times 0 would be multiplied by infinity.
TEST(GradScaler, StaysAboveWhatF32Holds) {
  Tensor w = parameter(ones({2}));
  SGD optimizer({w}, {.lr = 0.25});
  GradScaler scaler({.init_scale = 1});
  for (int i = 0; i < 1200; ++i) {
    set_gradient(w, kInf);
    EXPECT_FALSE(scaler.step(optimizer));
    scaler.update();
  }
  EXPECT_EQ(scaler.get_scale(), 0x1p-126);
  w.zero_grad();
  scaler.scale(w.sum()).backward();
  EXPECT_TRUE(scaler.step(optimizer));
  EXPECT_TRUE(equal(w, full({2}, 0.75)));
  EXPECT_THROW(GradScaler({.init_scale = 1e-300}), Error);
  EXPECT_THROW(GradScaler({.init_scale = 1e300}), Error);
}

TEST(GradScaler, SkipsOnlyTheOptimizerThatIsNotFinite) {
  Tensor a = parameter(ones({2})), b = parameter(ones({2}));
  SGD first({a}, {.lr = 1}), second({b}, {.lr = 1});
  GradScaler scaler({.init_scale = 4});
  set_gradient(a, 4);
  set_gradient(b, kInf);
  EXPECT_TRUE(scaler.step(first));
  EXPECT_FALSE(scaler.step(second));
  scaler.update();
  EXPECT_EQ(a.to_vector<float>()[0], 0.0f);
  EXPECT_EQ(b.to_vector<float>()[0], 1.0f);
  EXPECT_EQ(scaler.get_scale(), 2) << "one of them is enough";
}

TEST(GradScaler, RefusesWhatIsOutOfOrder) {
  Tensor w = parameter(ones({2}));
  SGD optimizer({w}, {.lr = 1});
  GradScaler scaler;
  EXPECT_THROW(scaler.update(), Error);
  set_gradient(w, 1);
  scaler.unscale_(optimizer);
  EXPECT_THROW(scaler.unscale_(optimizer), Error);
  const float unscaled = w.grad().to_vector<float>()[0];
  EXPECT_EQ(unscaled, 0x1p-16f);
  EXPECT_TRUE(scaler.step(optimizer)) << "does not divide again";
  EXPECT_EQ(w.to_vector<float>()[0], 1.0f - 0x1p-16f);
  EXPECT_THROW(scaler.step(optimizer), Error);
  EXPECT_THROW(scaler.unscale_(optimizer), Error);
  scaler.update();
  EXPECT_THROW(scaler.update(), Error);
  EXPECT_THROW(GradScaler({.growth_factor = 1}), Error);
  EXPECT_THROW(GradScaler({.backoff_factor = 1}), Error);
  EXPECT_THROW(GradScaler({.init_scale = 0}), Error);
}

TEST(GradScaler, SavesAndRestores) {
  Tensor w = parameter(ones({2}));
  SGD optimizer({w}, {.lr = 0});
  GradScaler scaler({.init_scale = 8, .growth_interval = 5}), other;
  for (const double gradient : {kInf, 1.0, 1.0}) {
    set_gradient(w, gradient);
    scaler.step(optimizer);
    scaler.update();
  }
  other.load_state_dict(scaler.state_dict());
  EXPECT_EQ(other.state_dict(), scaler.state_dict());
  EXPECT_EQ(other.get_scale(), 4);
  EXPECT_EQ(other.growth_tracker(), 2);
  EXPECT_EQ(other.skipped(), 1);
  auto broken = scaler.state_dict();
  broken.erase("scale");
  EXPECT_THROW(other.load_state_dict(broken), Error);
}

TEST(GradScaler, DoesNothingWhereNotEnabled) {
  Tensor w = parameter(ones({2}));
  SGD optimizer({w}, {.lr = 1});
  GradScaler scaler({.enabled = false});
  EXPECT_EQ(scaler.scale(full({}, 2.0, f32)).item<float>(), 2.0f);
  set_gradient(w, 1);
  EXPECT_TRUE(scaler.step(optimizer));
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 1);
  EXPECT_TRUE(scaler.state_dict().empty());
}

// Gradients that are 0 in f16 arrive at masters: step() divides them in f32. unscale_() refuses them.
TEST(GradScaler, DividesGradientsOfMastersInF32) {
  Tensor w = parameter(ones({2}, f16));
  SGD optimizer({w}, {.lr = 1e4, .master_weights = true});
  GradScaler scaler({.init_scale = 65536});
  const double tiny = 0x1p-27;  // below half of f16's least number
  EXPECT_EQ(full({1}, tiny, f32).to(f16).to(f32).item<float>(), 0.0f);
  set_gradient(w, tiny * 65536);
  EXPECT_THROW(scaler.unscale_(optimizer), DtypeError);
  EXPECT_TRUE(scaler.step(optimizer));
  EXPECT_FLOAT_EQ(optimizer.masters().begin()->second.to_vector<float>()[0], static_cast<float>(1 - 1e4 * tiny));
  scaler.update();
}

}  // namespace
}  // namespace weft::optim
