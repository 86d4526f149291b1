// Autocast: mixed precision as a scope.
#pragma once

#include "tensor/dispatch/modes.h"

namespace weft {

namespace internal {
/// While the thread's outermost one is alive, the 16-bit copies of parameters are kept.
struct AutocastCopies {
  AutocastCopies();
  ~AutocastCopies();
  AutocastCopies(const AutocastCopies&) = delete;
  AutocastCopies& operator=(const AutocastCopies&) = delete;
};
}  // namespace internal

/// While alive, on the calling thread: products, convolutions and attention cast their f32 inputs to `dtype` (bf16 or
/// f16); exponentials, softmax, losses, norms and long sums compute in f32; other ops follow their inputs. docs/ops.md
/// lists what each op does. Casts are recorded, so gradients come back in each tensor's own dtype. Backward is not
/// affected. Scopes nest: `Autocast autocast(bf16);`
///
/// The copy of a parameter that products read is made once while the outermost scope lives and nothing writes the
/// parameter, however often and in whatever mode (NoGrad, checkpoint) it is used.
///
/// On a CPU without bf16 instructions (AVX512_BF16 or AMX) a bf16 scope says so once and casts nothing.
class Autocast {
 public:
  /// DtypeError for other dtypes than bf16, f16 and f32 (off).
  [[nodiscard]] explicit Autocast(DType dtype);
  /// No casts while alive: `auto exact = Autocast::off();`
  [[nodiscard]] static Autocast off() { return Autocast(f32); }

 private:
  internal::ModeScope<DType> scope_;
  internal::AutocastCopies copies_;
};

}  // namespace weft
