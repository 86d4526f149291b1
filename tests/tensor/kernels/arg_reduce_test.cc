// Positions of extremes: the first of equals, the first NaN, any layout and dtype.
#include "tensor/ops/arg_reduce.h"

#include "tensor/kernels/cpu/base/simd.h"
#include "tests/reference/rows.h"
#include "tests/tensor/kernels/row_checks.h"

namespace weft::testing {
namespace {

void with_indices(bool largest, const Operand& x, int64_t axis, const Operand& values, const Operand& indices) {
  op::ExtremumWithIndices{axis, largest, true}.cpu(x, values, indices);
}
template <class Op> void position_of(const Operand& x, std::optional<int64_t> axis, const Operand& out) {
  Op op;
  op.axis = axis;
  op.keepdim = true;
  op.cpu(x, out);
}

// Few distinct values, so that there are ties, and NaN now and then.
AnyArray tied_values(const Shape& shape, DType dtype, Layout layout, Random& random, bool with_nan) {
  AnyArray x(shape, dtype, layout, random);
  return x.fill([&] {
    if (with_nan && is_floating(dtype) && pick(random, 0, 40) == 0) return std::nan("");
    return static_cast<double>(pick(random, dtype == u8 || dtype == boolean ? 0 : -3, 3));
  });
}

void check_axis(AnyArray& x, int64_t axis, Random& random) {
  const Shape kept = kept_shape(x.shape(), {axis});
  AnyArray indices(kept, i64, Layout::permuted, random), values(kept, x.dtype, Layout::permuted, random);
  for (bool largest : {true, false}) {
    with_indices(largest, x.operand(), axis, values.operand(), indices.operand());
    AnyArray alone(kept, i64, Layout::row_major, random);
    (largest ? position_of<op::Argmax> : position_of<op::Argmin>)(x.operand(), axis, alone.operand());
    const reference::Array elements = values_of(x);
    for_each_index(kept, [&](const IntList& index) {
      const reference::Row row = reference::row_at(elements, index.to_vector(), static_cast<size_t>(axis));
      const size_t want = reference::first_extreme(row, largest);
      ASSERT_EQ(static_cast<size_t>(indices.get(index)), want) << describe(x) << " axis " << axis;
      ASSERT_EQ(static_cast<size_t>(alone.get(index)), want);
      ASSERT_TRUE(close(values.get(index), row[want], 0));
    });
  }
}

TEST(ArgReduce, AgreesWithNaiveLoops) {
  Random random(21);
  for (int i = 0; i < property_cases(300); ++i) {
    Shape shape;
    const int64_t rank = pick(random, 1, 4);
    for (int64_t a = 0; a < rank; ++a) shape.push_back(pick(random, 1, 12));
    AnyArray x =
        tied_values(shape, kAllDtypes[pick(random, 0, 9)], kAllLayouts[pick(random, 0, 4)], random, i % 2 == 0);
    check_axis(x, pick(random, 0, rank - 1), random);
    AnyArray all(IntList::filled(static_cast<size_t>(rank), 1), i64, Layout::row_major, random);
    position_of<op::Argmax>(x.operand(), std::nullopt, all.operand());
    const IntList zero = IntList::filled(static_cast<size_t>(rank), 0);
    ASSERT_EQ(static_cast<size_t>(all.get(zero)), reference::first_extreme(values_of(x).values, true)) << describe(x);
    if (HasFailure()) break;
  }
}

TEST(ArgReduce, LongRowsAndManyColumns) {
  Random random(22);
  for (DType dtype : {f32, i64, bf16})
    for (const auto& [shape, axis] :
         std::vector<std::pair<Shape, int64_t>>{{{3, 20000}, 1}, {{20000, 3}, 0}, {{37, 700}, 0}, {{4, 9, 300}, 1}}) {
      AnyArray x = tied_values(shape, dtype, Layout::row_major, random, false);
      check_axis(x, axis, random);
    }
}

TEST(ArgReduce, OverAllOfALargeArrayWithAnyThreads) {
  Random random(23);
  AnyArray x({300000}, f32, Layout::row_major, random), out({1}, i64, Layout::row_major, random);
  x.set({250001}, 5);
  x.set({250007}, 5);
  expect_same_bits_for_threads([&] {
    position_of<op::Argmax>(x.operand(), std::nullopt, out.operand());
    return out.memory;
  });
  EXPECT_EQ(out.get({0}), 250001);
  x.set({290000}, std::nan(""));
  position_of<op::Argmax>(x.operand(), 0, out.operand());
  EXPECT_EQ(out.get({0}), 290000);
  AnyArray scalar({}, f32, Layout::row_major, random), position({}, i64, Layout::row_major, random);
  position_of<op::Argmin>(scalar.operand(), std::nullopt, position.operand());
  EXPECT_EQ(position.get({}), 0);
}

// Rows around the limits of registers, of steps of several registers, and of blocks: the best one planted in every
// place, also twice (the first counts), with the others all alike; and a NaN, which beats it wherever it comes.
template <class T> void check_planted() {
  constexpr int64_t N = kernels::cpu::simd::kLanes<T>;
  for (const int64_t length : {4 * N - 1, 4 * N, 4 * N + 1, 5 * N, 7 * N + 3, 8 * N, 9 * N - 1, 16 * N + 5})
    for (const bool largest : {true, false}) {
      const View view = View::contiguous({1, length}), kept = View::contiguous({1, 1});
      std::vector<T> row(static_cast<size_t>(length), T{2});
      const auto position = [&] {
        int64_t index = -1;
        T value{};
        with_indices(largest, {row.data(), &view, dtype_of<T>}, 1, {&value, &kept, dtype_of<T>}, {&index, &kept, i64});
        const T chosen = row[static_cast<size_t>(index)];
        EXPECT_TRUE(value == chosen || (value != value && chosen != chosen)) << value << " and " << chosen;
        return index;
      };
      for (int64_t at = 0; at < length; ++at) {
        T& planted = row[static_cast<size_t>(at)];
        planted = largest ? T{5} : T{1};
        ASSERT_EQ(position(), at) << length;
        T& again = row[static_cast<size_t>((at + 3) % length)];
        again = planted;
        ASSERT_EQ(position(), std::min(at, (at + 3) % length)) << length;
        if constexpr (std::is_floating_point_v<T>) {
          again = std::numeric_limits<T>::quiet_NaN();
          ASSERT_EQ(position(), (at + 3) % length) << length;
        }
        again = planted = T{2};
      }
    }
}
TEST(ArgReduce, FindsTheBestWhereverItLies) {
  check_planted<float>();
  check_planted<double>();
  check_planted<int32_t>();
  check_planted<int64_t>();
}

TEST(ArgReduce, ZerosAreAlikeAndInfinitiesAreNoNan) {
  const int64_t length = 100;
  const View view = View::contiguous({1, length}), kept = View::contiguous({1, 1});
  std::vector<float> row(static_cast<size_t>(length), -1.0f);
  row[40] = -0.0f, row[70] = 0.0f;
  float value = 7;
  int64_t index = -1;
  const auto run = [&] { with_indices(true, {row.data(), &view, f32}, 1, {&value, &kept, f32}, {&index, &kept, i64}); };
  run();
  EXPECT_EQ(index, 40);
  EXPECT_TRUE(std::signbit(value));  // what lies there, not the other zero
  row[20] = -std::numeric_limits<float>::infinity(), row[90] = std::numeric_limits<float>::infinity();
  run();
  EXPECT_EQ(index, 90);
}

TEST(ArgReduce, AllMinusInfinity) {
  Array<float> x{std::vector<float>(20, -std::numeric_limits<float>::infinity()), View::contiguous({20})};
  Array<int64_t> out{{-1}, View::contiguous({1})};
  position_of<op::Argmax>(x.operand(), 0, out.operand());
  EXPECT_EQ(out.memory[0], 0);
}

}  // namespace
}  // namespace weft::testing
