// Axes: the axes that a reduction runs over. An empty list means all axes.
#pragma once

#include <concepts>
#include <initializer_list>
#include <vector>

#include "tensor/core/shape.h"

namespace weft {

/// Whether the result keeps the reduced axes with size 1: `x.sum(1, keepdim)` or `x.sum(1, true)`. A number is not
/// accepted: `x.sum(0, 1)` does not compile.
struct KeepDim {
  bool value = false;
  constexpr KeepDim() = default;
  constexpr KeepDim(std::same_as<bool> auto keep) : value(keep) {}
};
inline constexpr KeepDim keepdim{true};

/// What converts to an integer but is no axis or index: `x.sort(true)` and `x[1.5]` do not compile.
template <class T>
concept NoAxis = std::same_as<T, bool> || std::floating_point<T>;

/// One axis, several axes, or all axes (empty). A single class instead of overloads, so that `sum({})` means all axes.
class Axes {
 public:
  Axes() = default;
  /// A bool is not accepted as an axis: `x.var(false)` and `x.sum(true)` do not compile.
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Axes(T axis) : list_{static_cast<int64_t>(axis)} {}
  Axes(std::initializer_list<int64_t> axes) : list_(axes) {}
  Axes(const std::vector<int64_t>& axes) : list_(axes) {}
  Axes(const IntList& axes) : list_(axes) {}

  bool empty() const { return list_.empty(); }
  const IntList& list() const { return list_; }
  /// The axes in [0, rank), sorted; all of them if the list is empty. IndexError for an axis out of range or given
  /// twice. For rank 0, axes 0 and -1 are accepted and the result is empty.
  IntList normalized(int64_t rank) const;

 private:
  IntList list_;
};

}  // namespace weft
