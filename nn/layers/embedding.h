// Embedding: a table of vectors, looked up by index.
#pragma once

#include <optional>

#include "nn/module/layer.h"

namespace weft::nn {

struct EmbeddingOptions {
  int64_t num_embeddings = 0;
  int64_t embedding_dim = 0;
  /// Its row starts at zero and gets no gradient; negative: from the end.
  std::optional<int64_t> padding_idx = std::nullopt;
  std::optional<double> max_norm = std::nullopt;  // a row that is longer is scaled to it, in the weight, when looked up
  double norm_type = 2;                           // the p of that norm
  bool scale_grad_by_freq = false;                // the gradient of a row is divided by how often it is looked up
  DType dtype = f32;
};

/// Indices of any shape to vectors: (...) to (..., embedding_dim). weight is (num_embeddings, embedding_dim) and starts
/// normal(0, 1), as in PyTorch.
class Embedding : public Layer<Embedding> {
 public:
  explicit Embedding(const EmbeddingOptions& options);
  Embedding(int64_t num_embeddings, int64_t embedding_dim)
      : Embedding(EmbeddingOptions{.num_embeddings = num_embeddings, .embedding_dim = embedding_dim}) {}
  /// Of a table that is there, whose memory it shares; its sizes and dtype are those of the options, and its rows stay
  /// as they are. `freeze`: it is not trained.
  static Embedding from_pretrained(const Tensor& weight, bool freeze = true, EmbeddingOptions options = {});
  Tensor forward(const Tensor& indices) const;
  Embedding remake() const { return Embedding(options_); }

  Tensor weight() const { return weight_; }

 private:
  Embedding(const EmbeddingOptions& options, const Tensor& weight);
  EmbeddingOptions options_;
  int64_t padding_idx_ = -1;
  Tensor weight_;
};

}  // namespace weft::nn
