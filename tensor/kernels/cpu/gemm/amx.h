// Products of bf16 in AMX tiles (Intel's matrix extension): 16 rows of 64 bytes, 8,192 multiplications an instruction.
#pragma once

#include <cstdint>

#include "tensor/core/half.h"

namespace weft::kernels::cpu::amx {

/// Whether this CPU has tiles for bf16 and the system lets this process use them. DNNL_MAX_CPU_ISA may switch them off.
bool available();

/// While alive, this thread's tiles are 16 rows of 64 bytes, as product() wants them; no call of a library in between.
class Tiles {
 public:
  Tiles();
  ~Tiles();
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
};

/// Every size that product() is given is a multiple of this; callers pad with zeros.
inline constexpr int64_t kMultiple = 32;
constexpr int64_t padded(int64_t size) { return (size + kMultiple - 1) / kMultiple * kMultiple; }

/// c = a b, or c += a b. a is (rows, depth), row-major with `a_row` elements a row; b (depth, columns) lies in pairs:
/// word (k / 2, j) holds b(k, j) in its lower half and b(k + 1, j) in its upper one, `b_row` words a row; sums in f32.
void product(const BFloat16* a, int64_t a_row, const uint32_t* b, int64_t b_row, float* c, int64_t c_row, int64_t rows,
             int64_t columns, int64_t depth, bool accumulate);

}  // namespace weft::kernels::cpu::amx
