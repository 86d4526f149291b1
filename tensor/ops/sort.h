// Descriptors of order along one axis: sorts and selections. NaN counts as larger than everything, zeros of both signs
// as equal, and equal elements stay in their order.
#pragma once

#include <array>

#include "tensor/ops/infer.h"

namespace weft::op {

/// Values in order (x's dtype), and where they were (i64).
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

/// The first k that Sort would give.
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

/// Element k (from 1) of the ascending order.
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

/// The middle element, the lower of two. NaN (the first) where there is one; with `skips_nan` the middle of the others.
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
