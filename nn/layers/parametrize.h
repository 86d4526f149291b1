// weight_norm(), spectral_norm() and parametrize(): layers whose weight is computed from other parameters (orthogonal.h
// and prune.h have more of them). The names in state dicts are those of torch.nn.utils.parametrizations.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <typeinfo>
#include <utility>

#include "nn/layers/batch_norm.h"
#include "nn/layers/conv.h"
#include "nn/module/functional.h"
#include "nn/module/layer.h"
#include "tensor/autocast.h"

namespace weft::nn {

/// A module whose parameters can be reparametrized. Batch norms are excluded, because Sequential fuses them instead of
/// calling them.
template <class M>
concept Parametrizable = std::derived_from<M, Module> && !std::derived_from<M, BatchNorm>;

namespace detail {

/// Replaces a parameter of a module by a computed value. The parameters that it is computed from are registered under
/// `parametrizations.NAME`. The tensor of the original parameter is neither parameter nor buffer then: it holds the
/// computed value during a call. A layer that shares it keeps it as its own parameter, which is tied no longer.
class Parametrization {
 public:
  /// Error if `module` itself has no parameter `name`. `kind` is PyTorch's name of what computes the value.
  Parametrization(Module& module, const std::string& name, const char* kind);
  /// The same with `step`, a module of this type that computes the value, registered as `parametrizations.NAME.0`.
  Parametrization(Module& module, const std::string& name, Module& step, const std::type_info& type);
  /// A copy of the parameter's values.
  Tensor initial() const { return initial_; }
  /// It is frozen if the original parameter was.
  Tensor add_parameter(const std::string& name, const Tensor& value);
  /// Registers buffers under `parametrizations.NAME.0`.
  void add_buffers(const std::vector<NamedTensor>& buffers);

 private:
  Parametrization(Module& module, const std::string& name);
  Tensor initial_;
  bool is_trained_ = true;
  Module list_, step_;
};

/// Error unless `value`, computed for a parameter, has its shape and dtype.
void check_computed(const Tensor& value, const Tensor& parameter);
/// Gives `plain`, a module like `from` before its parameter `name` was reparametrized, the values of `from`, and
/// `value` for that parameter.
void take_computed(const Module& from, const std::string& name, const Tensor& value, Module& plain);

/// Threads that call one module take turns: a call changes the tensor that all handles of the weight share.
class Turns {
 public:
  Turns();
  class Scope {
   public:
    explicit Scope(const Turns& turns);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const Turns& turns_;
  };

 private:
  struct Lock;
  Lock& lock() const;
  IntrusivePtr<SharedObject> lock_;  // a Lock
};

/// The leading singular vectors u and v of a weight, viewed as a matrix whose rows are the slices along `axis`.
class SpectralVectors {
 public:
  SpectralVectors(const Tensor& weight, int64_t axis, double eps);
  /// weight / sigma, where sigma = u^T W v after `iterations` steps of power iteration.
  Tensor normalized(const Tensor& weight, int64_t iterations) const;
  std::vector<NamedTensor> buffers() const;

 private:
  Tensor matrix(const Tensor& weight) const;
  void iterate(const Tensor& matrix, int64_t count) const;

