// The Autocast scope: what each kind of op does with its inputs.
#include "tensor/autocast.h"

#include <gtest/gtest.h>

#include "tensor/functions_all.h"
#include "tensor/kernels/cpu/base/instruction_set.h"

namespace weft {
namespace {

TEST(Autocast, LowersProductsAndKeepsDelicateOpsFull) {
  const Tensor x = rand({4, 4}), w = rand({4, 4});
  const Autocast autocast(f16);
  const Tensor y = matmul(x, w);
  EXPECT_EQ(y.dtype(), f16);
  EXPECT_EQ(linear(x, w).dtype(), f16);
  EXPECT_EQ(conv2d(rand({1, 2, 4, 4}), rand({3, 2, 3, 3})).dtype(), f16);
  EXPECT_EQ(softmax(y, -1).dtype(), f32);
  EXPECT_EQ(exp(y).dtype(), f32);
  EXPECT_EQ(sum(y).dtype(), f32);
  EXPECT_EQ(cross_entropy(y, tensor({0, 1, 2, 3})).dtype(), f32);
  EXPECT_EQ(relu(y).dtype(), f16) << "follows";
  EXPECT_EQ((y + x).dtype(), f32) << "promotes";
}

TEST(Autocast, LeavesF64AndIntegersAlone) {
  const Autocast autocast(f16);
  EXPECT_EQ(matmul(rand({2, 2}, f64), rand({2, 2}, f64)).dtype(), f64);
  EXPECT_EQ(sum(tensor({1, 2})).dtype(), i64);
}

TEST(Autocast, NestsAndEnds) {
  const Tensor x = rand({2, 2});
  {
    const Autocast outer(f16);
    {
      const Autocast off = Autocast::off();
      EXPECT_EQ(matmul(x, x).dtype(), f32);
    }
    {
      const Autocast inner(bf16);
      EXPECT_EQ(matmul(x, x).dtype(), kernels::cpu::has_bf16() ? bf16 : f32) << "as fast as the CPU can";
    }
    EXPECT_EQ(matmul(x, x).dtype(), f16);
  }
  EXPECT_EQ(matmul(x, x).dtype(), f32);
  EXPECT_THROW(Autocast{f64}, DtypeError);
  EXPECT_THROW(Autocast{i32}, DtypeError);
}

}  // namespace
}  // namespace weft
