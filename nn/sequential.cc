#include "nn/sequential.h"

namespace weft::nn {

Tensor Sequential::forward(const Tensor& x) const {
  Tensor y = x;
  for (const auto& step : steps_) y = step->run(y);
  return y;
}

}  // namespace weft::nn