  int64_t axis_;
  double eps_;
  Tensor u_, v_;  // undefined for a 1-d weight, which needs no power iteration
};

}  // namespace detail

/// Base of WeightNorm, SpectralNorm, Reparametrized, ParametrizedBy, Orthogonal and Pruned: an M whose calls use
/// computed() in place of the parameter `name`. Gradients flow to the parameters that it is computed from, which are
/// frozen if `name` was. Threads that call one module wait for each other. M::forward must be const.
template <class Self, Parametrizable M> class Parametrized : public M {
 public:
  using ComputedLayer = M;  // register_module() looks for it
  template <class... Inputs> auto forward(const Inputs&... inputs) const {
    const detail::Turns::Scope turn(turns_);
    const ReplacedState replaced(*this, {{self().name(), self().computed()}}, self().name());
    auto result = M::forward(inputs...);
    replaced.keep(result);
    return result;
  }
  template <class... Inputs> auto operator()(const Tensor& x, const Inputs&... more) const {
    if constexpr ((std::same_as<Inputs, Tensor> && ...))
      return in_layer(
          self(), [&](const auto&... given) { return self().forward(given...); }, x, more...);
    else  // options among them
      return in_layer(
          self(), [&](const Tensor& given) { return self().forward(given, more...); }, x);
  }
  /// The weight that is computed from the parameters as they are now. It is not a parameter: training and nn::init
  /// change those under `parametrizations`.
  Tensor weight() const requires requires(const M& module) { module.weight(); }
  { return self().name() == "weight" ? self().current() : M::weight(); }
  Self remake() const requires Clonable<M> {
    return Self(detail::remade(static_cast<const M&>(*this)), self().options());
  }
  Self clone() const { return nn::clone(self()); }
  /// An M whose parameter `name` has the value that is computed now, as torch.nn.utils.parametrize.
  /// remove_parametrizations() leaves it. It has memory of its own; hooks are left out.
  M plain() const requires Clonable<M> {
    const detail::OverwrittenScope scope;
    const Autocast exact = Autocast::off();  // the weight has the parameters' dtype
    M out = detail::remade(static_cast<const M&>(*this));
    detail::take_computed(*this, self().name(), self().current(), out);
    return out;
  }

 protected:
  explicit Parametrized(M module) : M(std::move(module)) {}

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
  detail::Turns turns_;
};

/// g v / |v|, with norms over all axes except `axis`: a weight given as direction v and length g (Salimans and Kingma,
/// arXiv 1602.07868). g has v's shape with size 1 on every axis except `axis`. If `axis` is nullopt, |v| is the norm of
/// all of v and g is 0-d.
Tensor weight_norm(const Tensor& v, const Tensor& g, std::optional<int64_t> axis = 0);
/// The norm |v| over all axes except `axis`, in the shape that weight_norm() takes for g.
Tensor norm_except_axis(const Tensor& v, std::optional<int64_t> axis = 0);

struct WeightNormOptions {
  std::string name = "weight";
  /// The axis with one length per slice; a negative one counts from the end. nullopt (PyTorch's dim = -1): one length
  /// for the whole weight.
  std::optional<int64_t> axis = 0;
};

/// M with a weight of the form g v / |v|, where g and v are trained: parametrizations.NAME.original0 is g, original1 is
/// v.
template <Parametrizable M> class WeightNorm : public Parametrized<WeightNorm<M>, M> {
 public:
  explicit WeightNorm(M module, const WeightNormOptions& options = {})
      : Parametrized<WeightNorm, M>(std::move(module)), options_(options) {
    ErrorFrame frame("weight_norm");
    detail::Parametrization made(*this, options.name, "_WeightNorm");
    g_ = made.add_parameter("original0", norm_except_axis(made.initial(), options.axis));
    v_ = made.add_parameter("original1", made.initial());
  }
  const std::string& name() const { return options_.name; }
  const WeightNormOptions& options() const { return options_; }
  /// The weight that a call uses.
  Tensor computed() const { return weight_norm(v_, g_, options_.axis); }
  Tensor current() const { return computed(); }

 private:
  WeightNormOptions options_;
  Tensor g_, v_;
};

/// `auto layer = nn::weight_norm(nn::Linear(20, 40));` Do not convert the result to an M, which would use the old
/// weight; register_module() refuses such an M.
template <Parametrizable M> WeightNorm<M> weight_norm(M module, const WeightNormOptions& options = {}) {
  return WeightNorm<M>(std::move(module), options);
}

struct SpectralNormOptions {
  std::string name = "weight";
  int64_t n_power_iterations = 1;  // per call in training
  double eps = 1e-12;              // lower bound of the norms in the power iteration
  std::optional<int64_t> axis =
      std::nullopt;  // the axis of the matrix's rows; nullopt: 1 for transposed convolutions, else 0
};

/// M with a weight divided by its largest singular value, estimated by power iteration (Miyato et al., arXiv
/// 1802.05957). parametrizations.NAME.original is trained; the buffers parametrizations.NAME.0._u and _v are updated in
/// training. Error unless n_power_iterations >= 1, IndexError for an axis out of range.
template <Parametrizable M> class SpectralNorm : public Parametrized<SpectralNorm<M>, M> {
 public:
  explicit SpectralNorm(M module, const SpectralNormOptions& options = {})
      : Parametrized<SpectralNorm, M>(std::move(module)), options_(options) {
    ErrorFrame frame("spectral_norm");
    if (options.n_power_iterations < 1)
      throw Error(text("n_power_iterations must be 1 or more, not ", options.n_power_iterations));
    detail::Parametrization made(*this, options.name, "_SpectralNorm");
    original_ = made.add_parameter("original", made.initial());
    vectors_.emplace(made.initial(), options.axis.value_or(kTransposed ? 1 : 0), options.eps);
    made.add_buffers(vectors_->buffers());
  }
  const std::string& name() const { return options_.name; }
  const SpectralNormOptions& options() const { return options_; }
  /// The weight that a call uses. In training, each call updates the singular vectors.
  Tensor computed() const {
    return vectors_->normalized(original_, this->is_training() ? options_.n_power_iterations : 0);
  }
  /// The same without an update of the vectors.
  Tensor current() const { return vectors_->normalized(original_, 0); }

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

struct ParametrizeOptions {
  std::string name = "weight";
  /// The value of the original parameter for a value of the weight. Empty: the same value, which may make the layer
  /// start with another weight than it had.
  std::function<Tensor(const Tensor& weight)> right_inverse = {};
};

/// M with a weight f(original), where parametrizations.NAME.original is trained; see parametrize().
template <Parametrizable M> class Reparametrized : public Parametrized<Reparametrized<M>, M> {
 public:
  using Function = std::function<Tensor(const Tensor& original)>;
  struct Options : ParametrizeOptions {
    Function function;
  };
  Reparametrized(M module, const Options& options)
      : Parametrized<Reparametrized, M>(std::move(module)), options_(options) {
    weft::detail::check_not_empty("parametrize", options.function);
    ErrorFrame frame("parametrize");
    const Autocast exact = Autocast::off();  // clone() may be called in a scope
    detail::Parametrization made(*this, options.name, "Function");
    // A copy: the function may give memory of its own, or a view that overlaps itself.
    original_ = made.add_parameter(
        "original", options.right_inverse ? options.right_inverse(made.initial()).detach().clone() : made.initial());
    detail::check_computed(computed(), made.initial());
  }
  const std::string& name() const { return options_.name; }
  const Options& options() const { return options_; }
  /// The weight that a call uses.
  Tensor computed() const { return options_.function(original_); }
  Tensor current() const { return computed(); }

 private:
  Options options_;
  Tensor original_;
};

/// M with a weight f(original), where f is a module; see parametrize().
template <Parametrizable M, HasForward F> class ParametrizedBy : public Parametrized<ParametrizedBy<M, F>, M> {
 public:
  ParametrizedBy(M module, F f, const ParametrizeOptions& options)
      : Parametrized<ParametrizedBy, M>(std::move(module)), options_(options), f_(std::move(f)) {
    ErrorFrame frame("parametrize");
    const Autocast exact = Autocast::off();  // clone() may be called in a scope
    detail::Parametrization made(*this, options.name, f_, typeid(F));
    original_ = made.add_parameter("original", start(made.initial()));
    detail::check_computed(computed(), made.initial());
  }
  const std::string& name() const { return options_.name; }
  const ParametrizeOptions& options() const { return options_; }
  /// The weight that a call uses.
  Tensor computed() const { return run_layer(f_, original_); }
  Tensor current() const { return computed(); }
  ParametrizedBy remake() const requires Clonable<M> && Clonable<F> {
    return ParametrizedBy(detail::remade(static_cast<const M&>(*this)), detail::remade(f_), options_);
  }

 private:
  Tensor start(const Tensor& weight) const {
    if (options_.right_inverse) return options_.right_inverse(weight).detach().clone();
    if constexpr (requires { f_.right_inverse(weight); })
      return f_.right_inverse(weight).detach().clone();
    else
      return weight;
  }
  ParametrizeOptions options_;
  F f_;
  Tensor original_;
};

/// A layer whose weight is f(original), where f is any function that can be differentiated:
///   auto symmetric = nn::parametrize(nn::Linear(8, 8), [](const Tensor& x) { return x.triu() + x.triu(1).t(); });
/// ShapeError unless f gives a tensor of the weight's shape, DtypeError unless it has its dtype. The options and f are
/// no part of a state dict. Do not convert the result to an M, which would use the old weight.
template <Parametrizable M>
Reparametrized<M> parametrize(M module, std::function<Tensor(const Tensor& original)> f,
                              const ParametrizeOptions& options = {}) {
  return Reparametrized<M>(std::move(module), {options, std::move(f)});
}
/// The same where f is a module with a const forward(original), as an adapter of low rank. It is registered as
/// parametrizations.NAME.0, so that its parameters are the layer's. A member right_inverse(weight) that it has gives
/// the value of `original`, unless the options do.
template <Parametrizable M, HasForward F>
ParametrizedBy<M, F> parametrize(M module, F f, const ParametrizeOptions& options = {}) {
  return ParametrizedBy<M, F>(std::move(module), std::move(f), options);
}

}  // namespace weft::nn
