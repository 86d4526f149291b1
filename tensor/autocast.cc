#include "tensor/autocast.h"

#include "tensor/core/error.h"
#include "tensor/dispatch/autocast_copies.h"
#include "tensor/kernels/cpu/base/instruction_set.h"
#include "tensor/runtime/log.h"

namespace weft {
namespace {

/// What scopes of `dtype` compute in on this CPU.
DType computed_in(DType dtype) {
  if (dtype != bf16 && dtype != f16 && dtype != f32)
    throw DtypeError(text("Autocast takes bf16, f16 or f32 (off), not ", dtype));
  if (dtype != bf16 || kernels::cpu::has_bf16()) return dtype;
  static const bool told =
      (log_warn("Autocast(bf16): this CPU has no bf16 instructions (AVX512_BF16 or AMX); computing in f32"), true);
  (void)told;
  return f32;
}

}  // namespace

Autocast::Autocast(DType dtype) : scope_(&internal::Modes::autocast, computed_in(dtype)) {}

namespace internal {
AutocastCopies::AutocastCopies() { dispatch::open_autocast_scope(); }
AutocastCopies::~AutocastCopies() { dispatch::close_autocast_scope(); }
}  // namespace internal

}  // namespace weft
