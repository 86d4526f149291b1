// Prefetcher: batches made ahead of time on other threads, handed out in their order.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tensor/tensor.h"

namespace weft::data::detail {

using Batch = std::vector<Tensor>;

/// Calls fetch(number) for the numbers first .. end - 1: where they are asked for, or with `workers` threads, up to
/// `ahead` before that. Each number is taken by the next thread that is free; next() gives batches in order all the
/// same, and what fetch() threw where its batch would have come. Ops of these threads run serially. The destructor
/// joins them.
class Prefetcher {
 public:
  Prefetcher(std::function<Batch(int64_t)> fetch, int64_t first, int64_t end, int64_t workers, int64_t ahead);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;
  /// The next batch; false after the last.
  bool next(Batch& out);

 private:
  struct Team;
  std::function<Batch(int64_t)> fetch_;
  int64_t next_;
  int64_t end_;
  std::unique_ptr<Team> team_;
};

}  // namespace weft::data::detail
