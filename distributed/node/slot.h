// Slot: what a rank says of itself to the others on its machine, in shared memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "distributed/signature.h"

namespace weft::distributed {

enum class State : uint32_t { starting, running, failing, failed, ended };

struct Slot {
  /// Exchanges that this rank has published its part of.
  alignas(64) std::atomic<uint64_t> published;
  /// Of its present collective and the one before: no rank can be further behind.
  alignas(64) Signature signatures[2];

  // Rarely written.
  alignas(64) std::atomic<State> state;
  std::atomic<uint32_t> waiting;    // whether it waits for others
  std::atomic<uint64_t> moves;      // how many waits, stages and messages it has come to the end of
  std::atomic<uint64_t> beats;      // of its monitor's thread
  std::atomic<uint64_t> described;  // odd while `doing` is being written
  Signature doing;                  // what it waits in, or last waited in
  int32_t rank;
  int32_t process;
  uint64_t process_names;  // the inode of its process namespace
  char reason[1000];       // why it failed; valid once `state` says so

  /// Notes the failure, once. Safe from both threads of the rank.
  void fail(const std::string& why);
  bool has_failed() const { return state.load(std::memory_order_acquire) == State::failed; }
  /// Says what this rank is about to wait in.
  void describe(const Signature& what);
  /// What it waits in; nothing while that is being written.
  std::optional<Signature> call() const;
  /// What it waits in or computes after: `waits in all_reduce(...)`, `computes`.
  std::string activity() const;
};

static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<State>::is_always_lock_free);

}  // namespace weft::distributed
