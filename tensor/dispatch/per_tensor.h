// PerTensor: one value for each input or output of an op.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace weft::dispatch {

/// `count` values. Up to 8 are stored without a heap allocation.
template <class T> class PerTensor {
 public:
  explicit PerTensor(size_t count) : count_(count), more_(count > kFew ? count : 0) {}
  std::span<T> span() { return {more_.empty() ? few_.data() : more_.data(), count_}; }

 private:
  static constexpr size_t kFew = 8;
  size_t count_;
  std::array<T, kFew> few_;
  std::vector<T> more_;
};

}  // namespace weft::dispatch
