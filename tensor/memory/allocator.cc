// The allocator. A request up to 64 KiB is served from lists that belong to the calling thread: per size class two
// chains of free blocks, of which the active one is pushed to and popped from without any lock or atomic
// read-modify-write. When the active chain is full it becomes the reserve and the previous reserve goes to the central
// pool (small_blocks.h); when both are empty one comes from there. So a thread holds at most two chains per class,
// blocks that one thread allocates and another frees flow back, and a thread that ends gives everything back. Larger
// requests go to large_blocks.h.
//
// Figures are counted per thread as well, with plain loads and stores, and summed on request. Only the live bytes move
// to a global count once a thread's part passes 64 KiB, to keep track of the peak: it is exact up to that much per
// thread.
//
// Thread-local destructors that run after this file's own, and static destructors, may still allocate and free: a
// closed thread works on the central pool directly.
//
// A child of fork() finds the central pool consistent, whatever other threads did; what their lists held is lost to it.
//
// Known limit: empty_cache cannot reach the lists of other threads (at most two chains per class each).
#include "tensor/memory/allocator.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "tensor/core/error.h"
#include "tensor/memory/large_blocks.h"
#include "tensor/memory/out_of_memory.h"
#include "tensor/memory/pinned.h"
#include "tensor/memory/poison.h"
#include "tensor/memory/size_class.h"
#include "tensor/memory/small_blocks.h"

namespace weft {
namespace detail {
namespace {

enum class Kind { block, object };

enum Figure {
  kBlockAllocations,
  kBlockFrees,
  kBlockMisses,
  kLiveBytes,
  kObjectAllocations,
  kObjectFrees,
  kObjectBytes,
  kFigures
};

/// What a thread counted: written by that thread, read by all. kLiveBytes only since it last moved to the global count.
class Counters {
 public:
  int64_t get(Figure figure) const noexcept { return values_[figure].load(std::memory_order_relaxed); }
  void add(Figure figure, int64_t amount) noexcept {
    values_[figure].store(get(figure) + amount, std::memory_order_relaxed);
  }
  /// Notes `sign` (+1 or -1) times a small block or object of a class.
  template <Kind kKind> void note(int size_class, int sign) noexcept {
    const auto bytes = sign * static_cast<int64_t>(class_bytes(size_class));
    if constexpr (kKind == Kind::object) {
      add(sign > 0 ? kObjectAllocations : kObjectFrees, 1);
      add(kObjectBytes, bytes);
    } else {
      add(sign > 0 ? kBlockAllocations : kBlockFrees, 1);
      add(kLiveBytes, bytes);
    }
  }
  void move_to(Counters& other) noexcept {
    for (int i = 0; i < kFigures; ++i) {
      const auto figure = static_cast<Figure>(i);
      const int64_t amount = get(figure);
      other.add(figure, amount);
      add(figure, -amount);
    }
  }

