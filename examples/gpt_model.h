// A small GPT: a decoder of pre-norm transformer layers on characters. examples/gpt.cc trains it, bench/ measures it.
#pragma once

#include "weft.h"

namespace examples {

struct GptOptions {
  int64_t vocabulary = 256;  // number of byte values
  int64_t context = 128;     // maximum number of characters that it sees
  int64_t layers = 6;
  int64_t heads = 4;
  int64_t width = 256;
  double dropout = 0;
};

/// Indices (N, T), with T <= context -> logits (N, T, vocabulary) of the next character at each position.
class Gpt : public weft::nn::Layer<Gpt> {
 public:
  explicit Gpt(const GptOptions& options = {})
      : options_(options),
        tokens_(register_module("tokens", weft::nn::Embedding(options.vocabulary, options.width))),
        positions_(register_module("positions", weft::nn::Embedding(options.context, options.width))),
        dropout_(register_module("dropout", weft::nn::Dropout(options.dropout))),
        layers_(register_module("layers", weft::nn::ModuleList<weft::nn::TransformerEncoderLayer>())),
        norm_(register_module("norm", weft::nn::LayerNorm(options.width))),
        head_(register_module("head", weft::nn::Linear(options.width, options.vocabulary, false))) {
    for (int64_t i = 0; i < options.layers; ++i) layers_.push_back(layer());
    for (const weft::nn::NamedTensor& p : named_parameters()) {
      if (p.tensor.rank() >= 2) weft::nn::init::normal(p.tensor, 0, 0.02);
      if (p.name.ends_with("bias")) weft::nn::init::constant(p.tensor, 0);
    }
  }

  weft::Tensor forward(const weft::Tensor& indices) const {
    // Positions use an embedding like tokens, so that under Autocast(bf16) the sum, and what the layers add to it, is
    // bf16 too.
    const weft::Tensor positions = positions_(weft::arange(0, indices.size(1)));
    weft::Tensor x = dropout_(tokens_(indices) + positions);
    for (const auto& layer : layers_) x = layer(x, {.causal = true});
    return head_(norm_(x));
  }
  /// The cross-entropy of the targets (N, T): the mean of -log p.
  weft::Tensor loss(const weft::Tensor& indices, const weft::Tensor& targets) const {
    return weft::nn::cross_entropy((*this)(indices).flatten(0, 1), targets.flatten());
  }

  /// matrices(): embeddings and weight matrices, initialized from N(0, 0.02), which may have weight decay. vectors():
  /// biases and norm weights, which should not.
  std::vector<weft::Tensor> matrices() const { return of_rank(true); }
  std::vector<weft::Tensor> vectors() const { return of_rank(false); }
  const GptOptions& options() const { return options_; }

 private:
  weft::nn::TransformerEncoderLayer layer() const {
    return weft::nn::TransformerEncoderLayer({.d_model = options_.width,
                                              .nhead = options_.heads,
                                              .dim_feedforward = 4 * options_.width,
                                              .dropout = options_.dropout,
                                              .activation = weft::nn::TransformerEncoderLayer::Activation::gelu,
                                              .norm_first = true});
  }
  std::vector<weft::Tensor> of_rank(bool matrix) const {
    std::vector<weft::Tensor> out;
    for (const weft::Tensor& parameter : parameters())
      if ((parameter.rank() >= 2) == matrix) out.push_back(parameter);
    return out;
  }

  GptOptions options_;
  weft::nn::Embedding tokens_, positions_;
  weft::nn::Dropout dropout_;
  weft::nn::ModuleList<weft::nn::TransformerEncoderLayer> layers_;
  weft::nn::LayerNorm norm_;
  weft::nn::Linear head_;
};

}  // namespace examples
