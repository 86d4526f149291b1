#include "bench/compare/isa.h"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

namespace weft::bench {

void limit_to_avx2() {
#if defined(__AVX512F__)
  throw std::runtime_error(
      "--isa avx2: weft was built for AVX-512: ./bazelw run --config=avx2 //bench:compare -- --isa avx2");
#endif
  const char* flags = std::getenv("XLA_FLAGS");
  const std::string xla = (flags != nullptr ? flags + std::string(" ") : "") + "--xla_cpu_max_isa=AVX2";
  const std::pair<const char*, const char*> settings[] = {
      {"WEFT_ISA", "avx2"},
      {"ONEDNN_MAX_CPU_ISA", "AVX2"},
      {"DNNL_MAX_CPU_ISA", "AVX2"},
      {"ATEN_CPU_CAPABILITY", "avx2"},
      {"MKL_ENABLE_INSTRUCTIONS", "AVX2"},
      {"XLA_FLAGS", xla.c_str()},
  };
  for (const auto& [name, value] : settings) setenv(name, value, 1);
}

}  // namespace weft::bench
