#include "distributed/node/slot.h"

#include <algorithm>
#include <cstring>

#include "tensor/core/error.h"

namespace weft::distributed {

void Slot::fail(std::string_view why) {
  State expected = State::running;
  if (!state.compare_exchange_strong(expected, State::failing)) return;
  const size_t length = std::min(why.size(), sizeof reason - 1);
  std::memcpy(reason, why.data(), length);
  reason[length] = '\0';
  state.store(State::failed, std::memory_order_release);
}

void Slot::describe(const Signature& what) {
  described.fetch_add(1, std::memory_order_acq_rel);
  doing = what;
  described.fetch_add(1, std::memory_order_acq_rel);
}

std::optional<Signature> Slot::call() const {
  const uint64_t before = described.load(std::memory_order_acquire);
  const Signature what = doing;
  std::atomic_thread_fence(std::memory_order_acquire);  // `doing` is read before the second look
  if (before % 2 != 0 || before != described.load(std::memory_order_relaxed)) return std::nullopt;
  return what;
}

std::string Slot::activity(const char* waits, const char* computes) const {
  if (waiting.load(std::memory_order_acquire) == 0) return computes;
  // The call may be changing: then try again.
  for (int i = 0; i < 100; ++i)
    if (const auto what = call()) return text(waits, " in ", what->to_string());
  return waits;
}

}  // namespace weft::distributed
