// Bounds for bf16 and f16 that follow from the format: how often numbers were rounded to it on their way, and how large
// they were.
#pragma once

#include "tensor/dispatch/observer.h"
#include "tests/ops/run.h"

namespace weft::testing {

/// Counts the ops that write 16 bits, each of which rounds once (views write nothing), and looks for the largest number
/// that they write.
class Roundings : public Observer {
 public:
  void end(const ObserverEvent& event) override;
  int count = 0;
  double largest = 0;
};

/// The roundings of `f`, and those inside of the case's kernels.
template <class F> Roundings roundings_of(const OpCase& op, const F& f) {
  Roundings out;
  const ObserverScope scope(out);
  f();
  out.count += op.hidden_roundings;
  return out;
}

/// Of results that were rounded so, with f32 inside. One rounding is relative to the element itself; further ones to
/// what was rounded, which is as large as the largest element, or as the largest number on the way (large_parts()).
Tolerance half_tolerance(const OpCase& op, DType dtype, const Array& expected, const Roundings& roundings);

}  // namespace weft::testing
