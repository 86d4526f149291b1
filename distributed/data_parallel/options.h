// Options of DataParallel.
#pragma once

#include <cstdint>

namespace weft::distributed {

/// What gradients are sent as: as they are, or rounded to bf16, summed in f32 and rounded again. Half the bytes between
/// machines; in shared memory nothing is sent, and the option costs time and gives the same values.
enum class Wire : uint8_t { exact, bf16 };

struct DataParallelOptions {
  int64_t bucket_bytes = 8 << 20;
  int64_t first_bucket_bytes = 1 << 20;  // of the layers that backward comes to first: its reduction can start early
  Wire wire = Wire::exact;
};

}  // namespace weft::distributed
