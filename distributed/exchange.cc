// Blocking collectives: through the staging areas where the ranks share memory.
#include <algorithm>
#include <atomic>
#include <utility>

#include "distributed/communicator.h"
#include "distributed/error.h"

namespace weft::distributed {
namespace {

void relax() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

/// Makes this core the owner of cache lines that it has read and no other core reads, by a store to each. Otherwise the
/// publisher's next stores to them find lines of its own that another core shares: where the two have no cache in
/// common it gives each of these up in turn, at 1.8 GB/s, while lines that are elsewhere altogether are fetched many at
/// a time.
void take(std::byte* area, Range read) {
  constexpr int64_t kLine = 64;
  for (int64_t at = (read.begin + kLine - 1) / kLine * kLine; at + kLine <= read.end; at += kLine)
    *reinterpret_cast<volatile uint32_t*>(area + at) = 0;
}

}  // namespace

void Communicator::run(Collective collective) {
  check_usable();
  if (!shared_) return finish(*start(std::move(collective)));
  Signature& signature = node_->own().signatures[blocking_ % 2];
  collective.signature.number = calls_;
  signature = collective.signature;
  const int64_t most = std::max<int64_t>(Node::kStaging / collective.item_bytes, 1);
  const auto stages_from = [&](int64_t begin) {
    return collective.stages(begin, std::min(collective.items, begin + most));
  };
  const Signature* unchecked = &collective.signature;
  std::vector<Stage> stages = stages_from(0);
  uint64_t number = publish(stages[0]);
  ++calls_;  // now: a call that found no memory before can be repeated
  try {
    for (int64_t begin = 0; !stages.empty(); begin += most) {
      std::vector<Stage> next;
      uint64_t ahead = 0;
      for (size_t i = 0; i < stages.size(); ++i) {
        if (i > 0) number = publish(stages[i]);
        // Publish the next chunk early; it does not depend on this stage, so other ranks seldom wait.
        if (i + 1 == stages.size() && begin + most < collective.items)
          next = stages_from(begin + most), ahead = publish(next[0]);
        consume(stages[i], number, std::exchange(unchecked, nullptr));
      }
      stages = std::move(next);
      number = ahead;
    }
  } catch (...) {
    give_up("a collective ended with an error before its end");  // the others would take its next call for the rest
    throw;
  }
  ++blocking_;
}

void Communicator::run(Collective collective, double timeout) {
  struct Restored {
    double& variable;
    const double before;
    ~Restored() { variable = before; }
  } restored{timeout_, timeout_};
  if (timeout > 0) timeout_ = timeout;
  run(std::move(collective));
}

uint64_t Communicator::publish(const Stage& stage) {
  const uint64_t number = ++exchanges_;
  stage.fill(node_->staging(local_rank_, number));
  node_->own().published.store(number, std::memory_order_release);
  return number;
}

void Communicator::consume(const Stage& stage, uint64_t number, const Signature* check) {
  const Node& node = *node_;
  const auto has_published = [&](int rank) {
    return node.slot(rank).published.load(std::memory_order_acquire) >= number;
  };
  const auto ready = [&] {
    for (int rank = 0; rank < size(); ++rank)
      if (!has_published(rank)) return false;
    return true;
  };
  const auto missing = [&] {
    std::vector<int> out;
    for (int rank = 0; rank < size(); ++rank)
      if (!has_published(rank)) out.push_back(rank);
    return out;
  };
  const Signature& what = node.own().signatures[blocking_ % 2];
  bool here = false;
  for (int i = 0; i < spins_ && !(here = ready()); ++i) relax();
  if (!here) wait(what, ready, missing);
  if (check != nullptr) compare_signatures(*check);
  std::vector<const std::byte*> from;
  for (int rank = 0; rank < size(); ++rank)
    from.push_back(rank == local_rank_ ? stage.own : node.staging(rank, number) + stage.range(local_rank_, rank).begin);
  stage.consume(from);
  if (!stage.one_reader && size() > 2) return;
  for (int rank = 0; rank < size(); ++rank)
    if (rank != local_rank_) take(node.staging(rank, number), stage.range(local_rank_, rank));
}

void Communicator::compare_signatures(const Signature& own) {
  for (int rank = 0; rank < size(); ++rank) {
    const Signature other = node_->slot(rank).signatures[blocking_ % 2];
    if (!(other == own)) fail(own, text("rank ", rank, " is in ", other.to_string()));
  }
}

}  // namespace weft::distributed
