// Descriptors of sorting and selection along one axis. NaN counts as larger than every number, 0 and -0 are equal, and
// equal elements keep their order.
#pragma once

#include <array>

#include "tensor/ops/infer.h"

namespace weft::op {

/// The sorted values (x's dtype), and the index of each in x (i64).
struct Sort {
  int64_t axis;
  bool descending;
  static constexpr std::string_view name = "sort";
  static constexpr std::string_view cost = "by radix: a pass for each byte of the key";
  static constexpr Policy policy = {};
  static constexpr int outputs = 2;
  void attributes(auto visit) const { visit("axis", axis), visit("descending", descending); }
  bool operator==(const Sort&) const = default;
  std::array<Spec, 2> infer(const Operand& x) const;
  void cpu(const Operand& x, const Operand& values, const Operand& indices) const;
};

/// The order (n, i64) in which the rows of a matrix (n, m) ascend: by their first elements that differ.
struct SortRows {
  static constexpr std::string_view name = "sort_rows";
  static constexpr std::string_view cost = "by radix: a sort of each column, of the rows that are equal before it";
  static constexpr Policy policy = {};
  void attributes(auto) const {}
  bool operator==(const SortRows&) const = default;
  Spec infer(const Operand& x) const { return spec_of({x.size(0)}, i64); }
  void cpu(const Operand& x, const Operand& order) const;
};

/// The first k values and indices of Sort.
struct Topk {
  int64_t axis;
  int64_t k;
  bool largest;
  static constexpr std::string_view name = "topk";
  static constexpr std::string_view cost = "n + k log k a row";
  static constexpr Policy policy = {};
  static constexpr int outputs = 2;
  void attributes(auto visit) const { visit("axis", axis), visit("k", k), visit("largest", largest); }
  bool operator==(const Topk&) const = default;
  std::array<Spec, 2> infer(const Operand& x) const;
  void cpu(const Operand& x, const Operand& values, const Operand& indices) const;
};

/// The k-th smallest element (k counts from 1) and its index.
struct Kthvalue {
  int64_t axis;
  int64_t k;
  bool keepdim;
  static constexpr std::string_view name = "kthvalue";
  static constexpr std::string_view cost = "O(n) a row";
  static constexpr Policy policy = {};
  static constexpr int outputs = 2;
  void attributes(auto visit) const { visit("axis", axis), visit("k", k), visit("keepdim", keepdim); }
  bool operator==(const Kthvalue&) const = default;
  std::array<Spec, 2> infer(const Operand& x) const;
  void cpu(const Operand& x, const Operand& values, const Operand& indices) const;
};

/// The median (the lower one of two middle elements) and its index. If there is a NaN, the first NaN; with `skips_nan`,
/// the median of the other elements.
struct Median {
  int64_t axis;
  bool skips_nan;
  bool keepdim;
  static constexpr std::string_view name = "median";
  static constexpr std::string_view cost = "O(n) a row";
  static constexpr Policy policy = {};
  static constexpr int outputs = 2;
  void attributes(auto visit) const { visit("axis", axis), visit("skips_nan", skips_nan), visit("keepdim", keepdim); }
  bool operator==(const Median&) const = default;
  std::array<Spec, 2> infer(const Operand& x) const;
  void cpu(const Operand& x, const Operand& values, const Operand& indices) const;
};

}  // namespace weft::op
