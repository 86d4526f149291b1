// How a collective is described: as stages. In each stage, every rank publishes some bytes and reads parts of what the
// others published. Shared memory and messages use the same description.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "distributed/signature.h"
#include "tensor/tensor.h"

namespace weft::distributed {

/// Bytes [begin, end) of a rank's published data.
struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

/// For each rank, a pointer to the part of its data that is read.
using Published = std::span<const std::byte* const>;

struct Stage {
  /// The number of bytes that `rank` publishes. `size` and `range` must be the same on all ranks.
  std::function<int64_t(int rank)> size;
  /// The part of `publisher`'s data that `reader` reads.
  std::function<Range(int reader, int publisher)> range;
  /// Whether every byte is read by at most one rank, for any number of ranks.
  bool one_reader = false;
  /// Writes this rank's data to `to`.
  std::function<void(std::byte* to)> fill;
  /// The part of its own data that this rank reads, so that it need not read its published copy. Null if it reads none.
  const std::byte* own = nullptr;
  /// Reads the data; called after all ranks have published.
  std::function<void(Published from)> consume;
};

struct Collective {
  Signature signature;
  /// The number of items into which the work can be divided (elements, or elements of a row), and the published bytes
  /// per item.
  int64_t items = 0;
  int64_t item_bytes = 1;
  /// The stages for items [begin, end).
  std::function<std::vector<Stage>(int64_t begin, int64_t end)> stages;
  /// The tensors whose memory it reads and writes. They are kept alive while it runs, even if its handle is dropped.
  std::vector<Tensor> kept = {};
};

}  // namespace weft::distributed
