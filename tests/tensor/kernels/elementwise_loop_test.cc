// The loop under the element-wise kernels: large operands of every kind of strides, with the same bits at any thread
// count.
#include <gtest/gtest.h>

#include "tensor/core/error.h"
#include "tensor/kernels/cpu/loops/elementwise.h"
#include "tensor/ops/binary.h"
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
