#include "tensor/ops/random.h"

namespace weft::op {

std::string attribute_text(const Distribution& value) {
  constexpr const char* names[] = {"uniform", "normal", "integers", "permutation"};
  static_assert(std::size(names) == static_cast<size_t>(Distribution::permutation) + 1);
  return names[static_cast<int>(value)];
}

Spec RandomFill::infer() const {
  const bool floating = distribution == Distribution::uniform || distribution == Distribution::normal;
  if (floating && !is_floating(dtype)) throw DtypeError(text(dtype, " is not accepted here; it takes floating dtypes"));
  if (distribution == Distribution::integers)
    for (const int64_t bound : {low, high - 1}) {
      check_fits(bound, dtype);
      if (dtype == f16 && (bound > 65504 || bound < -65504))
        throw Error(text("the value ", bound, " does not fit into f16, which holds -65504 to 65504"));
    }
  return spec_of(shape, dtype);
}

Spec Multinomial::infer(const Operand& weights) const {
  const int64_t rank = weights.rank();
  if (rank != 1 && rank != 2) throw ShapeError(text("the weights have ", rank, " axes; they are (n) or (rows, n)"));
  const int64_t categories = weights.shape()[static_cast<size_t>(rank - 1)];
  if (count < 0) throw Error(text("cannot draw ", count, " samples"));
  if (count > 0 && categories == 0) throw ShapeError("there are no categories to draw from");
  if (!replacement && count > categories)
    throw Error(text("cannot draw ", count, " samples without replacement from ", categories, " categories"));
  return spec_of(rank == 1 ? Shape{count} : Shape{weights.shape()[0], count}, i64);
}

}  // namespace weft::op
