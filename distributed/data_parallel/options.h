// Options of DataParallel.
#pragma once

#include <cstdint>

namespace weft::distributed {

/// The format in which gradients are sent. exact: unchanged. bf16: rounded to bf16, summed in f32 and rounded again;
/// this halves the bytes between machines. In shared memory nothing is sent, so bf16 only costs time; it gives the same
/// values.
enum class Wire : uint8_t { exact, bf16 };

struct DataParallelOptions {
  int64_t bucket_bytes = 8 << 20;
  /// Size of the bucket for the layers that backward reaches first; a small one starts its reduction early.
  int64_t first_bucket_bytes = 1 << 20;
  Wire wire = Wire::exact;
};

}  // namespace weft::distributed
