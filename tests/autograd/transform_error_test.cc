// What transforms of functions, checkpoint and vmap say of what they cannot take.
#include <functional>
#include <string>

#include "tensor/batching/vmap.h"
#include "tests/autograd/checks.h"

namespace weft::testing {
namespace {

TEST(TransformErrors, NameThemselvesInErrors) {
  const Tensor x = ones({2}, f64);
  const auto f = [](const Tensor& t) { return (t * t).sum(); };
  EXPECT_EQ(error_of([&] { (void)hvp(f, x, ones({3}, f64)); }),
            "hvp([2] f64): the direction of argument 0 has shape [3], not [2]");
  EXPECT_EQ(error_of([&] { (void)vjp(f, Tensor()); }), "vjp: an argument is undefined");
  EXPECT_EQ(error_of([&] { (void)jacobian([](const Tensor&) { return Tensor(); }, x); }),
            "jacobian: a result of the function is undefined");
  EXPECT_EQ(error_of([&] {
              (void)value_and_grad([](const StateDict&) { return Tensor(); }, {{"x", x}});
            }),
            "value_and_grad: a result of the function is undefined");
  EXPECT_EQ(error_of([&] { (void)value_and_grad([](const Tensor&) { return Tensor(); }, x); }),
            "value_and_grad: a result of the function is undefined");
  EXPECT_EQ(error_of([&] { (void)value_and_grad([](const Tensor& t) { return t * 2.0; }, x); }),
            "value_and_grad(): the function returned shape [2]; it must return one number");
  EXPECT_EQ(error_of([&] { (void)value_and_grad([](const Tensor& t) { return std::pair(t, 1); }, x); }),
            "value_and_grad(): the function returned shape [2]; it must return one number");
  EXPECT_EQ(error_of([&] {
              (void)value_and_grad([](const Tensor& t) { return t.sum(); }, tensor({1, 2}));
            }),
            "value_and_grad([2] i64): cannot differentiate with respect to i64; it takes f32, f64, bf16 or f16");
  const auto twice = [](const Tensor& t) { return t * 2.0; };
  EXPECT_EQ(error_of([&] {
              (void)jacobian(twice, ones({2, 1, 1, 1, 2}));
            }),
            "jacobian: the derivatives of [2, 1, 1, 1, 2] by [2, 1, 1, 1, 2] would have 10 axes, at most 8 are "
            "possible; flatten them first");
}

TEST(TransformErrors, RefuseAnEmptyFunction) {
  const Tensor x = ones({2}, f64);
  std::function<Tensor(const Tensor&)> none;
  EXPECT_EQ(error_of([&] { (void)vjp(none, x); }), "vjp: the function is empty");
  EXPECT_EQ(error_of([&] { (void)jvp(none, x, x); }), "jvp: the function is empty");
  EXPECT_EQ(error_of([&] { (void)jacobian(none, x); }), "jacobian: the function is empty");
  EXPECT_EQ(error_of([&] { (void)hessian(none, x); }), "hessian: the function is empty");
  EXPECT_EQ(error_of([&] { (void)hvp(none, x, x); }), "hvp: the function is empty");
  EXPECT_EQ(error_of([&] { (void)vmap(none); }), "vmap: the function is empty");
  EXPECT_EQ(error_of([&] { (void)autograd::checkpoint(none, x); }), "checkpoint: the function is empty");
}

// A write would give the argument another history, and the gradient would be that of the value written.
TEST(TransformErrors, RefuseAWriteToAnArgument) {
  const auto whole = [](const Tensor& t) {
    Tensor x = t;
    x.mul_(2.0);
    return (x * x).sum();
  };
  const auto part = [](const Tensor& t) {
    t[0].mul_(2.0);
    return (t * t).sum();
  };
  const Tensor p = parameter(ones({2}, f64)), v = ones({2}, f64);
  for (const auto& f : {std::function<Tensor(const Tensor&)>(whole), std::function<Tensor(const Tensor&)>(part)}) {
    const std::string why = ": the function wrote to argument 0; write to a clone()";
    EXPECT_EQ(error_of([&] { (void)vjp(f, p * 1.0); }), "vjp" + why);
    EXPECT_EQ(error_of([&] { (void)jvp(f, p * 1.0, v); }), "jvp" + why);
    EXPECT_EQ(error_of([&] { (void)jacobian(f, p * 1.0); }), "jacobian" + why);
    const auto named = [&](const StateDict& state) { return f(state.at("w")); };
    EXPECT_EQ(error_of([&] { (void)value_and_grad(named, {{"w", p * 1.0}}); }), "value_and_grad" + why);
    EXPECT_THROW((void)vjp(f, p), GradientError);
    EXPECT_THROW((void)vjp(f, ones({2}, f64)), GradientError);
  }
  // By another tensor of the same memory.
  const Tensor h = p * 1.0;
  const auto beside = [&](const Tensor& t) {
    h[0].mul_(2.0);
    return (t * 3.0).sum();
  };
  EXPECT_THROW((void)vjp(beside, h), GradientError);
}

/// A backward that reads values.
struct Reads : autograd::Function<Reads> {
  static Tensor forward(autograd::Context&, const Tensor& x) { return x * 2.0; }
  static Tensor backward(autograd::Context&, const Tensor& g) { return g * (g.sum().item() > 0 ? 2.0 : 0.0); }
};

TEST(TransformErrors, OneRowAtOnceNeedsNoVmap) {
  const auto f = [](const Tensor& x) { return Reads::apply(x); };
  EXPECT_THROW((void)jacobian(f, ones({2}, f64)), DeviceError);
  EXPECT_TRUE(equal(jacobian(f, ones({2}, f64), {.rows_at_once = 1}), eye(2, f64) * 2.0));
}

TEST(TransformErrors, LeaveRunningStatisticsAsTheyWere) {
  const Tensor mean = ones({3}), var = ones({3}), x = randn({2, 4, 3});
  const auto train = [](const Tensor& rows, const Tensor& m, const Tensor& v) {
    return batch_norm(rows, m, v, {}, {}, {.training = true});
  };
  EXPECT_THROW(vmap([&](const Tensor& rows) { return train(rows, mean, var); })(x), DeviceError);
  EXPECT_EQ(error_of([&] { train(x[0], mean, parameter(var)); }),
            "batch_norm([4, 3] f32, [3] f32, [3] f32): the update of running statistics would write to a leaf that "
            "requires a gradient; do it under NoGrad");
  EXPECT_TRUE(equal(mean, ones({3})));
  EXPECT_TRUE(equal(var, ones({3})));
}

}  // namespace
}  // namespace weft::testing
