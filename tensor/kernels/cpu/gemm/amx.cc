#include "tensor/kernels/cpu/gemm/amx.h"

#include "tensor/kernels/cpu/base/onednn.h"

#if defined(__x86_64__) && defined(__linux__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#define WEFT_AMX [[gnu::target("amx-tile,amx-bf16")]]
#endif

namespace weft::kernels::cpu::amx {

#ifdef WEFT_AMX

bool available() {
  static const bool usable = [] {
    constexpr int64_t kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
    return onednn::has_amx() && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }();
  return usable;
}

namespace {

/// What the instruction ldtilecfg reads.
struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);

/// The instructions name memory only by its address: nothing may be moved across.
void memory_barrier() { asm volatile("" ::: "memory"); }

// Functions of their own: g++ 12 drops a constructor's target attribute.
WEFT_AMX void load(const TileConfig& config) { _tile_loadconfig(&config); }
WEFT_AMX void release() { _tile_release(); }

}  // namespace

Tiles::Tiles() {
  const TileConfig config;
  memory_barrier();
  load(config);
}
Tiles::~Tiles() { release(); }

// Four tiles of c, 32 x 32, stay in registers while two of a and two of b pass by.
WEFT_AMX void product(const BFloat16* a, int64_t a_row, const uint32_t* b, int64_t b_row, float* c, int64_t c_row,
                      int64_t rows, int64_t columns, int64_t depth, bool accumulate) {
  const int64_t a_bytes = a_row * 2, b_bytes = b_row * 4, c_bytes = c_row * 4;
  memory_barrier();
  for (int64_t i = 0; i < rows; i += 32)
    for (int64_t j = 0; j < columns; j += 32) {
      float *upper = c + i * c_row + j, *lower = upper + 16 * c_row;
      if (accumulate) {
        _tile_loadd(0, upper, c_bytes);
        _tile_loadd(1, upper + 16, c_bytes);
        _tile_loadd(2, lower, c_bytes);
        _tile_loadd(3, lower + 16, c_bytes);
      } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
      }
      for (int64_t k = 0; k < depth; k += 32) {
        _tile_loadd(4, a + i * a_row + k, a_bytes);
        _tile_loadd(6, b + k / 2 * b_row + j, b_bytes);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, b + k / 2 * b_row + j + 16, b_bytes);
        _tile_dpbf16ps(1, 4, 7);
        _tile_loadd(5, a + (i + 16) * a_row + k, a_bytes);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
      }
      _tile_stored(0, upper, c_bytes);
      _tile_stored(1, upper + 16, c_bytes);
      _tile_stored(2, lower, c_bytes);
      _tile_stored(3, lower + 16, c_bytes);
    }
  memory_barrier();
}

#else

bool available() { return false; }
Tiles::Tiles() = default;
Tiles::~Tiles() = default;
void product(const BFloat16*, int64_t, const uint32_t*, int64_t, float*, int64_t, int64_t, int64_t, int64_t, bool) {}

#endif

}  // namespace weft::kernels::cpu::amx
