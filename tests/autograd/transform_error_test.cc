// What transforms of functions, checkpoint and vmap say of what they cannot take.
#include <functional>

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
