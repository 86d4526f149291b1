// Prefetcher: loads batches ahead on other threads and returns them in order.
#pragma once

#include <functional>
#include <vector>

#include "tensor/core/owned.h"
#include "tensor/tensor.h"

namespace weft::data::detail {

using Batch = std::vector<Tensor>;

/// Calls fetch(number) for the numbers first .. end - 1, or until it returns an empty batch. Without workers, each call
/// happens in next(). With `workers` threads, up to `ahead` batches are loaded in advance; the next free thread takes
/// the next number. next() still returns batches in order, and rethrows an exception of fetch() at its batch's turn.
/// Ops in these threads run serially. The destructor joins the threads.
class Prefetcher {
 public:
  Prefetcher(std::function<Batch(int64_t)> fetch, int64_t first, int64_t end, int64_t workers, int64_t ahead);
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;
  /// Stores the next batch in `out`. Returns false after the last one.
  bool next(Batch& out);

 private:
  struct Team;
  std::function<Batch(int64_t)> fetch_;  // without workers
  int64_t next_;
  int64_t end_;
  Owned<Team> team_;
};

}  // namespace weft::data::detail
