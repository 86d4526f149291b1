// A dataset of numbers, and what a loader hands out of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "data/dataset.h"
#include "tensor/all.h"

namespace weft {

/// Example i is {i, 10 i}; `bad` throws; counts what is alive.
class Numbers : public data::Dataset {
 public:
  explicit Numbers(int64_t size, int64_t bad = -1) : size_(size), bad_(bad) { ++alive; }
  Numbers(const Numbers& other) : DatasetOf(other), size_(other.size_), bad_(other.bad_) { ++alive; }
  ~Numbers() override { --alive; }
  int64_t size() const override { return size_; }
  Example get(int64_t i) const override {
    if (i == bad_) throw IndexError("example 5 is bad");
    return {tensor({i}), tensor({10.0 * static_cast<double>(i)})};
  }
  static inline std::atomic<int> alive = 0;

 private:
  int64_t size_, bad_;
};

/// All first tensors of an epoch, one vector per batch.
template <class Loader> std::vector<std::vector<int64_t>> epoch(Loader& loader) {
  std::vector<std::vector<int64_t>> out;
  for (const auto& batch : loader) out.push_back(batch[0].template to_vector<int64_t>());
  return out;
}

}  // namespace weft
