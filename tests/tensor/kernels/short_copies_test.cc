// Copies of short axes: rows that are interleaved or deinterleaved, mirrored ones, and what goes with them.
#include <gtest/gtest.h>

#include "tensor/core/error.h"
#include "tensor/kernels/cpu/pointwise/copy.h"
#include "tests/tensor/kernels/any_array.h"

namespace weft::testing {
namespace {

using kernels::cpu::copy;

/// Copies a view of memory to memory that is dense and in the view's order, and compares each element.
void expect_copied(AnyArray& from, const View& view) {
  const Operand source = from.operand().with(view);
  const int64_t size = static_cast<int64_t>(size_of(from.dtype)), count = view.numel(), before = 3;
  std::vector<unsigned char> memory(static_cast<size_t>((count + 2 * before) * size), 0xa5);
  const View dense = View::contiguous(view.shape());
  const Operand out{memory.data() + before * size, &dense, from.dtype};
  copy(source, out);
  int64_t at = 0;
  for_each_index(view.shape(), [&](const IntList& index) {
    const auto* wanted = from.memory.data() + view.linear_index(index) * size;
    ASSERT_EQ(std::memcmp(memory.data() + (before + at++) * size, wanted, static_cast<size_t>(size)), 0)
        << text(from.dtype, " element ", at - 1, " of ") << view.to_string();
  });
  for (int64_t i = 0; i < before * size; ++i) {
    ASSERT_EQ(memory[static_cast<size_t>(i)], 0xa5);
    ASSERT_EQ(memory[memory.size() - 1 - static_cast<size_t>(i)], 0xa5);
  }
}

/// An array whose bytes all differ from their neighbors.
AnyArray numbered(const Shape& shape, DType dtype, Random& random) {
  AnyArray array(shape, dtype, Layout::row_major, random);
  for (unsigned char& byte : array.memory) byte = static_cast<unsigned char>(random());
  return array;
}

TEST(ShortCopies, FewRowsWovenAndTakenApart) {
  Random random(11);
  for (const DType dtype : {u8, bf16, f32, f64})
    for (const int64_t few : {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 21, 33})
      for (const int64_t many : {1, 2, 3, 4, 7, 15, 16, 17, 50, 63, 64, 65, 131, 300, 2100}) {
        AnyArray rows = numbered({few, many}, dtype, random), columns = numbered({many, few}, dtype, random);
        expect_copied(rows, rows.view.permute({1, 0}));
        expect_copied(columns, columns.view.permute({1, 0}));
        AnyArray wide = numbered({many, few + 2}, dtype, random), high = numbered({few, many + 5}, dtype, random);
        expect_copied(wide, wide.view.slice(1, 1, few + 1).permute({1, 0}));
        expect_copied(high, high.view.slice(1, 2, many + 2).permute({1, 0}));
      }
}

TEST(ShortCopies, Batches) {
  Random random(12);
  for (const DType dtype : {u8, bf16, f32, f64})
    for (const int64_t few : {2, 3, 4, 6})
      for (const int64_t many : {2, 5, 16, 50, 70}) {
        AnyArray x = numbered({3, many, 5, few}, dtype, random);
        for (const IntList& axes : std::vector<IntList>{
                 {0, 3, 1, 2}, {0, 2, 3, 1}, {3, 0, 1, 2}, {0, 1, 3, 2}, {2, 1, 0, 3}, {3, 2, 1, 0}, {0, 2, 1, 3}})
          expect_copied(x, x.view.permute(axes));
      }
}

TEST(ShortCopies, Mirrored) {
  Random random(13);
  for (const DType dtype : {u8, bf16, f32, f64})
    for (const int64_t columns : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 70})
      for (const int64_t rows : {1, 2, 3, 5, 16, 21, 22, 63, 64, 65, 300}) {
        AnyArray x = numbered({rows, columns}, dtype, random), images = numbered({3, rows, columns}, dtype, random);
        expect_copied(x, x.view.flip({1}));
        expect_copied(x, x.view.flip({0}));
        expect_copied(x, x.view.flip({0, 1}));
        expect_copied(images, images.view.flip({2}));
        expect_copied(images, images.view.flip({1}));
        AnyArray wide = numbered({rows, columns + 3}, dtype, random);
        expect_copied(wide, wide.view.slice(1, 1, columns + 1).flip({1}));
        expect_copied(wide, wide.view.slice(1, 1, columns + 1).flip({0}));
      }
}

// Rows of all numbers of bytes.
TEST(ShortCopies, RowsWithGaps) {
  Random random(14);
  for (const DType dtype : {u8, bf16, f32, f64})
    for (int64_t columns = 1; columns <= 140; ++columns) {
      AnyArray x = numbered({9, columns + 2}, dtype, random);
      expect_copied(x, x.view.slice(1, 1, columns + 1));
    }
}

}  // namespace
}  // namespace weft::testing
