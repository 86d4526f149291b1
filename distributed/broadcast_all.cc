#include "distributed/broadcast_all.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "distributed/communicator.h"
#include "distributed/written.h"

namespace weft::distributed {
namespace {

/// Tensors of so many bytes travel alone: a call more costs them little.
constexpr int64_t kAlone = 64 << 10;
/// About the most bytes that travel together, which messages copy to memory of their own.
constexpr int64_t kTogether = 1 << 20;

/// Small tensors of one root and dtype.
struct Pack {
  std::vector<Tensor> tensors;
  int64_t elements = 0;
};

/// As broadcast_of() of collectives.h, of the bytes of all tensors one after the other. They are copied from and to
/// where they are: a copy of all in one place first would cost more than it saves.
Collective broadcast_of(RankInGroup self, int root, std::vector<Tensor> tensors) {
  Collective out;
  for (const Tensor& x : tensors) out.items += x.nbytes();
  out.kept = tensors;
  const auto parts = std::make_shared<const std::vector<Tensor>>(std::move(tensors));
  out.stages = [=](int64_t begin, int64_t end) {
    // copy(place in memory, place in bytes [begin, end), bytes) of every tensor with some of these bytes.
    const auto each = [=](const auto& copy) {
      int64_t at = 0;
      for (const Tensor& x : *parts) {
        const int64_t from = std::max(begin, at), to = std::min(end, at + x.nbytes());
        if (from < to) copy(bytes_of(x) + (from - at), from - begin, static_cast<size_t>(to - from));
        at += x.nbytes();
      }
    };
    Stage stage;
    stage.size = [=](int rank) { return rank == root ? end - begin : 0; };
    stage.range = [=](int reader, int publisher) {
      return Range{0, publisher == root && reader != root ? end - begin : 0};
    };
    stage.fill = [=](std::byte* to) {
      if (self.rank == root) each([=](std::byte* x, int64_t at, size_t bytes) { std::memcpy(to + at, x, bytes); });
    };
    stage.consume = [=](Published from) {
      const std::byte* const sent = from[static_cast<size_t>(root)];
      if (self.rank != root) each([=](std::byte* x, int64_t at, size_t bytes) { std::memcpy(x, sent + at, bytes); });
    };
    return std::vector<Stage>{stage};
  };
  return out;
}

void broadcast(const Group& group, const Pack& pack, int64_t root) {
  if (pack.tensors.size() == 1) return group.broadcast(pack.tensors[0], root);
  std::vector<Written> written;
  std::vector<Tensor> memory;
  for (const Tensor& x : pack.tensors) {
    ErrorFrame frame("broadcast", x);
    memory.push_back(written.emplace_back(x, "broadcast").memory());
  }
  if (group.size() > 1) {
    ErrorFrame frame("broadcast");
    Communicator& communicator = group.communicator();
    Collective collective = broadcast_of(communicator.rank_in_group(), static_cast<int>(root), std::move(memory));
    collective.signature =
        Signature::of(Call::broadcast, {pack.elements}, pack.tensors[0].dtype(), static_cast<int>(root));
    communicator.run(std::move(collective));
  }
  for (Written& x : written) x.finish();
}

}  // namespace

void broadcast_all(const Group& group, const std::vector<Tensor>& tensors, const std::vector<int64_t>& roots) {
  std::map<std::pair<int64_t, DType>, Pack> packs;  // those that are not full, in the same order on all ranks
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& x = tensors[i];
    if (x.nbytes() >= kAlone) {
      group.broadcast(x, roots[i]);
      continue;
    }
    Pack& pack = packs[{roots[i], x.dtype()}];
    pack.tensors.push_back(x);
    pack.elements += x.numel();
    if (pack.elements * static_cast<int64_t>(size_of(x.dtype())) < kTogether) continue;
    broadcast(group, pack, roots[i]);
    pack = {};
  }
  for (const auto& [key, pack] : packs)
    if (!pack.tensors.empty()) broadcast(group, pack, key.first);
}

}  // namespace weft::distributed
