// What the kernels were compiled for; a portable binary holds two builds of them (tools/portable/portable.bzl).
#pragma once

namespace weft::kernels::cpu {

/// The widest vector instructions of the kernels that this process runs: "avx512", "avx2" or "sse2".
const char* instruction_set();

/// Whether this CPU has instructions for products of bf16 (AVX512_BF16 or AMX), which Autocast asks for.
bool has_bf16();

}  // namespace weft::kernels::cpu
