// Variance, log-sum-exp and norms. A block takes one pass or two, the second one while it is in the cache.
#include <algorithm>

#include "tensor/kernels/cpu/reduce/keepdim_output.h"
#include "tensor/kernels/cpu/reduce/moments.h"
#include "tensor/ops/reduce.h"
#include "tensor/ops/unary.h"

namespace weft::kernels::cpu {
namespace {

struct Scaled {
  double scale;
  double sum;
};

double larger(double a, double b) { return ExtremeOp<double, true>::combine(a, b); }

/// Policies for elements of T whose maps take much longer than to convert 16 bits: compiled for f32 and f64.
template <class T, class Policy> using Long = std::conditional_t<is_half<T>, Widened<Policy, float>, Policy>;

/// scale = max(x), sum = sum(exp(x - scale)); nothing is summed where the largest is not finite.
template <class C> struct LogSumExpPolicy {
  using Partial = Scaled;
  static constexpr int kPasses = 4;
  static Scaled identity() { return {-std::numeric_limits<double>::infinity(), 0}; }
  static Scaled combine(Scaled a, Scaled b) {
    const double scale = larger(a.scale, b.scale);
    if (!std::isfinite(scale)) return {scale, 0};
    return {scale, a.sum * std::exp(a.scale - scale) + b.sum * std::exp(b.scale - scale)};
  }
  static Scaled rows(const Block<C>& block) {
    const C scale = fold_rows<ExtremeOp<C, true>>(block);
    return {scale, std::isfinite(scale) ? fold_rows<ExpSumOp<C>>(block, scale) : 0.0};
  }
  static void columns(const Block<C>& block, Scaled* out) {
    C scales[kColumnTile + kSpare], shifts[kColumnTile + kSpare];
    double sums[kColumnTile + kSpare];
    fold_columns<ExtremeOp<C, true>>(block, 0, nullptr, scales);
    for (int64_t j = 0; j < block.length; ++j) shifts[j] = std::isfinite(scales[j]) ? scales[j] : C(0);
    fold_columns<ExpSumOp<C>>(block, 0, shifts, sums);
    for (int64_t j = 0; j < block.length; ++j) out[j] = {scales[j], std::isfinite(scales[j]) ? sums[j] : 0.0};
  }
};

/// f64 norms that neither overflow nor vanish: sum = sum((x / scale)^2). The scale is 1 where squares can be summed as
/// they are, else max |x|.
struct EuclidPolicy {
  using Partial = Scaled;
  static constexpr int kPasses = 1;
  static Scaled identity() { return {0, 0}; }
  static Scaled combine(Scaled a, Scaled b) {
    const double scale = larger(a.scale, b.scale);
    if (scale == 0 || !std::isfinite(scale)) return {scale, 0};
    const double x = a.scale / scale, y = b.scale / scale;
    return {scale, a.sum * (x * x) + b.sum * (y * y)};
  }
  static Scaled rows(const Block<double>& block) {
    const double sum = fold_rows<SquareOp>(block);
    return is_plain(sum) ? Scaled{1, sum} : scaled_rows(block);
  }
  static void dense_rows(const double* p, int64_t length, int64_t between, int64_t count, Scaled* out) {
    constexpr int64_t kMost = 256;
    Nest one_row;
    double sums[kMost];
    for (int64_t first = 0; first < count; first += kMost) {
      const int64_t some = std::min(kMost, count - first);
      fold_dense_rows<SquareOp>(p + first * between, length, between, some, 0, sums);
      for (int64_t i = 0; i < some; ++i)
        out[first + i] = is_plain(sums[i]) ? Scaled{1, sums[i]}
                                           : scaled_rows({p + (first + i) * between, &one_row, 0, 1, length, 1});
    }
  }
  static void columns(const Block<double>& block, Scaled* out) {
    double sums[kColumnTile + kSpare];
    fold_columns<SquareOp>(block, 0, nullptr, sums);
    for (int64_t j = 0; j < block.length; ++j) {
      if (!is_plain(sums[j])) return scaled_columns(block, out);
      out[j] = {1, sums[j]};
    }
  }

