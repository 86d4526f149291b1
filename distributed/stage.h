// How a collective is described: stages, in each of which every rank publishes some bytes and reads parts of what the
// others published. One description serves shared memory and messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "distributed/signature.h"
#include "tensor/tensor.h"

namespace weft::distributed {

/// Bytes [begin, end) of what a rank publishes.
struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

/// For each rank, where what is read of it begins.
using Published = std::span<const std::byte* const>;

struct Stage {
  /// How many bytes `rank` publishes. All ranks agree on it, and on `range`.
  std::function<int64_t(int rank)> size;
  /// The part of what `publisher` publishes that `reader` reads.
  std::function<Range(int reader, int publisher)> range;
  /// Whether no two ranks read the same bytes, however many there are.
  bool one_reader = false;
  /// Writes what this rank publishes.
  std::function<void(std::byte* to)> fill;
  /// Where the part that this rank reads of its own lies, so that it need not read back what it published. Null where
  /// it reads none.
  const std::byte* own = nullptr;
  /// Reads; runs when all ranks have published.
  std::function<void(Published from)> consume;
};

struct Collective {
  Signature signature;
  /// Items that the work can be cut into (elements, or elements of a row), and the bytes an item takes when published.
  int64_t items = 0;
  int64_t item_bytes = 1;
  /// The stages for items [begin, end).
  std::function<std::vector<Stage>(int64_t begin, int64_t end)> stages;
  /// The memory that it reads and writes: lives as long as it goes on, whether or not its handle does.
  std::vector<Tensor> kept = {};
};

}  // namespace weft::distributed
