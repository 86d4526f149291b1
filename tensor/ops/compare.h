// Descriptors of comparisons, logic and where.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// An element-wise comparison of two tensors of equal shape and dtype. NaN is unequal to everything, itself included.
struct Compare {
  static constexpr Policy policy = {.broadcasts = true};
  void attributes(auto) const {}
  bool operator==(const Compare&) const = default;
  Spec infer(const Operand& a, const Operand& b) const { return {result_view(a.shape(), {a.view, b.view}), boolean}; }
};

/// A comparison of a tensor with a number, in the precision of the tensor (f32 for bf16 and f16). For an integer dtype
/// the number must be an integer that the dtype can hold.
struct CompareScalar {
  Scalar value = 0;
  void attributes(auto visit) const { visit("value", value); }
  bool operator==(const CompareScalar&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x, boolean); }
};

/// An element-wise test of one tensor.
struct Predicate {
  void attributes(auto) const {}
  bool operator==(const Predicate&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x, boolean); }
};

#define WEFT_LOGICAL(Op, function)                                          \
  struct Op : Compare {                                                     \
    static constexpr std::string_view name = #function;                     \
    void cpu(const Operand& a, const Operand& b, const Operand& out) const; \
  };
#define WEFT_COMPARE(Op, ScalarOp, function)              \
  WEFT_LOGICAL(Op, function)                              \
  struct ScalarOp : CompareScalar {                       \
    static constexpr std::string_view name = #function;   \
    void cpu(const Operand& x, const Operand& out) const; \
  };
#define WEFT_PREDICATE(Op, function)                      \
  struct Op : Predicate {                                 \
    static constexpr std::string_view name = #function;   \
    void cpu(const Operand& x, const Operand& out) const; \
  };
#include "tensor/ops/compare.inc"

/// condition[i] ? a[i] : b[i]. The condition is bool; a and b have the same dtype, which can be any.
struct Where {
  static constexpr std::string_view name = "where";
  static constexpr Policy policy = {.numeric = ~1u, .broadcasts = true};
  void attributes(auto) const {}
  bool operator==(const Where&) const = default;
  Spec infer(const Operand& condition, const Operand& a, const Operand& b) const;
  void cpu(const Operand& condition, const Operand& a, const Operand& b, const Operand& out) const;
};

}  // namespace weft::op
