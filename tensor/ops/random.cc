#include "tensor/ops/random.h"

namespace weft::op {

std::string attribute_text(const Distribution& value) {
  constexpr const char* names[] = {"uniform", "normal", "integers", "permutation"};
  return names[static_cast<int>(value)];
}

Spec RandomFill::infer() const {
  const bool floating = distribution == Distribution::uniform || distribution == Distribution::normal;
  if (floating && !is_floating(dtype)) throw DtypeError(text(dtype, " is not accepted here; it takes floating dtypes"));
  if (distribution == Distribution::integers) check_fits(low, dtype), check_fits(high - 1, dtype);
  return spec_of(shape, dtype);
}

}  // namespace weft::op
