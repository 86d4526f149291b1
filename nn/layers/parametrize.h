// weight_norm() and spectral_norm(): layers whose weight is computed from other parameters. The names in state dicts
// are those of torch.nn.utils.parametrizations.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "nn/layers/batch_norm.h"
#include "nn/layers/conv.h"
#include "nn/module/functional.h"
#include "nn/module/layer.h"

namespace weft::nn {

/// A module of which a parameter can be computed. (Sequential runs batch norms without calling them.)
template <class M>
concept Parametrizable = std::derived_from<M, Module> && !std::derived_from<M, BatchNorm>;

namespace detail {

/// Makes a parameter of a module one that is computed: what it is computed from lies in `parametrizations.NAME`. The
/// parameter's own tensor is a buffer from then on that is not saved, and holds the computed values during a call.
class Parametrization {
 public:
  /// Error where `module` has no parameter `name` of its own.
  Parametrization(Module& module, const std::string& name);
  /// The parameter's values, without history.
  Tensor initial() const { return initial_; }
  Tensor add_parameter(const std::string& name, const Tensor& value) { return list_.register_parameter(name, value); }
  /// Buffers of `parametrizations.NAME.0`.
  void add_buffers(const std::vector<NamedTensor>& buffers);

 private:
  Tensor initial_;
  Module list_;
};

/// The leading singular vectors u and v of a weight as a matrix whose rows are the slices along `dim`.
class SpectralVectors {
 public:
  SpectralVectors(const Tensor& weight, int64_t dim, double eps);
  /// weight / sigma, sigma being u^T W v after `iterations` steps of the power method.
  Tensor normalized(const Tensor& weight, int64_t iterations) const;
  std::vector<NamedTensor> buffers() const;

 private:
  Tensor matrix(const Tensor& weight) const;
  void iterate(const Tensor& matrix, int64_t count) const;

  int64_t dim_;
  double eps_;
  Tensor u_, v_;  // undefined for a weight of one axis, whose norm needs none
};

}  // namespace detail

/// What WeightNorm and SpectralNorm share: M, called with computed() in place of the parameter `name`. Gradients reach
/// what it is computed from. No other thread may use the module meanwhile. M::forward must be const.
template <class Self, Parametrizable M> class Parametrized : public M {
 public:
  using ComputedLayer = M;  // register_module() looks for it
  template <class... Inputs> auto forward(const Inputs&... inputs) const {
    const ReplacedState replaced(*this, {{self().name(), self().computed()}});
    auto result = M::forward(inputs...);
    if constexpr (std::same_as<decltype(result), Tensor>)
      return replaced.kept(result);
    else
      return result;
  }
  template <class... Inputs> auto operator()(const Tensor& x, const Inputs&... more) const {
    if constexpr (!detail::LayerResult<decltype(self().forward(x, more...))>)
      return self().forward(x, more...);
    else if constexpr ((std::same_as<Inputs, Tensor> && ...))
      return in_layer(
          self(), [&](const auto&... given) { return self().forward(given...); }, x, more...);
    else  // options among them
      return in_layer(
          self(), [&](const Tensor& given) { return self().forward(given, more...); }, x);
  }
  Self remake() const requires Clonable<M> {
    return Self(detail::remade(static_cast<const M&>(*this)), self().options());
  }
  Self clone() const { return nn::clone(self()); }

 protected:
  explicit Parametrized(M module) : M(std::move(module)) {}

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
};

/// v g / |v|, norms over all axes but `dim`: a weight as direction and length (Salimans and Kingma, arXiv 1602.07868).
/// g has v's shape with 1 in place of the other sizes; no axes where `dim` is absent and |v| is the norm of all of v.
Tensor weight_norm(const Tensor& v, const Tensor& g, std::optional<int64_t> dim = 0);
/// |v|, in the shape of g.
Tensor norm_except_dim(const Tensor& v, std::optional<int64_t> dim = 0);

struct WeightNormOptions {
  std::string name = "weight";
  std::optional<int64_t> dim = 0;  // the axis that keeps a length per slice; absent: one length
};

/// M with a weight of trained length and direction: parametrizations.NAME.original0 is g, original1 is v.
template <Parametrizable M> class WeightNorm : public Parametrized<WeightNorm<M>, M> {
 public:
  explicit WeightNorm(M module, const WeightNormOptions& options = {})
      : Parametrized<WeightNorm, M>(std::move(module)), options_(options) {
    ErrorFrame frame("weight_norm");
    detail::Parametrization made(*this, options.name);
    g_ = made.add_parameter("original0", norm_except_dim(made.initial(), options.dim));
    v_ = made.add_parameter("original1", made.initial());
  }
  const std::string& name() const { return options_.name; }
  const WeightNormOptions& options() const { return options_; }
  /// The parameter as a call uses it.
  Tensor computed() const { return weight_norm(v_, g_, options_.dim); }

 private:
  WeightNormOptions options_;
  Tensor g_, v_;
};

/// `auto layer = nn::weight_norm(nn::Linear(20, 40));` As an M it would be used with its old weight: register_module()
/// refuses that.
template <Parametrizable M> WeightNorm<M> weight_norm(M module, const WeightNormOptions& options = {}) {
  return WeightNorm<M>(std::move(module), options);
}

struct SpectralNormOptions {
  std::string name = "weight";
  int64_t n_power_iterations = 1;  // per call in training
  double eps = 1e-12;              // the least norm of a vector
  std::optional<int64_t> dim =
      std::nullopt;  // the rows of the weight as a matrix; 1 of transposed convolutions, else 0
};

/// M with a weight divided by its largest singular value, as the power method estimates it (Miyato et al., arXiv
/// 1802.05957): parametrizations.NAME.original is trained, the buffers parametrizations.NAME.0._u and _v move on in
/// training. Error unless n_power_iterations >= 1, IndexError for a dim that is out of range.
template <Parametrizable M> class SpectralNorm : public Parametrized<SpectralNorm<M>, M> {
 public:
  explicit SpectralNorm(M module, const SpectralNormOptions& options = {})
      : Parametrized<SpectralNorm, M>(std::move(module)), options_(options) {
    ErrorFrame frame("spectral_norm");
    if (options.n_power_iterations < 1)
      throw Error(text("n_power_iterations must be 1 or more, not ", options.n_power_iterations));
    detail::Parametrization made(*this, options.name);
    original_ = made.add_parameter("original", made.initial());
    vectors_.emplace(made.initial(), options.dim.value_or(kTransposed ? 1 : 0), options.eps);
    made.add_buffers(vectors_->buffers());
  }
  const std::string& name() const { return options_.name; }
  const SpectralNormOptions& options() const { return options_; }
  /// The parameter as a call uses it; in training the vectors move on.
  Tensor computed() const {
    return vectors_->normalized(original_, this->is_training() ? options_.n_power_iterations : 0);
  }

 private:
  static constexpr bool kTransposed = std::derived_from<M, ConvTranspose1d> || std::derived_from<M, ConvTranspose2d> ||
                                      std::derived_from<M, ConvTranspose3d>;
  SpectralNormOptions options_;
  Tensor original_;
  std::optional<detail::SpectralVectors> vectors_;
};

/// `auto layer = nn::spectral_norm(nn::Conv2d(3, 8, 3));`
template <Parametrizable M> SpectralNorm<M> spectral_norm(M module, const SpectralNormOptions& options = {}) {
  return SpectralNorm<M>(std::move(module), options);
}

}  // namespace weft::nn
