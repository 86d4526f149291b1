// Memory that a training step has freed is what the next step asks for, and first touching fresh pages costs about
// three times the write itself. So freed blocks stay as they are, one stack per size class, and a step of a fixed shape
// finds what it needs there.
//
// A request whose stack is empty is cut from what is free (Arenas): from adjacent pieces, whatever they were
// before, and from fresh pages only where these do not reach. So a process holds about as much as was in use at once,
// not the sum of what each size ever needed: where activations and their gradients are of several sizes and dtypes,
// these differ by half.
//
// Where sizes keep changing (sequence lengths, say), pieces that fit nothing would pile up. So a request that takes
// fresh pages pays for itself: when what is held would pass twice the most that was ever in use (and 256 MiB on top),
// the pages of the blocks that have waited longest go back first.
//
// Blocks of 2 MiB and more lie on 2 MiB boundaries and ask for transparent huge pages.
#include "tensor/memory/large_blocks.h"

#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "tensor/memory/poison.h"
#include "tensor/memory/size_class.h"

namespace weft::detail {

namespace {

constexpr size_t kPage = 4096, kHugePage = size_t{2} << 20;
constexpr size_t kLeastArena = size_t{16} << 20, kMostArena = size_t{1} << 30;

uintptr_t align_up(uintptr_t at, size_t alignment) { return (at + alignment - 1) & ~(alignment - 1); }
uintptr_t align_down(uintptr_t at, size_t alignment) { return at & ~(alignment - 1); }

/// [begin, end) on a boundary of huge pages, or 0.
uintptr_t map_aligned(size_t bytes) noexcept {
  const size_t length = bytes + kHugePage;  // room to find a boundary
  if (length < bytes) return 0;
  void* const memory =
      mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return 0;
  const auto begin = reinterpret_cast<uintptr_t>(memory), aligned = align_up(begin, kHugePage);
  if (aligned > begin) munmap(memory, aligned - begin);
  munmap(reinterpret_cast<void*>(aligned + bytes), begin + length - aligned - bytes);
  return aligned;
}

/// A free piece of an arena. Pages that were never written, or were given back, are not resident.
struct Piece {
  uintptr_t begin;
  size_t size;
  bool resident;
  uint64_t since;  // when it was freed; the smaller, the longer ago
  int size_class;  // the size class in whose stack it waits, or -1
  uintptr_t end() const { return begin + size; }
};

/// Where a request is to lie: at `begin`, on the pieces [first, last) of a sorted list. `fresh` bytes of it are not
/// resident.
struct Fit {
  uintptr_t begin = 0;
  size_t first = 0, last = 0;
  size_t fresh = 0;
};

class Arenas {
 public:
  /// Address space for at least `bytes` on a boundary of huge pages; {0, 0} where the system has none. The more there
  /// is, the more it asks for at once: pages that nobody writes cost nothing.
  Piece map(size_t bytes) noexcept;
  /// The fit with the fewest fresh bytes, of these in the smallest gap. False where no gap is large enough. Pieces
  /// are sorted by address; those that touch and lie in one arena form a gap.
  bool find(const std::vector<Piece>& pieces, size_t bytes, size_t alignment, Fit* fit) const;
  /// Gives the pages of a piece back to the system; its addresses stay.
  static void release(const Piece& piece) noexcept;
  /// Gives arenas back that are one free piece without pages, and takes these pieces out. Sorted by address.
  void unmap_empty(std::vector<Piece>& pieces) noexcept;
  /// Whether a ends where b begins, in the same arena.
  bool touch(const Piece& a, const Piece& b) const { return a.end() == b.begin && !arenas_.contains(b.begin); }