 private:
  /// Whether no square that counts can have vanished or overflowed.
  static bool is_plain(double sum) { return sum >= 1e-280 && sum <= 1e300; }
  // A reciprocal that is neither 0 nor inf, nor subnormal, which may count as 0 (flush_denormals()).
  static double factor(double scale) {
    constexpr double kSmall = 1e-290, kLarge = 0x1p1021;
    return scale == 0 || !std::isfinite(scale) ? 0.0 : 1.0 / std::clamp(scale, kSmall, kLarge);
  }
  static Scaled partial(double scale, double sum) {
    const double x = scale * factor(scale);  // 1 unless factor() divides by another number
    return {scale, x > 0 ? sum / (x * x) : 0.0};
  }
  static Scaled scaled_rows(const Block<double>& block) {
    const double scale = fold_rows<AbsExtremeOp<double>>(block);
    return partial(scale, fold_rows<ScaledSquareOp>(block, factor(scale)));
  }
  static void scaled_columns(const Block<double>& block, Scaled* out) {
    double scales[kColumnTile + kSpare], factors[kColumnTile + kSpare], sums[kColumnTile + kSpare];
    fold_columns<AbsExtremeOp<double>>(block, 0, nullptr, scales);
    for (int64_t j = 0; j < block.length; ++j) factors[j] = factor(scales[j]);
    fold_columns<ScaledSquareOp>(block, 0, factors, sums);
    for (int64_t j = 0; j < block.length; ++j) out[j] = partial(scales[j], sums[j]);
  }
};

/// f(partial) of each is the result.
template <class F> struct EachResult {
  template <class> using Of = double;
  F f;
  template <class Partial> void operator()(const Partial* partials, int64_t count, double* out) const {
    for (int64_t i = 0; i < count; ++i) out[i] = f(partials[i]);
  }
};

double log_of(Scaled value) { return std::isfinite(value.scale) ? value.scale + std::log(value.sum) : value.scale; }
double root_of(Scaled value) {
  return value.scale == 0 || !std::isfinite(value.scale) ? value.scale : value.scale * std::sqrt(value.sum);
}

/// What becomes of the folds of a norm.
struct NormResults {
  template <class> using Of = double;
  double p;
  template <class Partial> void operator()(const Partial* partials, int64_t count, double* out) const {
    std::copy_n(partials, count, out);
    finish(count, out);
  }

 private:
  WEFT_ONE_COPY void finish(int64_t count, double* out) const {
    const auto each = [&](const auto& f) {
      for (int64_t i = 0; i < count; ++i) out[i] = f(out[i]);
    };
    if (std::isinf(p) && p > 0)
      each([](double value) { return value < 0 ? 0.0 : value; });  // |x| is never negative: the norm of nothing is 0
    else if (std::isinf(p))
      each([](double value) { return -value; });
    else if (p == 2)
      each([](double value) { return std::sqrt(value); });
    else if (p != 0 && p != 1)
      each([this](double value) { return std::pow(value, 1 / p); });
  }
};

/// `op` has the axes.
template <class T, class Op, class Policy, class Results>
void run(const Operand& x, const Op& op, const Operand& out, const Policy& policy, const Results& results) {
  const KeepdimOutput kept(out, op.axes, op.keepdim);
  const ReducePlan plan = plan_reduction(x, op.axes, kept.operand);
  reduce(plan, static_cast<const T*>(x.base), policy, IntoSink<Results>{Sink(out, plan.out_offset), results});
}

template <class T> void norm_of(const Operand& x, const op::Norm& op, const Operand& out) {
  const double p = op.p;
  const NormResults results{p};
  if (std::isinf(p)) {
    run<T>(x, op, out, OnePass<AbsExtremeOp<T>>{p > 0 ? 0.0f : -0.0f}, results);
  } else if (p == 0) {
    run<T>(x, op, out, OnePass<CountOp<T>>{}, results);
  } else if (p == 1) {
    run<T>(x, op, out, OnePass<AbsSumOp<T>>{}, results);
  } else if (p == 2 && std::is_same_v<T, double>) {
    run<double>(x, op, out, EuclidPolicy{}, EachResult<double (*)(Scaled)>{root_of});
  } else if (p == 2) {
    run<T>(x, op, out, OnePass<SquareOp>{}, results);
  } else {
    Long<T, OnePass<PowerSumOp>> policy;
    policy.parameter = p;
    run<T>(x, op, out, policy, results);
  }
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Norm::cpu(const Operand& x, const Operand& out) const {
  const bool single = std::ranges::all_of(axes, [&](int64_t axis) { return x.size(axis) == 1; });
  if (single && p != 0 && out.dtype == x.dtype)  // of one element it is |x|, whatever the power
    return op::Abs().cpu(x, KeepdimOutput(out, axes, keepdim).operand);
  visit_floating(x.dtype, [&]<class T>() { norm_of<T>(x, *this, out); });
}

void op::Logsumexp::cpu(const Operand& x, const Operand& out) const {
  visit_floating(x.dtype, [&]<class T>() {
    run<T>(x, *this, out, Long<T, LogSumExpPolicy<Compute<T>>>{}, EachResult<double (*)(Scaled)>{log_of});
  });
}

void op::Var::cpu(const Operand& x, const Operand& out) const {
  const auto result = [this](const Moments& m) {
    return root ? std::sqrt(m.variance(correction)) : m.variance(correction);
  };
  visit_floating(x.dtype, [&]<class T>() {
    MomentsPolicy<T> policy;
    policy.root = root;
    run<T>(x, *this, out, policy, EachResult<decltype(result)>{result});
  });
}

}  // namespace weft
