// DType: the element types and their promotion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string_view>
#include <type_traits>

#include "tensor/core/half.h"

namespace weft {

/// Ordered: floating dtypes, then integers from wide to narrow, then bool. is_floating() and promote() rely on it.
enum class DType : uint8_t { f32, f64, bf16, f16, i64, i32, i16, i8, u8, boolean };
inline constexpr int kDTypeCount = 10;

inline constexpr DType f32 = DType::f32;
inline constexpr DType f64 = DType::f64;
inline constexpr DType bf16 = DType::bf16;
inline constexpr DType f16 = DType::f16;
inline constexpr DType i64 = DType::i64;
inline constexpr DType i32 = DType::i32;
inline constexpr DType i16 = DType::i16;
inline constexpr DType i8 = DType::i8;
inline constexpr DType u8 = DType::u8;
inline constexpr DType boolean = DType::boolean;

/// The size of one element in bytes.
constexpr size_t size_of(DType dtype) {
  constexpr uint8_t sizes[] = {4, 8, 2, 2, 8, 4, 2, 1, 1, 1};
  static_assert(sizeof sizes == kDTypeCount);
  return sizes[static_cast<int>(dtype)];
}
constexpr bool is_floating(DType dtype) { return dtype <= DType::f16; }
/// bf16 and f16.
constexpr bool is_half_precision(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16; }
/// The least positive number of a floating dtype that has all digits; its reciprocal is finite.
constexpr double least_normal(DType dtype) {
  return dtype == DType::f64 ? 0x1p-1022 : dtype == DType::f16 ? 0x1p-14 : 0x1p-126;
}
/// A number above 0 that is added to others, or bounds them, so that none is 0: what f16 would round to 0 is the least
/// that it holds.
constexpr double kept_above_zero(double eps, DType dtype) {
  constexpr double kLeast = 0x1p-24;
  return dtype == DType::f16 && eps > 0 && eps < kLeast ? kLeast : eps;
}
/// Integers, without bool.
constexpr bool is_integer(DType dtype) { return dtype >= DType::i64 && dtype <= DType::u8; }
/// The category of a dtype: 2 for floating, 1 for integers, 0 for bool. A number or a 0-d tensor does not widen the
/// dtype of another operand of the same category.
constexpr int promotion_category(DType dtype) { return is_floating(dtype) ? 2 : is_integer(dtype) ? 1 : 0; }

/// A set of dtypes: `DTypes{f32, f64}`.
class DTypes {
 public:
  constexpr DTypes(std::initializer_list<DType> dtypes) {
    for (const DType dtype : dtypes) bits_ |= bit(dtype);
  }
  constexpr bool contains(DType dtype) const { return (bits_ & bit(dtype)) != 0; }
  /// The dtypes of either set.
  constexpr DTypes operator|(DTypes other) const { return DTypes(bits_ | other.bits_); }
  /// The dtypes of this set that the other does not have.
  constexpr DTypes operator-(DTypes other) const { return DTypes(bits_ & ~other.bits_); }
  constexpr bool operator==(const DTypes&) const = default;

 private:
  constexpr explicit DTypes(uint32_t bits) : bits_(bits) {}
  static constexpr uint32_t bit(DType dtype) { return 1u << static_cast<int>(dtype); }

  uint32_t bits_ = 0;
};
inline constexpr DTypes kFloating = {f32, f64, bf16, f16};
inline constexpr DTypes kIntegers = {i64, i32, i16, i8, u8};
inline constexpr DTypes kNumbers = kFloating | kIntegers;
inline constexpr DTypes kAllDTypes = kNumbers | DTypes{boolean};

/// `f32`, `f64`, ..., `bool`.
std::string_view name_of(DType dtype);
std::ostream& operator<<(std::ostream& out, DType dtype);
/// The promoted dtype of two operands, as in PyTorch: the higher category (bool < integer < floating), and within a
/// category the wider dtype. u8 with a signed integer gives a signed integer that holds both; bf16 with f16 gives f32.
DType promote(DType a, DType b);

template <class T> struct DTypeOf;
template <> struct DTypeOf<float> { static constexpr DType value = DType::f32; };
template <> struct DTypeOf<double> { static constexpr DType value = DType::f64; };
template <> struct DTypeOf<BFloat16> { static constexpr DType value = DType::bf16; };
template <> struct DTypeOf<Float16> { static constexpr DType value = DType::f16; };
template <> struct DTypeOf<int64_t> { static constexpr DType value = DType::i64; };
template <> struct DTypeOf<int32_t> { static constexpr DType value = DType::i32; };
template <> struct DTypeOf<int16_t> { static constexpr DType value = DType::i16; };
template <> struct DTypeOf<int8_t> { static constexpr DType value = DType::i8; };
template <> struct DTypeOf<uint8_t> { static constexpr DType value = DType::u8; };
template <> struct DTypeOf<bool> { static constexpr DType value = DType::boolean; };
namespace detail {
template <class T> constexpr DType known_dtype() {
  constexpr bool kIsKnown = requires { DTypeOf<T>::value; };
  static_assert(
      kIsKnown,
      "no dtype has elements of this C++ type: take float, double, BFloat16, Float16, int64_t (not long long), "
      "int32_t, int16_t, int8_t, uint8_t or bool");
  if constexpr (kIsKnown)
    return DTypeOf<T>::value;
  else
    return DType::f32;
}
}  // namespace detail
/// The dtype of a C++ element type.
template <class T> inline constexpr DType dtype_of = detail::known_dtype<std::remove_cv_t<T>>();

/// Calls f.operator()<T>() with the C++ type of `dtype`.
template <class F> decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32: return f.template operator()<float>();
    case DType::f64: return f.template operator()<double>();
    case DType::bf16: return f.template operator()<BFloat16>();
    case DType::f16: return f.template operator()<Float16>();
    case DType::i64: return f.template operator()<int64_t>();
    case DType::i32: return f.template operator()<int32_t>();
    case DType::i16: return f.template operator()<int16_t>();
    case DType::i8: return f.template operator()<int8_t>();
    case DType::u8: return f.template operator()<uint8_t>();
    case DType::boolean: break;
  }
  return f.template operator()<bool>();
}

}  // namespace weft
