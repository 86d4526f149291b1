#include "nn/layers/options.h"

#include <algorithm>

#include "nn/layers/option_list.h"

namespace weft::nn::detail {
namespace {

template <class Sizes> int64_t smallest(const Sizes& value) {
  int64_t out = value[0];
  for (int64_t i = 1; i < Sizes::kAxes; ++i) out = std::min(out, value[i]);
  return out;
}

const char* hint(int64_t value) { return value == 0 ? " (was it left out?)" : ""; }

template <class Sizes> void check_all_positive(const char* field, const Sizes& value) {
  if (smallest(value) < 1)
    throw ShapeError(text(field, " must be 1 or more, not ", shown(value), hint(smallest(value))));
}
template <class Sizes> void check_none_negative(const char* field, const Sizes& value) {
  if (smallest(value) < 0) throw ShapeError(text(field, " must be 0 or more, not ", shown(value)));
}

}  // namespace

void check_positive(const char* field, int64_t value) {
  if (value < 1) throw ShapeError(text(field, " must be 1 or more, not ", value, hint(value)));
}

void check_positive(const char* field, const Size1& value) { check_all_positive(field, value); }
void check_positive(const char* field, const Size2& value) { check_all_positive(field, value); }
void check_positive(const char* field, const Size3& value) { check_all_positive(field, value); }

void check_not_negative(const char* field, const Size1& value) { check_none_negative(field, value); }
void check_not_negative(const char* field, const Size2& value) { check_none_negative(field, value); }
void check_not_negative(const char* field, const Size3& value) { check_none_negative(field, value); }

void check_not_negative(const char* field, double value) {
  if (!(value >= 0)) throw Error(text(field, " must be 0 or more, not ", value));
}

void throw_given_twice() { throw Error("an option is given twice, by position and by name"); }

void check_probability(const char* field, double value) {
  if (!(value >= 0 && value <= 1)) throw Error(text(field, " must be in [0, 1], not ", value));
}

}  // namespace weft::nn::detail
