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

/// Written out in assembly: the compiler's own names take the number of a tile as text, which a template has not.
struct Instructions {
  template <int kTile> void load(const void* from, int64_t row_bytes) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(row_bytes), "i"(kTile));
  }
  template <int kTile> void zero() { asm volatile("tilezero %%tmm%c0" ::"i"(kTile)); }
  template <int kC, int kA, int kB> void add_products() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kC), "i"(kA), "i"(kB));
  }
  template <int kTile> void store(void* to, int64_t row_bytes) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(row_bytes), "i"(kTile) : "memory");
  }
};

}  // namespace

Tiles::Tiles() {
  const TileConfig config;
  memory_barrier();
  load(config);
}
Tiles::~Tiles() { release(); }

void product(const BFloat16* a, int64_t a_row, const uint32_t* b, int64_t b_row, float* c, int64_t c_row, int64_t rows,
             int64_t columns, int64_t depth, bool accumulate) {
  memory_barrier();
  Instructions way;
  tiled_product(way, a, a_row, b, b_row, c, c_row, rows, columns, depth, accumulate);
  memory_barrier();
}

#else

bool available() { return false; }
Tiles::Tiles() = default;
Tiles::~Tiles() = default;
void product(const BFloat16*, int64_t, const uint32_t*, int64_t, float*, int64_t, int64_t, int64_t, int64_t, bool) {}

#endif

}  // namespace weft::kernels::cpu::amx
