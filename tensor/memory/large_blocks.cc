// Memory that a training step has freed is what the next step asks for, and first touching fresh pages costs about
// three times the write itself. So freed blocks stay mapped, one stack per size class, and a step of a fixed shape maps
// nothing.
//
// Where sizes keep changing (sequence lengths, say), stacks of classes that are not asked for any more would pile up.
// So a request that finds its stack empty pays for itself: when what is held would pass twice the most that was ever in
// use (and 256 MiB on top), the blocks that have waited longest are unmapped first.
//
// Blocks of 2 MiB and more lie on 2 MiB boundaries and ask for transparent huge pages.
#include "tensor/memory/large_blocks.h"

#include <sys/mman.h>
#include <unistd.h>

#include <mutex>
#include <new>
#include <vector>

#include "tensor/memory/poison.h"
#include "tensor/memory/size_class.h"

namespace weft::detail {

namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr int64_t kFreeHoard = int64_t{256} << 20;

struct Kept {
  void* block;
  uint64_t since;  // the pool's count of frees when this one came
};

struct Pool {
  std::mutex mutex;
  std::vector<Kept> stacks[kClasses];
  uint64_t frees = 0;
  int64_t peak_live = 0;
  LargeFigures figures;
};

/// Never destroyed: tensors in static variables may be freed after every destructor here would have run.
Pool& pool() {
  static Pool* const instance = new Pool;
  return *instance;
}

int64_t signed_bytes(int size_class) { return static_cast<int64_t>(class_bytes(size_class)); }
size_t mapped_bytes(int size_class) { return class_bytes(size_class) + kRedZone; }

void* map(size_t bytes) noexcept {
  const bool huge = bytes >= kHugePage;
  const size_t length = huge ? bytes + kHugePage : bytes;  // room to find a boundary
  if (length < bytes) return nullptr;
  void* const memory = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (!huge) return memory;
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t aligned = (begin + kHugePage - 1) & ~(kHugePage - 1);
  const uintptr_t end = (aligned + bytes + page - 1) & ~(page - 1);
  if (aligned > begin) munmap(memory, aligned - begin);
  if (begin + length > end) munmap(reinterpret_cast<void*>(end), begin + length - end);
#ifdef MADV_HUGEPAGE
  madvise(reinterpret_cast<void*>(aligned), bytes, MADV_HUGEPAGE);  // a wish: nothing is lost where it is refused
#endif
  return reinterpret_cast<void*>(aligned);
}

void unmap(void* block, int size_class) noexcept {
  unpoison(block, mapped_bytes(size_class));
  munmap(block, mapped_bytes(size_class));
}

/// Unmaps the blocks that have waited longest until at least `bytes` are gone.
void trim(Pool& pool, int64_t bytes) noexcept {
  for (int64_t gone = 0; gone < bytes && pool.figures.cached_bytes > 0;) {
    int oldest = -1;
    for (int i = 0; i < kClasses; ++i)
      if (!pool.stacks[i].empty() && (oldest < 0 || pool.stacks[i][0].since < pool.stacks[oldest][0].since)) oldest = i;
    unmap(pool.stacks[oldest][0].block, oldest);
    pool.stacks[oldest].erase(pool.stacks[oldest].begin());
    pool.figures.cached_bytes -= signed_bytes(oldest);
    gone += signed_bytes(oldest);
  }
}

/// The block that was freed last, whose memory is the likeliest to be in the processor's caches; null where there is
/// none.
void* pop(Pool& pool, int size_class) noexcept {
  std::vector<Kept>& stack = pool.stacks[size_class];
  if (stack.empty()) return nullptr;
  void* const block = stack.back().block;
  stack.pop_back();
  pool.figures.cached_bytes -= signed_bytes(size_class);
  ++pool.figures.cache_hits;
  return block;
}

/// Makes up for a block that was just mapped and that was not touched yet.
void trim_for(Pool& pool, int size_class) noexcept {
  const int64_t allowed = 2 * pool.peak_live + kFreeHoard;
  const int64_t held = pool.figures.live_bytes + pool.figures.cached_bytes;
  if (held > allowed - signed_bytes(size_class)) trim(pool, held - (allowed - signed_bytes(size_class)));
}

}  // namespace

void* take_large(int size_class) noexcept {
  Pool& pool = detail::pool();
  std::unique_lock lock(pool.mutex);
  void* block = pop(pool, size_class);
  if (block == nullptr) {
    lock.unlock();
    block = map(mapped_bytes(size_class));
    if (block == nullptr) return nullptr;
    poison(block, mapped_bytes(size_class));
    lock.lock();
    trim_for(pool, size_class);
  }
  LargeFigures& figures = pool.figures;
  ++figures.allocations;
  ++figures.live_blocks;
  figures.live_bytes += signed_bytes(size_class);
  if (figures.live_bytes > pool.peak_live) pool.peak_live = figures.live_bytes;
  return block;
}

void keep_large(int size_class, void* block) noexcept {
  Pool& pool = detail::pool();
  poison(block, mapped_bytes(size_class));
  const std::lock_guard lock(pool.mutex);
  --pool.figures.live_blocks;
  pool.figures.live_bytes -= signed_bytes(size_class);
  try {
    pool.stacks[size_class].push_back({block, ++pool.frees});
    pool.figures.cached_bytes += signed_bytes(size_class);
  } catch (const std::bad_alloc&) {
    unmap(block, size_class);  // no room to remember it
  }
}

void release_large_blocks() noexcept {
  Pool& pool = detail::pool();
  const std::lock_guard lock(pool.mutex);
  trim(pool, pool.figures.cached_bytes);
}

LargeFigures large_figures() noexcept {
  Pool& pool = detail::pool();
  const std::lock_guard lock(pool.mutex);
  return pool.figures;
}

}  // namespace weft::detail
