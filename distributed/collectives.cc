#include "distributed/collectives.h"

#include <cstring>

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

/// The slice of `count` elements that a rank sums.
Range slice(int rank, int size, int64_t count, int64_t width) {
  return {count * rank / size * width, count * (rank + 1) / size * width};
}

std::vector<Stage> reduce_whole(ReduceOp op, DType dtype, std::byte* data, int64_t count) {
  const auto bytes = count * static_cast<int64_t>(size_of(dtype));
  Stage stage = everything(bytes);
  stage.fill = [=](std::byte* to) { std::memcpy(to, data, static_cast<size_t>(bytes)); };
  stage.own = data;
  stage.consume = [=](Published from) { reduce(op, dtype, from, data, count); };
  return one(std::move(stage));
}

std::vector<Stage> reduce_slices(RankInGroup self, ReduceOp op, DType dtype, std::byte* data, int64_t count) {
  const auto width = static_cast<int64_t>(size_of(dtype));
  const auto slice_of = [=](int rank) { return slice(rank, self.size, count, width); };
  const Range mine = slice_of(self.rank);
  Stage sum = everything(count * width);
  sum.range = [=](int reader, int) { return slice_of(reader); };
  sum.fill = [=](std::byte* to) { std::memcpy(to, data, static_cast<size_t>(count * width)); };
  sum.one_reader = true;
  sum.own = data + mine.begin;
  sum.consume = [=](Published from) { reduce(op, dtype, from, data + mine.begin, mine.size() / width); };
  Stage spread;
  spread.size = [=](int rank) { return slice_of(rank).size(); };
  spread.range = [=](int, int publisher) { return Range{0, slice_of(publisher).size()}; };
  spread.fill = [=](std::byte* to) { std::memcpy(to, data + mine.begin, static_cast<size_t>(mine.size())); };
  spread.consume = [=](Published from) {
    for (int rank = 0; rank < self.size; ++rank) {
      const Range range = slice_of(rank);
      if (rank != self.rank)
        std::memcpy(data + range.begin, from[static_cast<size_t>(rank)], static_cast<size_t>(range.size()));
    }
  };
  std::vector<Stage> stages = one(std::move(sum));
  stages.push_back(std::move(spread));
  return stages;
}

}  // namespace

Collective all_reduce_of(RankInGroup self, ReduceOp op, DType dtype, std::byte* data, int64_t count) {
  Collective out;
  const auto width = static_cast<int64_t>(size_of(dtype));
  out.items = count;
  out.item_bytes = width;
  out.stages = [=](int64_t begin, int64_t end) {
    std::byte* const part = data + begin * width;
    const int64_t length = end - begin;
    // Two ranks each read the whole of the other's data either way.
    if (self.size == 2 || length * width <= kOneStage) return reduce_whole(op, dtype, part, length);
    return reduce_slices(self, op, dtype, part, length);
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
