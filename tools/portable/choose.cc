// Which build of the kernels a --config=portable program uses. Every kernel is entered by a jump through a table,
// written by two_builds.sh; it starts with the build for AVX2 and becomes that for AVX-512 here, before any static
// initializer of the program. WEFT_ISA=avx2 keeps the first, and keeps oneDNN at AVX2 as well.
#include <dnnl.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
extern void* weft_kernels[];
extern void* const weft_kernels_avx512[];
extern const long weft_kernel_count;

void weft_choose_kernels() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
    std::fputs("weft: this program was built for CPUs with AVX2 and FMA, which this one lacks\n", stderr);
    std::_Exit(1);
  }
  const char* asked = std::getenv("WEFT_ISA");
  if (asked != nullptr && std::strcmp(asked, "avx2") == 0) {
    dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2);
    return;
  }
  if (asked != nullptr && *asked != '\0' && std::strcmp(asked, "avx512") != 0)
    std::fprintf(stderr, "weft: WEFT_ISA=%s is neither avx2 nor avx512; the CPU decides\n", asked);
  // What -march=x86-64-v4 stands for.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    std::memcpy(weft_kernels, weft_kernels_avx512, static_cast<size_t>(weft_kernel_count) * sizeof(void*));
}
}
