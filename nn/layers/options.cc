#include "nn/layers/options.h"

#include <algorithm>

namespace weft::nn::detail {
namespace {

/// The value that the user wrote: one number where both sides are equal.
std::string shown(const Pair& value) {
  return value.height == value.width ? text(value.height) : text("{", value.height, ", ", value.width, "}");
}

const char* hint(int64_t value) { return value == 0 ? " (was it left out?)" : ""; }

}  // namespace

void check_positive(const char* field, int64_t value) {
  if (value < 1) throw ShapeError(text(field, " must be 1 or more, not ", value, hint(value)));
}

void check_positive(const char* field, const Pair& value) {
  const int64_t smaller = std::min(value.height, value.width);
  if (smaller < 1) throw ShapeError(text(field, " must be 1 or more, not ", shown(value), hint(smaller)));
}

void check_not_negative(const char* field, const Pair& value) {
  if (std::min(value.height, value.width) < 0) throw ShapeError(text(field, " must be 0 or more, not ", shown(value)));
}

void check_not_negative(const char* field, double value) {
  if (!(value >= 0)) throw Error(text(field, " must be 0 or more, not ", value));
}

void check_probability(const char* field, double value) {
  if (!(value >= 0 && value <= 1)) throw Error(text(field, " must be in [0, 1], not ", value));
}

}  // namespace weft::nn::detail