 private:
  std::atomic<int64_t> values_[kFigures] = {};
};

/// The free blocks of one size class on one thread.
struct Bin {
  FreeBlock* active = nullptr;
  FreeBlock* reserve = nullptr;  // null or a full chain
  uint32_t count = 0;            // blocks in `active`
  uint32_t limit = 0;            // 0 while the thread has not opened, and after it closed
};

enum class Phase : uint8_t { fresh, open, closed };

/// Trivially destructible, so that it can be used while a thread's other destructors run.
struct ThreadCache {
  Bin bins[kSmallClasses];
  Counters counters;
  ThreadCache* next = nullptr;
  ThreadCache* previous = nullptr;
  Phase phase = Phase::fresh;
};

constinit thread_local ThreadCache cache;

constexpr int64_t kLocalBytes = 64 * 1024;         // what a thread counts for itself before it tells the others
constinit std::atomic<int64_t> live_elsewhere{0};  // live bytes that are in no thread's own count
constinit std::atomic<int64_t> peak{0};

constinit std::mutex threads_mutex;  // guards the list of threads, and `retired`
constinit ThreadCache* threads = nullptr;
constinit Counters retired;  // of closed threads, and of what they still do

void raise_peak(int64_t live) noexcept {
  int64_t seen = peak.load(std::memory_order_relaxed);
  while (live > seen && !peak.compare_exchange_weak(seen, live, std::memory_order_relaxed)) {
  }
}

void publish_live_bytes(ThreadCache& thread) noexcept {
  const int64_t part = thread.counters.get(kLiveBytes);
  thread.counters.add(kLiveBytes, -part);
  raise_peak(live_elsewhere.fetch_add(part, std::memory_order_relaxed) + part);
}

/// Gives the thread's free blocks to the central pool.
void flush(ThreadCache& thread) noexcept {
  for (int i = 0; i < kSmallClasses; ++i) {
    Bin& bin = thread.bins[i];
    if (bin.reserve != nullptr) give_chain(i, std::exchange(bin.reserve, nullptr));
    if (bin.active == nullptr) continue;
    set_chain(bin.active, nullptr, bin.count);
    give_chain(i, std::exchange(bin.active, nullptr));
    bin.count = 0;
  }
}

void close() noexcept {
  ThreadCache& thread = cache;
  flush(thread);
  for (Bin& bin : thread.bins) bin.limit = 0;
  publish_live_bytes(thread);
  const std::lock_guard lock(threads_mutex);
  thread.phase = Phase::closed;
  thread.counters.move_to(retired);
  if (thread.next != nullptr) thread.next->previous = thread.previous;
  (thread.previous != nullptr ? thread.previous->next : threads) = thread.next;
}

struct CloseAtExit {
  bool armed = false;
  ~CloseAtExit() {
    if (armed) close();
  }
};
thread_local CloseAtExit close_at_exit;

void before_fork() {
  threads_mutex.lock();
  lock_small_blocks();
  lock_large_blocks();
}

void after_fork() {
  unlock_large_blocks();
  unlock_small_blocks();
  threads_mutex.unlock();
}

/// The child has this thread only. The stacks of the others, where their lists are, may become those of new threads.
void after_fork_in_child() {
  for (ThreadCache* thread = threads; thread != nullptr; thread = thread->next)
    if (thread != &cache) thread->counters.move_to(retired);
  threads = cache.phase == Phase::open ? &cache : nullptr;
  cache.next = cache.previous = nullptr;
  after_fork();
}

constinit std::atomic<bool> is_prepared{false};

/// Once in a process. No initializer of a static variable, for whose end other threads would wait: pin_library() waits
/// for the loader, which a thread that is here may hold (in dlopen(), of a plug-in with tensors in static variables).
void prepare_process() noexcept {
  if (is_prepared.exchange(true, std::memory_order_relaxed)) return;
  (void)pthread_atfork(before_fork, after_fork, after_fork_in_child);
  pin_library();
}

/// Makes the thread's lists ready; false where it has closed.
bool open(ThreadCache& thread) noexcept {
  if (thread.phase == Phase::fresh) {
    prepare_process();
    close_at_exit.armed = true;
    for (int i = 0; i < kSmallClasses; ++i) thread.bins[i].limit = chain_length(i);
    const std::lock_guard lock(threads_mutex);
    thread.next = threads;
    if (threads != nullptr) threads->previous = &thread;
    threads = &thread;
    thread.phase = Phase::open;
  }
  return thread.phase == Phase::open;
}

template <Kind kKind> void count_here(ThreadCache& thread, int size_class, int sign) noexcept {
  thread.counters.note<kKind>(size_class, sign);
  if constexpr (kKind == Kind::block) {
    const int64_t part = thread.counters.get(kLiveBytes);
    if (part > kLocalBytes || part < -kLocalBytes) [[unlikely]]
      publish_live_bytes(thread);
  }
}

/// A chain from the pool; where the system has no more, the cache is emptied first.
FreeBlock* fetch_chain_or_throw(int size_class, size_t bytes) {
  FreeBlock* chain = fetch_chain(size_class);
  if (chain == nullptr) {
    empty_cache();
    chain = fetch_chain(size_class);
  }
  if (chain == nullptr) throw_no_memory(bytes);
  return chain;
}

/// On a closed thread: one block of a chain, the others go back.
void* take_one(int size_class, size_t bytes) {
  FreeBlock* const chain = fetch_chain_or_throw(size_class, bytes);
  if (FreeBlock* const rest = next_of(chain); rest != nullptr) {
    set_chain(rest, nullptr, chain_count(chain) - 1);
    give_chain(size_class, rest);
  }
  return chain;
}

/// Where the active chain is empty.
template <Kind kKind> __attribute__((noinline)) void* allocate_slowly(int size_class, size_t bytes) {
  ThreadCache& thread = cache;
  if (!open(thread)) {
    void* const block = take_one(size_class, bytes);
    const std::lock_guard lock(threads_mutex);
    retired.note<kKind>(size_class, 1);
    if constexpr (kKind == Kind::block) retired.add(kBlockMisses, 1);
    return block;
  }
  Bin& bin = thread.bins[size_class];
  FreeBlock* chain = bin.reserve;
  if (chain != nullptr) {
    bin.reserve = nullptr;
    bin.count = bin.limit;
  } else {
    chain = fetch_chain_or_throw(size_class, bytes);
    bin.count = static_cast<uint32_t>(chain_count(chain));
    if constexpr (kKind == Kind::block) thread.counters.add(kBlockMisses, 1);
  }
  bin.active = next_of(chain);
  --bin.count;
  count_here<kKind>(thread, size_class, 1);
  return chain;
}

/// Where the active chain is full.
template <Kind kKind> __attribute__((noinline)) void free_slowly(FreeBlock* block, int size_class) noexcept {
  ThreadCache& thread = cache;
  if (!open(thread)) {
    set_next(block, nullptr);
    set_chain(block, nullptr, 1);
    give_chain(size_class, block);
    const std::lock_guard lock(threads_mutex);
    retired.note<kKind>(size_class, -1);
    return;
  }
  Bin& bin = thread.bins[size_class];
  if (bin.count == bin.limit) {
    if (bin.reserve != nullptr) give_chain(size_class, bin.reserve);
    set_chain(bin.active, nullptr, bin.count);
    bin.reserve = bin.active;
    bin.active = nullptr;
    bin.count = 0;
  }
  set_next(block, bin.active);
  bin.active = block;
  ++bin.count;
  count_here<kKind>(thread, size_class, -1);
}

template <Kind kKind> void* allocate_small(size_t bytes) {
  const int size_class = detail::size_class(bytes);
  ThreadCache& thread = cache;
  Bin& bin = thread.bins[size_class];
  void* memory = bin.active;
  if (memory == nullptr) [[unlikely]] {
    memory = allocate_slowly<kKind>(size_class, bytes);
  } else {
    bin.active = next_of(bin.active);
    --bin.count;
    count_here<kKind>(thread, size_class, 1);
  }
  unpoison(memory, bytes);
  return memory;
}

template <Kind kKind> void free_small(void* memory, size_t bytes) noexcept {
  const int size_class = detail::size_class(bytes);
  poison(memory, bytes);
  auto* const block = static_cast<FreeBlock*>(memory);
  ThreadCache& thread = cache;
  Bin& bin = thread.bins[size_class];
  if (bin.count >= bin.limit) [[unlikely]]
    return free_slowly<kKind>(block, size_class);
  set_next(block, bin.active);
  bin.active = block;
  ++bin.count;
  count_here<kKind>(thread, size_class, -1);
}

__attribute__((noinline)) void* allocate_large(size_t bytes) {
  // The system may promise more than it has, and then kills the process that uses it.
  if (bytes > physical_bytes()) throw_no_memory(bytes);
  const int size_class = detail::size_class(bytes);
  void* memory = take_large(size_class);
  if (memory == nullptr) {
    empty_cache();
    memory = take_large(size_class);
  }
  if (memory == nullptr) throw_no_memory(bytes);
  live_elsewhere.fetch_add(static_cast<int64_t>(class_bytes(size_class)), std::memory_order_relaxed);
  publish_live_bytes(cache);
  unpoison(memory, bytes);
  return memory;
}

__attribute__((noinline)) void free_large(void* memory, size_t bytes) noexcept {
  const int size_class = detail::size_class(bytes);
  keep_large(size_class, memory);
  live_elsewhere.fetch_sub(static_cast<int64_t>(class_bytes(size_class)), std::memory_order_relaxed);
}

/// The sum over all threads, closed ones too. The caller holds threads_mutex.
int64_t total(Figure figure) noexcept {
  int64_t sum = retired.get(figure);
  for (const ThreadCache* thread = threads; thread != nullptr; thread = thread->next)
    sum += thread->counters.get(figure);
  return sum;
}

int64_t live_bytes_now() noexcept { return live_elsewhere.load(std::memory_order_relaxed) + total(kLiveBytes); }

}  // namespace

void* allocate_block(size_t bytes) {
  if (bytes > kLargestSmall) return allocate_large(bytes);
  return allocate_small<Kind::block>(bytes);
}

void free_block(void* block, size_t bytes) noexcept {
  if (bytes > kLargestSmall) return free_large(block, bytes);
  free_small<Kind::block>(block, bytes);
}

void* allocate_object(size_t bytes) {
  if (bytes > kLargestSmall) throw Error(text("an object of ", bytes, " bytes is no small object"));
  return allocate_small<Kind::object>(bytes);
}

void free_object(void* object, size_t bytes) noexcept { free_small<Kind::object>(object, bytes); }

int64_t live_objects() {
  const std::lock_guard lock(threads_mutex);
  return total(kObjectAllocations) - total(kObjectFrees);
}

}  // namespace detail

MemoryStats memory_stats() {
  using namespace detail;
  const LargeFigures large = large_figures();
  const std::lock_guard lock(threads_mutex);
  const int64_t small_allocations = total(kBlockAllocations);
  MemoryStats stats;
  stats.live_bytes = live_bytes_now();
  stats.live_blocks = large.live_blocks + small_allocations - total(kBlockFrees);
  stats.peak_bytes = std::max(peak.load(std::memory_order_relaxed), stats.live_bytes);
  const int64_t small_in_use = stats.live_bytes - large.live_bytes + total(kObjectBytes);
  stats.cached_bytes = large.cached_bytes + small_bytes_held() - small_in_use;
  stats.allocations = large.allocations + small_allocations;
  stats.cache_hits = large.cache_hits + small_allocations - total(kBlockMisses);
  return stats;
}

void reset_peak_memory() {
  const std::lock_guard lock(detail::threads_mutex);
  detail::peak.store(detail::live_bytes_now(), std::memory_order_relaxed);
}

void empty_cache() {
  detail::flush(detail::cache);
  detail::release_free_slabs();
  detail::release_large_blocks();
}

}  // namespace weft
