// orthogonal(): layers whose weight stays orthogonal in training.
#pragma once

#include <string>
#include <utility>

#include "nn/layers/parametrize.h"

namespace weft::nn {

/// How a skew-symmetric matrix A becomes an orthogonal one. matrix_exp: exp(A). cayley: (I - A / 2)^-1 (I + A / 2).
enum class OrthogonalMap { matrix_exp, cayley };

struct OrthogonalOptions {
  std::string name = "weight";
  OrthogonalMap map = OrthogonalMap::matrix_exp;
};

namespace detail {
/// An orthogonal matrix (..., n, n) whose first k columns span those of `weight` (..., n, k), n >= k; or its rows, if
/// it has fewer rows than columns.
Tensor orthogonal_base(const Tensor& weight);
/// The weight for the trained values and the base.
Tensor orthogonal_weight(const Tensor& original, const Tensor& base, OrthogonalMap map);
/// The trained values for which the weight is the base itself: -1 on the diagonal, as in PyTorch.
Tensor orthogonal_start(const Tensor& weight);
}  // namespace detail

/// M with an orthogonal weight; see orthogonal().
template <Parametrizable M> class Orthogonal : public Parametrized<Orthogonal<M>, M> {
 public:
  explicit Orthogonal(M module, const OrthogonalOptions& options = {})
      : Parametrized<Orthogonal, M>(std::move(module)), options_(options) {
    ErrorFrame frame("orthogonal");
    detail::Parametrization made(*this, options.name, "_Orthogonal");
    base_ = detail::orthogonal_base(made.initial());
    original_ = made.add_parameter("original", detail::orthogonal_start(made.initial()));
    made.add_buffers({{"base", base_}});
  }
  const std::string& name() const { return options_.name; }
  const OrthogonalOptions& options() const { return options_; }
  /// The weight that a call uses.
  Tensor computed() const { return detail::orthogonal_weight(original_, base_, options_.map); }
  Tensor current() const { return computed(); }

 private:
  OrthogonalOptions options_;
  Tensor original_, base_;
};

/// `auto layer = nn::orthogonal(nn::Linear(8, 8));`: the matrices of the last two axes of its weight have orthonormal
/// columns, or rows if there are fewer of them, whatever training does (Lezcano-Casado, arXiv 1909.09501). Each is base
/// * map(A). A is skew-symmetric, made of the lower triangle of the trained parametrizations.NAME.original, and 0 at
/// first; the buffer parametrizations.NAME.0.base is an orthogonal matrix made of the weight that the layer had.
/// f32 or f64. A call costs in proportion to n^3 for the larger side n of the matrix. As in PyTorch with
/// `orthogonal_map="matrix_exp"`, its default for square weights; for others its default is "householder", whose state
/// does not fit. ShapeError for a weight of less than two axes.
template <Parametrizable M> Orthogonal<M> orthogonal(M module, const OrthogonalOptions& options = {}) {
  return Orthogonal<M>(std::move(module), options);
}

}  // namespace weft::nn
