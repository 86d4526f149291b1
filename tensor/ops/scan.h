// Descriptors of scans: element i of the result along an axis is computed from elements 0 .. i of the input. Floating
// sums, products and recurrences are accumulated in double.
#pragma once

#include <array>

#include "tensor/ops/infer.h"

namespace weft::op {

struct Scan {
  int64_t axis;
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const Scan&) const = default;
};
/// Bool and integers give i64, modulo 2^64.
struct CumulativeSummation : Scan {
  static constexpr Policy policy = {.autocast = Autocasting::full};
  Spec infer(const Operand& x) const { return spec_like(x, is_floating(x.dtype) ? x.dtype : i64); }
};
struct Cumsum : CumulativeSummation {
  static constexpr std::string_view name = "cumsum";
  void cpu(const Operand& x, const Operand& out) const;
};
struct Cumprod : CumulativeSummation {
  static constexpr std::string_view name = "cumprod";
  void cpu(const Operand& x, const Operand& out) const;
};
/// log(sum(exp(x))) without overflow.
struct Logcumsumexp : Scan {
  static constexpr std::string_view name = "logcumsumexp";
  static constexpr Policy policy = {.accepts = kFloating, .autocast = Autocasting::full};
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};
/// The cumulative extremum and its last position (i64); NaN propagates.
struct CumulativeExtremum {
  int64_t axis;
  bool largest;
  static constexpr std::string_view name = "cummax";
  static constexpr Policy policy = {};
  static constexpr int outputs = 2;
  void attributes(auto visit) const { visit("axis", axis), visit("largest", largest); }
  bool operator==(const CumulativeExtremum&) const = default;
  std::array<Spec, 2> infer(const Operand& x) const { return {spec_like(x), spec_like(x, i64)}; }
  void cpu(const Operand& x, const Operand& values, const Operand& indices) const;
};
/// y[i] = a[i] y[i - 1] + b[i], y[0] = b[0]. Used by the gradients of scans.
struct LinearRecurrence : Scan {
  static constexpr std::string_view name = "linear_recurrence";
  static constexpr Policy policy = {.accepts = kFloating, .autocast = Autocasting::full};
  Spec infer(const Operand& a, const Operand& b) const { return check_same_shape(a, b), spec_like(b); }
  void cpu(const Operand& a, const Operand& b, const Operand& out) const;
};

}  // namespace weft::op
