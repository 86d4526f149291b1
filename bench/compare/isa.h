// Limits everything that is compared to narrower vector instructions than this CPU has.
#pragma once

namespace weft::bench {

/// From here on, programs that this process starts use AVX2 at most: oneDNN, PyTorch with MKL and what it compiles,
/// JAX, and weft's portable build. Throws where weft's programs were built for AVX-512 alone, which no setting
/// undoes.
void limit_to_avx2();

}  // namespace weft::bench
