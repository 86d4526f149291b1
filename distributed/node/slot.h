// Slot: the state that a rank shows to the other ranks on its machine, in shared memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "distributed/signature.h"

namespace weft::distributed {

enum class State : uint32_t { starting, running, failing, failed, ended };

struct Slot {
  /// The number of exchanges for which this rank has published its data.
  alignas(64) std::atomic<uint64_t> published;
  /// The signatures of its current collective and the previous one; no rank can be further behind.
  alignas(64) Signature signatures[2];

  // Rarely written.
  alignas(64) std::atomic<State> state;
  std::atomic<uint32_t> waiting;    // whether it waits for other ranks
  std::atomic<uint64_t> moves;      // number of waits, stages and messages that it completed
  std::atomic<uint64_t> beats;      // heartbeats of its monitor thread
  std::atomic<uint64_t> described;  // odd while `doing` is being written
  Signature doing;                  // the call that it waits in, or last waited in
  int32_t rank;
  int32_t process;
  uint64_t process_names;  // inode of its PID namespace
  char reason[1000];       // why it failed; valid once `state` is failed

  /// Records a failure; only the first call does. Safe to call from both threads of the rank.
  void fail(std::string_view why);
  bool has_failed() const { return state.load(std::memory_order_acquire) == State::failed; }
  /// Records the call that this rank is about to wait in.
  void describe(const Signature& what);
  /// The call that it waits in; nullopt while that is being written.
  std::optional<Signature> call() const;
  /// What the rank does: `waits in all_reduce(...)` or `computes`.
  std::string activity() const { return activity("waits", "computes"); }
  /// What the rank did: `waited in all_reduce(...)` or `computed`.
  std::string past_activity() const { return activity("waited", "computed"); }

 private:
  std::string activity(const char* waits, const char* computes) const;
};

static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<State>::is_always_lock_free);

}  // namespace weft::distributed
