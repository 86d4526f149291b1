// The Autocast scope: what each kind of op does with its inputs.
#include "tensor/autocast.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

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
  EXPECT_EQ(conv_transpose2d(rand({1, 2, 4, 4}), rand({2, 3, 3, 3}), rand({3})).dtype(), f16) << "with its bias";
  EXPECT_EQ(softmax(y, -1).dtype(), f32);
  EXPECT_EQ(exp(y).dtype(), f32);
  EXPECT_EQ(sum(y).dtype(), f32);
  EXPECT_EQ(cross_entropy(y, tensor({0, 1, 2, 3})).dtype(), f32);
  EXPECT_EQ(relu(y).dtype(), f16) << "follows";
  EXPECT_EQ((y + x).dtype(), f32) << "promotes";
}

TEST(Autocast, KeepsLinearAlgebraFull) {
  manual_seed(4);
  const Tensor tall = randn({20, 4}), wide = randn({3, 6}) * 1e5, b = randn({20, 2});
  const LstsqResult expected = lstsq(tall, b);
  const QrResult factors = qr(wide);
  const Tensor deficient = ones({20, 4});
  for (const DType dtype : {f16, bf16}) {
    const Autocast autocast(dtype);
    EXPECT_TRUE(equal(lstsq(tall, b).solution, expected.solution));
    EXPECT_TRUE(equal(lstsq(tall, b).residuals, expected.residuals));
    EXPECT_TRUE(equal(qr(wide).r, factors.r));
    EXPECT_EQ(lstsq(deficient, b).solution.dtype(), f32);
    if (dtype == f16) {  // on a CPU without bf16 that scope does nothing
      EXPECT_EQ(lstsq(tall.to(dtype), b.to(dtype)).solution.dtype(), f32);
    }
  }
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

/// What this test program writes, with the log, where the CPU has no bf16; its status.
std::pair<std::string, int> without_bf16(const std::string& filter) {
  const std::string command =
      "DNNL_MAX_CPU_ISA=AVX512_CORE /proc/" + std::to_string(::getpid()) + "/exe --gtest_filter=" + filter + " 2>&1";
  ::unsetenv("TEST_TOTAL_SHARDS");
  std::FILE* child = ::popen(command.c_str(), "r");
  std::string all;
  for (int c = std::fgetc(child); c != EOF; c = std::fgetc(child)) all.push_back(static_cast<char>(c));
  return {all, ::pclose(child)};
}

TEST(Autocast, WithoutInstructionsCastsNothing) {
  if (kernels::cpu::has_bf16()) {
    const auto [output, status] = without_bf16("Autocast.WithoutInstructionsCastsNothing");
    EXPECT_EQ(status, 0) << output;
    const std::string warning = "this CPU has no bf16 instructions";
    const size_t first = output.find(warning);
    ASSERT_NE(first, std::string::npos) << output;
    EXPECT_EQ(output.find(warning, first + 1), std::string::npos) << "says so once: " << output;
    return;
  }
  const Tensor x = rand({4, 4}), w = rand({4, 4});
  const Tensor exact = matmul(x, w);
  for (int i = 0; i < 3; ++i) {
    const Autocast scope(bf16);
    EXPECT_TRUE(equal(matmul(x, w), exact)) << "the very same product";
    EXPECT_EQ(softmax(matmul(x, w), -1).dtype(), f32);
    EXPECT_EQ(matmul(x.to(bf16), w.to(bf16)).dtype(), bf16) << "what is bf16 stays so";
    const Autocast half(f16);
    EXPECT_EQ(matmul(x, w).dtype(), f16) << "f16 is storage, on any CPU";
  }
}

}  // namespace
}  // namespace weft
