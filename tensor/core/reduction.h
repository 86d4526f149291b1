// How losses of many elements become one.
#pragma once

namespace weft {

enum class Reduction { none, mean, sum };
/// Options of losses that have no others: `nn::mse_loss(x, y, {.reduction = nn::Reduction::sum})`. A Reduction alone
/// may be passed as well.
struct ReductionOptions {
  Reduction reduction = Reduction::mean;
};

}  // namespace weft
