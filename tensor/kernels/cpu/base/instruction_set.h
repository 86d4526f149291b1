// What the kernels were compiled for; a portable binary holds two builds of them (tools/portable/portable.bzl).
#pragma once

namespace weft::kernels::cpu {

/// The widest vector instructions of the kernels that this process runs: "avx512", "avx2" or "sse2".
const char* instruction_set();

/// Whether this CPU multiplies bf16 faster than f32 (AVX512_BF16 or AMX).
bool has_fast_bf16();

}  // namespace weft::kernels::cpu
