// DType: names, sizes, and promotion against PyTorch's table.
#include "tensor/core/dtype.h"

#include <gtest/gtest.h>

#include <string>

namespace weft {
namespace {

constexpr DType kAll[] = {f32, f64, bf16, f16, i64, i32, i16, i8, u8, boolean};

TEST(DType, NamesAndSizes) {
  const std::string_view names[] = {"f32", "f64", "bf16", "f16", "i64", "i32", "i16", "i8", "u8", "bool"};
  for (int i = 0; i < kDTypeCount; ++i) {
    EXPECT_EQ(name_of(kAll[i]), names[i]);
    EXPECT_EQ(visit_dtype(kAll[i], []<class T>() { return sizeof(T); }), size_of(kAll[i])) << names[i];
    EXPECT_EQ(visit_dtype(kAll[i], []<class T>() { return dtype_of<T>; }), kAll[i]) << names[i];
  }
}

TEST(DType, Categories) {
  for (const DType dtype : kAll) {
    const bool floating =
        visit_dtype(dtype, []<class T>() { return std::is_convertible_v<T, float> && !std::is_integral_v<T>; });
    EXPECT_EQ(is_floating(dtype), floating) << name_of(dtype);
    EXPECT_EQ(is_integer(dtype), !floating && dtype != boolean) << name_of(dtype);
  }
}

// torch.promote_types(row, column) of PyTorch 2.13, for every pair, printed in weft's names.
constexpr DType kPyTorch[kDTypeCount][kDTypeCount] = {
    {f32, f64, f32, f32, f32, f32, f32, f32, f32, f32},        {f64, f64, f64, f64, f64, f64, f64, f64, f64, f64},
    {f32, f64, bf16, f32, bf16, bf16, bf16, bf16, bf16, bf16}, {f32, f64, f32, f16, f16, f16, f16, f16, f16, f16},
    {f32, f64, bf16, f16, i64, i64, i64, i64, i64, i64},       {f32, f64, bf16, f16, i64, i32, i32, i32, i32, i32},
    {f32, f64, bf16, f16, i64, i32, i16, i16, i16, i16},       {f32, f64, bf16, f16, i64, i32, i16, i8, i16, i8},
    {f32, f64, bf16, f16, i64, i32, i16, i16, u8, u8},         {f32, f64, bf16, f16, i64, i32, i16, i8, u8, boolean},
};

TEST(DType, PromotesAsPyTorch) {
  for (int a = 0; a < kDTypeCount; ++a)
    for (int b = 0; b < kDTypeCount; ++b)
      EXPECT_EQ(name_of(promote(kAll[a], kAll[b])), name_of(kPyTorch[a][b]))
          << name_of(kAll[a]) << ", " << name_of(kAll[b]);
}

}  // namespace
}  // namespace weft
