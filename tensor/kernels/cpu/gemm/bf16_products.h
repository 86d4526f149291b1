// Bf16Products: products of packed bf16, in tiles where the CPU has AMX, else in vectors.
#pragma once

#include <optional>

#include "tensor/kernels/cpu/gemm/amx.h"
#include "tensor/kernels/cpu/gemm/bf16_gemm.h"

namespace weft::kernels::cpu {

/// Products one after another: no library's call in between.
class Bf16Products {
 public:
  Bf16Products() {
    if (amx::available()) tiles_.emplace();
  }
  /// The rows that a product of `rows` reads and writes.
  static int64_t padded_rows(int64_t rows) { return amx::available() ? amx::padded_rows(rows) : rows; }
  /// Whether they are faster than those of f32.
  static bool are_fast() { return amx::available() || bf16::has_fast_instruction(); }
  /// As amx::product(); rows as padded_rows() has them.
  void operator()(const BFloat16* a, int64_t a_row, const uint32_t* b, int64_t b_row, float* c, int64_t c_row,
                  int64_t rows, int64_t columns, int64_t depth, bool accumulate) const {
    const auto product = tiles_ ? amx::product : bf16::product;
    product(a, a_row, b, b_row, c, c_row, rows, columns, depth, accumulate);
  }

 private:
  std::optional<amx::Tiles> tiles_;
};

}  // namespace weft::kernels::cpu
