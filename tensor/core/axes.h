// Axes: which axes a reduction runs over. None given means all of them.
#pragma once

#include <concepts>
#include <initializer_list>
#include <vector>

#include "tensor/core/shape.h"

namespace weft {

/// Whether reduced axes stay, with size 1: `x.sum(1, keepdim)`.
struct KeepDim {
  bool value = false;
  constexpr KeepDim() = default;
  constexpr explicit KeepDim(bool keep) : value(keep) {}
};
inline constexpr KeepDim keepdim{true};

/// One axis, several, or (empty) all. One class instead of overloads: `sum({})` means all axes.
class Axes {
 public:
  Axes() = default;
  /// A bool is no axis: `x.var(false)` and `x.sum(true)` do not compile.
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Axes(T axis) : list_{static_cast<int64_t>(axis)} {}
  Axes(std::initializer_list<int64_t> axes) : list_(axes) {}
  Axes(const std::vector<int64_t>& axes) : list_(axes) {}
  Axes(const IntList& axes) : list_(axes) {}

  bool empty() const { return list_.empty(); }
  const IntList& list() const { return list_; }
  /// Sorted axes in [0, rank), all of them where none were given. IndexError out of range or given twice. Rank 0 takes
  /// 0 and -1, and gives no axes.
  IntList normalized(int64_t rank) const;

 private:
  IntList list_;
};

}  // namespace weft
