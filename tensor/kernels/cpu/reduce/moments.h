// Mean and squared deviations as a reduction's partial result: one pass over a block about a value near its mean, or
// two passes where that was too far off, in double where squares of floats are out of range; blocks are merged by
// Chan's formula.
#pragma once

#include "tensor/kernels/cpu/reduce/reduce_ops.h"
#include "tensor/kernels/cpu/reduce/shifted_moments.h"

namespace weft::kernels::cpu {

struct Moments {
  double count;
  double mean;
  double squares;  // the sum of (x - mean)^2

  /// The variance with `count - correction` in the denominator.
  double variance(double correction) const { return squares / std::max(count - correction, 0.0); }
};

/// The sum of squared deviations from `mean`, given that from its rounded value. Not below 0, where the mean of equal
/// values was rounded; NaN stays.
template <class C> double recentered(double squares, double count, double mean) {
  const double lost = mean - static_cast<double>(static_cast<C>(mean));
  return std::max(squares - count * (lost * lost), 0.0);
}

/// Whether squares of deviations from `about` were within the range of C. Below that of f32, too, which has such small
/// deviations from small numbers only; the variance of many of which no sum tells from 0 is 0, but not its `root`.
template <class C> bool in_range(const ShiftedSums& found, double count, double about, bool root) {
  if constexpr (std::is_same_v<C, double>) return true;
  constexpr double kMany = 64;
  return std::isfinite(found.squares) && (found.squares >= 1e-30 * count || std::fabs(about) >= 1e-7 ||
                                          (!root && count > kMany && found.sum == 0 && found.squares == 0));
}

/// What the policies of moments have in common.
struct MomentsBase {
  using Partial = Moments;
  bool root = false;                 // whether the square root of the variance is wanted
  static constexpr int kPasses = 4;  // small blocks: they stay in the cache for a second pass
  static Moments identity() { return {0, std::numeric_limits<double>::quiet_NaN(), 0}; }
  /// Chan, Golub, LeVeque: Updating formulae and a pairwise algorithm for computing sample variances (1979).
  static Moments combine(const Moments& a, const Moments& b) {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const double count = a.count + b.count, shift = b.mean - a.mean;
    return {count, a.mean + shift * (b.count / count),
            a.squares + b.squares + shift * shift * (a.count * b.count / count)};
  }
};

/// The mean, and the squares of deviations from it, computed in Compute<T>, or where they leave its range in double.
template <class T> struct TwoPassMoments : MomentsBase {
  using C = Compute<T>;
  Moments rows(const Block<T>& block) const {
    const double count = static_cast<double>(block.rows * block.length), mean = fold_rows<SumOp<T>>(block) / count;
    const double squares = fold_rows<DeviationOp<T>>(block, static_cast<C>(mean));
    if (!in_range<C>({mean, squares}, count, mean, root)) return in_double().rows(block);
    return {count, mean, recentered<C>(squares, count, mean)};
  }
  void columns(const Block<T>& block, Moments* out) const {
    double means[kColumnTile + kSpare], squares[kColumnTile + kSpare];
    C rounded[kColumnTile];
    const double count = static_cast<double>(block.rows);
    fold_columns<SumOp<T>>(block, 0, nullptr, means);
    for (int64_t j = 0; j < block.length; ++j) {
      means[j] /= count;
      rounded[j] = static_cast<C>(means[j]);
    }
    fold_columns<DeviationOp<T>>(block, 0, rounded, squares);
    bool good = true;
    for (int64_t j = 0; j < block.length; ++j) {
      out[j] = {count, means[j], recentered<C>(squares[j], count, means[j])};
      good &= in_range<C>({means[j], squares[j]}, count, means[j], root);
    }
    if (!good) in_double().columns(block, out);
  }

 private:
  /// Compiled once for all: few blocks need it.
  Widened<TwoPassMoments<double>, double> in_double() const {
    Widened<TwoPassMoments<double>, double> policy;
    policy.root = root;
    return policy;
  }
};

template <class T> struct MomentsPolicy : MomentsBase {
  using C = Compute<T>;
  Moments rows(const Block<T>& block) const {
    if (block.stride == 1) {
      const double count = static_cast<double>(block.rows * block.length);
      C shift;
      const ShiftedSums sums = detail::shifted_rows(block, shift);
      if (sums.is_near(count) && in_range<C>(sums, count, shift, root))
        return {count, static_cast<double>(shift) + sums.offset(count), sums.centered(count)};
    }
    return in_two_passes().rows(block);
  }
  void columns(const Block<T>& block, Moments* out) const {
    if (block.stride != 1 || !columns_in_one_pass(block, out)) in_two_passes().columns(block, out);
  }

 private:
  TwoPassMoments<T> in_two_passes() const { return {{root}}; }
  /// False where the value taken for some column's mean was too far off, or squares left the range of C: nothing is to
  /// be kept.
  bool columns_in_one_pass(const Block<T>& block, Moments* out) const {
    C shifts[kColumnTile + kSpare];
    double sums[kColumnTile + kSpare], squares[kColumnTile + kSpare];
    detail::shifted_columns(block, shifts, sums, squares);
    const double count = static_cast<double>(block.rows);
    bool near = true;
    for (int64_t j = 0; j < block.length; ++j) {
      const ShiftedSums found{sums[j], squares[j]};
      near &= found.is_near(count) && in_range<C>(found, count, shifts[j], root);
      out[j] = {count, static_cast<double>(shifts[j]) + found.offset(count), found.centered(count)};
    }
    return near;
  }
};

}  // namespace weft::kernels::cpu
