#include "tensor/autocast.h"

#include "tensor/core/error.h"

namespace weft {
namespace {

DType checked(DType dtype) {
  if (dtype != bf16 && dtype != f16 && dtype != f32)
    throw DtypeError(text("Autocast takes bf16, f16 or f32 (off), not ", dtype));
  return dtype;
}

}  // namespace

Autocast::Autocast(DType dtype) : scope_(&Modes::autocast, checked(dtype)) {}

}  // namespace weft
