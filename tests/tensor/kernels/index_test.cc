// Indexing kernels against naive loops; integers make sums exact. Bad indices are named and nothing is written.
#include "tensor/ops/index.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "tensor/ops/embedding_bag.h"
#include "tensor/ops/index_put.h"
#include "tests/error_of.h"
#include "tests/reference/index.h"
#include "tests/tensor/kernels/row_checks.h"

namespace weft::testing {
namespace {

const DType kIndexDtypes[] = {i64, i32, i16, i8, u8};

AnyArray random_indices(const Shape& shape, int64_t limit, Layout layout, Random& random) {
  AnyArray index(shape, kIndexDtypes[pick(random, 0, 4)], layout, random);
  return index.fill([&] { return static_cast<double>(pick(random, 0, limit - 1)); });
}

AnyArray small_integers(const Shape& shape, DType dtype, Layout layout, Random& random) {
  AnyArray x(shape, dtype, layout, random);
  return x.fill([&] { return static_cast<double>(pick(random, 0, dtype == boolean ? 1 : 9)); });
}

Shape random_shape(int64_t rank, Random& random) {
  Shape shape;
  for (int64_t a = 0; a < rank; ++a) shape.push_back(pick(random, 1, 7));
  return shape;
}

IntList with(IntList index, int64_t axis, int64_t value) {
  index[static_cast<size_t>(axis)] = value;
  return index;
}

void expect_equal(const AnyArray& got, const reference::Array& want, const std::string& what) {
  expect_all_close(got, want, 0, 0, what);
}

TEST(Index, GatherAndScatterAdd) {
  Random random(71);
  for (int i = 0; i < property_cases(300); ++i) {
    const int64_t rank = pick(random, 1, 4), axis = pick(random, 0, rank - 1);
    const Shape shape = random_shape(rank, random);
    Shape taken = shape;
    for (int64_t& size : taken) size = pick(random, 1, size);
    taken[static_cast<size_t>(axis)] = pick(random, 0, 9);
    const DType dtype = kAllDtypes[pick(random, 0, 8)];
    AnyArray x = small_integers(shape, dtype, kAllLayouts[pick(random, 0, 4)], random);
    AnyArray index = random_indices(taken, shape[static_cast<size_t>(axis)], kAllLayouts[pick(random, 0, 4)], random);
    AnyArray out(taken, dtype, kDistinctLayouts[pick(random, 0, 3)], random);
    op::Gather{axis}.cpu(x.operand(), index.operand(), out.operand());
    const reference::IndexMap named = reference::each_named(values_of(index), static_cast<size_t>(axis));
    expect_equal(out, reference::gathered(values_of(x), taken, named), "gather " + describe(x));
    AnyArray into = small_integers(shape, dtype, kDistinctLayouts[pick(random, 0, 3)], random);  // overwritten
    op::ScatterAdd{axis, into.shape()}.cpu(out.operand(), index.operand(), into.operand());
    expect_equal(into, reference::scattered(values_of(out), shape, named), "scatter_add " + describe(into));
    if (HasFailure()) break;
  }
}

TEST(Index, SelectAndAdd) {
  Random random(72);
  for (int i = 0; i < property_cases(300); ++i) {
    const int64_t rank = pick(random, 1, 4), axis = pick(random, 0, rank - 1);
    Shape shape = random_shape(rank, random);
    if (i % 10 == 0 && axis + 1 < rank) shape[static_cast<size_t>(rank - 1)] = 1300;  // slices of 1 KiB and more
    const Shape taken = with(shape, axis, pick(random, 0, 9));
    const DType dtype = kAllDtypes[pick(random, 0, 8)];
    AnyArray x = small_integers(shape, dtype, kAllLayouts[pick(random, 0, 4)], random);
    AnyArray index = random_indices({taken[static_cast<size_t>(axis)]}, shape[static_cast<size_t>(axis)],
                                    kDistinctLayouts[pick(random, 0, 3)], random);
    AnyArray out(taken, dtype, kDistinctLayouts[pick(random, 0, 3)], random);
    op::IndexSelect{axis}.cpu(x.operand(), index.operand(), out.operand());
    const reference::IndexMap named = reference::slice_named(values_of(index), static_cast<size_t>(axis));
    expect_equal(out, reference::gathered(values_of(x), taken, named), "index_select " + describe(x));
    AnyArray into = small_integers(shape, dtype, kDistinctLayouts[pick(random, 0, 3)], random);  // overwritten
    op::IndexAdd{axis, into.shape()}.cpu(out.operand(), index.operand(), into.operand());
    expect_equal(into, reference::scattered(values_of(out), shape, named), "index_add " + describe(into));
    if (HasFailure()) break;
  }
}

// Tables of 8 MiB and more, whose lines are prefetched.
TEST(Index, CopiesElementsToALargeTable) {
  constexpr int64_t kSize = 1 << 20, kCount = 5000;
  std::vector<double> table(kSize, -1), values(kCount);
  std::vector<int64_t> rows(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    values[i] = static_cast<double>(i);
    rows[i] = static_cast<int64_t>(i * 48271 % kSize);  // an odd factor: none twice
  }
  const View whole = View::contiguous({kSize}), list = View::contiguous({kCount});
  op::IndexCopy{0, 1, true}.cpu({table.data(), &whole, f64}, {rows.data(), &list, i64}, {values.data(), &list, f64},
                                {table.data(), &whole, f64});
  for (size_t i = 0; i < kCount; ++i) {
    double& element = table[static_cast<size_t>(rows[i])];
    ASSERT_EQ(element, values[i]);
    element = -1;
  }
  EXPECT_EQ(std::ranges::count(table, -1), kSize);
}

TEST(Index, EmbeddingAndItsGradient) {
  Random random(73);
  for (int i = 0; i < property_cases(150); ++i) {
    const int64_t vocabulary = pick(random, 1, 20), width = i % 5 == 0 ? 700 : pick(random, 1, 20);
    const Shape places = random_shape(pick(random, 0, 3), random);
    Shape shape = places;
    shape.push_back(width);
    const DType dtype = kFloatingDtypes[pick(random, 0, 3)];
    AnyArray weight = small_integers({vocabulary, width}, dtype, kAllLayouts[pick(random, 0, 4)], random);
    AnyArray index = random_indices(places, vocabulary, kAllLayouts[pick(random, 0, 4)], random);
    AnyArray out(shape, dtype, kDistinctLayouts[pick(random, 0, 3)], random);
    op::Embedding{-1}.cpu(index.operand(), weight.operand(), out.operand());
    const reference::IndexMap named = reference::row_named(values_of(index));
    expect_equal(out, reference::gathered(values_of(weight), shape, named), "embedding " + describe(weight));
    const int64_t padding = i % 2 == 0 ? -1 : pick(random, 0, vocabulary - 1);
    AnyArray grad({vocabulary, width}, dtype, kDistinctLayouts[pick(random, 0, 3)], random);
    op::EmbeddingBackward{grad.shape()[0], padding}.cpu(out.operand(), index.operand(), grad.operand());
    reference::Array sums = reference::scattered(values_of(out), {vocabulary, width}, [&](const reference::Index& at) {
      return named(at)[0] == padding ? reference::Index{} : named(at);
    });
    for (double& sum : sums.values) sum = rounded(sum, dtype);
    expect_equal(grad, sums, "embedding_backward " + describe(grad));
    if (HasFailure()) break;
  }
}

/// The first of rows[begin .. end) whose row of the table has the largest value in a column, or the first NaN; else -1.
double largest_of_bag(const AnyArray& table, const std::vector<int64_t>& rows, size_t begin, size_t end,
                      int64_t column) {
  int64_t best = -1;
  for (size_t k = begin; k < end; ++k) {
    const double value = table.get({rows[k], column}), known = best < 0 ? 0 : table.get({best, column});
    if (best < 0 || (!std::isnan(known) && !(value <= known))) best = rows[k];
  }
  return static_cast<double>(best);
}

// Columns of a part of a register, of one and of several; an empty bag, and one of more rows than a byte counts.
TEST(Index, LargestOfBags) {
  Random random(77);
  constexpr int64_t kRows = 250, kTaken = 207;
  for (const DType dtype : {f32, f64, bf16, f16, i64, i32, i16, i8, u8})
    for (const int64_t width : {1, 6, 16, 70, 133})
      for (const Layout layout : {Layout::row_major, Layout::permuted}) {
        AnyArray table = small_integers({kRows, width}, dtype, layout, random);
        AnyArray index({kTaken}, i64, Layout::row_major, random), offsets({4}, i64, Layout::row_major, random);
        std::vector<int64_t> rows;
        index.fill([&] { return static_cast<double>(rows.emplace_back(pick(random, 0, kRows - 1))); });
        const std::array<size_t, 5> begins = {0, 3, 3, 200, kTaken};
        for (size_t b = 0; b < 4; ++b) offsets.set({static_cast<int64_t>(b)}, static_cast<double>(begins[b]));
        if (is_floating(dtype)) table.set({rows[1], 0}, NAN), table.set({rows[150], width - 1}, NAN);
        AnyArray out({4, width}, i64, Layout::row_major, random);
        op::EmbeddingBagArgmax{-1}.cpu(index.operand(), table.operand(), offsets.operand(), out.operand());
        for (int64_t b = 0; b < 4; ++b)
          for (int64_t j = 0; j < width; ++j) {
            const auto bag = static_cast<size_t>(b);
            ASSERT_EQ(out.get({b, j}), largest_of_bag(table, rows, begins[bag], begins[bag + 1], j))
                << describe(table) << ", bag " << b << ", column " << j;
          }
      }
}

TEST(Index, GradientOfOneWordIsSummedExactly) {
  Random random(74);
  constexpr int64_t kCount = 1 << 20;
  Array<int32_t> index{std::vector<int32_t>(kCount, 1), View::contiguous({kCount})};
  Array<float> grad{std::vector<float>(kCount, 0.1f), View::contiguous({kCount, 1})},
      sums{{0, 0}, View::contiguous({2, 1})};
  op::EmbeddingBackward{sums.shape()[0], -1}.cpu(grad.operand(), index.operand(), sums.operand());
  EXPECT_NEAR(sums.memory[1] / (static_cast<double>(0.1f) * kCount), 1, 1e-7);
}

TEST(Index, NegativeZerosStayWhereNothingElseIsAdded) {
  Random random(79);
  for (const DType dtype : {f32, f64, bf16, f16})
    for (const int64_t rows : {3, 200})      // of which many or few are listed
      for (const int64_t width : {4, 70})    // added in order, and in registers
        for (const int64_t count : {1, 20})  // in the elements' type, and in double
          for (const Layout layout : kDistinctLayouts) {
            AnyArray x({rows, width}, dtype, layout, random), src({count, width}, dtype, layout, random), out = x;
            AnyArray index({count}, i64, Layout::row_major, random);
            x.fill([] { return -0.0; }), src.fill([] { return -0.0; }), index.fill([] { return 1; });
            op::IndexAccumulate{0}.cpu(x.operand(), index.operand(), src.operand(), out.operand());
            for (int64_t i = 0; i < rows; ++i)
              for (int64_t j = 0; j < width; ++j)
                ASSERT_TRUE(std::signbit(out.get({i, j}))) << describe(out) << count << " to row 1: " << i << ", " << j;
            op::IndexAdd{0, x.shape()}.cpu(src.operand(), index.operand(), out.operand());
            ASSERT_FALSE(std::signbit(out.get({1, 0}))) << "added to 0: " << describe(out);
          }
}

TEST(Index, OneHot) {
  Random random(75);
  AnyArray index = random_indices({3, 4}, 5, Layout::permuted, random), out({3, 4, 5}, f32, Layout::gaps, random);
  out.fill([] { return 9.0; });
  op::OneHot{out.shape().back()}.cpu(index.operand(), out.operand());
  const reference::Array classes = values_of(index);
  expect_equal(out,
               reference::build({3, 4, 5},
                                [&](const reference::Index& i) {
                                  return classes.at({i[0], i[1]}) == static_cast<double>(i[2]) ? 1.0 : 0.0;
                                }),
               "one_hot");
}

TEST(Index, NamesTheFirstBadIndexAndWritesNothing) {
  Random random(76);
  AnyArray table = small_integers({5, 3}, f32, Layout::row_major, random), before = table;
  AnyArray index({5000}, i64, Layout::row_major, random), rows({5000, 3}, f32, Layout::row_major, random);
  index.set({4000}, 7);
  index.set({4500}, -1);
  const std::string want = "index 7 is out of range for an axis of size 5";
  EXPECT_EQ(error_of<IndexError>([&] { op::Embedding{-1}.cpu(index.operand(), table.operand(), rows.operand()); }),
            want);
  EXPECT_EQ(error_of<IndexError>([&] {
              op::EmbeddingBackward{table.shape()[0], -1}.cpu(rows.operand(), index.operand(), table.operand());
            }),
            want);
  EXPECT_EQ(error_of<IndexError>([&] { op::IndexSelect{0}.cpu(table.operand(), index.operand(), rows.operand()); }),
            want);
  EXPECT_EQ(error_of<IndexError>([&] {
              op::IndexAdd{0, table.shape()}.cpu(rows.operand(), index.operand(), table.operand());
            }),
            want);
  EXPECT_TRUE(table.memory == before.memory);
  index.set({100}, -2);
  EXPECT_EQ(error_of<IndexError>([&] { op::Embedding{-1}.cpu(index.operand(), table.operand(), rows.operand()); }),
            "index -2 is out of range for an axis of size 5");
  AnyArray line({5}, f32, Layout::row_major, random), many({5000}, f32, Layout::row_major, random);
  EXPECT_EQ(error_of<IndexError>([&] { op::Gather{0}.cpu(line.operand(), index.operand(), many.operand()); }),
            "index -2 is out of range for an axis of size 5");
  EXPECT_EQ(error_of<IndexError>([&] {
              op::ScatterAdd{0, line.shape()}.cpu(many.operand(), index.operand(), line.operand());
            }),
            "index -2 is out of range for an axis of size 5");
  AnyArray hot({5000, 5}, f32, Layout::row_major, random);
  EXPECT_EQ(error_of<IndexError>([&] { op::OneHot{hot.shape().back()}.cpu(index.operand(), hot.operand()); }),
            "class -2 is out of range for 5 classes");
}

TEST(Index, IndicesOfSeveralAxesAreCheckedBeforeTheyAreSummed) {  // the sanitizer sees a sum that overflows
  int64_t rows[] = {1, 2}, columns[] = {3, INT64_MAX}, flat[2];
  const View view = View::contiguous({2});
  const Operand indices[] = {{rows, &view, i64}, {columns, &view, i64}};
  EXPECT_EQ(error_of<IndexError>([&] {
              op::FlatIndex{{4, 5}}.cpu(indices, {flat, &view, i64});
            }),
            "index 9223372036854775807 is out of range for an axis of size 5");
  columns[1] = INT64_MIN;
  EXPECT_EQ(error_of<IndexError>([&] {
              op::FlatIndex{{4, 5}}.cpu(indices, {flat, &view, i64});
            }),
            "index -9223372036854775808 is out of range for an axis of size 5");
  columns[1] = -5;
  op::FlatIndex{{4, 5}}.cpu(indices, {flat, &view, i64});
  EXPECT_EQ(flat[0], 8);
  EXPECT_EQ(flat[1], 10);
}

TEST(Index, ScalarsAndEmptyTables) {
  Random random(77);
  AnyArray x({}, f32, Layout::row_major, random), index({}, i64, Layout::row_major, random), out = x;
  x.set({}, 3);
  op::Gather{0}.cpu(x.operand(), index.operand(), out.operand());
  EXPECT_EQ(out.get({}), 3);
  out.set({}, 9);
  op::ScatterAdd{0, out.shape()}.cpu(x.operand(), index.operand(), out.operand());
  EXPECT_EQ(out.get({}), 3);
  AnyArray empty({0, 4}, f32, Layout::row_major, random), none({0}, i64, Layout::row_major, random);
  op::IndexSelect{0}.cpu(empty.operand(), none.operand(), empty.operand());
  AnyArray one({1}, i64, Layout::row_major, random), row({1, 4}, f32, Layout::row_major, random);
  EXPECT_EQ(error_of<IndexError>([&] { op::IndexSelect{0}.cpu(empty.operand(), one.operand(), row.operand()); }),
            "index 0 is out of range for an axis of size 0");
}

TEST(Index, SameBitsForAnyNumberOfThreads) {
  Random random(78);
  AnyArray index = random_indices({900, 40}, 120, Layout::row_major, random),
           flat = random_indices({900}, 120, Layout::row_major, random);
  AnyArray src = random_values({900, 40}, f32, Layout::row_major, random);
  const AnyArray start = random_values({128, 40}, f32, Layout::row_major, random);
  const View expanded = View::create({900, 40}, {1, 0}), across = View::create({40, 900}, {1, 40}),
             columns = View::create({40, 128}, {1, 40});
  expect_same_bits_for_threads([&] {
    AnyArray a = start, b = start, c = start, d = start, e = start;
    op::ScatterAdd{0, a.shape()}.cpu(src.operand(), index.operand(), a.operand());
    op::IndexAdd{0, b.shape()}.cpu(src.operand(), flat.operand(), b.operand());
    op::EmbeddingBackward{c.shape()[0], 3}.cpu(src.operand(), flat.operand(), c.operand());
    op::ScatterAdd{0, d.shape()}.cpu(src.operand(), flat.operand().with(expanded), d.operand());
    op::IndexAdd{1, columns.shape()}.cpu(src.operand().with(across), flat.operand(), e.operand().with(columns));
    return std::vector{a.memory, b.memory, c.memory, d.memory, e.memory};
  });
}

}  // namespace
}  // namespace weft::testing
