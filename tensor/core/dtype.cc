#include "tensor/core/dtype.h"

#include <iterator>
#include <ostream>
#include <utility>

namespace weft {

std::string_view name_of(DType dtype) {
  constexpr std::string_view names[] = {"f32", "f64", "bf16", "f16", "i64", "i32", "i16", "i8", "u8", "bool"};
  static_assert(std::size(names) == kDTypeCount);
  return names[static_cast<int>(dtype)];
}

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name_of(dtype); }

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a > b) std::swap(a, b);  // the enum's order: floating, then integers from wide to narrow, then bool
  if (is_floating(a)) {
    if (!is_floating(b)) return a;
    if (a == DType::bf16 && b == DType::f16) return DType::f32;  // neither holds the other
    return a == DType::f32 && b == DType::f64 ? DType::f64 : a;
  }
  if (a == DType::i8 && b == DType::u8) return DType::i16;
  return a;
}

}  // namespace weft
