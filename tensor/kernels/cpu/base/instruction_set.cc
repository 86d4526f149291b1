#include "tensor/kernels/cpu/base/instruction_set.h"

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

}  // namespace weft::kernels::cpu
