#include "tensor/core/random.h"

#include <mutex>

#include "tensor/core/error.h"

namespace weft {

namespace {
constinit std::mutex mutex;
constinit RandomState state{kDefaultSeed, 0};
}  // namespace

void manual_seed(uint64_t seed) { set_random_state({seed, 0}); }

RandomState random_state() {
  const std::lock_guard lock(mutex);
  return state;
}

void set_random_state(RandomState restored) {
  const std::lock_guard lock(mutex);
  state = restored;
}

RandomKey next_random_key(int64_t count) {
  if (count < 0) throw Error(text("cannot draw ", count, " random numbers"));
  const std::lock_guard lock(mutex);
  const RandomKey key = state;
  state.offset += (static_cast<uint64_t>(count) + 1) / 2;  // a block holds at least two elements
  return key;
}

}  // namespace weft
