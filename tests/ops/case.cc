#include "tests/ops/case.h"

#include <utility>

#include "tests/ops/families.h"

namespace weft::testing {

namespace {
using Kind = InputSpec::Kind;
InputSpec constant(Kind kind, const Shape& shape, double low, double high, std::optional<DType> dtype = {}) {
  return {kind, shape, low, high, {}, dtype, false};
}
}  // namespace

InputSpec normal(const Shape& shape, std::vector<double> kinks) {
  return {Kind::normal, shape, 0, 0, std::move(kinks), std::nullopt, true};
}
InputSpec uniform(const Shape& shape, double low, double high) {
  return {Kind::uniform, shape, low, high, {}, std::nullopt, true};
}
InputSpec positive(const Shape& shape) { return uniform(shape, 0.5, 2.5); }
InputSpec distinct(const Shape& shape) { return {Kind::distinct, shape, 0, 0, {}, std::nullopt, true}; }
InputSpec integers(const Shape& shape, int64_t low, int64_t high) {
  return constant(Kind::integers, shape, static_cast<double>(low), static_cast<double>(high));
}
InputSpec special(const Shape& shape) { return constant(Kind::special, shape, 0, 0); }
InputSpec given(const Shape& shape, std::vector<double> values) {
  return {Kind::given, shape, 0, 0, std::move(values), std::nullopt, true};
}
InputSpec index_below(const Shape& shape, int64_t limit) {
  return constant(Kind::integers, shape, 0, static_cast<double>(limit - 1), i64);
}
InputSpec index(const Shape& shape, std::vector<double> values, DType dtype) {
  return {Kind::given, shape, 0, 0, std::move(values), dtype, false};
}
InputSpec mask(const Shape& shape) { return constant(Kind::integers, shape, 0, 1, boolean); }
InputSpec absent() { return constant(Kind::absent, {}, 0, 0); }

DType result_dtype(Result rule, DType in) {
  switch (rule) {
    case Result::same: return in;
    case Result::floating: return is_floating(in) ? in : f32;
    case Result::boolean: return boolean;
    case Result::i64: return DType::i64;
    case Result::summed: return is_floating(in) ? in : i64;
    case Result::f32: return DType::f32;
    case Result::f64: return DType::f64;
  }
  return in;
}

const Cases& all_cases() {
  static const Cases cases = [] {
    Cases out;
#define WEFT_ADD_CASES(family) add_##family##_cases(out);
    WEFT_CASE_FAMILIES(WEFT_ADD_CASES)
#undef WEFT_ADD_CASES
    return out;
  }();
  return cases;
}

}  // namespace weft::testing
