// Descriptors of reductions over sorted axes; with `keepdim` the result keeps these axes at size 1. Results are
// row-major. With an empty list of axes, each element is reduced by itself.
//
// Floating inputs are reduced in their own type in groups of at most 8, and from there on in double, in blocks and a
// tree of fixed shape: the same bits at any thread count. bf16 and f16 are read as f32.
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
/// ShapeError if there are no elements.
struct Extremum : Reduction {
  static constexpr Policy policy = {};
  Spec infer(const Operand& x) const;
};
/// Takes any dtype and gives bool; NaN counts as non-zero.
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
/// NaN propagates.
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

/// The policy of exponentials, powers and moments: floating dtypes, and f32 under autocast.
inline constexpr Policy kReducesFloating = {.accepts = kFloating, .autocast = Autocasting::full};

/// log(sum(exp(x))) without overflow; -infinity if all elements are -infinity or there are none.
struct Logsumexp : Reduction {
  static constexpr std::string_view name = "logsumexp";
  static constexpr Policy policy = {.accepts = kFloating, .widens_integers = true, .autocast = Autocasting::full};
  Spec infer(const Operand& x) const;
  void cpu(const Operand& x, const Operand& out) const;
};

/// (sum |x|^p)^(1/p). p = 0 counts the non-zero elements; p = infinity and -infinity give the largest and the smallest
/// |x|. For p = 1 and 2 intermediate results overflow only if the result does; other powers are summed in double.
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

/// sum((x - mean)^2) / (n - correction); NaN for n = 0 and for n = correction (0 / 0). Each block is computed in one
/// pass relative to a value near its mean, or in two passes if that value was too far from it. Blocks are merged by
/// Chan's formula. With `root`, its square root, which may be in the range of the dtype where it is not.
struct Var {
  IntList axes;
  double correction;
  bool keepdim;
  bool root = false;
  static constexpr std::string_view name = "var";
  static constexpr Policy policy = kReducesFloating;
  void attributes(auto visit) const {
    visit("axes", axes), visit("correction", correction), visit("keepdim", keepdim), visit("root", root);
  }
  bool operator==(const Var&) const = default;
  Spec infer(const Operand& x) const;
  void cpu(const Operand& x, const Operand& out) const;
};

/// `shape` without the (sorted) `axes`, or with keepdim, with size 1 at these axes.
Shape reduced_shape(const Shape& shape, const IntList& axes, bool keepdim);
/// The number of elements that are reduced to one element of the result.
int64_t reduced_count(const Shape& shape, const IntList& axes);

}  // namespace weft::op
