// Descriptors of reductions over sorted axes; `keepdim` keeps them at size 1. Results are row-major. Without axes a
// reduction is over single elements.
//
// Floating inputs are folded in registers over groups of at most 8 and from there on in double, in fixed blocks and a
// fixed tree: the same bits for any number of threads. bf16 and f16 are read as float.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

struct Reduction {
  IntList axes;
  bool keepdim;
  void attributes(auto visit) const { visit("axes", axes), visit("keepdim", keepdim); }
  bool operator==(const Reduction&) const = default;
};
/// Integers and bool give i64, modulo 2^64.
struct Summation : Reduction {
  static constexpr Policy policy = {.autocast = Autocasting::full};
  Spec infer(const Operand& x) const;
};
/// Of nothing: ShapeError.
struct Extremum : Reduction {
  static constexpr Policy policy = {};
  Spec infer(const Operand& x) const;
};
/// Of anything, to bool; NaN is not zero.
struct TruthOf : Reduction {
  static constexpr Policy policy = {};
  Spec infer(const Operand& x) const;
};

struct Sum : Summation {
  static constexpr std::string_view name = "sum";
  void cpu(const Operand& x, const Operand& out) const;
};
/// A NaN counts as 0.
struct NanSum : Reduction {
  static constexpr std::string_view name = "nansum";
  static constexpr Policy policy = {.accepts = kFloating, .autocast = Autocasting::full};
  Spec infer(const Operand& x) const;
  void cpu(const Operand& x, const Operand& out) const;
};
struct Prod : Summation {
  static constexpr std::string_view name = "prod";
  void cpu(const Operand& x, const Operand& out) const;
};
/// A NaN wins.
struct Max : Extremum {
  static constexpr std::string_view name = "max";
  void cpu(const Operand& x, const Operand& out) const;
};
struct Min : Extremum {
  static constexpr std::string_view name = "min";
  void cpu(const Operand& x, const Operand& out) const;
};
struct All : TruthOf {
  static constexpr std::string_view name = "all";
  void cpu(const Operand& x, const Operand& out) const;
};
struct Any : TruthOf {
  static constexpr std::string_view name = "any";
  void cpu(const Operand& x, const Operand& out) const;
};

/// Exponentials, powers and moments: floating, and in f32 under autocast.
inline constexpr Policy kReducesFloating = {.accepts = kFloating, .autocast = Autocasting::full};

/// log(sum(exp(x))) without overflow; -inf where all are -inf or nothing is.
struct Logsumexp : Reduction {
  static constexpr std::string_view name = "logsumexp";
  static constexpr Policy policy = {.accepts = kFloating, .widens_integers = true, .autocast = Autocasting::full};
  Spec infer(const Operand& x) const;
  void cpu(const Operand& x, const Operand& out) const;
};

/// (sum |x|^p)^(1/p); p = 0 counts what is not zero, p = inf and -inf give the extremes of |x|. Does not overflow where
/// the result does not.
struct Norm {
  double p;
  IntList axes;
  bool keepdim;
  static constexpr std::string_view name = "norm";
  static constexpr Policy policy = kReducesFloating;
  void attributes(auto visit) const { visit("p", p), visit("axes", axes), visit("keepdim", keepdim); }
  bool operator==(const Norm&) const = default;
  Spec infer(const Operand& x) const;
  void cpu(const Operand& x, const Operand& out) const;
};

/// sum((x - mean)^2) / (n - correction); NaN where n = 0 and for n = correction (0 / 0). Each block in one pass about a
/// value near its mean, in two where that value was too far off; blocks are merged by Chan's formula.
struct Var {
  IntList axes;
  double correction;
  bool keepdim;
  static constexpr std::string_view name = "var";
  static constexpr Policy policy = kReducesFloating;
  void attributes(auto visit) const { visit("axes", axes), visit("correction", correction), visit("keepdim", keepdim); }
  bool operator==(const Var&) const = default;
  Spec infer(const Operand& x) const;
  void cpu(const Operand& x, const Operand& out) const;
};

/// `shape` without `axes` (sorted), or with size 1 there.
Shape reduced_shape(const Shape& shape, const IntList& axes, bool keepdim);
/// How many elements make one of the result.
int64_t reduced_count(const Shape& shape, const IntList& axes);

}  // namespace weft::op
