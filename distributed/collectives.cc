#include "distributed/collectives.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace weft::distributed {
namespace {

/// Below so many bytes every rank sums all of it, which takes one stage; above, its slice, which takes two.
constexpr int64_t kOneStage = 1 << 14;

std::vector<Stage> one(Stage stage) {
  std::vector<Stage> out;
  out.push_back(std::move(stage));
  return out;
}

/// A stage in which every rank publishes `bytes` and all is read.
Stage everything(int64_t bytes) {
  return {.size = [bytes](int) { return bytes; },
          .range =
              [bytes](int, int) {
                return Range{0, bytes};
              },
          .one_reader = false,
          .fill = {},
          .own = nullptr,
          .consume = {}};
}

/// The stage as it is read by the root alone, which need not publish anything; with kEveryRank, the stage itself.
Stage read_by(int root, RankInGroup self, Stage stage) {
  if (root == kEveryRank) return stage;
  stage.size = [root, size = std::move(stage.size)](int rank) { return rank == root ? 0 : size(rank); };
  stage.range = [root, range = std::move(stage.range)](int reader, int publisher) {
    return reader == root ? range(reader, publisher) : Range{};
  };
  stage.one_reader = true;
  if (self.rank == root)
    stage.fill = [](std::byte*) {};
  else
    stage.consume = [](Published) {};
  return stage;
}

/// The slice of `count` elements that a rank sums.
Range slice(int rank, int size, int64_t count, int64_t width) {
  return {count * rank / size * width, count * (rank + 1) / size * width};
}

std::vector<Stage> reduce_whole(RankInGroup self, int root, ReduceOp op, DType dtype, std::byte* data, int64_t count) {
  const auto bytes = count * static_cast<int64_t>(size_of(dtype));
  Stage stage = everything(bytes);
  stage.fill = [=](std::byte* to) { std::memcpy(to, data, static_cast<size_t>(bytes)); };
  stage.own = data;
  stage.consume = [=](Published from) { reduce(op, dtype, from, data, count); };
  return one(read_by(root, self, std::move(stage)));
}

/// `sums` is where a rank that does not get the result sums its slice.
std::vector<Stage> reduce_slices(RankInGroup self, int root, ReduceOp op, DType dtype, std::byte* data, std::byte* sums,
                                 int64_t count) {
  const auto width = static_cast<int64_t>(size_of(dtype));
  const auto slice_of = [=](int rank) { return slice(rank, self.size, count, width); };
  const Range mine = slice_of(self.rank);
  std::byte* const own = root == kEveryRank || root == self.rank ? data + mine.begin : sums;
  Stage sum = everything(count * width);
  sum.range = [=](int reader, int) { return slice_of(reader); };
  sum.fill = [=](std::byte* to) { std::memcpy(to, data, static_cast<size_t>(count * width)); };
  sum.one_reader = true;
  sum.own = data + mine.begin;
  sum.consume = [=](Published from) { reduce(op, dtype, from, own, mine.size() / width); };
  Stage spread;
  spread.size = [=](int rank) { return slice_of(rank).size(); };
  spread.range = [=](int, int publisher) { return Range{0, slice_of(publisher).size()}; };
  spread.fill = [=](std::byte* to) { std::memcpy(to, own, static_cast<size_t>(mine.size())); };
  spread.consume = [=](Published from) {
    for (int rank = 0; rank < self.size; ++rank) {
      const Range range = slice_of(rank);
      if (rank != self.rank)
        std::memcpy(data + range.begin, from[static_cast<size_t>(rank)], static_cast<size_t>(range.size()));
    }
  };
  std::vector<Stage> stages = one(std::move(sum));
  stages.push_back(read_by(root, self, std::move(spread)));
  return stages;
}

}  // namespace

Collective all_reduce_of(RankInGroup self, ReduceOp op, DType dtype, std::byte* data, int64_t count) {
  return reduce_of(self, kEveryRank, op, dtype, data, nullptr, count);
}

Collective reduce_of(RankInGroup self, int root, ReduceOp op, DType dtype, std::byte* data, std::byte* sums,
                     int64_t count) {
  Collective out;
  const auto width = static_cast<int64_t>(size_of(dtype));
  out.items = count;
  out.item_bytes = width;
  out.stages = [=](int64_t begin, int64_t end) {
    std::byte* const part = data + begin * width;
    const int64_t length = end - begin;
    // Two ranks each read the whole of the other's data either way.
    if (self.size == 2 || length * width <= kOneStage) return reduce_whole(self, root, op, dtype, part, length);
    return reduce_slices(self, root, op, dtype, part, sums, length);
  };
  return out;
}

Collective broadcast_of(RankInGroup self, int root, std::byte* data, int64_t bytes) {
  Collective out;
  out.items = bytes;
  out.stages = [=](int64_t begin, int64_t end) {
    Stage stage;
    const int64_t length = end - begin;
    std::byte* const part = data + begin;
    stage.size = [=](int rank) { return rank == root ? length : 0; };
    stage.range = [=](int reader, int publisher) { return Range{0, publisher == root && reader != root ? length : 0}; };
    stage.fill = [=](std::byte* to) {
      if (self.rank == root) std::memcpy(to, part, static_cast<size_t>(length));
    };
    stage.consume = [=](Published from) {
      if (self.rank != root) std::memcpy(part, from[static_cast<size_t>(root)], static_cast<size_t>(length));
    };
    return one(std::move(stage));
  };
  return out;
}

Collective all_gather_of(RankInGroup self, const std::byte* data, std::byte* to_rows, int64_t bytes) {
  return gather_of(self, kEveryRank, data, to_rows, bytes);
}