 private:
  std::map<uintptr_t, size_t> arenas_;
  size_t mapped_ = 0;
};

Piece Arenas::map(size_t bytes) noexcept {
  const size_t wanted = std::max(bytes, std::clamp(mapped_, kLeastArena, kMostArena));
  for (const size_t size : {wanted, bytes}) {
    const uintptr_t begin = map_aligned(size);
    if (begin == 0) continue;
    try {
      arenas_.emplace(begin, size);
    } catch (const std::bad_alloc&) {
      munmap(reinterpret_cast<void*>(begin), size);
      break;
    }
    mapped_ += size;
    poison(reinterpret_cast<void*>(begin), size);
    return {begin, size, false, 0, -1};
  }
  return {0, 0, false, 0, -1};
}

bool Arenas::find(const std::vector<Piece>& pieces, size_t bytes, size_t alignment, Fit* fit) const {
  bool found = false;
  std::pair<size_t, size_t> least;  // fresh bytes, size of the gap
  for (size_t first = 0, last; first < pieces.size(); first = last) {
    last = first + 1;
    while (last < pieces.size() && touch(pieces[last - 1], pieces[last])) ++last;
    const uintptr_t begin = pieces[first].begin, end = pieces[last - 1].end();
    if (end - begin < bytes) continue;
    // What begins at `at`, in piece i or behind it.
    const auto consider = [&](uintptr_t at, size_t i) {
      if (at < begin || at + bytes > end) return;
      while (pieces[i].end() <= at) ++i;
      Fit here{at, i, i, 0};
      for (; here.last < last && pieces[here.last].begin < at + bytes; ++here.last) {
        const Piece& piece = pieces[here.last];
        if (!piece.resident) here.fresh += std::min(at + bytes, piece.end()) - std::max(at, piece.begin);
      }
      const std::pair<size_t, size_t> cost{here.fresh, end - begin};
      if (!found || cost < least) *fit = here, least = cost, found = true;
    };
    for (size_t i = first, from = first; i < last; ++i) {
      consider(align_up(pieces[i].begin, alignment), i);
      if (pieces[i].end() - begin < bytes) continue;
      const uintptr_t at = align_down(pieces[i].end() - bytes, alignment);
      while (pieces[from].end() <= at) ++from;
      consider(at, from);
    }
  }
  return found;
}

void Arenas::release(const Piece& piece) noexcept {
  madvise(reinterpret_cast<void*>(piece.begin), piece.size, MADV_DONTNEED);
}

void Arenas::unmap_empty(std::vector<Piece>& pieces) noexcept {
  std::erase_if(pieces, [&](const Piece& piece) {
    const auto arena = arenas_.find(piece.begin);
    if (piece.resident || arena == arenas_.end() || arena->second != piece.size) return false;
    unpoison(reinterpret_cast<void*>(piece.begin), piece.size);
    munmap(reinterpret_cast<void*>(piece.begin), piece.size);
    mapped_ -= piece.size;
    arenas_.erase(arena);
    return true;
  });
}

/// Asks for huge pages in a block that begins on a boundary of one; a wish.
void wish_huge_pages([[maybe_unused]] uintptr_t begin, [[maybe_unused]] size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  madvise(reinterpret_cast<void*>(begin), bytes, MADV_HUGEPAGE);  // nothing is lost where it is refused
#endif
}

constexpr int64_t kFreeHoard = int64_t{256} << 20;

struct KeptBlock {
  void* block;
  uint64_t since;  // the pool's count of frees when this one came
};

struct Pool {
  std::mutex mutex;
  std::vector<KeptBlock> stacks[kClasses];
  std::vector<Piece> rest;  // free as well: what cutting left over, fresh address space
  Arenas arenas;
  uint64_t frees = 0;
  int64_t peak_live = 0;
  LargeFigures figures;
};

/// Never destroyed: tensors in static variables may be freed after every destructor here would have run. In static
/// memory, so that the first large tensor of a process allocates nothing for it: take_large() may not throw.
Pool& pool() {
  alignas(Pool) static std::byte memory[sizeof(Pool)];
  static Pool* const instance = new (memory) Pool;
  return *instance;
}

int64_t signed_bytes(int size_class) { return static_cast<int64_t>(class_bytes(size_class)); }
/// What a block takes of an arena.
size_t extent(int size_class) { return (class_bytes(size_class) + kRedZone + kPage - 1) & ~(kPage - 1); }
/// What a free piece counts as in the figures.
int64_t counted(const Piece& piece) {
  return piece.size_class >= 0 ? signed_bytes(piece.size_class) : static_cast<int64_t>(piece.size);
}

/// The block that was freed last, whose memory is the likeliest to be in the processor's caches; null where there is
/// none.
void* pop(Pool& pool, int size_class) noexcept {
  std::vector<KeptBlock>& stack = pool.stacks[size_class];
  if (stack.empty()) return nullptr;
  void* const block = stack.back().block;
  stack.pop_back();
  pool.figures.cached_bytes -= signed_bytes(size_class);
  ++pool.figures.cache_hits;
  return block;
}

/// Everything that is free, by address.
std::vector<Piece> free_pieces(const Pool& pool) {
  std::vector<Piece> all = pool.rest;
  for (int i = 0; i < kClasses; ++i)
    for (const KeptBlock& free : pool.stacks[i])
      all.push_back({reinterpret_cast<uintptr_t>(free.block), extent(i), true, free.since, i});
  std::sort(all.begin(), all.end(), [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  return all;
}

/// A piece is free no more.
void take_out(Pool& pool, const Piece& piece) noexcept {
  if (piece.resident) pool.figures.cached_bytes -= counted(piece);
  if (piece.size_class >= 0)
    std::erase_if(pool.stacks[piece.size_class],
                  [&](const KeptBlock& free) { return reinterpret_cast<uintptr_t>(free.block) == piece.begin; });
  else
    std::erase_if(pool.rest, [&](const Piece& other) { return other.begin == piece.begin; });
}

/// What lies between two addresses of a piece stays free. (There is room: at least as much was taken out.)
void put_back(Pool& pool, const Piece& piece, uintptr_t begin, uintptr_t end) {
  if (begin >= end) return;
  pool.rest.push_back({begin, end - begin, piece.resident, piece.since, -1});
  if (piece.resident) pool.figures.cached_bytes += static_cast<int64_t>(end - begin);
}

/// Merges adjacent pieces without pages, and frees arenas that consist of nothing else.
void tidy(Pool& pool) noexcept {
  std::vector<Piece>& rest = pool.rest;
  std::sort(rest.begin(), rest.end(), [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  size_t count = 0;
  for (const Piece& piece : rest) {
    if (count > 0 && !piece.resident && !rest[count - 1].resident && pool.arenas.touch(rest[count - 1], piece))
      rest[count - 1].size += piece.size;
    else
      rest[count++] = piece;
  }
  rest.resize(count, Piece{});
  pool.arenas.unmap_empty(rest);
}

/// Gives the pages of the blocks back that have waited longest, until at least `bytes` are gone. Does nothing if there
/// is no memory for the list of blocks.
void trim(Pool& pool, int64_t bytes) noexcept try {
  std::vector<Piece> all = free_pieces(pool);
  std::erase_if(all, [](const Piece& piece) { return !piece.resident; });
  std::sort(all.begin(), all.end(), [](const Piece& a, const Piece& b) { return a.since < b.since; });
  pool.rest.reserve(pool.rest.size() + all.size());
  for (const Piece& piece : all) {
    if (bytes <= 0) break;
    bytes -= counted(piece);
    take_out(pool, piece);
    Arenas::release(piece);
    pool.rest.push_back({.begin = piece.begin, .size = piece.size, .resident = false, .since = 0, .size_class = -1});
  }
  tidy(pool);
} catch (const std::bad_alloc&) {
}

/// Makes up for fresh pages that are about to be written.
void trim_for(Pool& pool, size_t fresh) noexcept {
  const int64_t allowed = 2 * pool.peak_live + kFreeHoard;
  const int64_t held = pool.figures.live_bytes + pool.figures.cached_bytes + static_cast<int64_t>(fresh);
  if (held > allowed) trim(pool, held - allowed);
}

/// A block cut from what is free, or from new address space.
void* cut(Pool& pool, int size_class) {
  const size_t bytes = extent(size_class), alignment = class_bytes(size_class) >= kHugePage ? kHugePage : kPage;
  std::vector<Piece> pieces = free_pieces(pool);
  Fit fit;
  if (!pool.arenas.find(pieces, bytes, alignment, &fit)) {
    pool.rest.reserve(pool.rest.size() + 1);
    const Piece fresh = pool.arenas.map(bytes);
    if (fresh.size == 0) return nullptr;
    pool.rest.push_back(fresh);
    pieces = {fresh};
    fit = {fresh.begin, 0, 1, bytes};
  }
  pool.rest.reserve(pool.rest.size() + 2);
  for (size_t i = fit.first; i < fit.last; ++i) take_out(pool, pieces[i]);
  const Piece &front = pieces[fit.first], &back = pieces[fit.last - 1];
  put_back(pool, front, front.begin, fit.begin);
  put_back(pool, back, fit.begin + bytes, back.end());
  if (fit.fresh == 0)
    ++pool.figures.cache_hits;
  else if (alignment == kHugePage)
    wish_huge_pages(fit.begin, class_bytes(size_class));
  trim_for(pool, fit.fresh);
  return reinterpret_cast<void*>(fit.begin);
}

}  // namespace

void* take_large(int size_class) noexcept {
  Pool& pool = detail::pool();
  const std::lock_guard lock(pool.mutex);
  void* block = pop(pool, size_class);
  try {
    if (block == nullptr) block = cut(pool, size_class);
  } catch (const std::bad_alloc&) {  // no memory for the lists of blocks: nothing was changed
  }
  if (block == nullptr) return nullptr;
  LargeFigures& figures = pool.figures;
  ++figures.allocations;
  ++figures.live_blocks;
  figures.live_bytes += signed_bytes(size_class);
  if (figures.live_bytes > pool.peak_live) pool.peak_live = figures.live_bytes;
  return block;
}

void keep_large(int size_class, void* block) noexcept {
  Pool& pool = detail::pool();
  poison(block, extent(size_class));
  const std::lock_guard lock(pool.mutex);
  --pool.figures.live_blocks;
  pool.figures.live_bytes -= signed_bytes(size_class);
  try {
    pool.stacks[size_class].push_back({block, ++pool.frees});
    pool.figures.cached_bytes += signed_bytes(size_class);
  } catch (const std::bad_alloc&) {  // no room to remember it: its pages go, its addresses are lost
    Arenas::release({reinterpret_cast<uintptr_t>(block), extent(size_class), true, 0, -1});
  }
}

void lock_large_blocks() noexcept { pool().mutex.lock(); }
void unlock_large_blocks() noexcept { pool().mutex.unlock(); }

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
