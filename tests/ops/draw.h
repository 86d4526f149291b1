// Inputs of a case: their values, and tensors that hold them in one of many memory layouts.
#pragma once

#include <string_view>

#include "tests/ops/case.h"

namespace weft::testing {

/// The numbers of a case, always the same for a name.
class Draw {
 public:
  Draw(std::string_view name, size_t number);
  uint64_t bits();
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  double normal();

 private:
  uint64_t state_;
};

/// The values of an input, as `dtype` holds them: rounded; whole and not too large for integers; 0 or 1 for bool.
Array draw(const InputSpec& spec, DType dtype, Draw& from);

enum class Layout { contiguous, transposed, channels_last, reversed, offset, expanded, padded };
inline constexpr int kLayoutCount = 7;
std::string_view name_of(Layout layout);
/// What `values` become for this layout: equal along an axis (expanded), zero at the edges (padded).
Array adapted(Array values, Layout layout);
/// The (adapted) values in memory of this layout; positions that no element names hold 77. Undefined for an absent one.
Tensor laid_out(const Array& values, DType dtype, Layout layout = Layout::contiguous);
/// What a tensor holds.
Array array_of(const Tensor& tensor);

}  // namespace weft::testing
