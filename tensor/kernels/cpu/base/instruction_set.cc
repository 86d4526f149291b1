#include "tensor/kernels/cpu/base/instruction_set.h"

#include "tensor/kernels/cpu/base/onednn.h"

namespace weft::kernels::cpu {

const char* instruction_set() {
#if defined(__AVX512F__)
  return "avx512";
#elif defined(__AVX2__)
  return "avx2";
#else
  return "sse2";
#endif
}

bool has_bf16() { return onednn::has_bf16(); }

}  // namespace weft::kernels::cpu