Collective gather_of(RankInGroup self, int root, const std::byte* data, std::byte* to_rows, int64_t bytes) {
  Collective out;
  out.items = bytes;
  out.stages = [=](int64_t begin, int64_t end) {
    const auto length = static_cast<size_t>(end - begin);
    Stage stage = everything(end - begin);
    stage.fill = [=](std::byte* to) { std::memcpy(to, data + begin, length); };
    stage.own = data + begin;
    stage.consume = [=](Published from) {
      for (int rank = 0; rank < self.size; ++rank)
        std::memcpy(to_rows + rank * bytes + begin, from[static_cast<size_t>(rank)], length);
    };
    return one(read_by(root, self, std::move(stage)));
  };
  return out;
}

Collective all_gather_parts_of(RankInGroup self, const std::byte* data, std::byte* to_all,
                               std::vector<int64_t> offsets) {
  Collective out;
  for (size_t rank = 1; rank < offsets.size(); ++rank)
    out.items = std::max(out.items, offsets[rank] - offsets[rank - 1]);
  const auto places = std::make_shared<const std::vector<int64_t>>(std::move(offsets));
  out.stages = [=](int64_t begin, int64_t end) {
    // Bytes [begin, end) of what a rank has, as far as it has them.
    const auto part_of = [=](int rank) {
      const int64_t bytes = (*places)[static_cast<size_t>(rank) + 1] - (*places)[static_cast<size_t>(rank)];
      return Range{std::min(begin, bytes), std::min(end, bytes)};
    };
    const Range mine = part_of(self.rank);
    Stage stage;
    stage.size = [=](int rank) { return part_of(rank).size(); };
    stage.range = [=](int, int publisher) { return Range{0, part_of(publisher).size()}; };
    stage.fill = [=](std::byte* to) { std::memcpy(to, data + mine.begin, static_cast<size_t>(mine.size())); };
    stage.own = data + mine.begin;
    stage.consume = [=](Published from) {
      for (int rank = 0; rank < self.size; ++rank) {
        const Range part = part_of(rank);
        std::byte* const to = to_all + (*places)[static_cast<size_t>(rank)] + part.begin;
        std::memcpy(to, from[static_cast<size_t>(rank)], static_cast<size_t>(part.size()));
      }
    };
    return one(std::move(stage));
  };
  return out;
}

namespace {

/// A stage in which every rank publishes items [begin, end) of each of its rows, and rank r reads those of row r.
Stage rows_stage(RankInGroup self, const std::byte* data, int64_t row_bytes, int64_t begin, int64_t end) {
  const int64_t length = end - begin;
  Stage stage;
  stage.one_reader = true;
  stage.own = data + self.rank * row_bytes + begin;
  stage.size = [=](int) { return length * self.size; };
  stage.range = [=](int reader, int) { return Range{reader * length, (reader + 1) * length}; };
  stage.fill = [=](std::byte* to) {
    for (int row = 0; row < self.size; ++row)
      std::memcpy(to + row * length, data + row * row_bytes + begin, static_cast<size_t>(length));
  };
  return stage;
}

}  // namespace

Collective reduce_scatter_of(RankInGroup self, ReduceOp op, DType dtype, const std::byte* data, std::byte* to,
                             int64_t count) {
  Collective out;
  const auto width = static_cast<int64_t>(size_of(dtype));
  out.items = count;
  out.item_bytes = width * self.size;
  out.stages = [=](int64_t begin, int64_t end) {
    Stage stage = rows_stage(self, data, count * width, begin * width, end * width);
    stage.consume = [=](Published from) { reduce(op, dtype, from, to + begin * width, end - begin); };
    return one(std::move(stage));
  };
  return out;
}

Collective all_to_all_of(RankInGroup self, const std::byte* data, std::byte* to, int64_t bytes) {
  Collective out;
  out.items = bytes;
  out.item_bytes = self.size;
  out.stages = [=](int64_t begin, int64_t end) {
    Stage stage = rows_stage(self, data, bytes, begin, end);
    stage.consume = [=](Published from) {
      for (int rank = 0; rank < self.size; ++rank)
        std::memcpy(to + rank * bytes + begin, from[static_cast<size_t>(rank)], static_cast<size_t>(end - begin));
    };
    return one(std::move(stage));
  };
  return out;
}

Collective scatter_of(RankInGroup self, int root, const std::byte* data, std::byte* to, int64_t bytes) {
  Collective out;
  out.items = bytes;
  out.item_bytes = self.size;
  out.stages = [=](int64_t begin, int64_t end) {
    Stage stage = rows_stage(self, data, bytes, begin, end);
    // Only the root publishes its rows.
    stage.size = [root, size = std::move(stage.size)](int rank) { return rank == root ? size(rank) : 0; };
    stage.range = [root, range = std::move(stage.range)](int reader, int publisher) {
      return publisher == root ? range(reader, publisher) : Range{};
    };
    if (self.rank != root) stage.fill = [](std::byte*) {};
    stage.consume = [=](Published from) {
      std::memcpy(to + begin, from[static_cast<size_t>(root)], static_cast<size_t>(end - begin));
    };
    return one(std::move(stage));
  };
  return out;
}

Collective barrier_of(Call call) {
  Collective out;
  out.signature = Signature::of(call, {}, DType::f32);
  out.stages = [](int64_t, int64_t) {
    Stage stage = everything(0);
    stage.fill = [](std::byte*) {};
    stage.consume = [](Published) {};
    return one(std::move(stage));
  };
  return out;
}

}  // namespace weft::distributed
