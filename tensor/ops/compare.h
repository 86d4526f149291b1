// Descriptors of comparisons, logic and where.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// Element-wise questions about two tensors of one shape and dtype. NaN is unequal to everything, itself included.
struct Compare {
  static constexpr Policy policy = {.broadcasts = true};
  void attributes(auto) const {}
  bool operator==(const Compare&) const = default;
  Spec infer(const Operand& a, const Operand& b) const { return {result_view(a.shape(), {a.view, b.view}), boolean}; }
};

/// A tensor compared with a number, in the precision the tensor is computed in (f32 for bf16 and f16). For an integer
/// dtype the number is an integer that it holds.
struct CompareScalar {
  Scalar value = 0;
  void attributes(auto visit) const { visit("value", value); }
  bool operator==(const CompareScalar&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x, boolean); }
};

/// Element-wise questions about one tensor.
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

/// condition[i] ? a[i] : b[i]; the condition is bool, a and b have one dtype, any.
struct Where {
  static constexpr std::string_view name = "where";
  static constexpr Policy policy = {.numeric = ~1u, .broadcasts = true};
  void attributes(auto) const {}
  bool operator==(const Where&) const = default;
  Spec infer(const Operand& condition, const Operand& a, const Operand& b) const;
  void cpu(const Operand& condition, const Operand& a, const Operand& b, const Operand& out) const;
};

}  // namespace weft::op
