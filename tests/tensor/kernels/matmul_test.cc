// Matrix products against a naive loop: small integers, so that every order of summation gives the same bits.
#include "tensor/ops/matmul.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <thread>

#include "tensor/core/error.h"
#include "tensor/kernels/cpu/base/force_loops.h"
#include "tensor/kernels/cpu/gemm/gemm.h"
#include "tensor/runtime/parallel.h"
#include "tensor/runtime/threads.h"
#include "tests/reference/matmul.h"
#include "tests/tensor/kernels/exact.h"
#include "tests/tensor/task_count.h"

namespace weft {
namespace {

using kernels::cpu::ForceLoops;
using testing::Array;
using testing::Layout;
using testing::Random;

void matmul(const Operand& a, const Operand& b, const Operand& out) { op::Matmul{}.cpu(a, b, out); }

/// Element `batch` of x's leading axes as a matrix.
template <class T> kernels::cpu::Matrix<T> matrix_of(Array<std::remove_const_t<T>>& x, const IntList& batch) {
  IntList first = batch;
  first.push_back(0), first.push_back(0);
  return {x.memory.data() + x.view.linear_index(first), x.view.dim(-2), x.view.dim(-1), x.view.stride(-2),
          x.view.stride(-1)};
}

/// out = a b, or out += a b (which is gemm's, matrix by matrix).
template <class T> void product(Array<T>& a, Array<T>& b, Array<T>& out, bool accumulate) {
  if (!accumulate) return matmul(a.operand(), b.operand(), out.operand());
  const Shape batch(out.shape().begin(), out.shape().end() - 2);
  testing::for_each_index(batch, [&](const IntList& i) {
    kernels::cpu::gemm<T>(matrix_of<const T>(a, i), matrix_of<const T>(b, i), matrix_of<T>(out, i), true);
  });
}

/// One product in random layouts; out starts as NaN-like rubbish, or as numbers that are added to.
template <class T> void check(Random& random, const Shape& batch, int64_t m, int64_t k, int64_t n, bool plain = false) {
  Shape sa = batch, sb = batch, so = batch;
  for (int64_t v : {m, k}) sa.push_back(v);
  for (int64_t v : {k, n}) sb.push_back(v);
  for (int64_t v : {m, n}) so.push_back(v);
  const auto layout = [&](bool broadcast) {
    return plain ? Layout::row_major : testing::any_layout(random, broadcast);
  };
  Array<T> a = testing::random_array<T>(sa, layout(true), random),
           b = testing::random_array<T>(sb, layout(true), random);
  Array<T> out = testing::random_array<T>(so, layout(false), random);
  const bool accumulate = testing::pick(random, 0, 3) == 0;
  const std::vector<T> before = out.memory;
  const testing::reference::Array old = testing::values_of(out);
  product(a, b, out, accumulate);
  testing::reference::Array sums = matmul(testing::values_of(a), testing::values_of(b));
  for (size_t i = 0; i < sums.values.size() && accumulate; ++i) sums.values[i] += old.values[i];
  // 16-bit floats round once; integers and sums below 2^24 are exact.
  EXPECT_EQ(testing::differences(out, sums), 0)
      << "a " << a.view.to_string() << " b " << b.view.to_string() << " out " << out.view.to_string() << " accumulate "
      << accumulate << " dtype " << text(dtype_of<T>);
  const auto bits = [](T value) { return std::bit_cast<std::array<std::byte, sizeof(T)>>(value); };
  size_t touched = 0;  // nothing outside of the view was written
  for (size_t i = 0; i < before.size(); ++i) touched += bits(before[i]) != bits(out.memory[i]);
  EXPECT_LE(touched, static_cast<size_t>(checked_numel(so)));
}

template <class T> void check_random_shapes(int count, uint64_t seed) {
  Random random(seed);
  for (int i = 0; i < testing::property_cases(count); ++i) {
    Shape batch;
    for (int64_t axes = testing::pick(random, 0, 2); axes > 0; --axes) batch.push_back(testing::pick(random, 1, 3));
    const int64_t most = testing::pick(random, 0, 3) == 0 ? 70 : 12;
    check<T>(random, batch, testing::pick(random, 1, most), testing::pick(random, 1, most),
             testing::pick(random, 1, most));
    if (::testing::Test::HasFailure()) break;
  }
}

TEST(Matmul, RandomShapesAndStridesAreExact) { check_random_shapes<float>(500, 1); }
TEST(Matmul, ForcedLoopsAreExact) {
  ForceLoops loops;
  check_random_shapes<float>(500, 2);
}
TEST(Matmul, DoubleIsExact) { check_random_shapes<double>(500, 3); }
TEST(Matmul, HalvesAreExactUpToOneRounding) {
  check_random_shapes<BFloat16>(200, 4);
  check_random_shapes<Float16>(200, 5);
}
// Where bf16 changes from a library's product to weft's own tile: by multiplications, rows and the sum's length.
TEST(Matmul, SizesAroundTheOwnTileAreExact) {
  Random random(21);
  for (const int64_t m : {63, 64, 65, 255, 256, 257})
    for (const int64_t k : {63, 64, 127, 128, 129}) check<BFloat16>(random, {}, m, k, 65, true);
  check<BFloat16>(random, {}, 4097, 130, 20, true);
  check<BFloat16>(random, {}, 260, 1100, 40, true);
}
TEST(Matmul, IntegersAreExact) {
  check_random_shapes<int64_t>(100, 6);
  check_random_shapes<int32_t>(100, 7);
  check_random_shapes<int16_t>(100, 8);
}
TEST(Matmul, IntegersOfFewColumnsAreExact) {
  Random random(25);
  for (const int64_t columns : {1, 2, 3, 7, 8, 9})
    for (const int64_t terms : {15, 16, 17, 130})
      for (const int64_t rows : {1, 3, 17, 300}) {
        const bool plain = (columns + rows) % 2 == 0;
        check<int64_t>(random, {}, rows, terms, columns, plain);
        check<int32_t>(random, {}, columns, terms, rows, plain);
        check<int16_t>(random, {2}, rows, terms, columns, plain);
      }
  check<int64_t>(random, {}, 5000, 1000, 3, true);  // on threads, in blocks of rows
  check<int32_t>(random, {}, 4, 300, 9000, true);
}
TEST(Matmul, IntegersWrapAround) {
  int8_t x[1] = {100}, y[1] = {3}, out[1] = {0};
  const View view = View::contiguous({1, 1});
  matmul({x, &view, i8}, {y, &view, i8}, {out, &view, i8});
  EXPECT_EQ(out[0], static_cast<int8_t>(300 & 0xff));
  int32_t wide[4] = {1 << 30, 1 << 30, 3, 3}, factors[4] = {2, 2, 1, 1}, sums[2] = {1, 1};  // two rows times columns
  const View rows = View::contiguous({2, 1, 2}), columns = View::contiguous({2, 2, 1});
  const View dots = View::contiguous({2, 1, 1});
  matmul({wide, &rows, i32}, {factors, &columns, i32}, {sums, &dots, i32});
  EXPECT_EQ(sums[0], 0);
  EXPECT_EQ(sums[1], 6);
}
TEST(Matmul, LargeAgainstLoops) {
  Random random(9);
  for (auto [m, k, n] : {std::array<int64_t, 3>{300, 700, 257}, {1, 4000, 300}, {300, 4000, 1}, {129, 3, 1000}}) {
    check<float>(random, {}, m, k, n, true);
    check<double>(random, {}, m, k, n, true);
    ForceLoops loops;
    check<float>(random, {}, m, k, n, true);
  }
}
TEST(Matmul, TransposedColumnsAPowerOfTwoApart) {
  Random random(11);
  const int64_t m = 1024, k = 512, n = 17;
  Array<float> a = testing::random_array<float>({k, m}, Layout::row_major, random),
               b = testing::random_array<float>({k, n}, Layout::row_major, random),
               out = testing::random_array<float>({m, n}, Layout::row_major, random);
  a.view = a.view.transpose(0, 1);
  matmul(a.operand(), b.operand(), out.operand());
  EXPECT_EQ(testing::differences(out, matmul(testing::values_of(a), testing::values_of(b))), 0);
}
TEST(Matmul, DenseProductsInRegisters) {  // around the height of tiles
  Random random(12);
  for (int64_t m : {3, 4, 13, 48, 49})
    for (int64_t n : {16, 33, 47, 48, 64}) {
      check<float>(random, {}, m, 48, n, true);
      check<double>(random, {}, m, 48, n, true);
    }
}
TEST(Matmul, VectorsAlongTheSum) {  // around the registers of a row, and the rows that share some
  Random random(22);
  for (int64_t k : {2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100})
    for (int64_t rows : {1, 3, 4, 7, 8, 9, 16, 21})
      for (const bool plain : {false, true}) {
        check<float>(random, {}, rows, k, 1, plain);
        check<double>(random, {2}, rows, k, 1, plain);
        check<float>(random, {2}, 1, k, rows, plain);
        check<double>(random, {}, 1, k, rows, plain);
        check<float>(random, {}, rows, k, 2, plain);
        check<double>(random, {2}, rows, k, 2, false);
        check<BFloat16>(random, {}, rows, k, 1, plain);
        check<Float16>(random, {}, 1, k, rows, plain);
        check<Float16>(random, {2}, rows, k, 2, plain);
      }
  check<float>(random, {}, 3000, 300, 1, true);  // on threads
  check<float>(random, {}, 50000, 3, 1, true);
}
TEST(Matmul, FewSumsAcrossColumns) {  // around the registers of a column
  Random random(23);
  for (int64_t rows : {2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 48, 63, 64, 65})
    for (int64_t k : {1, 2, 3, 4, 5, 21, 300}) {
      check<float>(random, {}, rows, k, 1, false);
      check<double>(random, {2}, rows, k, 1, false);
      check<float>(random, {2}, 1, k, rows, true);  // a row times a matrix: columns of it are added
      check<double>(random, {}, 1, k, rows, true);
      check<float>(random, {}, 2, k, rows, true);
      check<double>(random, {2}, 2, k, rows, true);
      check<float>(random, {}, rows, k, 2, false);
      check<BFloat16>(random, {}, 1, k, rows, true);
      check<Float16>(random, {2}, 2, k, rows, true);
    }
}
TEST(Matmul, ManySumsAcrossColumns) {  // of f64, where memory holds them
  Random random(24);
  for (int64_t columns : {33, 100, 2047, 2048, 2049, 5000})
    for (int64_t k : {63, 64, 65, 71, 72}) {
      check<double>(random, {}, 1, k, columns, true);
      check<double>(random, {}, 1, k, columns, false);
    }
  check<double>(random, {}, 1, 300, 20000, true);  // on threads
}
TEST(Matmul, FewSumsOfManyElements) {  // in parts
  Random random(25);
  for (int64_t k : {65536, 65537, 100001})
    for (int64_t rows : {1, 3, 9}) {
      check<double>(random, {}, rows, k, 1, true);
      check<double>(random, {}, 2, k, rows, false);
      check<Float16>(random, {}, rows, k, 1, true);
      check<BFloat16>(random, {}, 1, k, 2, true);
    }
}
TEST(Matmul, BatchesOnThreads) {
  Random random(10);
  check<float>(random, {6, 5}, 40, 33, 50, true);
  check<double>(random, {6, 5}, 40, 33, 50, true);
  check<BFloat16>(random, {6, 5}, 40, 33, 50, true);
}
TEST(Matmul, BatchesOfSmallMatricesTimesVectors) {
  Random random(27);
  for (int round = 0; round < testing::property_cases(20); ++round)
    for (int64_t n = 1; n <= 8; ++n) {
      check<float>(random, {3, 5}, n, n, 1), check<double>(random, {7}, 1, n, n);
      check<double>(random, {7}, n, n, 1), check<float>(random, {4, 2}, 1, n, n);
      check<int32_t>(random, {3, 5}, n, n, 1), check<int64_t>(random, {7}, 1, n, n);
      check<int64_t>(random, {7}, 1, n, 1), check<int32_t>(random, {5}, n, n, n);
    }
  check<float>(random, {10000}, 3, 3, 1, true);  // on threads
}

TEST(Matmul, BoolIsRefused) {
  bool x[1] = {true};
  const View view = View::contiguous({1, 1});
  EXPECT_THROW(matmul({x, &view, boolean}, {x, &view, boolean}, {x, &view, boolean}), DtypeError);
}

// Hazard: "matmul with M, K or N = 0": oneDNN divides by zero and the process dies.
template <class T> void check_empty_sizes() {
  for (int64_t m : {0, 3, 100})
    for (int64_t k : {0, 3, 40})
      for (int64_t n : {0, 3, 100}) {
        Random random(11);
        Array<T> a = testing::random_array<T>({2, m, k}, Layout::row_major, random);
        Array<T> b = testing::random_array<T>({2, k, n}, Layout::row_major, random);
        Array<T> out = testing::make_array<T>({2, m, n}, Layout::row_major, random, static_cast<T>(7.0f));
        matmul(a.operand(), b.operand(), out.operand());
        if (k == 0)
          testing::for_each_index(out.shape(),
                                  [&](const IntList& i) { EXPECT_EQ(static_cast<float>(out.at(i)), 0.0f); });
        Array<T> kept = testing::make_array<T>({2, m, n}, Layout::row_major, random, static_cast<T>(7.0f));
        product(a, b, kept, true);
        if (k == 0)
          testing::for_each_index(kept.shape(),
                                  [&](const IntList& i) { EXPECT_EQ(static_cast<float>(kept.at(i)), 7.0f); });
      }
}
TEST(KernelHazards, MatmulWithEmptySizes) {
  check_empty_sizes<float>();
  check_empty_sizes<double>();
  check_empty_sizes<BFloat16>();
  check_empty_sizes<int64_t>();
}

// Hazard: sizes whose bytes leave 64 bits wrap silently in oneDNN.
// The tiles of AMX: sums of 63 died or were wrong in about one shape of four.
TEST(KernelHazards, Bf16SumsAroundSixtyFour) {
  Random random(11);
  for (int64_t k = 61; k <= 66; ++k)
    for (int64_t m : {38, 66, 90})
      for (int64_t n : {8, 36, 83}) check<BFloat16>(random, {}, m, k, n, true);
}

// (A copy of one column is transposed as well as it is not: it was copied again and again.)
TEST(Matmul, OneTermOfAnyStrides) {
  Random random(28);
  for (int round = 0; round < testing::property_cases(30); ++round)
    for (int64_t rows : {3, 16, 33}) check<float>(random, {}, rows, 1, 1000);
}

TEST(KernelHazards, MatmulSizesBeyondMemoryAreRefused) {
  float x[1] = {1}, out[1] = {0};
  const int64_t huge = int64_t{1} << 62;
  const View a = View::create({1, huge}, {0, 0}), b = View::create({huge, 1}, {0, 0}), c = View::contiguous({1, 1});
  EXPECT_THROW(matmul({x, &a, f32}, {x, &b, f32}, {out, &c, f32}), ShapeError);
}

// Hazard: one primitive run from two threads with a shared scratchpad.
TEST(KernelHazards, TwoThreadsRunOnePrimitive) {
  const auto work = [] {
    SerialScope serial;
    Random random(12);
    for (int i = 0; i < 20; ++i) check<BFloat16>(random, {}, 64, 48, 96, true);
    for (int i = 0; i < 20; ++i) check<float>(random, {}, 64, 48, 96, true);
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
}

// Hazard: a primitive made for several threads must not run where there is one.
TEST(KernelHazards, ProductsInsideParallelRegions) {
  std::atomic<int> done{0};
  parallel_for(4, 1, [&](int64_t begin, int64_t end) {
    Random random(13);
    for (int64_t i = begin; i < end; ++i) {
      check<BFloat16>(random, {}, 64, 48, 96, true);
      check<float>(random, {}, 64, 48, 96, true);
      ++done;
    }
  });
  EXPECT_EQ(done.load(), 4);
}

/// The number of threads, once it has stayed the same for a while: teams of threads that ended go away a little later.
int64_t settled_task_count() {
  int64_t count = testing::task_count();
  for (int same = 0; same < 20; ++same) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const int64_t now = testing::task_count();
    if (now != count) same = 0;
    count = now;
  }
  return count;
}

/// Threads that a product on a new thread brings into the process.
template <class T> int64_t tasks_of_a_product() {
  int64_t more = -1;
  std::thread([&] {
    Random random(16);
    const int64_t before = settled_task_count();
    check<T>(random, {}, 256, 256, 256, true);
    more = testing::task_count() - before;
  }).join();
  return more;
}
// Hazard: OpenMP's thread count is per thread, and a new one starts from the environment's: the library would bring a
// team of its own there, whatever set_num_threads() said.
TEST(KernelHazards, ProductsOnANewThreadKeepToTheThreadsThatAreSet) {
  const int before = num_threads();
  set_num_threads(1);
  EXPECT_EQ(tasks_of_a_product<float>(), 0);
  EXPECT_EQ(tasks_of_a_product<BFloat16>(), 0);
  set_num_threads(before);
}

TEST(Matmul, NanAndInfinityPropagate) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (int64_t n : {2, 40}) {
    Random random(14);
    Array<float> a = testing::random_array<float>({n, n}, Layout::row_major, random);
    Array<float> zeros = testing::make_array<float>({n, n}, Layout::row_major, random, 0.0f);
    Array<float> out = testing::make_array<float>({n, n}, Layout::row_major, random, nan);
    a.at({1, 1}) = nan;
    for (const bool forced : {false, true}) {
      kernels::cpu::force_loop_kernels(forced);
      matmul(a.operand(), zeros.operand(), out.operand());
      kernels::cpu::force_loop_kernels(false);
      EXPECT_TRUE(std::isnan(out.at({1, 0})));
      EXPECT_EQ(out.at({0, 0}), 0.0f);  // what was in the result is not multiplied by zero but replaced
    }
  }
}

/// Real numbers, so that the order of summation shows.
template <class T>
std::vector<T> product_bits(int threads, int64_t rows = 300, int64_t columns = 130, int64_t terms = 700) {
  const int before = num_threads();
  set_num_threads(threads);
  Random random(15);
  Array<T> a = testing::random_array<T>({rows, terms}, Layout::row_major, random, 1000);
  Array<T> b = testing::random_array<T>({terms, columns}, Layout::row_major, random, 1000);
  for (T& v : a.memory) v = static_cast<T>(1) / (v + static_cast<T>(0.5));
  Array<T> out = testing::make_array<T>({rows, columns}, Layout::row_major, random);
  matmul(a.operand(), b.operand(), out.operand());
  set_num_threads(before);
  return out.memory;
}
TEST(Matmul, LoopsHaveTheSameBitsAtAnyThreadCount) {
  EXPECT_EQ(product_bits<double>(1), product_bits<double>(3));
  EXPECT_EQ(product_bits<float>(1, 1003, 1), product_bits<float>(3, 1003, 1));
  for (int64_t terms : {4, 8, 16, 32}) {  // rows of two registers
    EXPECT_EQ(product_bits<float>(1, 40003, 1, terms), product_bits<float>(3, 40003, 1, terms)) << terms;
    EXPECT_EQ(product_bits<double>(1, 40003, 1, terms), product_bits<double>(3, 40003, 1, terms)) << terms;
  }
  ForceLoops loops;
  EXPECT_EQ(product_bits<float>(1), product_bits<float>(3));
}

}  // namespace
}  // namespace weft
