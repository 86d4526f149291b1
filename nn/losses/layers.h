// Losses as layers: `nn::CrossEntropyLoss criterion({.label_smoothing = 0.1});` calls cross_entropy with these options.
#pragma once

#include "nn/losses/classification.h"
#include "nn/losses/distribution.h"
#include "nn/losses/margin.h"
#include "nn/losses/regression.h"
#include "nn/module/layer.h"

namespace weft::nn {

namespace detail {
/// The default options: Reduction::mean, or a default-constructed struct.
template <class Options> Options usual_options() {
  if constexpr (std::same_as<Options, Reduction>)
    return Reduction::mean;
  else
    return {};
}
}  // namespace detail

/// Base of the loss layers. A weight in the options is registered as a buffer, as in PyTorch, so to() converts it.
template <class Options> class LossLayer : public Module {
 public:
  explicit LossLayer(const Options& options) : options_(options) {
    if constexpr (requires { options_.weight; }) options_.weight = register_buffer("weight", options_.weight);
    if constexpr (requires { options_.pos_weight; })
      options_.pos_weight = register_buffer("pos_weight", options_.pos_weight);
  }
  explicit LossLayer(const ReductionOptions& options) requires std::same_as<Options, Reduction>
      : LossLayer(options.reduction) {}
  const Options& options() const { return options_; }

 protected:
  /// A copy of the options whose tensors own their memory.
  Options copied() const {
    Options out = options_;
    if constexpr (requires { out.weight; })
      if (out.weight.defined()) out.weight = out.weight.clone();
    if constexpr (requires { out.pos_weight; })
      if (out.pos_weight.defined())  // one tensor for both stays one, as clone() requires
        out.pos_weight = options_.pos_weight.is_same(options_.weight) ? out.weight : out.pos_weight.clone();
    return out;
  }

 private:
  Options options_;
};

/// Defines a layer for which `loss(tensors...)` is function(tensors..., options).
#define WEFT_LOSS(Name, function, Options)                                                              \
  /** See function(). */                                                                                \
  class Name : public LossLayer<Options> {                                                              \
   public:                                                                                              \
    using LossLayer::LossLayer;                                                                         \
    explicit Name(const Options& options = detail::usual_options<Options>()) : LossLayer(options) {}    \
    template <std::same_as<Tensor>... Ts> Tensor forward(const Tensor& x, const Ts&... more) const {    \
      return nn::function(x, more..., this->options());                                                 \
    }                                                                                                   \
    template <std::same_as<Tensor>... Ts> Tensor operator()(const Tensor& x, const Ts&... more) const { \
      return in_layer(                                                                                  \
          *this, [&](const auto&... given) { return forward(given...); }, x, more...);                  \
    }                                                                                                   \
    Name remake() const { return Name(this->copied()); }                                                \
  };
WEFT_LOSS(MSELoss, mse_loss, Reduction)
WEFT_LOSS(L1Loss, l1_loss, Reduction)
WEFT_LOSS(HuberLoss, huber_loss, HuberOptions)
WEFT_LOSS(SmoothL1Loss, smooth_l1_loss, SmoothL1Options)
WEFT_LOSS(CrossEntropyLoss, cross_entropy, CrossEntropyOptions)
WEFT_LOSS(NLLLoss, nll_loss, NllOptions)
WEFT_LOSS(BCELoss, bce, BceOptions)
WEFT_LOSS(BCEWithLogitsLoss, bce_with_logits, BceWithLogitsOptions)
WEFT_LOSS(FocalLoss, focal_loss, FocalOptions)
WEFT_LOSS(KLDivLoss, kl_div, KlDivOptions)
WEFT_LOSS(PoissonNLLLoss, poisson_nll_loss, PoissonNllOptions)
WEFT_LOSS(GaussianNLLLoss, gaussian_nll_loss, GaussianNllOptions)
WEFT_LOSS(CTCLoss, ctc_loss, CtcOptions)
WEFT_LOSS(SoftMarginLoss, soft_margin_loss, Reduction)
WEFT_LOSS(HingeEmbeddingLoss, hinge_embedding_loss, HingeEmbeddingOptions)
WEFT_LOSS(MarginRankingLoss, margin_ranking_loss, MarginRankingOptions)
WEFT_LOSS(CosineEmbeddingLoss, cosine_embedding_loss, CosineEmbeddingOptions)
WEFT_LOSS(TripletMarginLoss, triplet_margin_loss, TripletMarginOptions)
WEFT_LOSS(MultiMarginLoss, multi_margin_loss, MultiMarginOptions)
WEFT_LOSS(MultiLabelMarginLoss, multilabel_margin_loss, Reduction)
WEFT_LOSS(MultiLabelSoftMarginLoss, multilabel_soft_margin_loss, MultilabelSoftMarginOptions)
#undef WEFT_LOSS

}  // namespace weft::nn
