// Options of isclose() and allclose().
#pragma once

namespace weft {

struct CloseOptions {
  double rtol = 1e-5;
  double atol = 1e-8;
  bool equal_nan = false;  // NaN equals NaN
};

}  // namespace weft
