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

/// scale = max(x), sum = sum(exp(x - scale)); nothing is summed where the largest is not finite.
template <class T> struct LogSumExpPolicy {
  using Partial = Scaled;
  using C = Compute<T>;
  static constexpr int kPasses = 4;
  static Scaled identity() { return {-std::numeric_limits<double>::infinity(), 0}; }
  static Scaled combine(Scaled a, Scaled b) {
    const double scale = larger(a.scale, b.scale);
    if (!std::isfinite(scale)) return {scale, 0};
    return {scale, a.sum * std::exp(a.scale - scale) + b.sum * std::exp(b.scale - scale)};
  }
  static Scaled rows(const Block<T>& block) {
    const C scale = fold_rows<ExtremeOp<T, true>>(block);
    return {scale, std::isfinite(scale) ? fold_rows<ExpSumOp<T>>(block, scale) : 0.0};
  }
  static void columns(const Block<T>& block, Scaled* out) {
    C scales[kColumnTile + kSpare], shifts[kColumnTile + kSpare];
    double sums[kColumnTile + kSpare];
    fold_columns<ExtremeOp<T, true>>(block, 0, nullptr, scales);
    for (int64_t j = 0; j < block.length; ++j) shifts[j] = std::isfinite(scales[j]) ? scales[j] : C(0);
    fold_columns<ExpSumOp<T>>(block, 0, shifts, sums);
    for (int64_t j = 0; j < block.length; ++j) out[j] = {scales[j], std::isfinite(scales[j]) ? sums[j] : 0.0};
  }
  static double result(Scaled value) {
    return std::isfinite(value.scale) ? value.scale + std::log(value.sum) : value.scale;
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
  static double result(Scaled value) {
    return value.scale == 0 || !std::isfinite(value.scale) ? value.scale : value.scale * std::sqrt(value.sum);
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
    const double scale = fold_rows<AbsExtremeOp<double, true>>(block);
    return partial(scale, fold_rows<ScaledSquareOp>(block, factor(scale)));
  }
  static void scaled_columns(const Block<double>& block, Scaled* out) {
    double scales[kColumnTile + kSpare], factors[kColumnTile + kSpare], sums[kColumnTile + kSpare];
    fold_columns<AbsExtremeOp<double, true>>(block, 0, nullptr, scales);
    for (int64_t j = 0; j < block.length; ++j) factors[j] = factor(scales[j]);
    fold_columns<ScaledSquareOp>(block, 0, factors, sums);
    for (int64_t j = 0; j < block.length; ++j) out[j] = partial(scales[j], sums[j]);
  }
};

/// `op` has the axes.
template <class T, class Op, class Policy, class Result>
void run(const Operand& x, const Op& op, const Operand& out, const Policy& policy, const Result& result) {
  const KeepdimOutput kept(out, op.axes, op.keepdim);
  const ReducePlan plan = plan_reduction(x, op.axes, kept.operand);
  const auto of_partial = [&](const typename Policy::Partial& value) { return static_cast<double>(result(value)); };
  reduce(plan, static_cast<const T*>(x.base), policy, into(Sink(out, plan.out_offset), of_partial));
}

double unchanged(double value) { return value; }

template <class T> void norm_of(const Operand& x, const op::Norm& op, const Operand& out) {
  const double p = op.p;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (p == kInf) {
    // |x| is never negative: the norm of nothing is 0.
    run<T>(x, op, out, OnePass<AbsExtremeOp<T, true>>{}, [](double value) { return value < 0 ? 0.0 : value; });
  } else if (p == -kInf) {
    run<T>(x, op, out, OnePass<AbsExtremeOp<T, false>>{}, unchanged);
  } else if (p == 0) {
    run<T>(x, op, out, OnePass<CountOp<T>>{}, unchanged);
  } else if (p == 1) {
    run<T>(x, op, out, OnePass<AbsSumOp<T>>{}, unchanged);
  } else if (p == 2 && std::is_same_v<T, double>) {
    run<double>(x, op, out, EuclidPolicy{}, EuclidPolicy::result);
  } else if (p == 2) {
    run<T>(x, op, out, OnePass<SquareOp>{}, [](double value) { return std::sqrt(value); });
  } else {
    run<T>(x, op, out, OnePass<PowerSumOp>{p}, [p](double value) { return std::pow(value, 1 / p); });
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
  visit_floating(x.dtype, [&]<class T>() { run<T>(x, *this, out, LogSumExpPolicy<T>{}, LogSumExpPolicy<T>::result); });
}

void op::Var::cpu(const Operand& x, const Operand& out) const {
  visit_floating(x.dtype, [&]<class T>() {
    run<T>(x, *this, out, MomentsPolicy<T>{root},
           [&](const Moments& m) { return root ? std::sqrt(m.variance(correction)) : m.variance(correction); });
  });
}

}  // namespace weft
