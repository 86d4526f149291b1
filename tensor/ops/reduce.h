// Reductions over none, one or several axes (`{}`: all), the axes kept at size 1 with `keepdim`. Sums are blocked pairwise
// and give the same bits at any thread count.
#pragma once

#include "tensor/apply.h"

namespace weft {

/// Bool and integers are summed and multiplied in i64. The sum of nothing is 0, the product 1.
Tensor sum(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
Tensor prod(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// DtypeError for integers: cast first.
Tensor mean(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// The largest / smallest; NaN propagates; ties share the gradient evenly. Error over nothing.
Tensor max(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
Tensor min(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// sum((x - mean)^2) / (n - correction), two-pass.
Tensor var(const Tensor& x, const Axes& axes = {}, int64_t correction = 1, KeepDim keep = {});
Tensor std(const Tensor& x, const Axes& axes = {}, int64_t correction = 1, KeepDim keep = {});
/// (sum |x|^p)^(1/p); p may be infinity. Neither overflows nor underflows for p = 2. Gradient 0 at 0.
Tensor norm(const Tensor& x, double p = 2, const Axes& axes = {}, KeepDim keep = {});
/// Whether all / any are non-zero (bool).
Tensor all(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
Tensor any(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});
/// log(sum(e^x)), stable; -inf over nothing and over -inf.
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, KeepDim keep = {});

namespace op {

/// Ops over sorted axes; `keepdim` keeps them at size 1.
template <class Self>
struct Reduction {
  IntList axes;
  bool keepdim;
  void attributes(auto visit) const { visit("axes", axes), visit("keepdim", keepdim); }
  bool operator==(const Reduction&) const = default;
  Spec infer(const Tensor& x) const;
  void run(const Tensor& x, Tensor& out) const;
};
struct Sum : Reduction<Sum> {
  static constexpr std::string_view name = "sum";
};
struct Prod : Reduction<Prod> {
  static constexpr std::string_view name = "prod";
};
struct Max : Reduction<Max> {
  static constexpr std::string_view name = "max";
};
struct Min : Reduction<Min> {
  static constexpr std::string_view name = "min";
};
struct All : Reduction<All> {
  static constexpr std::string_view name = "all";
};
struct Any : Reduction<Any> {
  static constexpr std::string_view name = "any";
};
struct Logsumexp : Reduction<Logsumexp> {
  static constexpr std::string_view name = "logsumexp";
};

struct Norm {
  double p;
  IntList axes;
  bool keepdim;
  static constexpr std::string_view name = "norm";
  void attributes(auto visit) const { visit("p", p), visit("axes", axes), visit("keepdim", keepdim); }
  bool operator==(const Norm&) const = default;
  Spec infer(const Tensor& x) const;
  void run(const Tensor& x, Tensor& out) const;
};

struct Var {
  IntList axes;
  double correction;
  bool keepdim;
  static constexpr std::string_view name = "var";
  void attributes(auto visit) const { visit("axes", axes), visit("correction", correction), visit("keepdim", keepdim); }
  bool operator==(const Var&) const = default;
  Spec infer(const Tensor& x) const;
  void run(const Tensor& x, Tensor& out) const;
};

}  // namespace op
}  // namespace weft
