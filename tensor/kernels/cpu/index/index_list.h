// IndexList: an operand of integers as contiguous i64 in row-major order, checked before a kernel starts, so that
// nothing is written where an index is bad and nothing is thrown inside of a parallel region.
#pragma once

#include <optional>

#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/rows.h"

namespace weft::kernels::cpu {

class IndexList {
 public:
  /// check(list, count) throws if an index is out of range.
  template <class Check>
  IndexList(const Operand& index, const Check& check)
      : direct_(index.dtype == DType::i64 && index.view->is_contiguous()),
        count_(index.numel()),
        copy_(direct_ ? 0 : count_),
        data_(direct_ ? index.data<int64_t>() : copy_.data()) {
    if (!direct_) copy_from(index);
    check(data_, count_);
  }
  /// Every index must lie in [0, limit): IndexError `index 7 is out of range for an axis of size 5` for the first that
  /// does not.
  IndexList(const Operand& index, int64_t limit) : IndexList(index) { check(limit); }
  /// Not checked yet: what writes only to memory that is thrown away with the error may check on its way.
  explicit IndexList(const Operand& index) : IndexList(index, [](const int64_t*, int64_t) {}) {}
  void check(int64_t limit) const;
  /// Whether all lie in [0, limit): neither an index nor what it leaves of the last one has a sign. (The largest index
  /// would tell as well, but a maximum waits for the one before it three times as long.)
  static bool all_below(const int64_t* list, int64_t count, int64_t limit) {
    const uint64_t last = static_cast<uint64_t>(limit) - 1;
    uint64_t bits = 0;
    for (int64_t i = 0; i < count; ++i)
      bits |= static_cast<uint64_t>(list[i]) | (last - static_cast<uint64_t>(list[i]));
    return static_cast<int64_t>(bits) >= 0;
  }

  /// Classes, which lie in [0, classes) or are `ignored`: IndexError `class 7 is out of range for 5 classes`.
  static IndexList of_classes(const Operand& index, int64_t classes, std::optional<int64_t> ignored = std::nullopt) {
    return IndexList(index, [&](const int64_t* list, int64_t count) { check_classes(list, count, classes, ignored); });
  }

  const int64_t* data() const { return data_; }
  int64_t count() const { return count_; }
  int64_t operator[](int64_t i) const { return data_[i]; }
  operator std::span<const int64_t>() const { return {data_, static_cast<size_t>(count_)}; }

 private:
  void copy_from(const Operand& index);
  static void check_classes(const int64_t* list, int64_t count, int64_t classes, std::optional<int64_t> ignored);

  bool direct_;
  int64_t count_;
  Scratch<int64_t> copy_;
  const int64_t* data_;
};

}  // namespace weft::kernels::cpu
