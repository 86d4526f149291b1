// Small blocks are cut from slabs: 1 MiB of the system's memory, aligned to its size, that serves one size class. A
// block's slab is found by rounding its address down. Blocks are cut only when nothing free is left, so that memory a
// program never needed is never touched.
//
// Free blocks are linked in chains through their own first words, so that a thread exchanges many of them with the pool
// in constant time under a lock of that size class.
//
// Known limits: a slab returns to the system only through release_free_slabs, and only when no thread holds one of its
// blocks, free or in use. Slabs come from the C library's heap, so that leak checkers see pointers inside live blocks.
#include "tensor/memory/small_blocks.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace weft::detail {

namespace {

constexpr size_t kSlabBytes = size_t{1} << 20;
constexpr size_t kSlabHeader = 64;

struct Slab {
  Slab* next;      // of the same class; the first is the one that blocks are cut from
  uint32_t cut;    // blocks cut so far
  uint32_t found;  // scratch of release_free_slabs: how many of them are in the pool
};

struct Bin {
  std::mutex mutex;
  FreeBlock* chains = nullptr;
  Slab* slabs = nullptr;
};

constinit Bin bins[kSmallClasses];
constinit std::atomic<int64_t> held{0};

size_t stride_of(int size_class) { return class_bytes(size_class) + kRedZone; }
uint32_t slab_capacity(int size_class) {
  return static_cast<uint32_t>((kSlabBytes - kSlabHeader) / stride_of(size_class));
}
Slab* slab_of(FreeBlock* block) {
  return reinterpret_cast<Slab*>(reinterpret_cast<uintptr_t>(block) & ~(kSlabBytes - 1));
}

bool add_slab(Bin& bin) noexcept {
  auto* slab = static_cast<Slab*>(std::aligned_alloc(kSlabBytes, kSlabBytes));
  if (slab == nullptr) return false;
  *slab = {bin.slabs, 0, 0};
  poison(reinterpret_cast<char*>(slab) + kSlabHeader, kSlabBytes - kSlabHeader);
  bin.slabs = slab;
  return true;
}

/// Cuts up to a full chain from the bin's first slab.
FreeBlock* cut_chain(Bin& bin, int size_class) noexcept {
  const size_t stride = stride_of(size_class);
  const uint32_t capacity = slab_capacity(size_class);
  if ((bin.slabs == nullptr || bin.slabs->cut == capacity) && !add_slab(bin)) return nullptr;
  Slab* slab = bin.slabs;
  const uint32_t count = std::min(chain_length(size_class), capacity - slab->cut);
  char* const first = reinterpret_cast<char*>(slab) + kSlabHeader + slab->cut * stride;
  FreeBlock* chain = nullptr;
  for (uint32_t i = count; i-- > 0;) {  // backwards, so that the chain hands out rising addresses
    auto* block = reinterpret_cast<FreeBlock*>(first + i * stride);
    set_next(block, chain);
    chain = block;
  }
  set_chain(chain, nullptr, count);
  slab->cut += count;
  held.fetch_add(static_cast<int64_t>(count * class_bytes(size_class)), std::memory_order_relaxed);
  return chain;
}

/// Takes every block out of the pool and calls f(block).
template <class F> void drain(FreeBlock* chains, F&& f) {
  while (chains != nullptr) {
    FreeBlock* const next_chain = next_chain_of(chains);
    for (FreeBlock* block = chains; block != nullptr;) {
      FreeBlock* const next = next_of(block);
      f(block);
      block = next;
    }
    chains = next_chain;
  }
}

/// Puts the blocks whose slab stays back as chains of full length.
void rebuild(Bin& bin, FreeBlock* old, int size_class) noexcept {
  FreeBlock* chain = nullptr;
  uint64_t count = 0;
  const auto finish = [&] {
    if (chain == nullptr) return;
    set_chain(chain, bin.chains, count);
    bin.chains = chain;
    chain = nullptr;
    count = 0;
  };
  drain(old, [&](FreeBlock* block) {
    const Slab* slab = slab_of(block);
    if (slab->found == slab->cut) return;
    set_next(block, chain);
    chain = block;
    if (++count == chain_length(size_class)) finish();
  });
  finish();
}

void release_free_slabs(Bin& bin, int size_class) noexcept {
  const std::lock_guard lock(bin.mutex);
  for (Slab* slab = bin.slabs; slab != nullptr; slab = slab->next) slab->found = 0;
  drain(bin.chains, [](FreeBlock* block) { ++slab_of(block)->found; });
  FreeBlock* const old = std::exchange(bin.chains, nullptr);
  rebuild(bin, old, size_class);
  for (Slab** link = &bin.slabs; *link != nullptr;) {
    Slab* const slab = *link;
    if (slab->found != slab->cut) {
      link = &slab->next;
      continue;
    }
    *link = slab->next;
    held.fetch_sub(static_cast<int64_t>(slab->cut * class_bytes(size_class)), std::memory_order_relaxed);
    unpoison(slab, kSlabBytes);
    std::free(slab);
  }
}

}  // namespace

FreeBlock* fetch_chain(int size_class) noexcept {
  Bin& bin = bins[size_class];
  const std::lock_guard lock(bin.mutex);
  if (bin.chains == nullptr) return cut_chain(bin, size_class);
  FreeBlock* const chain = bin.chains;
  bin.chains = next_chain_of(chain);
  return chain;
}

void give_chain(int size_class, FreeBlock* chain) noexcept {
  Bin& bin = bins[size_class];
  const std::lock_guard lock(bin.mutex);
  set_chain(chain, bin.chains, chain_count(chain));
  bin.chains = chain;
}

void lock_small_blocks() noexcept {
  for (Bin& bin : bins) bin.mutex.lock();
}

void unlock_small_blocks() noexcept {
  for (Bin& bin : bins) bin.mutex.unlock();
}

int64_t small_bytes_held() noexcept { return held.load(std::memory_order_relaxed); }

void release_free_slabs() noexcept {
  for (int i = 0; i < kSmallClasses; ++i) release_free_slabs(bins[i], i);
}

}  // namespace weft::detail
