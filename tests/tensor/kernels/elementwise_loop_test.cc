// The loop under the element-wise kernels: large operands of every kind of strides, with the same bits at any thread
// count.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "tensor/core/error.h"
#include "tensor/kernels/cpu/loops/elementwise.h"
#include "tensor/ops/binary.h"
#include "tensor/ops/blend.h"
#include "tensor/ops/unary.h"
#include "tensor/runtime/threads.h"
#include "tests/tensor/kernels/any_array.h"

namespace weft::testing {
namespace {

struct Threads {
  explicit Threads(int count) { set_num_threads(count); }
  ~Threads() { set_num_threads(before); }
  int before = num_threads();
};

// Big enough for threads: flat, long rows, many short rows, tiles, broadcasts.
const std::vector<Shape> kLarge = {{200003}, {3, 50001}, {70001, 3}, {311, 405}, {17, 33, 9, 41}};
// Short rows, which one operand may have in common: of one plane, and of several.
const std::vector<Shape> kShortRows = {{19, 4}, {64, 16}, {257, 64}, {3, 500, 6}, {2, 4099, 3}, {2, 3, 1000, 5}};

TEST(ElementwiseLoop, LargeOperandsOfAnyStrides) {
  Random random(21);
  for (const int threads : {1, 3}) {
    const Threads scope(threads);
    std::vector<Shape> shapes = kLarge;
    shapes.insert(shapes.end(), kShortRows.begin(), kShortRows.end());
    for (const Shape& shape : shapes) {
      for (int round = 0; round < 10; ++round) {
        AnyArray a(shape, i32, kAllLayouts[pick(random, 0, 4)], random);
        AnyArray b(shape, i32, kAllLayouts[pick(random, 0, 4)], random);
        AnyArray out(shape, i32, kDistinctLayouts[pick(random, 0, 3)], random);
        for (AnyArray* x : {&a, &b}) x->fill([&] { return static_cast<double>(pick(random, -1000, 1000)); });
        const auto untouched = out.memory;
        op::Sub{}.cpu(a.operand(), b.operand(), out.operand());
        for_each_index(shape, [&](const IntList& index) {
          ASSERT_EQ(out.get(index), a.get(index) - b.get(index))
              << text(shape, " ", threads) << out.view.to_string() << a.view.to_string() << b.view.to_string();
          out.set(index, 0);
        });
        ASSERT_EQ(out.memory, untouched) << "wrote outside of the view";
      }
    }
  }
}

TEST(ElementwiseLoop, SameBitsAtAnyThreadCountAndInAnyMemoryOrder) {
  for (const DType dtype : kFloatingDtypes) {
    for (const Shape& shape : kLarge) {
      std::vector<double> first;
      for (const int threads : {1, 2, 3}) {
        const Threads scope(threads);
        for (const Layout layout : {Layout::row_major, Layout::permuted, Layout::gaps}) {
          Random random(22);
          AnyArray x(shape, dtype, Layout::row_major, random);
          x.fill([&] { return static_cast<double>(pick(random, -400, 400)) / 100; });
          AnyArray strided(shape, dtype, layout, random), out(shape, dtype, Layout::row_major, random);
          for_each_index(shape, [&](const IntList& index) { strided.set(index, x.get(index)); });
          op::GeluOp{false}.cpu(strided.operand(), out.operand());
          std::vector<double> values;
          for_each_index(shape, [&](const IntList& index) { values.push_back(out.get(index)); });
          if (first.empty()) first = values;
          ASSERT_EQ(values, first) << text(dtype, shape, threads);
        }
      }
    }
  }
}

TEST(ElementwiseLoop, ARowForAllRows) {
  Random random(24);
  for (const DType dtype : {i8, bf16, f32, f64}) {
    for (const Shape& shape : kShortRows) {
      for (const bool in_each_plane : {false, true}) {
        Shape sizes = shape;
        for (size_t i = 0; i + 1 < sizes.size(); ++i)
          if (!in_each_plane || i + 2 == sizes.size()) sizes[i] = 1;
        AnyArray x(shape, dtype, kAllLayouts[pick(random, 0, 4)], random), row(sizes, dtype, Layout::gaps, random);
        AnyArray out(shape, dtype, Layout::row_major, random);
        for (AnyArray* a : {&x, &row}) a->fill([&] { return static_cast<double>(pick(random, -60, 60)); });
        const View repeated = row.view.expand(shape);
        op::Add{}.cpu({row.memory.data(), &repeated, dtype}, x.operand(), out.operand());
        for_each_index(shape, [&](const IntList& index) {
          IntList at = index;
          for (size_t i = 0; i < at.size(); ++i) at[i] = sizes[i] == 1 ? 0 : at[i];
          ASSERT_EQ(out.get(index), row.get(at) + x.get(index)) << text(dtype, shape) << x.view.to_string();
        });
      }
    }
  }
}

TEST(ElementwiseLoop, OutputMayBeAnInput) {
  Random random(23);
  for (const Layout layout : kDistinctLayouts) {
    for (const DType dtype : {f32, bf16, i64}) {
      AnyArray a({37, 41}, dtype, layout, random), b({37, 41}, dtype, Layout::row_major, random);
      for (AnyArray* x : {&a, &b}) x->fill([&] { return static_cast<double>(pick(random, 0, 50)); });
      const AnyArray before = a;
      op::Add{}.cpu(a.operand(), b.operand(), a.operand());
      for_each_index(a.shape(),
                     [&](const IntList& index) { ASSERT_EQ(a.get(index), before.get(index) + b.get(index)); });
      op::Sub{}.cpu(a.operand(), a.operand(), a.operand());
      for_each_index(a.shape(), [&](const IntList& index) { ASSERT_EQ(a.get(index), 0); });
    }
  }
}

/// Bits of `count` 16-bit floats: numbers, zeros of both signs, infinities and NaN.
std::vector<uint16_t> any_bits(int64_t count, Random& random) {
  std::vector<uint16_t> bits;
  for (int64_t i = 0; i < count; ++i) {
    const auto sign = static_cast<uint16_t>(pick(random, 0, 1) << 15);
    const auto size =
        static_cast<uint16_t>(pick(random, 0, 9) == 0 ? pick(random, 0, 1) * 0x7fff : pick(random, 0x2000, 0x5fff));
    bits.push_back(sign | size);
  }
  return bits;
}
template <class T> uint16_t sum_bits(uint16_t a, uint16_t b) {
  return T(static_cast<float>(std::bit_cast<T>(a)) + static_cast<float>(std::bit_cast<T>(b))).bits;
}
template <class T> bool is_nan_bits(uint16_t bits) { return std::isnan(static_cast<float>(std::bit_cast<T>(bits))); }

// Functions of few instructions convert in registers, 16 elements at a time (half_registers.h).
TEST(ElementwiseLoop, EveryHalfIsConvertedAlike) {
  std::vector<uint16_t> x(65536), y(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint16_t>(i * 40503);
  const View view = View::contiguous({65536});
  const auto check = [&]<class T>(DType dtype, T) {
    op::Square{}.cpu({x.data(), &view, dtype}, {y.data(), &view, dtype});
    for (size_t i = 0; i < x.size(); ++i) {
      const float value = static_cast<float>(std::bit_cast<T>(x[i]));
      ASSERT_EQ(y[i], T(value * value).bits) << x[i];
    }
  };
  check(bf16, BFloat16());
  check(f16, Float16());
}

TEST(ElementwiseLoop, HalvesOfAnyCountAndStep) {
  Random random(25);
  const auto check = [&]<class T>(DType dtype, int64_t count, int64_t step, bool in_place, T) {
    std::vector<uint16_t> x = any_bits(count, random), y = any_bits(count * 2 + 1, random), out(x.size() + 1, 7);
    const std::vector<uint16_t> before = x;
    const View dense = View::contiguous({count}), other = View::create({count}, {step}, 0);
    uint16_t* const to = in_place ? x.data() : out.data();
    op::Add{}.cpu({x.data(), &dense, dtype}, {y.data(), &other, dtype}, {to, &dense, dtype});
    for (int64_t i = 0; i < count; ++i) {
      const uint16_t sum = sum_bits<T>(before[static_cast<size_t>(i)], y[static_cast<size_t>(i * step)]);
      if (is_nan_bits<T>(sum)) {
        ASSERT_TRUE(is_nan_bits<T>(to[i])) << text(count, " ", step, " ", i);
      } else {
        ASSERT_EQ(to[i], sum) << text(count, " ", step, " ", i);
      }
    }
    EXPECT_EQ(out.back(), 7) << "wrote beyond the end";
  };
  for (const int64_t count : {1, 15, 16, 17, 31, 32, 33, 255, 256, 257, 271, 272, 273, 4113}) {
    for (const int64_t step : {0, 1, 2}) {
      for (const bool in_place : {false, true}) {
        check(bf16, count, step, in_place, BFloat16());
        check(f16, count, step, in_place, Float16());
      }
    }
  }
}

// Also which of two NaN comes out: the loop and its last elements are compiled apart.
TEST(ElementwiseLoop, NanOfHalvesHasTheSameBitsAtAnyThreadCount) {
  const auto nan = [](uint32_t factor) {
    std::vector<uint16_t> bits(300007);
    for (uint32_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>((i * factor >> 16) | 0x7c00);
    return bits;
  };
  std::vector<uint16_t> a = nan(1664525), b = nan(22695477), weight = nan(214013), expected(a.size()), out(a.size());
  const View view = View::contiguous({static_cast<int64_t>(a.size())});
  const auto lerp = [&](int threads, std::vector<uint16_t>& to) {
    const Threads scope(threads);
    op::LerpBy{}.cpu({a.data(), &view, f16}, {b.data(), &view, f16}, {weight.data(), &view, f16},
                     {to.data(), &view, f16});
  };
  lerp(1, expected);
  for (const int threads : {2, 3, 4}) {
    lerp(threads, out);
    EXPECT_EQ(out, expected) << threads;
  }
}

TEST(ElementwiseLoop, SerialScopeGivesTheSame) {
  std::vector<float> x(100000, 1.5f), y(x.size()), z(x.size());
  const View view = View::contiguous({100000});
  op::Exp{}.cpu({x.data(), &view, f32}, {y.data(), &view, f32});
  {
    const SerialScope serial;
    op::Exp{}.cpu({x.data(), &view, f32}, {z.data(), &view, f32});
  }
  EXPECT_EQ(y, z);
}

}  // namespace
}  // namespace weft::testing
