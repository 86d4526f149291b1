// Descriptors of ops with a bool mask of x's shape, and of the positions where a mask is true. Positions are in
// row-major order.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// `value` where the mask is true, else x.
struct MaskedFill {
  Scalar value;
  static constexpr std::string_view name = "masked_fill";
  static constexpr Policy policy = {.numeric = 1, .broadcasts = true};
  void attributes(auto visit) const { visit("value", value); }
  bool operator==(const MaskedFill&) const = default;
  Spec infer(const Operand& x, const Operand& mask) const;
  void cpu(const Operand& x, const Operand& mask, const Operand& out) const;
};

/// The `count` elements where the mask is true, in row-major order (1-D).
struct MaskedSelect {
  int64_t count;
  static constexpr std::string_view name = "masked_select";
  static constexpr std::string_view cost = "two passes: count, then values";
  static constexpr Policy policy = {.numeric = 1, .broadcasts = true};
  void attributes(auto visit) const { visit("count", count); }
  bool operator==(const MaskedSelect&) const = default;
  Spec infer(const Operand& x, const Operand& mask) const;
  void cpu(const Operand& x, const Operand& mask, const Operand& out) const;
};

/// A copy of x in which the elements where the mask is true are replaced by the elements of the 1-D `src`, in order.
struct MaskedScatter {
  static constexpr std::string_view name = "masked_scatter";
  static constexpr Policy policy = {.numeric = 5};
  void attributes(auto) const {}
  bool operator==(const MaskedScatter&) const = default;
  Spec infer(const Operand& x, const Operand& mask, const Operand& src) const;
  void cpu(const Operand& x, const Operand& mask, const Operand& src, const Operand& out) const;
};

/// The `count` positions where the mask is true: coordinates (count, rank), or flat row-major indices (count).
struct Nonzero {
  int64_t count;
  bool coordinates;
  static constexpr std::string_view name = "nonzero";
  static constexpr std::string_view cost = "two passes: count, then positions";
  static constexpr Policy policy = {.numeric = 0};
  void attributes(auto visit) const { visit("count", count), visit("coordinates", coordinates); }
  bool operator==(const Nonzero&) const = default;
  Spec infer(const Operand& mask) const;
  void cpu(const Operand& mask, const Operand& out) const;
};

/// x on and below (or on and above) a diagonal of the last two axes, zero elsewhere.
struct Triangle {
  bool lower;
  int64_t diagonal;
  static constexpr std::string_view name = "triangle";
  static constexpr Policy policy = {};
  void attributes(auto visit) const { visit("lower", lower), visit("diagonal", diagonal); }
  bool operator==(const Triangle&) const = default;
  Spec infer(const Operand& x) const;
  void cpu(const Operand& x, const Operand& out) const;
};

}  // namespace weft::op
